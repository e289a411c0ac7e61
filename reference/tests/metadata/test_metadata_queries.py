"""Queries through the metadata table: the files that they list and read, and that their answers are those without it."""

import shutil
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest

from hudi_reference import archive, clean, compact, create_index, create_table, open_table, rollback
from hudi_reference.errors import InvalidQuery
from hudi_reference.metadata.lookup import index_creation, query_indexes
from hudi_reference.metadata.lookup.index_snapshot import IndexSnapshot
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.query.pruning.predicates import Comparison
from hudi_reference.storage import MemoryStorage, ObjectInfo
from hudi_reference.tables import WritableTable

SCHEMA = {
    "type": "record", "name": "t",
    "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in (("id", "string"), ("ts", "long"),
               ("p", "string"), ("n", "int"))],
}  # fmt: skip
INDEXES = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "4",
}
FILTERS = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.bloom.filter.enable": "true"}
TYPES: tuple[Literal["COPY_ON_WRITE", "MERGE_ON_READ"], ...] = ("COPY_ON_WRITE", "MERGE_ON_READ")
EACH_TYPE = pytest.mark.parametrize("kind", TYPES)


class Watched(MemoryStorage):
    """A storage that records listings, and the reads of data files and of the metadata table."""

    def __init__(self) -> None:
        super().__init__()
        self.forget()

    def forget(self) -> None:
        """Forget what was recorded."""
        self.listed: list[str] = []
        self.read: set[str] = set()
        self.looked_up: Counter[str] = Counter()

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """As any storage."""
        if not prefix.startswith(".hoodie"):
            self.listed.append(prefix)
        return super().list(prefix, skip=skip)

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """As any storage."""
        self._note(path)
        return super().get(path, start, length)

    def open(self, path: str) -> pa.NativeFile:
        """As any storage."""
        self._note(path)
        return super().open(path)

    def _note(self, path: str) -> None:
        if not path.startswith(".hoodie"):
            self.read.add(path)
        elif path.startswith(".hoodie/metadata/record_index"):
            self.looked_up[path] += 1


def rows(*found: tuple[str, str, int]) -> pa.Table:
    """Rows of key, partition and number."""
    keys, partitions, numbers = zip(*found, strict=True)
    return pa.table({"id": keys, "ts": pa.array(numbers, pa.int64()), "p": partitions, "n": pa.array(numbers, pa.int32())})


def table_of(
    kind: Literal["COPY_ON_WRITE", "MERGE_ON_READ"], options: dict[str, str], writes: int = 3, partitions: int = 3
) -> WritableTable:
    """A table whose every write changes one row of each partition, and adds one."""
    table = create_table(
        "memory:", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), ordering=("ts",), table_type=kind,
        storage=Watched(), options=options, properties={"hoodie.datasource.write.partitionpath.urlencode": "true"},
    )  # fmt: skip
    for number in range(writes):
        places = range(partitions)
        table.upsert(
            rows(*((f"k{p}", f"p{p}", number) for p in places), *((f"k{p}-{number}", f"p{p}", number) for p in places))
        )
    return table


def watched(table: WritableTable) -> Watched:
    """The storage of a table, with nothing recorded."""
    assert isinstance(table.storage, Watched)
    table.storage.forget()
    return table.storage


def again(table: WritableTable, **options: str) -> WritableTable:
    """The table opened again, with other settings."""
    return open_table("memory:", storage=table.storage, options=options)


def expect_equal(table: WritableTable, where: Sequence[Comparison] = ()) -> pa.Table:
    """The rows of a filter, which are the same without the metadata table."""
    without = again(table, **{"hoodie.metadata.enable": "false"})
    found = again(table).snapshot(["id", "p", "n"], where)
    assert Counter(map(repr, found.to_pylist())) == Counter(map(repr, without.snapshot(["id", "p", "n"], where).to_pylist()))
    return found


