"""Bad input: one typed error that names file and rule, and a table that is as it was."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from reference_samples import (
    FLAGGED_SCHEMA,
    SCHEMA,
    START,
    TABLE_TYPES,
    completed_path,
    contents,
    data_files,
    flagged,
    keys,
    names,
    new_table,
    reopened,
    rows_of,
    set_property,
    trip,
    trips,
)

from hudi_reference import WritableTable, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import (
    CorruptCommittedBlock,
    HudiError,
    InstantExists,
    InvalidQuery,
    InvalidRows,
    MalformedBaseFile,
    MalformedFileName,
    MalformedInstantName,
    MalformedLogFile,
    MalformedMetadata,
    MalformedTable,
    MissingDataFile,
    Misuse,
    PathOutsideTable,
    TableExists,
    UnsupportedTableFeature,
    WriteConflict,
)
from hudi_reference.ids import SeededIds
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.contents.avro_container import write_record

TIMELINE = ".hoodie/timeline"


def sample(table_type: str = "MERGE_ON_READ") -> WritableTable:
    """A table of two records, one of them changed since: on merge-on-read in a log file."""
    table = new_table(table_type=table_type, ordering=("ts",), partition=("p",))
    table.insert(trips(trip("1", "a", 1, "x"), trip("2", "b", 1, "x")))
    table.upsert(trips(trip("1", "new", 2, "x")))
    return table


@contextmanager
def refused(
    table: WritableTable | Storage, error: type[HudiError], rule: str | None = None, path: str | None = None
) -> Iterator[None]:
    """The block raises exactly this error, naming rule and path, and leaves every byte of the table as it was."""
    storage = table.storage if isinstance(table, WritableTable) else table
    before = contents(storage)
    with pytest.raises(error) as raised:
        yield
    assert isinstance(raised.value, error)
    assert raised.value.rule == rule or rule is None, raised.value
    assert raised.value.path == path or path is None, raised.value
    assert contents(storage) == before
    assert type(raised.value).__name__ in str(raised.value)


@pytest.mark.parametrize(
    "name", ["2026.commit", "20260101000000000.commit", "20260101000000000_20260101000000001.inflight", "1.commit.requested"]
)
def test_a_false_instant_stops_readers_and_writers(name: str) -> None:
    """TL-027, TL-028, TL-031: a name that claims to be an instant and is none is an error, for it may hide a write."""
    table = sample()
    table.storage.put(f"{TIMELINE}/{name}", b"")
    with refused(table, MalformedInstantName, path=name):
        table.snapshot()
    with refused(table, MalformedInstantName, path=name):
        table.upsert(trips(trip("1", "z", 9, "x")))


def test_foreign_files_are_ignored() -> None:
    """TL-053, LAY-019: what is neither instant nor data file is passed over, wherever it lies."""
    table = sample()
    for path in (f"{TIMELINE}/20260101000000000.commit.8c1b", f"{TIMELINE}/.20260101.inflight.crc", f"{TIMELINE}/sub/1.commit",
                 "x/README.md", "x/.f_1.log.1_0-0-0.crc", "x/f_0-0-0_1.parquet.tmp", "_SUCCESS", ".hoodie/.aux/x"):  # fmt: skip
        table.storage.put(path, b"foreign")
    assert names(table) == {"1": "new", "2": "b"}
    table.upsert(trips(trip("2", "c", 2, "x")))
    assert names(table) == {"1": "new", "2": "c"}


@pytest.mark.parametrize("content", [b"", b"{}", b"Obj\x01 not Avro", b"PAR1"])
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_commit_metadata_that_is_none_is_an_error(table_type: str, content: bytes) -> None:
    """TL-002, TL-007: without it the committed files are not known."""
    table = sample(table_type)
    path = completed_path(table)
    table.storage.put(path, content)
    with refused(table, MalformedMetadata, "TL-002", path):
        table.snapshot()
    with refused(table, MalformedMetadata, "TL-002", path):
        table.delete(keys("1", p=["x"]))


def test_commit_metadata_of_another_schema_is_an_error() -> None:
    """TL-007: an Avro container with some other record."""
    table = sample()
    path = completed_path(table)
    schema = {"type": "record", "name": "HoodieCleanMetadata", "fields": [{"name": "version", "type": "int"}]}
    table.storage.put(path, write_record(schema, {"version": 2}, bytes(16)))
    with refused(table, MalformedMetadata, "TL-007", path):
        table.snapshot()


def rewrite_metadata(table: WritableTable, change: Callable[[dict[str, Any]], object]) -> str:
    """Change the last completed action's record."""
    path = completed_path(table)
    reader = fastavro.reader(io.BytesIO(table.storage.get(path)))
    (record,) = reader
    change(record)
    table.storage.put(path, write_record(json.loads(json.dumps(reader.writer_schema)), record, bytes(16)))
    return path


