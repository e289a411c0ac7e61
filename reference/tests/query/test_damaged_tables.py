"""Damaged tables: one typed error that names file and rule, for readers and writers."""

import io
import json
from collections.abc import Callable
from typing import Any

import fastavro
import pytest
from reference_samples import (
    FLAGGED_SCHEMA,
    TABLE_TYPES,
    completed_path,
    data_files,
    flagged,
    keys,
    names,
    new_table,
    trip,
    trips,
)
from refused_calls import TIMELINE, refused, sample

from hudi_reference import WritableTable
from hudi_reference.errors import (
    CorruptCommittedBlock,
    HudiError,
    MalformedBaseFile,
    MalformedFileName,
    MalformedInstantName,
    MalformedLogFile,
    MalformedMetadata,
    MalformedTable,
    MissingDataFile,
    PathOutsideTable,
)
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.timeline.contents.avro_container import write_record


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


def test_a_base_file_with_fewer_rows_than_were_written_is_an_error() -> None:
    """TL-007: the metadata of the write counts the rows of each file; more rows than counted are no damage."""
    table = sample("COPY_ON_WRITE")
    (path, *_) = data_files(table, table.timeline.completed[-1].requested)
    expected = table.snapshot().num_rows

    def count(more: int) -> None:
        rewrite_metadata(table, lambda record: first_stat(record).update(numWrites=first_stat(record)["numWrites"] + more))

    count(1)
    with refused(table, MalformedBaseFile, "TL-007", path):
        table.snapshot()
    count(-2)
    assert table.snapshot().num_rows == expected


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


def test_the_first_write_may_begin_between_the_listings_of_timeline_and_files() -> None:
    """LAY-017: files without any instant are an error only if the timeline is still empty when the files have been listed."""
    table = new_table()
    empty = table.timeline
    table.insert(trips(trip("1", "a")))
    assert not load_file_groups(table.storage, table.properties, empty).commits
    for info in table.storage.list(TIMELINE):
        table.storage.delete(info.path)
    with pytest.raises(MalformedTable, match="the timeline has no instant"):
        load_file_groups(table.storage, table.properties, empty)