@EACH_TYPE
def test_files_are_listed_through_the_metadata_table(kind: Any) -> None:
    """MDT-009: a query lists no folder of the table; the setting of deployed readers disables that."""
    table = table_of(kind, {"hoodie.metadata.enable": "true"})
    storage = watched(table)
    again(table).snapshot()
    assert storage.listed == []
    again(table, **{"hoodie.metadata.enable": "false"}).snapshot()
    assert storage.listed == [""]
    again(table).as_of(table.timeline.commits[0].requested)
    assert storage.listed == [""]
    expect_equal(table)


@EACH_TYPE
def test_the_listing_is_that_of_storage_after_each_action(kind: Any) -> None:
    """MDT-008: after writes, compaction, clean, rollback and archiving."""
    options = {
        "hoodie.metadata.enable": "true", "hoodie.compact.inline.max.delta.commits": "1", "hoodie.keep.min.commits": "3",
        "hoodie.keep.max.commits": "4", "hoodie.clean.commits.retained": "1",
    }  # fmt: skip
    table = table_of(kind, options, writes=4)
    for act in (compact, clean, lambda table: rollback(table, table.upsert(rows(("x", "p0", 1)))), archive):
        if act is not compact or kind == "MERGE_ON_READ":
            act(table)
        seen, stored = again(table).view(where=()).groups, again(table).view().groups
        assert {k: (g.latest, g.replaced_by) for k, g in seen.groups.items()} == {
            k: (g.latest, g.replaced_by) for k, g in stored.groups.items()
        }
        expect_equal(table)


@EACH_TYPE
def test_only_the_partitions_of_a_filter_are_looked_up(kind: Any) -> None:
    """MDT-009: a filter on the partition column gets the files of the matching partitions alone."""
    table = table_of(kind, {"hoodie.metadata.enable": "true"})
    assert {group.partition for group in again(table).view(where=[("p", "=", "p1")]).groups} == {"p1"}
    assert expect_equal(table, [("p", ">=", "p1"), ("n", "=", 2)]).num_rows == 4