def first_stat(record: dict[str, Any]) -> dict[str, Any]:
    """The first write stat of commit metadata."""
    (stats, *_) = record["partitionToWriteStats"].values()
    return dict.__getitem__({"stat": stats[0]}, "stat")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("path", "../other/f-0_0-0-0_1.parquet"),
        ("path", "/etc/passwd"),
        ("fileId", "../../f"),
        ("fileId", "a/b"),
        ("path", "x/\0"),
    ],
)
def test_metadata_that_leads_outside_is_an_error(key: str, value: str) -> None:
    """LAY-005, LAY-020: paths and file ids of the metadata outside the table are refused."""
    table = sample()
    path = rewrite_metadata(table, lambda record: first_stat(record).update({key: value}))
    with refused(table, PathOutsideTable, path=path):
        table.snapshot()
    with refused(table, PathOutsideTable, path=path):
        table.upsert(trips(trip("1", "z", 9, "x")))


def test_metadata_that_names_no_data_file_is_an_error() -> None:
    """BF-003: a path whose name follows no grammar."""
    table = sample()
    rewrite_metadata(table, lambda record: first_stat(record).update(path="x/what is this"))
    with refused(table, MalformedFileName, "BF-003", "x/what is this"):
        table.snapshot()


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_missing_data_file_is_an_error(table_type: str) -> None:
    """TL-036: the newest file of the slice is gone; older data must not be served in its place."""
    table = sample(table_type)
    path = data_files(table, ".log." if table_type == "MERGE_ON_READ" else table.timeline.completed[-1].requested)[0]
    table.storage.delete(path)
    with refused(table, MissingDataFile, "TL-036", path):
        table.snapshot()
    with refused(table, MissingDataFile, "TL-036", path):
        table.upsert(trips(trip("1", "z", 9, "x")))


def test_a_missing_base_file_under_logs_is_an_error() -> None:
    """TL-036: also for a read-optimized query, which reads nothing else."""
    table = sample()
    (path,) = data_files(table, ".parquet")
    table.storage.delete(path)
    with refused(table, MissingDataFile, "TL-036", path):
        table.snapshot()
    with refused(table, MissingDataFile, "TL-036", path):
        table.read_optimized()


def test_a_read_optimized_query_does_not_need_the_logs() -> None:
    """TYP-017: a missing log file does not concern a query of base files."""
    table = sample()
    table.storage.delete(data_files(table, ".log.")[0])
    assert sorted(table.read_optimized(["name"]).column("name").to_pylist()) == ["a", "b"]


