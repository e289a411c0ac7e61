"""The types of bounds in statistics of index version V2, without which numbers are no dates any more."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import deep_damage_samples as d
import pyarrow as pa
import pytest

from hudi_reference import create_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import RandomIds
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.storage import MemoryStorage, Storage

_FIELDS = (("id", "string"), ("p", "string"), ("day", {"type": "int", "logicalType": "date"}), ("number", "int"))
DEFINITIONS = ".hoodie/.index_defs/index.json"
SCHEMA = {"type": "record", "name": "visit", "fields": [{"name": name, "type": kind} for name, kind in _FIELDS]}


def _with_dates(version: int) -> Storage:
    """A table with statistics of a date and a number."""
    table = create_table(
        "memory:///deep", name="deep", schema=SCHEMA, record_key=["id"], partition=["p"], version=version,
        storage=MemoryStorage(), clock=ManualClock(d.START), ids=RandomIds(),
        options={"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"},
    )  # fmt: skip
    days = pa.array([20_000, 20_001], pa.int32()).cast(pa.date32())
    table.insert(pa.table({"id": ["a", "b"], "p": ["x", "x"], "day": days, "number": pa.array([1, 2], pa.int32())}))
    return table.storage  # type: ignore[no-any-return]


def _retype(storage: Storage, index: str, column: str, change: Callable[[Any], Any]) -> None:
    found = next(one for one in d.entries_of(storage, index).values() if getattr(one.payload, "column", "") == column)
    d.change_index(storage, index, [MetadataRecord(found.key, replace(found.payload, value_type=change(found.payload)))])  # type: ignore[call-arg]


@pytest.mark.parametrize("index", ["column_stats", "partition_stats"])
@pytest.mark.parametrize(("column", "severity"), [("day", "wrong-answers"), ("number", "cosmetic")])
def test_a_bound_without_its_type_is_a_number(index: str, column: str, severity: str) -> None:
    """MDT-017: without valueType a date is read as a number, so that queries skip data; a number stays what it is."""
    storage = _with_dates(9)
    assert d.found_in(storage) == []
    _retype(storage, index, column, lambda payload: None)
    found = [one for one in d.found_in(storage) if one.rule == "MDT-017"]
    assert [(one.severity, one.path) for one in found] == [(severity, f".hoodie/metadata/{index}")]
    assert found[0].expected == "a valueType, as the version V2 of the index has it"


def test_statistics_of_version_8_have_no_types() -> None:
    """MDT-017: an index of version V1 has no types, and lacks nothing."""
    assert d.found_in(_with_dates(8)) == []


def test_an_index_of_version_v1_has_no_types() -> None:
    """MDT-017: the definition says V1, so that writers store bounds without types beside those that have one."""
    storage = _with_dates(9)
    storage.put(DEFINITIONS, storage.get(DEFINITIONS).replace(b'"V2"', b'"V1"'))
    found = {(one.expected, one.severity) for one in d.found_in(storage) if one.rule == "MDT-017"}
    expected = "no valueType, as the version V1 of the index has it"
    assert found == {(expected, "wrong-answers"), (expected, "cosmetic")}