@EACH_TYPE
def test_only_the_partitions_that_statistics_leave_are_looked_up(kind: Any) -> None:
    """MDT-010: a filter on another column gets the files of the partitions whose statistics may satisfy it. Those of all without
    data skipping, for a column matched by its field id, and if a comparison is invalid, which is an error as without statistics.
    """
    table = table_of(kind, {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"})
    table.upsert(rows(("k0", "p0", 50), ("k2", "p2", 30)))

    def partitions(where: Sequence[Comparison], by_id: bool = False, **options: str) -> set[str]:
        return {group.partition for group in replace(again(table, **options), schema_on_read=by_id).view(where=where).groups}

    assert partitions([("n", ">", 40)]) == {"p0"}
    assert partitions([("n", ">", 20), ("p", ">", "p0")]) == {"p2"}
    assert expect_equal(table, [("n", ">", 20)]).num_rows == 2
    assert len(partitions([("n", ">", 40)], **{"hoodie.enable.data.skipping": "false"})) == 3
    assert len(partitions([("n", ">", 40)], by_id=True)) == 3
    for invalid in [("none", "=", 1), ("n", "=", "text")]:
        with pytest.raises(InvalidQuery):
            again(table).snapshot(["id"], [invalid])


@EACH_TYPE
def test_a_listing_that_lacks_a_write_is_not_used(kind: Any) -> None:
    """RDR-018: a metadata table that was put back to an earlier state gives no stale rows: storage is listed."""
    table = table_of(kind, {"hoodie.metadata.enable": "true"})
    names = [name for name in table.storage.names(".hoodie/metadata/.hoodie/timeline") if name.endswith(".deltacommit")]
    newest = max(names)
    for info in table.storage.list(".hoodie/metadata"):
        if newest[:17] in info.path:
            table.storage.delete(info.path)
    storage = watched(table)
    assert again(table).snapshot().num_rows == 12
    assert storage.listed == [""]
    expect_equal(table)


def test_a_window_reads_the_files_that_a_snapshot_reads() -> None:
    """MDT-009, TYP-009: neither has the log files of a failed write that a rollback left, as one without markers does.

    The files are older than the active timeline, so that nothing else shows that their write did not complete.
    """
    table = table_of(
        "MERGE_ON_READ", {"hoodie.metadata.enable": "true", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}, 1
    )
    storage = table.storage
    before = {info.path: storage.get(info.path) for info in storage.list()}
    table.upsert(rows(("k0", "p0", 100)))
    after = {info.path: storage.get(info.path) for info in storage.list()}
    for path in after:
        storage.delete(path)
    for path, content in before.items():
        storage.put(path, content)
    for number in range(6):
        table.upsert(rows((f"k{number % 3}", f"p{number % 3}", number)))
    archive(table)
    for path in after.keys() - before.keys():
        if not path.startswith(".hoodie"):
            storage.put(path, after[path])
    present, first = again(table), table.timeline.commits[0].requested
    without = again(table, **{"hoodie.metadata.enable": "false"})
    assert "'n': 100" in str(without.snapshot().to_pylist())  # the files are found where storage is listed
    assert "'n': 100" not in str(present.snapshot().to_pylist())
    assert Counter(map(repr, present.incremental().to_pylist())) == Counter(map(repr, present.snapshot().to_pylist()))
    assert "'n': 100" not in str(present.changes(first).to_pylist())


@EACH_TYPE
def test_entries_of_pending_writes_are_not_used(kind: Any) -> None:
    """OCC-021: the metadata table has completed a write that the table has not."""
    table = table_of(kind, INDEXES)
    last = table.upsert(rows(("k0", "p0", 9), ("new", "p9", 9)))
    for name in table.storage.names(".hoodie/timeline"):
        if name.startswith(f"{last}_"):
            table.storage.delete(f".hoodie/timeline/{name}")
    assert expect_equal(table).num_rows == 12
    assert expect_equal(table, [("id", "=", "new")]).num_rows == 0
    assert expect_equal(table, [("id", "=", "k0")]).column("n").to_pylist() == [2]


@EACH_TYPE
@pytest.mark.parametrize("column", ["id", "_hoodie_record_key"])
@pytest.mark.parametrize(
    ("operator", "value", "found"),
    [("=", "k1", 1), ("=", "k1-2", 1), ("=", "none", 0), ("in", ["k1", "k2-0", "none"], 2), ("in", [], 0)],
)
def test_a_key_is_looked_up_in_the_record_index(kind: Any, column: str, operator: str, value: Any, found: int) -> None:
    """IDX-012: only the file groups that have the keys are read, and only the file groups of the index that may have them.

    A key without an entry may be in any slice (ER-202), which is searched for it.
    """
    table = table_of(kind, INDEXES)
    where = [(column, operator, value)]
    storage = watched(table)
    assert again(table).snapshot(["id"], where).num_rows == found
    is_absent = "none" in value and kind == "MERGE_ON_READ"
    assert len({path.partition("/")[0] for path in storage.read}) == (3 if is_absent else found)
    keys = 1 if isinstance(value, str) else len(value)
    assert len({path.split("record-index-")[1][:4] for path in storage.looked_up}) <= keys
    expect_equal(table, where)


@EACH_TYPE
def test_deleted_and_new_keys(kind: Any) -> None:
    """IDX-012: a deleted key has no file group, and a key that was written again has a new one."""
    table = table_of(kind, INDEXES)
    table.delete(pa.table({"id": ["k1"], "p": ["p1"]}))
    assert expect_equal(table, [("id", "=", "k1")]).num_rows == 0
    table.upsert(rows(("k1", "p0", 7)))
    assert expect_equal(table, [("id", "=", "k1")]).column("p").to_pylist() == ["p0"]
    expect_equal(table, [("id", "=", "k1"), ("n", ">", 7)])


def test_bloom_filters_exclude_base_files() -> None:
    """IDX-004: without a record index, base files without the key are not read; slices with log files are."""
    table = table_of("COPY_ON_WRITE", FILTERS)
    storage = watched(table)
    assert again(table).snapshot(["id"], [("id", "=", "k1")]).num_rows == 1
    assert {path.partition("/")[0] for path in storage.read} == {"p1"}
    logged = table_of("MERGE_ON_READ", FILTERS)
    logged.upsert(rows(("late", "p0", 1)), new_keys_in_logs=True)
    assert expect_equal(logged, [("id", "=", "late")]).num_rows == 1


def test_read_optimized_queries_do_not_use_the_record_index() -> None:
    """IDX-012: the index describes the merged rows; a base file still has a key that a log file deleted."""
    table = table_of("MERGE_ON_READ", INDEXES)
    table.delete(pa.table({"id": ["k1"], "p": ["p1"]}))
    assert again(table).read_optimized(["id"], [("id", "=", "k1")]).num_rows == 1
    assert again(table).as_of(table.timeline.commits[0].requested, ["id"], [("id", "=", "k1")]).num_rows == 1


def test_data_skipping_can_be_disabled() -> None:
    """IDX-012: with the setting of deployed readers every file is read, and the listing is still used."""
    table = table_of("COPY_ON_WRITE", INDEXES)
    storage = watched(table)
    again(table, **{"hoodie.enable.data.skipping": "false"}).snapshot(["id"], [("id", "=", "k1")])
    assert len(storage.read) == 9
    assert storage.listed == []


def test_a_damaged_index_is_not_used() -> None:
    """MDT-010: an index cannot fail a query: all files are read."""
    table = table_of("COPY_ON_WRITE", INDEXES)
    for info in table.storage.list(".hoodie/metadata/record_index"):
        if ".log." in info.path:
            table.storage.put(info.path, b"damaged")
    assert again(table).snapshot(["id"], [("id", "=", "k1")]).num_rows == 1


def read_by(table: WritableTable, where: Sequence[Comparison]) -> set[str]:
    """The partitions of the data files that a query reads; its rows are those without the metadata table."""
    expect_equal(table, where)
    storage = watched(table)
    again(table).snapshot(["id"], where)
    return {path.partition("/")[0] for path in storage.read if not path.startswith(".hoodie")}


@EACH_TYPE
def test_a_secondary_index_selects_the_file_groups_of_a_value(kind: Any) -> None:
    """IDX-024: also for values that changed and for records that moved between partitions; other files are not read. Without
    constants that have one text, and in read-optimized queries, the index decides nothing.
    """
    moves = {"hoodie.index.type": "RECORD_INDEX", "hoodie.record.index.update.partition.path": "true"}
    table = table_of(kind, INDEXES, writes=1)
    for column in ("n", "ts") if kind == "COPY_ON_WRITE" else ("n",):  # Apache Hudi 1.2.0 maintains one of several
        create_index(table, f"by_{column}", column)
    writer = again(table, **INDEXES, **moves)
    writer.upsert(rows(("k0", "p0", 7), ("k1", "p2", 8), ("k2", "p2", 9)))
    assert read_by(table, [("n", "=", 7)]) == {"p0"}
    assert read_by(table, [("n", "=", 8)]) == {"p2"}
    assert read_by(table, [("n", "in", [7, 9])]) == {"p0", "p2"}
    assert read_by(table, [("n", "=", 100)]) == set() == read_by(table, [("n", "in", [None])])
    writer.delete(pa.table({"id": ["k0"]}))
    assert read_by(table, [("n", "=", 7)]) == set()
    assert len(read_by(table, [("n", ">", 7)])) == 3 == len(read_by(table, [("n", "=", 7.0)]))
    optimized = again(table).read_optimized(["id"], [("n", "=", 0)]).num_rows
    assert optimized == again(table, **{"hoodie.metadata.enable": "false"}).read_optimized(["id"], [("n", "=", 0)]).num_rows


def test_what_a_query_needs_of_an_index_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """MDT-010, IDX-024: with several comparisons, the files of a partition that its statistics exclude are looked up once before
    the listing, and the first write after the creation of a secondary index is looked for once.
    """
    statistics = {"hoodie.metadata.index.column.stats.enable": "true", "hoodie.metadata.index.partition.stats.enable": "true"}
    table = table_of("COPY_ON_WRITE", {**INDEXES, **statistics}, writes=1)
    create_index(table, "by_n", "n")
    looked_up, first_writes = Counter[str](), list[str]()
    get, lacks = IndexSnapshot.get, index_creation.lacks_first_write

    def counted(self: IndexSnapshot, partition: str, keys: Collection[str]) -> dict[str, MetadataRecord]:
        looked_up.update(keys if partition == "files" else ())
        return get(self, partition, keys)

    def noted(index: str, *arguments: Any) -> bool:
        first_writes.append(index)
        return lacks(index, *arguments)

    monkeypatch.setattr(IndexSnapshot, "get", counted)
    monkeypatch.setattr(query_indexes, "lacks_first_write", noted)
    monkeypatch.setattr(query_indexes.QueryIndexes, "_stats_of_files", lambda self, index, column, files: [None] * len(files))
    assert again(table).snapshot(["id"], [("n", "in", [7, 8]), ("n", "=", 7), ("ts", "=", 7)]).num_rows == 0
    assert first_writes == ["secondary_index_by_n"]
    assert {looked_up[f"p{number}"] for number in range(3)} == {2}


@EACH_TYPE
def test_a_secondary_index_that_may_lack_entries_is_not_used(kind: Any) -> None:
    """MDT-010: Apache Hudi 1.0.2, whose definitions have no version, loses the entry of a record that moves to another
    partition. Its index of a table without partitions is complete.
    """
    table = table_of(kind, INDEXES, writes=1)
    create_index(table, "by_n", "n")
    assert read_by(table, [("n", "=", 100)]) == set()
    path = ".hoodie/.index_defs/index.json"
    table.storage.put(path, b"".join(one for one in table.storage.get(path).splitlines(True) if b"version" not in one)
                      .replace(b'"indexOptions" : { },', b'"indexOptions" : { }'))  # fmt: skip
    assert len(read_by(table, [("n", "=", 100)])) == 3
    whole = create_table(
        "memory:", name="t", schema=SCHEMA, record_key=("id",), table_type=kind, storage=Watched(), options=INDEXES
    )
    whole.upsert(rows(("a", "x", 1)))
    create_index(whole, "by_n", "n")
    whole.storage.put(path, table.storage.get(path))
    assert read_by(whole, [("n", "=", 100)]) == set()


def test_texts_of_other_types_are_not_looked_up() -> None:
    """IDX-026: a number column that became a text column has entries with the texts of its numbers, as their writer made
    them.
    """
    fields = [{"name": n, "type": ["null", k], "default": None} for n, k in (("id", "string"), ("d", "double"))]
    table = create_table("memory:", name="t", schema={**SCHEMA, "fields": fields}, record_key=("id",), storage=Watched(),
                         options={**INDEXES, "hoodie.datasource.write.reconcile.schema": "true"})  # fmt: skip
    table.upsert(pa.table({"id": ["a", "b"], "d": [1.5, 1e20]}))
    create_index(table, "by_d", "d")
    table.upsert(pa.table({"id": ["c"], "d": ["text"]}))
    for value in ("1.5", "1.0E20", "1e+20", "text"):
        with_it, without = (again(table, **{"hoodie.metadata.enable": on}) for on in ("true", "false"))
        where: Sequence[Comparison] = [("d", "=", value)]
        assert with_it.snapshot(["id"], where) == without.snapshot(["id"], where), value


def test_a_key_without_an_entry_is_found_after_a_compaction(tmp_path: Path) -> None:
    """ER-202: a release lost the entry of a key in a log file; a compaction moves its row to a base file and adds no entry."""
    golden = Path(__file__).parents[3] / "fixtures" / "queries" / "version-9.key-written-again.mor.without-entry" / "table"
    shutil.copytree(golden, tmp_path / "table")
    uri = (tmp_path / "table").as_uri()
    assert compact(open_table(uri, options={"hoodie.compact.inline.max.delta.commits": "1"})) is not None
    assert not any(one.log_files for one in open_table(uri).file_groups().latest_slices)
    for key in ("a", "b"):
        assert open_table(uri).snapshot(["id"], [("id", "=", key)]).to_pylist() == [{"id": key}]
