"""Writes with a global index: they equal a dictionary of rows by key, and a look-up reads few blocks of the record index."""

from collections import Counter
from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hudi_reference import compact, create_table
from hudi_reference.errors import Misuse
from hudi_reference.storage import MemoryStorage
from hudi_reference.tables import WritableTable
from hudi_reference.write.placement.global_index import GlobalLookup
from hudi_reference.write.placement.rows import prepare

FIELDS = (("id", "string"), ("ts", "long"), ("p", "string"), ("v", "string"))
SCHEMA = {"type": "record", "name": "t", "fields": [{"name": n, "type": ["null", k], "default": None} for n, k in FIELDS]}
TYPES = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("p", pa.string()), ("v", pa.string())])
INDEXED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
}
RECORD_INDEX = {"hoodie.index.type": "RECORD_INDEX"}
MOVING = {**RECORD_INDEX, "hoodie.record.index.update.partition.path": "true"}
INDEXES = {
    "record index, moving": MOVING,
    "record index": RECORD_INDEX,
    "simple index": {"hoodie.index.type": "global_simple"},
    "bloom index, staying": {"hoodie.index.type": "GLOBAL_BLOOM", "hoodie.bloom.index.update.partition.path": "false"},
}
Kind = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]


def rows_of(*rows: tuple[str, int, str, str]) -> pa.Table:
    """Rows of key, ordering value, partition and value."""
    return pa.Table.from_pylist([dict(zip(TYPES.names, row, strict=True)) for row in rows], schema=TYPES)


def made(options: dict[str, str], kind: Kind = "COPY_ON_WRITE", storage: Any = None, **more: Any) -> WritableTable:
    """An empty table."""
    chosen: dict[str, Any] = {"ordering": ("ts",), **more}
    return create_table("memory:", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), table_type=kind,
                        storage=storage or MemoryStorage(), options=options, **chosen)  # fmt: skip


def stored(table: WritableTable) -> list[tuple[Any, ...]]:
    """The rows with their partition paths."""
    found = table.snapshot(["_hoodie_partition_path", *TYPES.names]).to_pylist()
    return sorted(tuple(one.values()) for one in found)


ROW = st.tuples(st.sampled_from("abcd"), st.integers(0, 9), st.sampled_from("xyz"), st.text("mn", max_size=1))
STEP = st.one_of(
    st.tuples(st.just("upsert"), st.lists(ROW, min_size=1, max_size=4)),
    st.tuples(st.just("delete"), st.lists(st.sampled_from("abcd"), min_size=1, max_size=2, unique=True)),
    st.tuples(st.just("compact"), st.just([])),
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["COPY_ON_WRITE", "MERGE_ON_READ"]),
    st.sampled_from(sorted(INDEXES)),
    st.booleans(),
    st.lists(STEP, min_size=1, max_size=5),
)
def test_a_table_is_a_dictionary_by_key(kind: Kind, index: str, by_event: bool, steps: list[Any]) -> None:
    """LAY-021: with a global index, whichever partitions the rows name. A record moves with the row that wins the merge, or
    keeps its partition.
    """
    moves = "moving" in index or index == "simple index"
    table = made({**INDEXED, **INDEXES[index]}, kind, ordering=("ts",) if by_event else ())
    model: dict[str, tuple[str, int, str, str]] = {}
    for step, content in steps:
        if step == "compact" and kind == "MERGE_ON_READ":
            compact(table)
        elif step == "delete":
            table.delete(pa.table({"id": content}))
            model = {key: row for key, row in model.items() if key not in content}
        elif step == "upsert":
            table.upsert(rows_of(*content))
            before = dict(model)
            batch: dict[str, tuple[str, int, str, str]] = {}
            for row in content:
                batch[row[0]] = _later(batch.get(row[0]), row, by_event)
            for key, row in batch.items():
                won = _later(model.get(key), row, by_event)
                model[key] = won if moves or key not in before else (won[0], won[1], before[key][2], won[3])
        assert stored(table) == sorted((p, key, ts, p, v) for key, ts, p, v in model.values())


def _later(old: Any, new: Any, by_event: bool) -> Any:
    return old if old is not None and by_event and new[1] < old[1] else new


def test_a_delete_by_key_needs_no_partition_column() -> None:
    """OCC-008: the rows of the delete have the key alone. Without a global index the partition column is required."""
    table = made({**INDEXED, **RECORD_INDEX})
    table.upsert(rows_of(("a", 1, "x", ""), ("b", 1, "y", "")))
    table.delete(pa.table({"id": ["b", "none"]}))
    assert stored(table) == [("x", "a", 1, "x", "")]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_partial_update_changes_the_record_where_it_is(kind: Kind) -> None:
    """LF-046: with an index that moves records too, because a partial update does not have the columns of an insert."""
    table = made({**INDEXED, **MOVING}, kind)
    table.upsert(rows_of(("a", 1, "x", "old"), ("b", 1, "y", "old")))
    table.partial_update(pa.table({"id": ["a", "none"], "p": ["y", "y"], "ts": [2, 2], "v": ["new", "new"]}))
    assert stored(table) == [("x", "a", 2, "x", "new"), ("y", "b", 1, "y", "old")]


