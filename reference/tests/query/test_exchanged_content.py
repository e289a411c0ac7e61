"""Files with the content of other files: what a reader compares, and what writers of earlier releases may have stored."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reference_samples import data_files, names, new_table, reopened, set_property, trip, trips
from refused_calls import TIMELINE, refused, sample

from hudi_reference import WritableTable
from hudi_reference.errors import MalformedBaseFile, MalformedLogBlock, MalformedLogFile, MalformedMetadata, MissingDataFile
from hudi_reference.services.compaction.log_compaction import log_compact
from hudi_reference.timeline.contents.avro_container import read_record, write_record


def with_column(data: bytes, name: str, values: pa.Array) -> bytes:
    """A Parquet file with another column of this name, and the same footer."""
    rows = pq.read_table(pa.BufferReader(data))
    out = io.BytesIO()
    changed = rows.set_column(rows.column_names.index(name), name, values)
    pq.write_table(changed.replace_schema_metadata(rows.schema.metadata), out)
    return out.getvalue()


def table_with_row_name(change: str) -> tuple[WritableTable, str]:
    """A table whose archived base file has rows with another file name, and the path of the file."""
    table = sample("COPY_ON_WRITE")
    found = table.file_groups().latest_slices[0]
    own, instant = found.base_file or "", found.base_file_instant
    base = found.path(own)
    older = own.replace(instant, f"{int(instant) - 1}")
    name = {"older": older, "later": own.replace(instant, f"{int(instant) + 1}"), "other": f"x{older}"}[change]
    data = table.storage.get(base)
    rows = pq.read_metadata(pa.BufferReader(data)).num_rows
    table.storage.put(base, with_column(data, "_hoodie_file_name", pa.array([name] * rows)))
    forget_sizes(table)
    return table, base


def forget_sizes(table: WritableTable) -> None:
    """Remove the sizes of files from the metadata of all writes, as if the writes were archived."""
    for name in table.storage.names(TIMELINE):
        if name.endswith((".commit", ".deltacommit")):
            record = read_record(table.storage.get(f"{TIMELINE}/{name}"), name)
            for stats in record["partitionToWriteStats"].values():
                for stat in stats:
                    stat["fileSizeInBytes"] = 0
            table.storage.put(f"{TIMELINE}/{name}", write_record(record.schema, record, bytes(16)))


@pytest.mark.parametrize("change", ["later", "other"])
def test_rows_with_the_name_of_a_later_file_or_of_another_group_are_refused(change: str) -> None:
    """META-010: no writer stores such rows."""
    table, path = table_with_row_name(change)
    set_property(table.storage, "hoodie.table.initial.version", "6")
    with refused(table, MalformedBaseFile, "META-010", path):
        reopened(table).snapshot()


def test_rows_with_the_name_of_an_earlier_file_are_those_of_an_old_writer() -> None:
    """META-010: writers before 0.12 kept the name in rows that an update copied; later ones did not."""
    table, path = table_with_row_name("older")
    with refused(table, MalformedBaseFile, "META-010", path):
        table.snapshot()
    for version in ("6", None):
        set_property(table.storage, "hoodie.table.initial.version", version)
        assert names(reopened(table)) == {"1": "new", "2": "b"}


def test_text_that_is_not_utf_8_is_refused() -> None:
    """BF-002: Arrow returns the bytes, and the first use of the value would raise an exception of Python."""
    table = sample("COPY_ON_WRITE")
    path = data_files(table)[-1]
    data = table.storage.get(path)
    rows = pq.read_metadata(pa.BufferReader(data)).num_rows
    ends = b"".join(number.to_bytes(4, "little") for number in range(rows + 1))
    broken = pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(ends), pa.py_buffer(b"\xf2" * rows)])
    table.storage.put(path, with_column(data, "name", broken))
    forget_sizes(table)
    with refused(table, MalformedBaseFile, "BF-002", path):
        table.snapshot()


def test_log_file_with_a_block_of_an_earlier_archived_write_is_refused() -> None:
    """LF-035: the name of a log file has the instant of its first writer, so that no block is older."""
    table = sample()
    table.upsert(trips(trip("1", "newer", 3, "x")))
    first, second = sorted(path for path in data_files(table) if ".log." in path)
    table.storage.put(second, table.storage.get(first))
    instant = first.rpartition("_0-0-0")[0].rpartition("_")[2].partition(".")[0]
    for name in table.storage.names(TIMELINE):
        if name.startswith(instant):
            table.storage.delete(f"{TIMELINE}/{name}")
    with refused(table, MalformedLogBlock, "LF-035", second):
        table.snapshot()


def test_read_optimized_query_of_a_lost_folder_is_refused() -> None:
    """TL-036: the base file of an archived write and the log files of the partition are gone."""
    table = sample()
    first = min(name for name in table.storage.names(TIMELINE))[:17]
    for path in data_files(table):
        table.storage.delete(path)
    for name in table.storage.names(TIMELINE):
        if name.startswith(first):
            table.storage.delete(f"{TIMELINE}/{name}")
    with refused(table, MissingDataFile, "TL-036"):
        table.read_optimized()


def test_log_compaction_of_a_slice_without_its_completed_base_file_is_refused() -> None:
    """TL-036: a log compaction merges logs of a slice whose base file is of a completed write; release 1.2.0 names its instant."""
    table = new_table(table_type="MERGE_ON_READ")
    table.upsert(trips(trip("1", "first", 1, "x"), trip("2", "stays", 1, "x")))
    for number in (2, 3):
        table.upsert(trips(trip("1", f"update {number}", number, "x")))
    log_compact(table, {"hoodie.log.compaction.blocks.threshold": "1"})
    first, *_, last = sorted(name for name in table.storage.names(TIMELINE) if name.endswith(".deltacommit"))
    record = read_record(table.storage.get(f"{TIMELINE}/{last}"), last)
    (stat,) = (stat for stats in record["partitionToWriteStats"].values() for stat in stats)
    stat["prevCommit"] = first[:17]
    table.storage.put(f"{TIMELINE}/{last}", write_record(record.schema, record, bytes(16)))
    assert names(reopened(table)) == {"1": "update 3", "2": "stays"}
    table.storage.delete(f"{TIMELINE}/{first}")
    with refused(table, MalformedMetadata, "TL-036"):
        table.snapshot()


def test_completed_commit_that_names_a_log_file_is_refused() -> None:
    """TL-007: a commit writes base files; log files are written by deltacommits."""
    table, other = sample("COPY_ON_WRITE"), sample()
    commit = max(name for name in table.storage.names(TIMELINE) if name.endswith(".commit"))
    foreign = max(name for name in other.storage.names(TIMELINE) if name.endswith(".deltacommit"))
    table.storage.put(f"{TIMELINE}/{commit}", other.storage.get(f"{TIMELINE}/{foreign}"))
    with refused(table, MalformedMetadata, "TL-007"):
        table.snapshot()


def test_new_tables_have_their_version_of_creation() -> None:
    """PROP-001: so that their rows are checked for the exact name of their file."""
    assert new_table().properties.was_created_at_version_8


def test_log_file_without_a_block_of_its_writer_is_refused() -> None:
    """LF-035: the file is empty, or has the blocks of a pending write; the metadata without sizes names it."""
    table = sample()
    table.upsert(trips(trip("1", "newer", 3, "x")))
    first, second = sorted(path for path in data_files(table) if ".log." in path)
    done = max(name for name in table.storage.names(TIMELINE) if name.endswith(".deltacommit"))
    pending = table.storage.get(second)
    table.storage.delete(f"{TIMELINE}/{done}")
    forget_sizes(table)
    for content in (b"", pending):
        table.storage.put(first, content)
        with refused(reopened(table), MalformedLogFile, "LF-035", first):
            reopened(table).snapshot()


def test_log_file_in_the_folder_of_another_partition_is_refused() -> None:
    """META-009: its rows have the path of their own partition. Its write is archived, so that no metadata is at hand."""
    table = sample()
    log = next(path for path in data_files(table) if ".log." in path)
    table.upsert(trips(trip("1", "newer", 3, "x")))
    last = max(name[:17] for name in table.storage.names(TIMELINE) if name.endswith("commit"))
    for name in table.storage.names(TIMELINE):
        if name[:17] < last and name.startswith("2"):
            table.storage.delete(f"{TIMELINE}/{name}")
    copied = f"elsewhere/{log.rpartition('/')[2]}"
    table.storage.put(copied, table.storage.get(log))
    with refused(reopened(table), MalformedLogBlock, "META-009", copied):
        reopened(table).snapshot()


def test_completed_file_of_a_write_without_files_beside_its_files_is_refused() -> None:
    """TL-007: metadata names every file of its write, so that the file of a write without rows is foreign here."""
    table = sample("COPY_ON_WRITE")
    done = max(name for name in table.storage.names(TIMELINE) if name.endswith(".commit"))
    record = read_record(table.storage.get(f"{TIMELINE}/{done}"), done)
    record["partitionToWriteStats"] = {}
    table.storage.put(f"{TIMELINE}/{done}", write_record(record.schema, record, bytes(16)))
    with refused(reopened(table), MalformedMetadata, "TL-007", f"{TIMELINE}/{done}"):
        reopened(table).snapshot()
