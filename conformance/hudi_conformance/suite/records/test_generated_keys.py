"""Tables without record key fields: writers generate a key for each row, and services keep it."""

import re
from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.messages import Operation
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import APART, Type

NEEDS = ("create", "write.insert", "write.generated-keys", "read.snapshot", "read.meta-columns", "partition.plain",
         "merge.commit-time")  # fmt: skip
COLUMNS = ("_hoodie_record_key", "id", "value")


def stored_keys(engine: Client, uri: str) -> dict[str, tuple[str, str]]:
    """Return the values of the records by their keys, which are distinct."""
    rows = engine.read(uri, Query(columns=COLUMNS)).to_pylist()
    found = {one["_hoodie_record_key"]: (one["id"], one["value"]) for one in rows}
    assert len(found) == len(rows), "two records have the same key"
    return found


@pytest.mark.needs(*NEEDS)
@BOTH_TYPES
@pytest.mark.requirements("META-007", "PROP-007")
def test_each_row_gets_a_key_of_its_own(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """META-007: equal rows are separate records. The key of a record names its write, and later writes do not change it."""
    uri, spec = new_uri(), Program(type, "COMMIT_TIME_ORDERING", True).spec()
    engine.create(uri, replace(spec, record_key=()))
    first = engine.write(uri, "insert", as_arrow((row("a", 1, "x"), row("a", 1, "x"), row("b", 1, "y", "rio"))))
    before = stored_keys(engine, uri)
    assert sorted(before.values()) == [("a", "x"), ("a", "x"), ("b", "y")]
    assert all(re.fullmatch(rf"{first}_[0-9]+_[0-9]+", key) for key in before)
    second = engine.write(uri, "insert", as_arrow((row("a", 1, "x"), row("c", 1, "z"))))
    after = stored_keys(engine, uri)
    assert before.items() <= after.items()
    added = {key: value for key, value in after.items() if key not in before}
    assert sorted(added.values()) == [("a", "x"), ("c", "z")]
    assert all(re.fullmatch(rf"{second}_[0-9]+_[0-9]+", key) for key in added)


@pytest.mark.needs(*NEEDS, "service.clustering")
@BOTH_TYPES
@pytest.mark.requirements("META-007")
def test_a_clustering_keeps_generated_keys(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """META-007: a clustering moves the rows to other files, and their keys stay."""
    uri, spec = new_uri(), Program(type, "COMMIT_TIME_ORDERING", True).spec()
    engine.create(uri, replace(spec, record_key=()))
    for number in range(3):
        engine.write(uri, "insert", as_arrow((row("a", 1, "x"), row("b", 1, f"y{number}"))), options=APART)
    before = stored_keys(engine, uri)
    assert engine.service(uri, "clustering", options=APART) is not None
    assert stored_keys(engine, uri) == before


@pytest.mark.needs(*NEEDS, "write.insert-overwrite")
@BOTH_TYPES
@pytest.mark.requirements("META-007", "PROP-007", "TL-039")
def test_an_overwrite_makes_keys(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """META-007: an overwrite of a partition adds rows as an insert does: each gets a key that names the overwrite, and the
    rows of other partitions keep theirs.
    """
    uri, spec = new_uri(), Program(type, "COMMIT_TIME_ORDERING", True).spec()
    engine.create(uri, replace(spec, record_key=()))
    engine.write(uri, "insert", as_arrow((row("a", 1, "x"), row("b", 1, "y", "rio"))))
    kept = {key: value for key, value in stored_keys(engine, uri).items() if value == ("b", "y")}
    instant = engine.write(uri, "insert_overwrite", as_arrow((row("a", 1, "z"), row("a", 1, "z"))))
    found = stored_keys(engine, uri)
    assert kept.items() <= found.items()
    added = {key: value for key, value in found.items() if key not in kept}
    assert sorted(added.values()) == [("a", "z"), ("a", "z")]
    assert all(re.fullmatch(rf"{instant}_[0-9]+_[0-9]+", key) for key in added)


@pytest.mark.needs(*NEEDS, "write.upsert", "write.delete")
@BOTH_TYPES
@pytest.mark.requirements("META-007", "PROP-007", "META-008")
def test_rows_are_changed_by_their_generated_keys(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """PROP-007: a change has the key that a query returned. One of two equal rows is changed, and one deleted; the others keep
    their keys. A change without a key, or an update with one that no record has, is refused.
    """
    only_engines_of_this_project(engine, "whether rows without key fields are changed by their keys")
    uri, spec = new_uri(), Program(type, "COMMIT_TIME_ORDERING", True).spec()
    engine.create(uri, replace(spec, record_key=()))
    engine.write(uri, "insert", as_arrow((row("a", 1, "x"), row("a", 1, "x"), row("b", 1, "y"), row("c", 1, "z", "rio"))))
    first, second, other, last = sorted(stored_keys(engine, uri), key=lambda key: stored_keys(engine, uri)[key])

    def rows(*keys: str | None) -> pa.Table:
        changed = as_arrow(tuple(row("a", 2, "changed") for _ in keys))
        return changed.append_column("_hoodie_record_key", pa.array(keys, pa.string()))

    engine.write(uri, "upsert", rows(second))
    engine.write(uri, "delete", rows(other))
    expected = {first: ("a", "x"), second: ("a", "changed"), last: ("c", "z")}
    assert stored_keys(engine, uri) == expected
    wrong: tuple[tuple[Operation, tuple[str | None, ...]], ...] = (
        ("upsert", (first, None)), ("upsert", (first, "unknown")), ("delete", (first, None)),
    )  # fmt: skip
    for operation, keys in wrong:
        with pytest.raises(ContractError):
            engine.write(uri, operation, rows(*keys))
        assert stored_keys(engine, uri) == expected, (operation, keys)