def test_a_key_that_was_inserted_twice_moves_once() -> None:
    """LAY-021: an insert without a look-up stored the key in two partitions; the next update of it leaves one record."""
    table = made({"hoodie.index.type": "GLOBAL_SIMPLE"})
    table.insert(rows_of(("a", 1, "x", "1"), ("b", 1, "x", "1")))
    table.insert(rows_of(("a", 2, "y", "2")))
    table.upsert(rows_of(("a", 3, "z", "3")))
    assert stored(table) == [("x", "b", 1, "x", "1"), ("z", "a", 3, "z", "3")]
    table.insert(rows_of(("b", 2, "y", "2")))
    table.upsert(rows_of(("b", 3, "y", "3")))
    assert stored(table) == [("y", "b", 3, "y", "3"), ("z", "a", 3, "z", "3")]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_row_that_is_flagged_as_deleted_removes_its_record_in_any_partition(kind: Kind) -> None:
    """MRG-014: the flagged row names another partition; a late one removes nothing."""
    fields = [*SCHEMA["fields"], {"name": "_hoodie_is_deleted", "type": ["null", "boolean"], "default": None}]  # type: ignore[misc]
    table = create_table("memory:", name="t", schema={**SCHEMA, "fields": fields}, record_key=("id",), partition=("p",),
                         ordering=("ts",), table_type=kind, storage=MemoryStorage(), options={**INDEXED, **MOVING})  # fmt: skip

    def flagged(rows: pa.Table, flag: bool) -> pa.Table:
        return rows.append_column("_hoodie_is_deleted", pa.repeat(pa.scalar(flag), rows.num_rows))

    table.upsert(flagged(rows_of(("a", 5, "x", ""), ("b", 5, "x", "")), False))
    table.upsert(flagged(rows_of(("a", 9, "y", ""), ("b", 1, "y", ""), ("none", 1, "y", "")), True))
    assert stored(table) == [("x", "b", 5, "x", "")]


def test_a_table_without_meta_columns_moves_records() -> None:
    """META-012: keys are made from the key fields."""
    table = made({"hoodie.index.type": "GLOBAL_SIMPLE"}, properties={"hoodie.populate.meta.fields": "false"})
    table.upsert(rows_of(("a", 1, "x", ""), ("b", 1, "x", "")))
    table.upsert(rows_of(("a", 2, "y", "moved")))
    assert sorted(tuple(one.values()) for one in table.snapshot(TYPES.names).to_pylist()) == [
        ("a", 2, "y", "moved"), ("b", 1, "x", "")]  # fmt: skip


def test_an_unknown_type_of_index_is_misuse() -> None:
    """OCC-008: a writer whose look-up would differ from that of the other writers is refused."""
    with pytest.raises(Misuse, match="HBASE"):
        made({"hoodie.index.type": "HBASE"}).upsert(rows_of(("a", 1, "x", "")))


class Counted(MemoryStorage):
    """Counts the reads of each file and their bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """As any storage."""
        found = super().get(path, start, length)
        self.reads[path] += 1
        self.bytes[path] += len(found)
        return found

    def open(self, path: str) -> pa.NativeFile:
        """As any storage."""
        self.reads[path] += 1
        return super().open(path)


def test_a_look_up_reads_few_blocks_of_the_record_index() -> None:
    """IDX-011: of a base file with many blocks, an upsert of one key reads the trailer, the index, and the block of the key. Of
    the data files it reads only the one with the record.
    """
    storage, count = Counted(), 30_000
    table = made({}, storage=storage)
    for p in "xyz":
        table.bulk_insert(rows_of(*((f"key-{number:06}-{p}", 1, p, "") for number in range(count // 3))))
    indexed = replace(table, options={**INDEXED, **RECORD_INDEX, "hoodie.metadata.record.index.min.filegroup.count": "1"})
    indexed.upsert(rows_of(("key-000000-x", 2, "x", "")))
    (base,) = [one.path for one in storage.list(".hoodie/metadata/record_index") if one.path.endswith(".hfile")]
    (held,) = [one.path for one in storage.list("y") if one.path.endswith(".parquet")]
    storage.reads.clear()
    storage.bytes.clear()
    indexed.upsert(rows_of(("key-004711-y", 2, "z", "found")))
    size = storage.head(base).size  # type: ignore[union-attr]
    assert storage.reads[base] <= 3 and storage.bytes[base] < size / 4, (storage.bytes[base], size)
    assert {path for path in storage.reads if path.endswith(".parquet") and path[0] in "xyz" and path != held} <= {
        one.path for one in storage.list("y") if one.path != held
    }, "only the file group of the key is read"
    assert ("y", "key-004711-y", 2, "y", "found") in stored(indexed)


def test_a_record_index_of_another_state_is_not_used() -> None:
    """OCC-008: the metadata table lacks the last write, so that keys are looked up in the slices. The setting of the record
    index says what happens with the record, not that of the simple index.
    """
    table = made({**INDEXED, **RECORD_INDEX})
    table.upsert(rows_of(("a", 1, "x", "")))
    replace(table, hooks=replace(table.hooks, before_completion=())).insert(
        rows_of(("b", 1, "y", ""))
    )  # a writer that does not maintain the index
    found = GlobalLookup.for_write(table, view := table.view(), reader := view.reader(table), table.properties)
    assert found is not None and found.find is not None and found.find(["a"]) is None
    located = found.locate(prepare(rows_of(("b", 2, "x", "new")), table.properties, reader.schema))
    assert [(one.partition, rows.num_rows) for one, rows in located.known] == [("y", 1)] and not located.new