@pytest.mark.parametrize(
    "damage",
    [lambda data: b"", lambda data: data[:-1], lambda data: data[: len(data) // 2],
     lambda data: data[:-4] + b"PARE", lambda data: b"not Parquet at all", lambda data: data[:4],
     lambda data: data[:-8] + b"\xff\xff\xff\x7fPAR1"],
)  # fmt: skip
def test_a_damaged_base_file_is_an_error(damage: Callable[[bytes], bytes]) -> None:
    """BF-002: cut, empty, not Parquet, with a footer length beyond the file."""
    table = sample("COPY_ON_WRITE")
    path = data_files(table, table.timeline.completed[-1].requested)[0]
    table.storage.put(path, damage(table.storage.get(path)))
    with refused(table, MalformedBaseFile, "BF-002", path):
        table.snapshot()
    with refused(table, MalformedBaseFile, "BF-002", path):
        table.delete(keys("1", p=["x"]))


def test_a_base_file_of_another_format_than_its_name_says() -> None:
    """BF-010: Parquet in a file that is called .orc is an error that names both."""
    table = sample("COPY_ON_WRITE")
    requested = table.timeline.completed[-1].requested
    path = data_files(table, requested)[0]
    orc = path.replace(".parquet", ".orc")
    table.storage.put(orc, table.storage.get(path))
    table.storage.delete(path)
    rewrite_metadata(table, lambda record: first_stat(record).update(path=orc))
    with refused(table, MalformedBaseFile, "BF-010", orc):
        table.snapshot()


def log_of(table: WritableTable) -> tuple[str, bytes]:
    """The one log file and its bytes."""
    (path,) = data_files(table, ".log.")
    return path, table.storage.get(path)


def two_block_table() -> WritableTable:
    """A table whose log file holds a data block and a delete block."""
    table = new_table(schema=FLAGGED_SCHEMA, table_type="MERGE_ON_READ", ordering=("ts",))
    table.insert(flagged(trip("1", "a", 1), trip("2", "b", 1), trip("3", "c", 1)))
    table.upsert(flagged(trip("1", "new", 2), trip("2", None, 2, _hoodie_is_deleted=True)))
    return table


def test_a_committed_log_file_cut_at_any_byte_is_an_error() -> None:
    """BLK-015, BLK-016: no change of a completed action is dropped silently, wherever its log file ends."""
    table = two_block_table()
    assert names(table) == {"1": "new", "3": "c"}
    path, whole = log_of(table)
    for length in range(len(whole)):
        table.storage.put(path, whole[:length])
        with pytest.raises(MalformedLogFile) as raised:
            table.snapshot()
        assert raised.value.path == path
        assert raised.value.rule in ("BLK-015", "BLK-016", "LF-012")


def test_a_changed_byte_of_the_envelope_never_drops_a_block() -> None:
    """BLK-015, LF-010: magic, lengths, version, type and trailer: every flip is an error of ours."""
    table = two_block_table()
    path, whole = log_of(table)
    second = whole.index(b"#HUDI#", 6)
    for start, end in ((0, second), (second, len(whole))):
        for place in (*range(start, start + 26), *range(end - 12, end)):
            changed = bytearray(whole)
            changed[place] ^= 0x40
            table.storage.put(path, bytes(changed))
            with pytest.raises(HudiError):
                table.snapshot()


def test_damage_in_a_log_of_unknown_length_is_an_error() -> None:
    """BLK-015: if the metadata has no length of the file, a crashed append and a lost change look the same."""
    table = two_block_table()
    path, whole = log_of(table)
    rewrite_metadata(table, lambda record: first_stat(record).update(fileSizeInBytes=None))
    assert names(table) == {"1": "new", "3": "c"}
    changed = bytearray(whole)
    changed[8] ^= 1
    table.storage.put(path, bytes(changed))
    with refused(table, CorruptCommittedBlock, "BLK-015", path):
        table.snapshot()


@pytest.mark.parametrize("tail", [b"#HUDI#", b"#HUDI#\x00\x00", b"junk and more junk", b"\x00"])
def test_remains_of_a_crashed_append_are_passed_over(tail: bytes) -> None:
    """BLK-017: what lies behind the bytes of the completed action was never committed."""
    table = two_block_table()
    path, whole = log_of(table)
    table.storage.put(path, whole + tail)
    assert names(table) == {"1": "new", "3": "c"}


@pytest.mark.parametrize("suffix", ["requested", "inflight"])
def test_a_pending_compaction_without_plan_is_an_error(suffix: str) -> None:
    """TL-015: without its plan the slice of the log files is not known."""
    table = sample()
    table.storage.put(f"{TIMELINE}/20260201000000000.compaction.{suffix}", b"")
    with refused(table, MalformedMetadata, path=f"{TIMELINE}/20260201000000000.compaction.requested"):
        table.snapshot()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda rows: rows.drop_columns(["id"]), "LF-038"),
        (lambda rows: rows.drop_columns(["name"]), "LF-038"),
        (lambda rows: rows.append_column("extra", rows.column("ts")), "LF-038"),
        (lambda rows: rows.append_column("name", rows.column("name")), "LAY-002"),
        (lambda rows: rows.set_column(2, "ts", pa.array(["no number"] * rows.num_rows)), "LF-038"),
        (lambda rows: rows.set_column(2, "ts", pa.array([[1]] * rows.num_rows)), "LF-038"),
        (lambda rows: rows.set_column(2, "ts", pa.array([1.5] * rows.num_rows)), "LF-038"),
        (lambda rows: rows.set_column(2, "ts", pa.array([2**64 - 1] * rows.num_rows, pa.uint64())), "LF-038"),
        (lambda rows: rows.set_column(0, "id", pa.array([b"\xff"] * rows.num_rows)), "LF-038"),
        (lambda rows: rows.set_column(0, "id", pa.nulls(rows.num_rows, pa.string())), "META-007"),
        (lambda rows: rows.set_column(0, "id", pa.array(["k", ""], pa.string())), "META-007"),
    ],
)
@pytest.mark.parametrize("operation", ["insert", "upsert", "bulk_insert"])
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_rows_that_do_not_fit_are_refused_before_anything_is_written(
    table_type: str, operation: str, change: Callable[[pa.Table], pa.Table], rule: str
) -> None:
    """PROP-007, META-007, LF-038, LAY-002: missing, unknown, repeated columns, other types, null and empty keys."""
    table = sample(table_type)
    rows = change(trips(trip("8", "x", 1, "x"), trip("9", "y", 1, "x")))
    with refused(table, InvalidRows, rule):
        getattr(table, operation)(rows)


