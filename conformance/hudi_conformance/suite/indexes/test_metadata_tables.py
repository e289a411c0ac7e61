"""Writers and services maintain the metadata table: after every action it matches storage and rows."""

import json
import re
from collections.abc import Mapping

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.concurrent.pending_writes import begin_write
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    CHANGES,
    COMPACTED_AFTER,
    EVERY_INDEX,
    INDEXED,
    INSERTS,
    KEEPS,
    LISTED,
    PREFIX,
    RECORDS,
    USABLE,
    WRITES,
    IndexedTable,
    completion_times,
    rename_builds,
    values_where,
)
from hudi_conformance.suite.support.tables.stored_blocks import SCHEMA, parse_blocks
from hudi_conformance.suite.support.tables.tables_under_services import instant_files, read_instant_file
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.metadata.keys import ALL_PARTITIONS


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements(
    "MDT-001", "MDT-005", "MDT-006", "MDT-007", "MDT-008", "MDT-013", "IDX-009", "IDX-010", "IDX-011", "IDX-013"
)
def test_every_write_is_in_every_index(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-005: after inserts, updates, a new partition and deletes, the listing of files, the locations of keys and the bloom
    filters are current.
    """
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    for step in (*INSERTS, *CHANGES, Step("upsert", (row("b", 40, "again"),))):
        table.write(step).check(f"after {step}")
    assert set(table.listed_partitions()) >= {"files", "record_index", "bloom_filters"}
    assert set(table.files_listed()) == {"oslo", "rio", "lima"}


@KEEPS
@pytest.mark.requirements("IDX-007")
def test_a_bloom_filter_has_the_instant_of_its_write(engine: Client, new_uri: NewUri) -> None:
    """IDX-007: each entry of a bloom filter has, as text, the requested time of the write that stored the file."""
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE", INDEXED).write(*INSERTS, *CHANGES)
    assert table.instants_of_filters() == table.instants_of_files()


@pytest.mark.needs(*WRITES, "read.filter", "read.projection", "service.index", "service.index.named")
@BOTH_TYPES
@pytest.mark.requirements("IDX-001", "IDX-002")
def test_an_index_is_a_partition_with_its_type_and_name(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-001: the secondary index called by_value is in the partition secondary_index_by_value, an index without a name in
    that of its type, and a query with a filter finds its row.
    """
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    table.write_with_secondary_index()
    names = {"files", "record_index", "bloom_filters", "secondary_index_by_value"}
    assert set(table.listed_partitions()) >= names
    assert {path.split("/")[0] for path in table.metadata_files("*/*")} >= names
    assert values_where(engine, table.uri, ("value", "=", "x")) == ["c", "e"]


@pytest.mark.needs(*WRITES, "service.clean", "service.clustering", "write.insert-overwrite", "write.delete-partition")
@BOTH_TYPES
@pytest.mark.requirements("MDT-001", "MDT-008", "IDX-010", "IDX-008", "OCC-020")
def test_every_service_is_in_every_index(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-001: after compaction, clustering, cleaning and replacing writes, the indexes reflect which files were deleted and
    which rows were moved.
    """
    IndexedTable(engine, new_uri(), type, INDEXED).write(*INSERTS, *CHANGES).check_after_services()


@pytest.mark.needs(*WRITES, "service.rollback")
@BOTH_TYPES
@pytest.mark.requirements("MDT-008", "OCC-021", "IDX-010")
def test_rolled_back_writes_are_in_no_index(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-010: a failed write and then a completed one are rolled back: their files and keys are removed from the indexes."""
    table = IndexedTable(engine, new_uri(), type, INDEXED).write(*INSERTS)
    failed = begin_write(table.uri, (row("x", 1, "half"),))
    table.check("beside a write under way")
    engine.service(table.uri, "rollback", instant=failed.instant)
    table.check("after a write that failed")
    rolled_back = engine.write(table.uri, "upsert", as_arrow((row("y", 1, "new"), row("a", 50, "newer"))), options=INDEXED)
    assert "y" in table.keys_indexed()
    engine.service(table.uri, "rollback", instant=rolled_back)
    table.check("after a write that was not wanted")


@pytest.mark.needs(*WRITES, "service.index", "service.rollback")
@BOTH_TYPES
@pytest.mark.requirements("MDT-008", "IDX-010")
def test_writes_before_the_indexes_are_rolled_back(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-008: the last write is rolled back. The metadata table was made after that write and lists its files among those of
    other writes; after the rollback no index has its files and keys.
    """
    without = {f"{PREFIX}enable": "false"}
    table = IndexedTable(engine, new_uri(), type, without).write(*INSERTS)
    rolled_back = engine.write(table.uri, "upsert", as_arrow((row("y", 1, "new"), row("a", 50, "newer"))), options=without)
    assert table.listed_partitions() == ()
    table.build_indexes()
    assert "y" in table.keys_indexed()
    engine.service(table.uri, "rollback", instant=rolled_back)
    table.check("after a write that was not wanted")


@pytest.mark.needs(*WRITES, "service.savepoint", "service.restore")
@BOTH_TYPES
@pytest.mark.requirements("MDT-008", "IDX-010")
def test_a_restore_restores_the_indexes(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-010: after a restore the indexes match the restored table."""
    table = IndexedTable(engine, new_uri(), type, INDEXED).write(*INSERTS)
    before, rows = (table.files_listed(), table.keys_indexed()), table.model.snapshot()
    engine.service(table.uri, "savepoint", instant=table.times[-1])
    engine.write(table.uri, "upsert", as_arrow((row("y", 1, "new"), row("a", 50, "newer"))), options=INDEXED)
    engine.service(table.uri, "restore", instant=table.times[-1])
    assert (table.files_listed(), table.keys_indexed()) == before
    assert table.model.snapshot() == rows
    table.check("restored")


@KEEPS
@pytest.mark.requirements("OCC-020", "OCC-021", "MDT-001")
def test_the_metadata_table_completes_first(engine: Client, new_uri: NewUri) -> None:
    """OCC-020: each write completes on the timeline of the metadata table, under the same requested time, before it completes
    itself.
    """
    table = IndexedTable(engine, new_uri(), "MERGE_ON_READ").write(*INSERTS, *CHANGES)
    data, metadata = (completion_times(folder) for folder in (table.folder, table.folder / ".hoodie" / "metadata"))
    assert all(metadata.get(instant, "never") < data[instant] for instant in table.times)


@KEEPS
@pytest.mark.requirements("OCC-021", "MDT-008")
def test_a_write_crashed_after_its_metadata_is_not_listed(engine: Client, new_uri: NewUri) -> None:
    """OCC-021: the metadata table has completed and the table has not: the files are not read, and a later write succeeds. The
    markers of a crashed write are still there.
    """
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE", INDEXED).write(*INSERTS)
    files, keys = table.files_listed(), table.keys_indexed()
    crashed = engine.write(table.uri, "insert", as_arrow((row("y", 1, "crashed"),)), options=INDEXED)
    for path in (table.folder / ".hoodie" / "timeline").glob(f"{crashed}_*"):
        path.unlink()
    markers = table.folder / ".hoodie" / ".temp" / crashed
    for path in table.folder.glob(f"*/*_{crashed}.parquet"):
        (markers / path.parent.name).mkdir(parents=True, exist_ok=True)
        (markers / path.parent.name / f"{path.name}.marker.CREATE").touch()
    assert (table.files_listed(), table.keys_indexed()) == (files, keys)
    table.write(Step("insert", (row("w", 1, "later"),))).check("after a crash of another writer")


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("MDT-008", "OCC-021")
def test_a_new_metadata_table_lists_committed_files(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-008: the first listing of a new metadata table has the files of all earlier writes, and none of a failed write."""
    table = IndexedTable(engine, new_uri(), type, {})
    table.write(*INSERTS, options={"hoodie.metadata.enable": "false"})
    begin_write(table.uri, (row("x", 1, "half"), row("y", 1, "half", "lima")))
    table.write(*CHANGES[:1], options=INDEXED).check("with a metadata table")


@KEEPS
@pytest.mark.requirements("MDT-004", "MDT-008")
def test_the_metadata_table_compacts_and_cleans_itself(engine: Client, new_uri: NewUri) -> None:
    """MDT-004: after many writes the metadata table still has few data files, and they match the table."""
    table, counts = IndexedTable(engine, new_uri(), "MERGE_ON_READ"), []
    for number in range(45):
        table.write(Step("upsert", (row("a", number, f"update {number}"),)))
        counts.append(len(table.metadata_files("files/.files*")) + len(table.metadata_files("files/*.hfile")))
    assert max(counts) < 36 and max(counts[30:]) <= max(counts[:30]) + 2
    table.check("after many writes")


@pytest.mark.needs(*WRITES, "service.archive")
@pytest.mark.requirements("MDT-004")
def test_the_metadata_table_is_archived(engine: Client, new_uri: NewUri) -> None:
    """MDT-004: writes of the table are archived again and again; after 40 of them the active timeline of the metadata table is
    shorter, too.
    """
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE")
    for number in range(40):
        table.write(Step("upsert", (row("a", number, f"update {number}"),)))
        if number % 8 == 7:
            engine.service(table.uri, "archive", options={**archive_limits(4, 2), **LISTED})
    assert len(completion_times(table.folder)) < 40, "nothing was archived"
    assert len(table.metadata_files(".hoodie/timeline/*_*commit")) < 40
    table.check("after archiving")


@pytest.mark.needs(*WRITES, "service.index")
@pytest.mark.requirements("IDX-011")
@pytest.mark.parametrize(
    ("settings", "groups"),
    [
        ({}, 4),
        ({"growth.factor": "1"}, 2),
        ({"growth.factor": "1.5"}, 3),
        ({"max.filegroup.count": "3"}, 3),
        ({"min.filegroup.count": "6"}, 6),
        ({"min.filegroup.count": "2", "max.filegroup.size": "1000000"}, 2),
        ({"min.filegroup.count": "5", "max.filegroup.count": "5"}, 5),
    ],
)
def test_file_groups_of_a_new_record_index(engine: Client, new_uri: NewUri, settings: Mapping[str, str], groups: int) -> None:
    """IDX-011: the number of file groups is set when the index is made: as many as the records need after the growth that the
    settings expect, with 48 bytes for each, within limits. Every key is found in the group of its hash.
    """
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE")
    table.write(Step("upsert", tuple(row(f"key {number}", 1, "x") for number in range(20))))
    ten_for_each = {"min.filegroup.count": "1", "max.filegroup.count": "10", "max.filegroup.size": "480", "growth.factor": "2"}
    options = {f"{PREFIX}record.index.{name}": value for name, value in {**ten_for_each, **settings}.items()}
    assert engine.service(table.uri, "index", options={**RECORDS, **options}) is not None
    files = (parse_data_file_name(path.rpartition("/")[2]) for path in table.metadata_files("record_index/*"))
    assert len({one.file_id for one in files if one is not None}) == groups
    table.check("with the record index")
    keys = [f"key {number}" for number in range(20)]
    assert all(values_where(engine, table.uri, ("id", "=", key)) == [key] for key in keys[:3])


@KEEPS
@pytest.mark.requirements("TL-007", "MDT-002")
def test_a_compaction_of_the_metadata_table_names_the_base_file_before(engine: Client, new_uri: NewUri) -> None:
    """TL-007: the stat of a base file in the metadata table names the instant of the base file before as `prevCommit`. It has
    the text `null` there if the file group had none, also if a compaction merged log files into it.
    """
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE", {**INDEXED, COMPACTED_AFTER: "2"})
    for number in range(6):
        table.write(Step("upsert", (row("a", number, f"update {number}"),)))
    metadata, newest, named = f"{table.uri}/.hoodie/metadata", dict[str, str](), []
    for path in table.metadata_files(".hoodie/timeline/*_*commit"):
        instant, ending = re.findall(r"(\d+)_\d+\.(\w+)$", path)[0]
        stats = read_instant_file(metadata, instant, ending)[1]["partitionToWriteStats"].values()
        for stat in (one for found in stats for one in found if one["path"].endswith(".hfile")):
            named.append((stat["prevCommit"], newest.get(stat["fileId"], "null")))
            newest[stat["fileId"]] = instant
    assert {before for _, before in named} > {"null"}, "the metadata table was not compacted twice"
    assert [found for found, _ in named] == [before for _, before in named]


@pytest.mark.needs(*WRITES, "service.clean", "service.clustering", "write.insert-overwrite", "write.delete-partition")
@BOTH_TYPES
@pytest.mark.requirements("MDT-004")
def test_services_beside_the_maintenance_of_the_metadata_table(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-004: the metadata table is compacted again and again while services of the table run; rows and indexes are right."""
    often = {**INDEXED, COMPACTED_AFTER: "2"}
    table = IndexedTable(engine, new_uri(), type, often).write(*INSERTS, *CHANGES)
    table.check_after_services()
    assert len(table.metadata_files("files/*.hfile")) > 1, "the metadata table was not compacted"


@KEEPS
@pytest.mark.requirements("MDT-002", "LAY-014")
def test_the_metadata_table_is_a_hudi_table(engine: Client, new_uri: NewUri) -> None:
    """MDT-002: the metadata table has its own properties and timeline, and every record is in the file group of its key."""
    table = IndexedTable(engine, new_uri(), "MERGE_ON_READ", INDEXED).write(*INSERTS)
    inner = engine.inspect(f"{table.uri}/.hoodie/metadata")
    assert inner["properties"]["hoodie.table.type"] == "MERGE_ON_READ"
    assert {one["action"] for one in inner["timeline"]["completed"]} == {"deltacommit"}
    assert set(inner["file_groups"]) >= {"files", "record_index", "bloom_filters"}


@pytest.mark.needs(*WRITES, "inspect.log-file", "inspect.log-content")
@BOTH_TYPES
@pytest.mark.requirements("MDT-005", "MDT-006", "MDT-013", "BLK-024")
def test_log_files_of_the_listing_name_the_files_of_each_partition(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-006: a log file of the files index, given alone to an engine, has records whose keys are partitions, with the name
    and the size of each file of a write.
    """
    table = IndexedTable(engine, new_uri(), type).write(*INSERTS, *CHANGES)
    logs = [f"{table.uri}/.hoodie/metadata/{path}" for path in table.metadata_files("files/.*.log.*")]
    records = [one for log in logs for block in engine.inspect(log)["blocks"] for one in block.get("rows", ())]
    listed = {
        (record["key"], name, int(info["size"]))
        for record in records
        if record["key"] != ALL_PARTITIONS
        for name, info in record["filesystemMetadata"].items()
    }
    stored = {(partition, name, size) for partition, files in table.files_stored().items() for name, size in files.items()}
    newest = max(instant_files(table.uri))[:17]
    # The files of the first writes may be in a base file of the index.
    assert {one for one in stored if newest in one[1]} <= listed <= stored


@KEEPS
@pytest.mark.requirements("PROP-012")
def test_a_writer_without_metadata_deletes_the_metadata_table(engine: Client, new_uri: NewUri) -> None:
    """PROP-012: a writer whose metadata table is disabled deletes it, since it would be stale afterwards."""
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE").write(*INSERTS)
    assert table.listed_partitions() != ()
    table.write(*CHANGES, options={**LISTED, "hoodie.metadata.enable": "false"})
    assert table.listed_partitions(USABLE) == ()
    assert table.metadata_files("files/*") == []
    table.check_rows("without a metadata table")
    table.write(Step("insert", (row("w", 1, "later"),))).check("it is made again")


@KEEPS
@pytest.mark.requirements("MDT-003", "LF-038")
def test_records_of_the_metadata_table_have_the_name_of_its_schema(engine: Client, new_uri: NewUri) -> None:
    """MDT-003: log blocks of the metadata table have the schema of HoodieMetadataRecord, with its full name and a key."""
    table = IndexedTable(engine, new_uri(), "MERGE_ON_READ").write(*INSERTS)
    home = table.folder / ".hoodie" / "metadata"
    blocks = [
        block for name in table.metadata_files("files/.files*.log.*") for block in parse_blocks((home / name).read_bytes())
    ]
    schemas = [json.loads(block.header[SCHEMA]) for block in blocks if SCHEMA in block.header]
    assert schemas and all("key" in {field["name"] for field in found["fields"]} for found in schemas)
    assert {(found.get("namespace"), found["name"]) for found in schemas} == {
        ("org.apache.hudi.avro.model", "HoodieMetadataRecord")
    }


def upgraded_table(uri: str, type: Type) -> IndexedTable:
    """Return a table of the reference whose indexes were built by a writer of version 6, as an upgrade keeps them."""
    with connect("reference") as writer:
        table = IndexedTable(writer, uri, type).write(*INSERTS).write(*CHANGES, options=EVERY_INDEX)
    rename_builds(table.folder, table.times[1])
    return table


@pytest.mark.needs("read.snapshot", "read.filter", "read.projection", "merge-on-read", "merge.event-time", "partition.plain")
@BOTH_TYPES
@pytest.mark.requirements("COMPAT-003", "MDT-002")
def test_builds_of_version_6_are_read(engine: Client, new_uri: NewUri, type: Type) -> None:
    """COMPAT-003: writers of version 6 gave the build of an index the time of a write and three digits. Upgraded tables keep
    these times in the timeline and in the names of files of the metadata table, and are read.
    """
    table = upgraded_table(new_uri(), type)
    assert values_where(engine, table.uri) == ["a", "c", "d", "e", "n"]
    assert values_where(engine, table.uri, ("id", "=", "a")) == ["a"]
    assert values_where(engine, table.uri, ("ts", ">", 20)) == ["a"]
    assert values_where(engine, table.uri, ("ts", "<=", 5)) == ["e", "n"]


@pytest.mark.needs(*WRITES, "read.filter", "read.projection", "merge-on-read")
@BOTH_TYPES
@pytest.mark.requirements("COMPAT-003", "MDT-002")
def test_builds_of_version_6_are_written_on(engine: Client, new_uri: NewUri, type: Type) -> None:
    """COMPAT-003: writers go on with indexes that were built at version 6: they match the table, also after services of the
    metadata table.
    """
    table = upgraded_table(new_uri(), type)
    table.engine, table.settings = engine, {**EVERY_INDEX, COMPACTED_AFTER: "2"}
    for number in range(3):
        table.write(Step("upsert", (row("a", 50 + number, "again"), row(f"new {number}", 7, "x", "lima")))).check(
            f"write {number}"
        )
    assert values_where(engine, table.uri, ("ts", ">", 40)) == ["a"]
    assert values_where(engine, table.uri, ("ts", "=", 7)) == ["new 0", "new 1", "new 2"]
