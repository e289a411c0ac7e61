"""The search of record keys in file slices: no key of a row is missed, and slices without a key are not read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hudi_reference import WritableTable, compact, create_index, create_table, open_table
from hudi_reference.errors import HudiError
from hudi_reference.files.base.footer import FILTER, FILTER_TYPE, MAX_KEY, MIN_KEY
from hudi_reference.files.base.parquet import parquet_of
from hudi_reference.files.bloom.bloom import FilterType, make_filter
from hudi_reference.metadata.lookup import key_lookup
from hudi_reference.query.file_groups import CommittedFiles, FileSlice
from hudi_reference.query.key_search import may_have_keys, possible_keys
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.storage import MemoryStorage
from hudi_reference.write.placement.global_index import GlobalLookup
from hudi_reference.write.placement.rows import prepare

FIELDS = (("id", "string"), ("ts", "long"), ("p", "string"), ("v", "string"))
SCHEMA = {
    "type": "record", "name": "t",
    "fields": [{"name": n, "type": ["null", k], "default": None} for n, k in (*FIELDS, ("_hoodie_is_deleted", "boolean"))],
}  # fmt: skip
KINDS = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("p", pa.string()), ("v", pa.string()),
                   ("_hoodie_is_deleted", pa.bool_())])  # fmt: skip
INDEXED = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.index.enable": "true", "hoodie.index.type": "RECORD_INDEX"}
PARTITIONED = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.level.index.enable": "true"}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
COMPACT = {"hoodie.compact.inline.max.delta.commits": "1"}
#: Keys of one and several bytes, and a key whose bytes are part of another one.
KEYS = ("a", "ab", "é", "\U0001f600", "k" * 40)
EMPTY: Mapping[str, str] = MappingProxyType({})
Row = tuple[str, int, str, str, bool]


def rows_of(*rows: Row) -> pa.Table:
    """Rows of key, ordering value, partition, value and flag of a delete."""
    return pa.Table.from_pylist([dict(zip(KINDS.names, row, strict=True)) for row in rows], schema=KINDS)


def made(options: dict[str, str], **more: Any) -> WritableTable:
    """An empty merge-on-read table."""
    return create_table("memory:", name="t", schema=SCHEMA, **{"record_key": ("id",), **more}, partition=("p",), ordering=("ts",),
                        table_type="MERGE_ON_READ", storage=MemoryStorage(), options=options)  # fmt: skip


def again(table: WritableTable, **options: str) -> WritableTable:
    """The table opened again, with these settings in addition."""
    return open_table("memory:", storage=table.storage, options={**table.options, **options})


def expect_found(table: WritableTable) -> None:
    """In each slice the keys of its rows are found, also among many, and no other key that no file has."""
    view = table.view()
    reader = view.reader(table)
    absent = [f"absent-{number}" for number in range(40)]
    for one in view.groups.latest_slices:
        current = set(reader.current_keys(one).to_pylist())
        for asked in (KEYS, absent, [*KEYS, *absent]):
            found = set(possible_keys(reader, one, pa.array(asked, pa.string())).to_pylist())
            assert found >= current & set(asked) and not found & set(absent)
        assert all(may_have_keys(reader, one, [key]) for key in current) and not may_have_keys(reader, one, absent[:1])


ROW = st.tuples(st.sampled_from(KEYS), st.integers(0, 9), st.sampled_from("xy"), st.text("mn", max_size=1), st.booleans())
STEP: st.SearchStrategy[tuple[str, list[Any]]] = st.one_of(
    st.tuples(
        st.sampled_from(["upsert", "insert", "logged", "partial"]),
        st.lists(ROW, min_size=1, max_size=4, unique_by=lambda row: row[0]),
    ),
    st.tuples(st.just("delete"), st.lists(st.sampled_from(KEYS), min_size=1, max_size=2, unique=True)),
    st.tuples(st.sampled_from(["compact", "plan"]), st.just([])),
)
EACH_BLOCK = st.sampled_from(["avro", "parquet", "hfile"])


def run(table: WritableTable, step: str, content: Sequence[Any]) -> None:
    """Run a step of a program."""
    if step == "compact":
        compact(again(table, **COMPACT))
    elif step == "plan":
        schedule_compaction(again(table, **COMPACT))
    elif step == "delete":
        table.delete(pa.table({"id": content, "p": ["x"] * len(content)}))
    elif step == "logged":
        table.insert(rows_of(*content), new_keys_in_logs=True)
    elif step == "partial":
        table.partial_update(rows_of(*content).select(["id", "ts", "p", "v"]))
    else:
        getattr(table, step)(rows_of(*content))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(EACH_BLOCK, st.sampled_from([{}, BUCKETS]), st.sampled_from([8, 9]), st.lists(STEP, min_size=1, max_size=6))
def test_no_key_of_a_row_is_missed(block: str, index: dict[str, str], version: int, steps: list[Any]) -> None:
    """IDX-012: in base files and log blocks of each format, in slices of log files alone and of pending compactions."""
    table = made({**index, "hoodie.logfile.data.block.format": block}, version=version)
    for step, content in steps:
        run(table, step, content)
        expect_found(again(table))


@pytest.mark.parametrize("fields", [("id",), ("id", "v")])
def test_a_table_without_meta_columns(fields: tuple[str, ...]) -> None:
    """META-012: the keys of rows are made from the key fields."""
    table = made({}, record_key=fields, properties={"hoodie.populate.meta.fields": "false"})
    table.upsert(rows_of(("a", 1, "x", "m", False), ("é", 1, "x", "n", False)))
    table.insert(rows_of(("b", 2, "x", "m", False), ("new", 2, "y", "n", False)), new_keys_in_logs=True)
    expect_found(again(table))


@pytest.mark.parametrize("block", ["avro", "parquet", "hfile"])
def test_a_key_in_a_log_file_alone(block: str) -> None:
    """IDX-012, BLK-018: the bytes of a key are looked for in Avro blocks only: others may be compressed."""
    table = made({"hoodie.logfile.data.block.format": block})
    table.upsert(rows_of(("a", 1, "x", "m", False)))
    keys = [f"key-{number:06}" for number in range(0, 300_000, 997)]
    table.insert(rows_of(*((key, 1, "x", "", False) for key in keys)), new_keys_in_logs=True)
    view = table.view()
    (one,) = (found for found in view.groups.latest_slices if found.log_files)
    assert [key for key in (*keys[::30], "key-000001") if may_have_keys(view.reader(table), one, [key])] == keys[::30]


def slice_with_footer(
    entries: Mapping[str, str | None], properties: Mapping[str, str] = EMPTY
) -> tuple[SliceReader, FileSlice]:
    """A base file with the keys of KEYS, with these entries in its footer instead of its own; None for without."""
    table = made({}, properties=properties)
    table.upsert(rows_of(*((key, 1, "x", "", False) for key in KEYS)))
    view = table.view()
    (one,) = view.groups.latest_slices
    path = one.path(one.base_file or "")
    stored = pq.ParquetFile(pa.BufferReader(table.storage.get(path)))
    own = {key.decode(): value.decode() for key, value in stored.metadata.metadata.items()}
    changed = {key: value for key, value in {**own, **entries}.items() if value is not None}
    table.storage.put(path, parquet_of(stored.read(), changed))
    reader = view.reader(table)
    # The file is not the one that the write describes any more.
    return replace(reader, scanner=replace(reader.scanner, committed=CommittedFiles({}, {}))), one


def filter_of(*keys: str, kind: FilterType = FilterType.SIMPLE) -> str:
    """A filter with these keys."""
    return make_filter(keys, kind, entries=max(1, len(keys) // 2), rate=1e-9).encode()


@pytest.mark.parametrize(
    "entries",
    [
        {FILTER: None},
        {FILTER: "not Base64!"},
        {FILTER: filter_of(*KEYS)[:-8]},
        {FILTER_TYPE: "OF_A_LATER_RELEASE"},
        {FILTER: filter_of(), FILTER_TYPE: None, MIN_KEY: None, MAX_KEY: None},
    ],
    ids=["none", "no text of a filter", "cut", "unknown kind", "no key was added"],
)
def test_a_filter_that_cannot_be_used_excludes_nothing(entries: Mapping[str, str | None]) -> None:
    """IDX-004, IDX-012: then the record keys of the base file decide."""
    reader, one = slice_with_footer(entries)
    assert [key for key in (*KEYS, "absent") if may_have_keys(reader, one, [key])] == list(KEYS)
    assert not may_have_keys(reader, one, ["absent", ""])


def test_a_filter_in_a_table_without_meta_columns_is_not_used() -> None:
    """META-012: whatever was added to it, it was not the record keys, which no file has."""
    entries = {FILTER: filter_of("b"), MIN_KEY: "b", MAX_KEY: "b"}
    reader, one = slice_with_footer(entries, {"hoodie.populate.meta.fields": "false"})
    assert all(may_have_keys(reader, one, [key]) for key in KEYS) and not may_have_keys(reader, one, ["b"])


@pytest.mark.parametrize("kind", FilterType)
def test_a_filter_decides_without_the_keys(kind: FilterType, monkeypatch: pytest.MonkeyPatch) -> None:
    """IDX-004, IDX-005: filters of fixed size and of several rows; neither rows nor keys are read."""
    type_code = {} if kind is FilterType.SIMPLE else {FILTER_TYPE: kind.value}
    reader, one = slice_with_footer({FILTER: filter_of(*KEYS, kind=kind), FILTER_TYPE: None, **type_code})
    monkeypatch.delattr(SliceReader, "base_keys")
    assert [key for key in (*KEYS, "absent") if may_have_keys(reader, one, [key])] == list(KEYS)
    assert possible_keys(reader, one, pa.array(["absent", *KEYS])).to_pylist() == list(KEYS)


@pytest.mark.parametrize("content", [b"", b"PAR1 damaged PAR1", None], ids=["empty", "damaged", "missing"])
@pytest.mark.parametrize("suffix", [".parquet", ".log.1_0-0-0"])
def test_a_file_that_cannot_be_read_may_have_every_key(content: bytes | None, suffix: str) -> None:
    """IDX-012, RDR-012: the search raises no error, and the query that reads the slice does."""
    table = made({"hoodie.metadata.enable": "true", "hoodie.metadata.record.index.enable": "true"})
    table.upsert(rows_of(("a", 1, "x", "", False)))
    table.upsert(rows_of(("a", 2, "x", "", False)))
    (path,) = (found.path for found in table.storage.list("x") if found.path.endswith(suffix) or suffix[:4] in found.path)
    if content is None:
        table.storage.delete(path)
    else:
        table.storage.put(path, content)
    view = again(table).view(where=())
    (one,) = view.groups.latest_slices
    assert may_have_keys(view.reader(table), one, ["absent"])
    with pytest.raises(HudiError):
        again(table).snapshot(["id"], [("id", "=", "absent")])


def rows_found(table: WritableTable, where: Sequence[Any], **options: str) -> Counter[str]:
    """The rows of a filter."""
    return Counter(map(repr, again(table, **options).snapshot(["id", "p", "ts", "v"], where).to_pylist()))


UNIQUE_STEP = STEP.filter(lambda step: step[0] in ("upsert", "delete", "compact", "plan"))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from([INDEXED, PARTITIONED]), EACH_BLOCK, st.lists(UNIQUE_STEP, min_size=1, max_size=5))
def test_a_record_index_without_entries_loses_no_row(options: dict[str, str], block: str, steps: list[Any]) -> None:
    """ER-202, ER-207: whichever entries an index lacks, queries by record key and by secondary key find the rows, and an upsert
    changes them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_lookup, "_locations", lambda snapshot, keys: {})
        table = made({**options, "hoodie.logfile.data.block.format": block}, version=9)
        table.upsert(rows_of(("a", 1, "x", "m", False), ("ab", 1, "y", "m", False)))
        create_index(again(table), "by_v", "v")
        for step, content in steps:
            run(again(table), step, content)
        wheres = [("id", "=", key) for key in KEYS] + [("id", "in", ["a", "é", "absent"]), ("v", "=", "m")]
        for where in wheres:
            assert rows_found(table, [where]) == rows_found(table, [where], **{"hoodie.metadata.enable": "false"}), where
        places = ["id"] if options is INDEXED else ["id", "p"]
        stored = Counter(tuple(row.values()) for row in again(table).snapshot(places).to_pylist())
        assert not stored or max(stored.values()) == 1