@pytest.mark.parametrize("operation", ["insert", "upsert"])
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_null_in_a_column_that_takes_none_is_refused(table_type: str, operation: str) -> None:
    """LF-038: the stored schema promises readers that there is no null."""
    schema = {**SCHEMA, "fields": [*SCHEMA["fields"], {"name": "must", "type": "long"}]}
    table = new_table(schema=schema, table_type=table_type)
    table.insert(rows_of(schema, trip("1", must=1)))
    with refused(table, InvalidRows, "LF-038"):
        getattr(table, operation)(rows_of(schema, trip("1", must=2), trip("2", must=None)))


@pytest.mark.parametrize(
    "key_rows", [{"p": ["x"]}, {"id": ["1"]}, {"id": [None], "p": ["x"]}, {"id": ["1"], "p": ["x"], "q": [1]}]
)
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_deletes_need_key_and_partition(table_type: str, key_rows: dict[str, list[Any]]) -> None:
    """PROP-007, PROP-008: a delete names its record by key and partition columns, and nothing that the table lacks."""
    table = sample(table_type)
    types = {"id": pa.string(), "p": pa.string(), "q": pa.int64()}
    with refused(table, InvalidRows):
        table.delete(pa.table({name: pa.array(values, types[name]) for name, values in key_rows.items()}))


@pytest.mark.parametrize("value", ["..", "../x", "/x", "a/../b", ".", "a/", "a//b", ".hoodie", ".hoodie/timeline", "a\0b", "/"])
@pytest.mark.parametrize("hive_style", [False, True])
def test_a_partition_value_that_cannot_be_a_folder_is_refused(value: str, hive_style: bool) -> None:
    """LAY-005, PROP-016: it would leave the table, hide the rows from every listing, or lie among the table's own files."""
    table = new_table(partition=("p",), hive_style=hive_style)
    if hive_style and value in (".", "..", "../x", "/x", ".hoodie", ".hoodie/timeline"):  # p=.. is a name like any other
        table.insert(trips(trip("1", "a", 1, value)))
        assert names(table) == {"1": "a"}
        return
    with refused(table, InvalidRows, "LAY-005"):
        table.insert(trips(trip("1", "a", 1, value)))


@pytest.mark.parametrize("value", ["a/b", "..x", "x..", ".hidden", "a b", "%2F", "ü", "\n", "a=b", ".hoodiex"])
def test_a_partition_value_that_can_be_a_folder_is_taken(value: str) -> None:
    """PROP-016: odd is not wrong; a slash makes a further level."""
    table = new_table(partition=("p",))
    table.insert(trips(trip("1", "a", 1, value)))
    table.upsert(trips(trip("1", "b", 1, value)))
    assert names(reopened(table)) == {"1": "b"}


