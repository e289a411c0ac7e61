"""The partitioned record index: file groups for each partition of the table, look-ups in a partition, and its maintenance."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from hudi_reference import WritableTable, clean, cluster, compact, create_index, create_table, index, open_table, rollback
from hudi_reference.metadata.availability import definition_of
from hudi_reference.metadata.definitions import is_partitioned
from hudi_reference.metadata.partitions import file_id, part_of
from hudi_reference.metadata.records import RecordLocation
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.storage import MemoryStorage

SCHEMA = {
    "type": "record", "name": "t",
    "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in (("id", "string"), ("ts", "long"),
               ("p", "string"), ("s", "string"))],
}  # fmt: skip
PARTITIONED = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.level.index.enable": "true"}
EACH_KIND = pytest.mark.parametrize(("kind", "version"), [("COPY_ON_WRITE", 8), ("COPY_ON_WRITE", 9), ("MERGE_ON_READ", 9)])


def rows(*found: tuple[str, str], ts: int = 1, s: str = "v") -> pa.Table:
    """Rows of key and partition."""
    values = {"id": [key for key, _ in found], "ts": [ts] * len(found), "p": [p for _, p in found], "s": [s] * len(found)}
    return pa.table(values, schema=pa.schema([("id", pa.string()), ("ts", pa.int64()), ("p", pa.string()), ("s", pa.string())]))


def new(kind: Any, version: int = 9, **options: str) -> WritableTable:
    """An empty table whose writers ask for a partitioned record index."""
    return create_table(
        "memory:", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), ordering=("ts",), table_type=kind,
        storage=MemoryStorage(), options={**PARTITIONED, **options}, version=version,
    )  # fmt: skip


def again(table: WritableTable, **options: str) -> WritableTable:
    """The table opened again, by a writer with other settings."""
    return open_table("memory:", storage=table.storage, options={**PARTITIONED, **options})


def metadata_of(table: WritableTable) -> MetadataTable:
    """The metadata table."""
    found = MetadataTable.for_table(table)
    assert found is not None
    return found


def expect_locations(table: WritableTable) -> None:
    """For each row of the table its partition and file group, and nothing else, is in the file groups of its partition."""
    stored = {}
    for one in metadata_of(table).as_table.view().groups.latest_slices:
        if one.partition == "record_index":
            for key, record in metadata_of(table).records_of_slice(one).items():
                assert isinstance(record.payload, RecordLocation)
                stored[part_of(one.file_id), key] = record.payload
    view = table.view()
    rows_in = {
        (one.partition, key): one.file_id
        for one in view.groups.latest_slices
        for key in view.reader(table).current_keys(one).to_pylist()
    }
    assert {place: one.location.file_id for place, one in stored.items()} == rows_in
    assert all(one.partition == place[0] for place, one in stored.items())


def found_by_key(table: WritableTable, *keys: str) -> Counter[tuple[str, str, int]]:
    """Key, partition and number of the rows of these keys, which are the same without the metadata table."""
    where = [("_hoodie_record_key", "in", list(keys))]
    with_index = again(table).snapshot(["id", "p", "ts"], where)
    without = again(table, **{"hoodie.metadata.enable": "false"}).snapshot(["id", "p", "ts"], where)
    counted = [Counter(tuple(row.values()) for row in one.to_pylist()) for one in (with_index, without)]
    assert counted[0] == counted[1]
    return counted[0]


@pytest.mark.parametrize(
    ("partition", "expected"),
    [("x", "record-index-x-0000-0"), ("", "record-index--0000-0"), ("city=oslo", "record-index-city%3Doslo-0000-0"),
     ("2026/07-03", "record-index-2026%2F07%2D03-0000-0"), ("a_b%c", "record-index-a%5Fb%25c-0000-0")],
)  # fmt: skip
def test_file_ids(partition: str, expected: str) -> None:
    """IDX-047: the partition is escaped in the file id, so that dashes tell its parts; a global index has no such part."""
    assert file_id("record_index", 0, partition) == expected
    assert part_of(expected) == partition
    assert part_of("record-index-0000-0") is None


@EACH_KIND
def test_the_index_follows_writes_and_services(kind: str, version: int) -> None:
    """IDX-047, IDX-048: new partitions get file groups, deleted rows lose their entry, one key may be in two partitions."""
    table = new(kind, version)
    table.upsert(rows(("a", "x"), ("b", "x"), ("c", "y/1"), ("a", "y/1")))
    assert is_partitioned(definition_of(table.storage, again(table).properties, "record_index"))
    assert metadata_of(table).groups("record_index") == ("record-index-x-0000-0", "record-index-y%2F1-0000-0")
    expect_locations(again(table))
    again(table).upsert(rows(("a", "x"), ("n", "z-z"), ts=2))
    again(table).delete(pa.table({"id": ["a"], "p": ["y/1"]}))
    expect_locations(again(table))
    assert found_by_key(table, "a", "c") == Counter({("a", "x", 2): 1, ("c", "y/1", 1): 1})
    again(table).upsert(rows(("a", "y/1"), ts=3))
    assert found_by_key(table, "a") == Counter({("a", "x", 2): 1, ("a", "y/1", 3): 1})
    unwanted = again(table).upsert(rows(("q", "fresh"), ("b", "x"), ts=4))
    rollback(again(table), unwanted)
    expect_locations(again(table))
    again(table).upsert(rows(("q", "fresh"), ("b", "x"), ts=4))
    if kind == "MERGE_ON_READ":
        compact(again(table, **{"hoodie.compact.inline.max.delta.commits": "1"}))
    assert cluster(again(table)) is not None
    again(table).insert_overwrite(rows(("o", "x"), ts=5))
    clean(again(table, **{"hoodie.clean.commits.retained": "1"}))
    expect_locations(again(table))
    assert found_by_key(table, "a", "o", "q") == Counter({("o", "x", 5): 1, ("a", "y/1", 3): 1, ("q", "fresh", 4): 1})


def test_several_file_groups_in_a_partition() -> None:
    """IDX-048: the hash of the record key selects among the file groups of its partition; `a` has the hash 97."""
    table = new("COPY_ON_WRITE", **{"hoodie.metadata.record.level.index.min.filegroup.count": "4"})
    table.upsert(rows(("a", "x"), ("b", "x"), ("a", "y")))
    assert len(metadata_of(table).groups("record_index")) == 8
    files = metadata_of(table).files("record_index")
    with_records = {name.split("_")[0].lstrip(".") for name in files if "1-0-0" in name or name.endswith(".hfile")}
    assert with_records == {"record-index-x-0001-0", "record-index-x-0002-0", "record-index-y-0001-0"}
    expect_locations(again(table))
    assert found_by_key(table, "a", "b") == Counter({("a", "x", 1): 1, ("b", "x", 1): 1, ("a", "y", 1): 1})


def test_compaction_of_the_metadata_table() -> None:
    """IDX-047: base files of a compaction are in the same file groups, with the keys as they are stored."""
    table = new("MERGE_ON_READ", **{"hoodie.metadata.compact.max.delta.commits": "2"})
    for number in range(6):
        again(table, **dict(table.options)).upsert(rows(("a", "x"), (f"k{number}", "xy"[number % 2]), ts=number))
    assert any(name.endswith(".hfile") for name in metadata_of(table).files("record_index"))
    expect_locations(again(table))
    assert found_by_key(table, "a", "k3") == Counter({("a", "x", 5): 1, ("k3", "y", 3): 1})


def test_a_look_up_skips_the_other_partitions_and_file_groups() -> None:
    """IDX-048: of the slices only those that the index names are read; partitions without file groups are always read."""
    from hudi_reference.metadata.lookup.index_snapshot import open_snapshot
    from hudi_reference.metadata.lookup.key_lookup import select_by_keys

    table = new("COPY_ON_WRITE")
    table.upsert(rows(("a", "x"), ("b", "y"), ("c", "z")))
    view = table.view()
    snapshot = open_snapshot(again(table), view.timeline, view.groups.commits)
    assert snapshot is not None
    slices = list(view.groups.latest_slices)
    assert [one.partition for one in select_by_keys(snapshot, slices, ["b"], lambda one, keys: False)] == ["y"]
    unknown = replace(slices[0], partition="w")
    assert [one.partition for one in select_by_keys(snapshot, [*slices, unknown], ["b"], lambda one, keys: False)] == ["y", "w"]


def test_built_beside_an_existing_table() -> None:
    """INX-001, IDX-047: indexing builds the file groups of each partition; entries of a later write are added."""
    table = new("COPY_ON_WRITE", **{"hoodie.metadata.record.level.index.enable": "false"})
    table.upsert(rows(("a", "x"), ("a", "y")))
    assert index(again(table), PARTITIONED) is not None
    again(table).upsert(rows(("b", "z"), ("a", "x"), ts=2))
    expect_locations(again(table))
    assert metadata_of(table).groups("record_index") == tuple(f"record-index-{part}-0000-0" for part in "xyz")


def test_global_writers_of_a_partitioned_index() -> None:
    """IDX-048: a writer with a global index type finds the record in the slices, as the index has a key for each partition."""
    table = new("COPY_ON_WRITE")
    table.upsert(rows(("a", "x"), ("b", "y")))
    again(table, **{"hoodie.index.type": "GLOBAL_RECORD_LEVEL_INDEX"}).upsert(rows(("a", "y"), ts=2))
    assert found_by_key(table, "a") == Counter({("a", "x", 2): 1})
    expect_locations(again(table))


def test_secondary_entries_shared_by_two_partitions() -> None:
    """IDX-048: the entry of a value and a key stays while a row of another partition has both."""
    table = new("COPY_ON_WRITE")
    table.upsert(rows(("a", "x"), ("a", "y"), ("b", "y")))
    create_index(again(table), "by_s", "s")
    again(table).delete(pa.table({"id": ["a"], "p": ["x"]}))
    stored = metadata_of(table).records("secondary_index_by_s", again(table).timeline)
    assert set(stored) == {"v$a", "v$b"}
