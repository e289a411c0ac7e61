"""The metadata that writers store: completion metadata, table properties, and the meta columns of logged rows."""

import json
from collections.abc import Callable
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Step, as_arrow, row
from hudi_conformance.suite.support.tables.stored_blocks import AVRO, SCHEMA, logs_written, parse_records
from hudi_conformance.suite.support.tables.written_tables import (
    CAPTURED,
    INSERT,
    META,
    UPDATE,
    WRITES,
    base_files,
    data_files,
    read_metadata,
    table_folder,
    write_table,
)

UPDATE_ROWS = as_arrow(UPDATE.rows)


@WRITES
@pytest.mark.needs("merge-on-read", "read.cdc", "merge.event-time")
@pytest.mark.requirements("TYP-004", "TL-007")
def test_completion_metadata_names_the_logs_of_the_slice(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-007: in a table with change capture, the stat of a log file names the base file of its slice and the log files up to
    its own, which is the last, by which readers find the images before its changes.
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, replace(program.spec(), properties=CAPTURED))
    first = engine.write(uri, "upsert", as_arrow(INSERT.rows))
    instants = [engine.write(uri, "upsert", as_arrow([row("a", ts, "y")])) for ts in (2, 3, 4)]
    (base,) = (path.name for path in base_files(uri) if path.parent.name == "oslo")
    assert first in base
    names = []
    for instant in instants:
        ((stat,),) = (found for found in read_metadata(uri, instant)[2]["partitionToWriteStats"].values() if found)
        names.append(stat["path"].rpartition("/")[2])
        assert (stat["baseFile"], sorted(stat["logFiles"])) == (base, sorted(names))
        assert stat["logFiles"][-1] == names[-1]