@pytest.mark.parametrize(
    "query",
    [
        {"columns": ["nothing"]},
        {"columns": ["id", ""]},
        {"where": [("nothing", "=", 1)]},
        {"where": [("ts", "like", 1)]},
        {"where": [("ts", "=", "no number")]},
        {"where": [("id", "<", 5)]},
        {"where": [("ts", "=", 2**70)]},
        {"where": [("ts", "=", [1])]},
        {"where": [("ts", "=", object())]},
    ],
)
def test_a_query_that_means_nothing_is_refused(query: dict[str, Any]) -> None:
    """TYP-007: unknown columns and comparisons, constants that do not fit."""
    table = sample()
    with refused(table, InvalidQuery):
        table.snapshot(**query)


@pytest.mark.parametrize(
    "time", ["", "now", "2026", "20260101", "2026-01-01X00:00:00", "2026-1-1", "٢" * 17, "2026010100000000x"]
)
def test_a_time_that_is_none_is_refused(time: str) -> None:
    """TYP-008: 17 or 14 digits, or a date with or without time."""
    table = sample()
    with refused(table, InvalidQuery, "TYP-008"):
        table.as_of(time)


def test_a_table_is_not_created_over_another() -> None:
    """LAY-013: the one that is there stays, also where only its folder is left."""
    table = sample()
    with refused(table, TableExists, "LAY-013"):
        new_table(table.storage)
    remains = MemoryStorage()
    remains.put(".hoodie/timeline/x", b"")
    with refused(remains, TableExists, "LAY-013"):
        new_table(remains)


@pytest.mark.parametrize(
    "options",
    [
        {"record_key": ("nothing",)},
        {"partition": ("nothing",)},
        {"ordering": ("nothing",)},
        {"merge_mode": "CUSTOM"},
        {"merge_mode": "EVENT_TIME_ORDERING"},
        {"schema": {"type": "record", "name": "r"}},
        {"schema": "no JSON"},
        {"schema": {"type": "record", "name": "r", "fields": [{"name": "id", "type": ["int", "string"]}]}},
    ],
)
def test_a_table_that_cannot_be_is_not_created(options: dict[str, Any]) -> None:
    """PROP-007, MRG-034, MRG-035: fields that the schema lacks, modes that do not fit, schemas that are none."""
    storage = MemoryStorage()
    with refused(storage, HudiError):
        new_table(storage, **options)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hoodie.table.metadata.partitions", "column_stats,files"),
        ("hoodie.bootstrap.base.path", "/elsewhere"),
        ("hoodie.datasource.write.drop.partition.columns", "true"),
    ],
)
def test_a_table_that_asks_more_of_its_writers_is_not_written(key: str, value: str) -> None:
    """PROP-001: a write without the index, change log or format that others rely on would lose data for them."""
    table = sample()
    set_property(table.storage, key, value)
    with refused(table, UnsupportedTableFeature, "PROP-001"):
        open_table("x:", storage=table.storage).insert(trips(trip("9", p="x")))


def test_a_timeline_folder_outside_the_table_is_an_error() -> None:
    """LAY-005: the property is a name inside the table like any other."""
    table = sample()
    set_property(table.storage, "hoodie.timeline.path", "../../other/.hoodie/timeline")
    with refused(table, PathOutsideTable, "LAY-005"):
        open_table("x:", storage=table.storage).snapshot()


