"""Work in proportion to the size of a table: function calls are counted, not time."""

import pstats
from cProfile import Profile
from typing import Any

import pyarrow as pa
import pytest
from clauses_samples import stored

from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.validation import validate
from hudi_reference import create_table
from hudi_reference.storage import MemoryStorage

FIELDS = [{"name": "id", "type": "string"}, {"name": "p", "type": "string"}, {"name": "n", "type": "long"}]
SETTINGS = {
    f"hoodie.metadata.{name}": "true"
    for name in ("enable", "index.column.stats.enable", "index.bloom.filter.enable", "record.index.enable")
}


def calls(partitions: int, kind: str) -> int:
    """How many functions a validation with all checks calls, of a table with two writes to each partition."""
    storage = MemoryStorage()
    table = create_table(
        "memory:///t", storage=storage, name="t", schema={"type": "record", "name": "t", "fields": FIELDS}, record_key=("id",),
        partition=("p",), table_type=kind, options=SETTINGS,
    )  # fmt: skip
    rows: list[dict[str, Any]] = [{"id": f"{n}", "p": f"p{n:03}", "n": n} for n in range(partitions)]
    for _ in range(2):
        table.upsert(pa.Table.from_pylist(rows))
    profile = Profile()
    found = profile.runcall(validate, stored(storage), ALL)
    assert found.is_sound and not found.broken
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_validation_grows_with_the_table(kind: str) -> None:
    """MDT-010, LF-035: twice the partitions take about twice the calls, also where each file has entries in indexes."""
    calls(4, kind)  # caches of libraries and of names are filled
    small, large = calls(20, kind), calls(40, kind)
    assert large < 2.4 * small, f"{small} and {large} calls"


def test_fields_that_are_no_columns() -> None:
    """PROP-009: the text of all fields is not repeated for each of them, which would take memory by the square."""
    storage = MemoryStorage()
    table = create_table(
        "memory:///t", storage=storage, name="t", schema={"type": "record", "name": "t", "fields": FIELDS}, record_key=("id",)
    )
    table.insert(pa.Table.from_pylist([{"id": "a", "p": "x", "n": 1}]))
    fields = ",".join(f"unknown{place}" for place in range(1000))
    properties = storage.get(".hoodie/hoodie.properties")
    storage.put(".hoodie/hoodie.properties", properties + f"\nhoodie.table.ordering.fields={fields}\n".encode())
    (finding,) = validate(stored(storage), [check for check in ALL if check.name == "settings.columns"]).findings
    assert finding.rule == "PROP-009" and len(finding.found) <= 200