@pytest.mark.parametrize("compacted", [False, True])
def test_slices_without_the_key_are_not_read(compacted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """IDX-012: of a key without an entry only the slices are read that may have it, by queries and by upserts."""
    table = made(INDEXED)
    for ts in (1, 2):
        table.upsert(rows_of(*((f"{p}{number}", ts, p, "", False) for p in "wxyz" for number in range(100))))
    if compacted:
        compact(again(table, **COMPACT))
    read, reading = list[str](), SliceReader.read

    def noted(self: SliceReader, one: FileSlice, *arguments: Any, **more: Any) -> pa.Table:
        read.append(one.partition)
        return reading(self, one, *arguments, **more)

    monkeypatch.setattr(SliceReader, "read", noted)
    monkeypatch.setattr(key_lookup, "_locations", lambda snapshot, keys: {})
    assert again(table).snapshot(where=[("id", "=", "absent")]).num_rows == 0 and read == []
    assert again(table).snapshot(where=[("id", "=", "x7")]).num_rows == 1 and read == ["x"]
    read.clear()
    view = (writer := again(table)).view()
    lookup = GlobalLookup.for_write(writer, view, reader := view.reader(writer), writer.properties)
    assert lookup is not None
    rows = rows_of(("new", 3, "w", "", False), ("y7", 3, "y", "", False))
    located = lookup.locate(prepare(rows, writer.properties, reader.schema))
    assert [one.partition for one, _ in located.known] == read == ["y"]
    assert [(partition, new.num_rows) for partition, new in located.new] == [("w", 1)]