@dataclass
class Meddling:
    """A storage that does something right before the n-th object is created, put or replaced."""

    inner: Storage
    turn: int
    meddle: Callable[[], object]
    count: int = field(default=0)

    def _mutation(self) -> None:
        self.count += 1
        if self.count == self.turn:
            self.meddle()

    def create(self, path: str, data: bytes) -> None:
        """Meddle, then create."""
        self._mutation()
        self.inner.create(path, data)

    def put(self, path: str, data: bytes) -> None:
        """Meddle, then put."""
        self._mutation()
        self.inner.put(path, data)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Meddle, then replace."""
        self._mutation()
        self.inner.replace(path, data, version)

    def delete(self, path: str) -> None:
        """Meddle, then delete."""
        self._mutation()
        self.inner.delete(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_of_two_writers_with_one_instant_the_second_gets_a_conflict(table_type: str) -> None:
    """S3-002: both clocks say the same; creation decides, the loser has changed nothing and may begin again."""
    storage = MemoryStorage()
    new_table(storage, table_type=table_type)

    def writer(store: Storage, seed: int) -> WritableTable:
        return open_table("x:", storage=store, clock=ManualClock(START + 10**6), ids=SeededIds(seed))

    second = writer(Meddling(storage, 1, lambda: writer(storage, 1).insert(trips(trip("1", "first")))), 2)
    with pytest.raises(InstantExists) as raised:
        second.insert(trips(trip("2", "second")))
    assert isinstance(raised.value, WriteConflict)
    assert raised.value.rule == "S3-002"
    assert (raised.value.path or "").startswith(f"{TIMELINE}/2026")
    assert names(second) == {"1": "first"}
    second.insert(trips(trip("2", "second")))
    assert names(second) == {"1": "first", "2": "second"}


def test_a_write_that_was_rolled_back_meanwhile_does_not_complete() -> None:
    """TL-051: a clean treated the writer as expired and removed its instant; completing would publish half a write."""
    storage = MemoryStorage()
    table = new_table(storage)

    def roll_back() -> None:
        for info in storage.list(TIMELINE):
            storage.delete(info.path)

    table = open_table("x:", storage=Meddling(storage, 4, roll_back), clock=ManualClock(START), ids=SeededIds(2))
    with pytest.raises(WriteConflict) as raised:
        table.insert(trips(trip("1", "a")))
    assert raised.value.rule == "TL-051"
    assert reopened(table).snapshot().num_rows == 0


class Crash(Exception):
    """The process is gone."""


def crash() -> None:
    """Stop here."""
    raise Crash


def writes() -> dict[str, Callable[[WritableTable], object]]:
    """One write of each kind."""
    return {
        "insert": lambda table: table.insert(trips(trip("8", "i", 1, "x"), trip("9", "j", 1, "y"))),
        "upsert": lambda table: table.upsert(trips(trip("1", "u", 3, "x"), trip("9", "j", 1, "y"))),
        "delete": lambda table: table.delete(keys("1", "2", p=["x", "x"])),
    }


@pytest.mark.parametrize("operation", ["insert", "upsert", "delete"])
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_crash_at_any_step_leaves_the_table_before_or_after(table_type: str, operation: str) -> None:
    """TL-036, S3-006: whichever mutation of storage was the last, readers see all of a write or nothing, and the next write works."""
    write = writes()[operation]
    finished = sample(table_type)
    before, last = names(finished), finished.timeline.completed[-1]
    write(finished)
    after = names(finished)
    assert before != after
    turn, completed = 0, False
    while not completed:
        turn += 1
        table = sample(table_type)
        crashing = open_table(
            "x:", storage=Meddling(table.storage, turn, crash), clock=ManualClock(START + 10**7), ids=SeededIds(3)
        )
        try:
            write(crashing)
            completed = True
        except Crash:
            left = names(reopened(table))
            assert left == (after if table.timeline.completed[-1] != last else before)
            reopened(table).upsert(trips(trip("2", "next", 5, "x")))
            assert names(reopened(table)) == {**left, "2": "next"}
    assert names(reopened(table)) == after
    assert turn > 4


def test_errors_say_what_to_do() -> None:
    """A readable block: class, file, rule, what was expected and found, and how to learn more; it survives pickling."""
    import pickle

    error = MalformedTable("m", "TL-001", "p", 5, "e", "f", "c")
    assert str(error).splitlines() == [
        "MalformedTable: p: m", "  rule      TL-001", "  offset    byte 5", "  expected  e", "  found     f", "  remedy    c",
        "  see       hudi-conformance explain TL-001",
    ]  # fmt: skip
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (MalformedTable, str(error))


def test_a_table_without_key_fields_is_not_written() -> None:
    """PROP-007: the record of a row would not be known."""
    table = sample()
    set_property(table.storage, "hoodie.table.recordkey.fields", None)
    with refused(table, Misuse, "PROP-007"):
        open_table("x:", storage=table.storage).insert(trips(trip("9", p="x")))
