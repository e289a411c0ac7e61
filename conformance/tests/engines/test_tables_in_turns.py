"""Tables that the reference and Apache Hudi write in turns: bucket indexes, generated keys, and indexes that come and go."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import data_files
from hudi_reference import WritableTable, create_table, open_table
from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.properties import read_properties
from hudi_reference.storage import LocalStorage

pytestmark = [pytest.mark.apache_hudi, pytest.mark.slow]

BUCKETED = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}
RANGES = {**BUCKETED, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}
PREFIX = "hoodie.metadata."
INDEXED = {f"{PREFIX}enable": "true", f"{PREFIX}record.index.enable": "true", f"{PREFIX}index.bloom.filter.enable": "true"}
#: Settings of Apache Hudi on Spark: column statistics would be added otherwise.
THEIRS = {**INDEXED, f"{PREFIX}index.column.stats.enable": "false"}
COLUMNS = ("id", "city", "value")


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return (tmp_path / "table").as_uri()


def made(uri: str, type: str, options: Mapping[str, str], key: tuple[str, ...] = ("id",)) -> WritableTable:
    """A new table of the reference, partitioned by city and in commit-time order."""
    spec = Program(type, "COMMIT_TIME_ORDERING", True).spec()  # type: ignore[arg-type]
    return create_table(
        uri, name="t", schema=dict(spec.schema), record_key=key, partition=("city",), table_type=type, options=options  # type: ignore[arg-type]
    )  # fmt: skip


def check(hudi: Client, uri: str, expected: Mapping[str, str]) -> None:
    """Both engines return these values by key."""
    for found in (hudi.read(uri, Query(columns=COLUMNS)), open_table(uri).snapshot(list(COLUMNS))):
        assert {one["id"]: one["value"] for one in found.to_pylist()} == expected
        assert found.num_rows == len(expected)


@pytest.mark.parametrize(
    ("type", "options"),
    [("COPY_ON_WRITE", BUCKETED), ("MERGE_ON_READ", BUCKETED), ("MERGE_ON_READ", RANGES)],
    ids=["copy-on-write", "merge-on-read", "consistent hashing"],
)
def test_bucket_tables_are_written_in_turns(hudi: Client, uri: str, type: str, options: Mapping[str, str]) -> None:
    """LAY-021: both place a key in the same file group, also in partitions and buckets that the other one has created."""
    table = made(uri, type, options)
    table.insert(as_arrow([row(key, 1, "1") for key in "abcdefgh"]))
    table.delete(as_arrow([row("h", 0, "")]).select(["id", "city"]))
    check(hudi, uri, expected := dict.fromkeys("abcdefg", "1"))
    theirs = [row(key, 2, "2") for key in "abijkl"] + [row("y", 2, "2", "rio")]
    hudi.write(uri, "upsert", as_arrow(theirs), options=options)
    check(hudi, uri, expected := {**expected, **dict.fromkeys("abijkly", "2")})
    ours = [row(key, 3, "3") for key in "acil"] + [row("y", 3, "3", "rio")]
    open_table(uri, options=options).upsert(as_arrow(ours))
    check(hudi, uri, {**expected, **dict.fromkeys("acily", "3")})
    groups = {path.partition("/")[2].lstrip(".").partition("_")[0] for path in data_files(uri) if path.startswith("oslo/")}
    assert len(groups) == 4


@BOTH_TYPES
def test_tables_without_key_fields_are_written_in_turns(hudi: Client, uri: str, type: str) -> None:
    """META-007: both insert rows with keys of their own, and keep those of the other one."""
    table = made(uri, type, {f"{PREFIX}enable": "true"}, key=())
    table.insert(as_arrow([row("a", 1, "1"), row("a", 1, "1"), row("b", 1, "1", "rio")]))
    hudi.write(uri, "insert", as_arrow([row("a", 1, "2")]))
    open_table(uri).insert(as_arrow([row("c", 1, "3")]))
    columns = ("_hoodie_record_key", *COLUMNS)
    theirs, ours = hudi.read(uri, Query(columns=columns)).to_pylist(), open_table(uri).snapshot(list(columns)).to_pylist()
    assert sorted(map(str, theirs)) == sorted(map(str, ours))
    assert len({one["_hoodie_record_key"] for one in ours}) == 5
    assert sorted((one["id"], one["value"]) for one in ours) == [("a", "1"), ("a", "1"), ("a", "2"), ("b", "1"), ("c", "3")]


@BOTH_TYPES
def test_indexes_come_and_go_in_turns(hudi: Client, uri: str, type: str) -> None:
    """PROP-012: an index that one engine drops is not expected by the other one, which can create it again; so is the whole
    metadata table."""

    def ours(value: str, options: Mapping[str, str]) -> None:
        open_table(uri, options=options).upsert(as_arrow([row("a", 1, value)]))

    def listed() -> set[str]:
        return set(read_properties(LocalStorage(Path(uri.removeprefix("file://")))).fields(USABLE))

    without = {f"{PREFIX}record.index.enable": "false"}
    made(uri, type, INDEXED).insert(as_arrow([row("a", 1, "1"), row("b", 1, "1", "rio")]))
    ours("2", without)
    assert listed() == {"files", "bloom_filters"}
    hudi.write(uri, "upsert", as_arrow([row("b", 1, "3", "rio"), row("c", 1, "3")]), options=THEIRS)
    assert listed() == {"files", "bloom_filters", "record_index"}
    check(hudi, uri, {"a": "2", "b": "3", "c": "3"})
    ours("4", {f"{PREFIX}enable": "false"})
    assert listed() == set()
    ours("5", INDEXED)
    assert listed() == {"files", "bloom_filters", "record_index"}
    hudi.write(uri, "upsert", as_arrow([row("c", 1, "6")]), options={**THEIRS, **without})
    assert listed() == {"files", "bloom_filters"}
    for number in range(4):
        ours(f"{number}", {f"{PREFIX}compact.max.delta.commits": "2"})
    check(hudi, uri, {"a": "3", "b": "3", "c": "6"})