@WRITES
@BOTH_TYPES
@pytest.mark.requirements(
    "TL-002", "TL-005", "TL-007", "TL-009", "TL-006", "TL-008", "TL-034", "TL-038", "OCC-023", "BF-009", "LF-004"
)
def test_completion_metadata_names_every_file(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-007: a completed file is an Avro container with one HoodieCommitMetadata; its stats name each new file, with
    its size.
    """
    uri, files_before = new_uri(), set[str]()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())  # type: ignore[arg-type]
    for step in (INSERT, UPDATE):
        instant = engine.write(uri, step.operation, as_arrow(step.rows))
        action, name, record = read_metadata(uri, instant)
        assert action == ("commit" if type == "COPY_ON_WRITE" else "deltacommit")
        stats = [(folder, stat) for folder, found in record["partitionToWriteStats"].items() for stat in found]
        assert name == "HoodieCommitMetadata"
        assert stats
        assert {stat["path"] for _, stat in stats} == data_files(uri) - files_before
        for folder, stat in stats:
            assert folder == stat["partitionPath"] == stat["path"].rpartition("/")[0]
            assert stat["fileId"] in stat["path"].rpartition("/")[2]
            assert f"_{instant}." in stat["path"]
            assert stat["fileSizeInBytes"] == (table_folder(uri) / stat["path"]).stat().st_size
        files_before = data_files(uri)


@WRITES
@BOTH_TYPES
@pytest.mark.requirements("TL-005", "LAY-002")
def test_completion_metadata_counts_rows_and_keeps_the_schema(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-005: the stats count what was written, and the extra metadata holds the table's schema as Avro JSON."""
    uri = new_uri()
    instants = write_table(engine, uri, INSERT, UPDATE, type=type)[1]
    first, second = (read_metadata(uri, instant)[2] for instant in instants)
    assert sum(s["numInserts"] for found in first["partitionToWriteStats"].values() for s in found) == len(INSERT.rows)
    assert sum(s["numUpdateWrites"] for found in second["partitionToWriteStats"].values() for s in found) == len(UPDATE.rows)
    for record in (first, second):
        names = [field["name"] for field in json.loads(record["extraMetadata"]["schema"])["fields"]]
        assert [name for name in names if name not in META] == ["id", "city", "ts", "value", "_hoodie_is_deleted"]


@WRITES
@BOTH_TYPES
@pytest.mark.needs("write.delete")
@pytest.mark.requirements("TL-005", "TL-007", "TL-009")
def test_completion_metadata_counts_stored_and_deleted_rows(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-007: `numWrites` counts the rows that a file stores, a base file with those that are copied, and `numDeletes` the rows
    that a write deletes.
    """
    instants = write_table(engine, uri := new_uri(), INSERT, UPDATE, Step("delete", (row("b", 0, ""),)), type=type)[1]
    records = [read_metadata(uri, instant)[2]["partitionToWriteStats"] for instant in instants]
    counts = [
        {p: [(s["numWrites"], s["numDeletes"]) for s in found] for p, found in sorted(record.items())} for record in records
    ]
    assert counts[0] == {"oslo": [(2, 0)], "rio": [(1, 0)]}
    assert counts[1] == {"oslo": [(2 if type == "COPY_ON_WRITE" else 1, 0)]}
    ((writes, deletes),) = counts[2]["oslo"]
    assert deletes == 1 and (writes == 1 or type == "MERGE_ON_READ")


@WRITES
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("TL-007")
def test_completion_metadata_names_the_slice_before(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-007: the stat of a base file that replaces another one names the instant of that file as `prevCommit`; the first base
    file of a file group has the text `null` there.
    """
    instants = write_table(engine, uri := new_uri(), INSERT, UPDATE, replace(UPDATE, rows=(row("a", 3, "z"),)))[1]
    for instant, before in zip(instants, ["null", *instants], strict=False):
        stats = [stat for found in read_metadata(uri, instant)[2]["partitionToWriteStats"].values() for stat in found]
        assert {stat["prevCommit"] for stat in stats} == {before}


@WRITES
@pytest.mark.needs("copy-on-write", "read.cdc")
@pytest.mark.requirements("TYP-004", "TL-007")
def test_completion_metadata_names_change_files(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-004: in a table with change capture, each base file that replaces another one has one change file in its file group.
    It has the same write token, and the stat of the base file names it with its size.
    """
    uri, program = new_uri(), Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True)
    engine.create(uri, replace(program.spec(), properties=CAPTURED))
    engine.write(uri, INSERT.operation, as_arrow(INSERT.rows))
    instant = engine.write(uri, "upsert", as_arrow((row("a", 2, "y"), row("c", 2, "y", "rio"))))
    stats = [stat for found in read_metadata(uri, instant)[2]["partitionToWriteStats"].values() for stat in found]
    assert len(stats) == 2
    for stat in stats:
        folder, _, name = stat["path"].rpartition("/")
        file_id, token, _ = name.split("_")
        (change,) = (path for path in (table_folder(uri) / folder).glob(".*.cdc"))
        assert change.name == f".{file_id}_{instant}.log.1_{token}.cdc"
        assert stat["cdcStats"] == {f"{folder}/{change.name}": change.stat().st_size}


@WRITES
@BOTH_TYPES
@pytest.mark.requirements("COMPAT-005", "PROP-001", "PROP-007", "PROP-008")
def test_writes_keep_version_and_keys_of_the_table(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """PROP-001: after writes the table still has its version, type, keys and merge mode: a writer changes none of them without
    an option.
    """
    uri = new_uri()
    write_table(engine, uri, INSERT, type=type)
    before = stored_properties(uri)
    for _ in range(2):
        engine.write(uri, UPDATE.operation, UPDATE_ROWS)
    kept = ("version", "type", "recordkey.fields", "partition.fields", "timeline.layout.version")
    names = [*(f"hoodie.table.{name}" for name in kept), "hoodie.timeline.layout.version", "hoodie.record.merge.mode"]
    assert {name: stored_properties(uri).get(name) for name in names} == {name: before.get(name) for name in names}
    assert before["hoodie.table.version"] == str(engine.table_version)
    assert before["hoodie.table.recordkey.fields"] == "id"
    assert before["hoodie.table.partition.fields"].partition(":")[0] == "city"


def stored_properties(uri: str) -> dict[str, str]:
    """Return the entries of `hoodie.properties`."""
    text = (table_folder(uri) / ".hoodie" / "hoodie.properties").read_text(encoding="latin-1")
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))


@pytest.mark.needs("create", "merge-on-read")
@pytest.mark.parametrize(
    ("ordering", "mode"),
    [((), "COMMIT_TIME_ORDERING"), (("ts",), "EVENT_TIME_ORDERING")],
)
@pytest.mark.requirements("MRG-017", "MRG-018", "MRG-033")
def test_the_merge_mode_follows_the_ordering_fields(
    engine: Client, new_uri: Callable[[], str], ordering: tuple[str, ...], mode: str
) -> None:
    """MRG-017: a table that is created without a mode gets commit time without ordering fields and event time with one."""
    uri = new_uri()
    spec = Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", False).spec()
    engine.create(uri, replace(spec, ordering=ordering, merge_mode=None))
    assert stored_properties(uri)["hoodie.record.merge.mode"] == mode


@pytest.mark.needs("create", "merge-on-read", "merge.event-time")
@pytest.mark.requirements("MRG-034")
def test_event_time_needs_an_ordering_field(engine: Client, new_uri: Callable[[], str]) -> None:
    """MRG-034: a table in event-time mode without ordering field cannot be created; with one it can."""
    spec = Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", False).spec()
    with pytest.raises(ContractError):
        engine.create(new_uri(), replace(spec, ordering=()))
    engine.create(new_uri(), spec)


@pytest.mark.needs("create", "write.upsert", "write.delete", "merge-on-read", "log.avro", "log.delete")
@pytest.mark.requirements("META-001", "META-007", "META-009", "META-003", "BLK-022")
def test_rows_in_log_blocks_have_meta_columns(engine: Client, new_uri: Callable[[], str]) -> None:
    """META-001: a row in a log block has all five meta columns; key, partition and commit time are filled."""
    instant, (block,) = logs_written(engine, new_uri(), Step("upsert", (row("a", 2, "y"),)))
    if block.kind != AVRO:
        pytest.skip("the engine logs rows as Parquet")
    schema = json.loads(block.header[SCHEMA])
    assert [field["name"] for field in schema["fields"]][: len(META)] == list(META)
    (stored,) = parse_records(block)
    assert (stored["_hoodie_record_key"], stored["_hoodie_partition_path"]) == ("a", "oslo")
    assert stored["_hoodie_commit_time"] == instant
    assert (stored["id"], stored["ts"], stored["value"]) == ("a", 2, "y")


@WRITES
@BOTH_TYPES
@pytest.mark.requirements("BF-002", "META-001", "META-007", "MRG-006")
def test_a_parquet_library_reads_every_base_file(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """BF-002: every base file is a complete Parquet file, meta columns first, with the keys of its rows; each row is in one of
    them.
    """
    uri = new_uri()
    write_table(engine, uri, INSERT, type=type)
    found = [path for path in data_files(uri) if path.endswith(".parquet")]
    keys: list[str] = []
    for path in found:
        rows = pq.ParquetFile(table_folder(uri) / path).read().to_pylist()
        assert list(rows[0])[: len(META)] == list(META)
        assert [r["_hoodie_record_key"] for r in rows] == [r["id"] for r in rows]
        keys += [r["id"] for r in rows]
    assert sorted(keys) == sorted(r["id"] for r in INSERT.rows)


#: Settings of a writer, and the names of those that its metadata has.
NOTES = {"_note": "of the job", "my.note": "of the job"}
PREFIX = "hoodie.datasource.write.commitmeta.key.prefix"
STORED = {"by default": ({}, {"_note"}), "my.": ({PREFIX: "my."}, {"my.note"})}


@WRITES
@pytest.mark.needs("copy-on-write", "write.notes")
@pytest.mark.parametrize("prefix", STORED)
@pytest.mark.requirements("TL-006")
def test_completion_metadata_has_the_settings_with_the_prefix(engine: Client, new_uri: Callable[[], str], prefix: str) -> None:
    """TL-006: jobs store notes, such as the place they have read up to, in the metadata of their write: the settings whose
    names begin with a prefix, which is a setting itself. No other setting is stored.
    """
    uri, (options, names) = new_uri(), STORED[prefix]
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    _, _, record = read_metadata(uri, engine.write(uri, "upsert", as_arrow(INSERT.rows), options={**NOTES, **options}))
    assert {name: record["extraMetadata"].get(name) for name in NOTES} == {
        name: value if name in names else None for name, value in NOTES.items()
    }
    assert PREFIX not in record["extraMetadata"]
