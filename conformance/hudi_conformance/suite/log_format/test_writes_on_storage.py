"""The bytes that a writer stores: framing of log blocks, properties, folder names, rows of base files."""

import re
import struct
from collections.abc import Callable
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.stored_blocks import (
    AVRO,
    DELETE,
    INSTANT_TIME,
    PARQUET,
    ROWS,
    SCHEMA,
    log_files,
    logs_written,
    parse_blocks,
    parse_deletes,
    parse_records,
)
from hudi_conformance.suite.support.tables.tables_under_services import instant_files
from hudi_conformance.suite.support.tables.written_tables import base_files, table_folder

LOGS = pytest.mark.needs("create", "write.upsert", "write.delete", "merge-on-read", "log.avro", "log.delete")


@LOGS
@pytest.mark.requirements("LF-010", "LF-011", "LF-013", "LF-015", "LF-017", "LF-018", "LF-019", "LF-022", "LF-023", "LF-026")
@pytest.mark.requirements("LF-009", "LF-014", "LF-016", "LF-020", "LF-021", "LF-028", "LF-029", "LF-030", "LF-031", "LF-032")
@pytest.mark.requirements("LF-033", "LF-034", "LF-035", "LF-038", "BLK-018")
def test_log_blocks_have_the_frame_of_deployed_releases(engine: Client, new_uri: Callable[[], str]) -> None:
    """LF-010: magic, lengths, version, type and header of a data block are those that every deployed reader expects."""
    instant, (block,) = logs_written(engine, new_uri(), Step("upsert", (row("a", 2, "y"), row("b", 2, "y"))))
    assert block.kind in (AVRO, PARQUET)
    assert block.version == 1
    assert block.header[INSTANT_TIME] == instant
    assert '"_hoodie_record_key"' in block.header[SCHEMA]


@LOGS
@pytest.mark.requirements("BLK-019", "BLK-020", "BLK-021")
def test_records_of_an_avro_block_follow_their_length(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-020: the content is a version, a count, and for each record four bytes of length and the record."""
    _, (block,) = logs_written(engine, new_uri(), Step("upsert", (row("a", 2, "y"), row("b", 2, "y"))))
    if block.kind != AVRO:
        pytest.skip("the engine logs rows as Parquet")
    version, count = struct.unpack(">ii", block.content[:8])
    assert (version, count) == (3, 2)
    assert sorted(found["id"] for found in parse_records(block)) == ["a", "b"]


@LOGS
@pytest.mark.requirements("BLK-006", "BLK-007", "BLK-008")
def test_a_delete_block_holds_a_version_and_a_length(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-008: a delete by key is a block of type 1 whose content is version 3, its length in four bytes, and the list."""
    instant, (block,) = logs_written(engine, new_uri(), Step("delete", ROWS[:1]))
    version, length = struct.unpack(">ii", block.content[:8])
    assert (block.kind, block.header[INSTANT_TIME]) == (DELETE, instant)
    assert (version, length) == (3, len(block.content) - 8)


@LOGS
@pytest.mark.needs("partition.plain")
@pytest.mark.requirements("BLK-009")
def test_a_delete_has_its_key_and_its_partition(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-009: two partitions have rows with one key. Each entry of a delete by key has the key and the path of its partition,
    that of the folder of its log file.
    """
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow((*ROWS, row("a", 1, "x", "rio"))))
    engine.write(uri, "delete", as_arrow((row("a", 1, "x", "rio"), row("b", 1, "x"))).select(["id", "city"]))
    stored = {log.parent.name: parse_deletes(*parse_blocks(log.read_bytes())) for log in log_files(uri)}
    assert stored == {"rio": [("a", "rio")], "oslo": [("b", "oslo")]}
    expect_rows(engine, uri, (ROWS[0], ROWS[2]), "after the deletes")


@LOGS
@pytest.mark.requirements("BLK-011", "BLK-012", "LF-001", "BLK-014")
def test_deletes_of_a_batch_follow_its_rows(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-011: of a batch with rows and flagged deletes the data block comes first."""
    _, blocks = logs_written(engine, new_uri(), Step("upsert", (row("a", 2, "y"), row("b", 2, "y", deleted=True))))
    assert [block.kind == DELETE for block in blocks] == [False, True]


@pytest.mark.needs("create", "write.insert", "copy-on-write", "partition.plain")
@pytest.mark.requirements("META-005")
def test_sequence_numbers_are_unique_in_a_commit(engine: Client, new_uri: Callable[[], str]) -> None:
    """META-005: no two rows of one commit have the same sequence number, in one file or in several."""
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "insert", as_arrow([*ROWS, row("d", 1, "x", "rio")]))
    columns = [pq.ParquetFile(path).read(columns=["_hoodie_commit_seqno"]).column(0) for path in base_files(uri)]
    numbers = [number for column in columns for number in column.to_pylist()]
    assert len(set(numbers)) == len(numbers) == 4


@pytest.mark.needs("create", "write.upsert", "write.delete", "copy-on-write", "partition.plain")
@pytest.mark.requirements("TYP-002", "TYP-003", "TYP-014", "MRG-012")
def test_a_deleted_row_is_not_in_the_next_base_file(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-002: a plain Parquet reader of the newest base file sees the rows of the table; the older file still has the deleted
    row.
    """
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow(ROWS))
    engine.write(uri, "delete", as_arrow(ROWS[:1]))
    kept = [sorted(pq.ParquetFile(path).read(columns=["id"]).column("id").to_pylist()) for path in base_files(uri)]
    assert kept == [["a", "b", "c"], ["b", "c"]]


@pytest.mark.needs("create", "merge-on-read", "merge.event-time")
@pytest.mark.requirements("LAY-013", "PROP-004", "PROP-005", "PROP-006", "PROP-007", "PROP-009", "PROP-010", "MRG-020")
def test_a_new_table_has_its_properties(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-004: the properties file in .hoodie holds name, type, version, keys and merge mode."""
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    text = (table_folder(uri) / ".hoodie" / "hoodie.properties").read_text(encoding="latin-1")
    found = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    assert found["hoodie.table.name"] == "program"
    assert found["hoodie.table.type"] == "MERGE_ON_READ"
    assert found["hoodie.table.version"] == str(engine.table_version)
    assert found["hoodie.table.recordkey.fields"] == "id"
    assert found["hoodie.record.merge.mode"] == "EVENT_TIME_ORDERING"
    assert found["hoodie.timeline.layout.version"] == "2"
    assert "ts" in (found.get("hoodie.table.precombine.field"), found.get("hoodie.table.ordering.fields"))
    assert [name for name in found if re.fullmatch(r"hoodie(\.[a-z0-9_]+)+", name) is None] == []


@pytest.mark.needs("create", "write.insert", "copy-on-write", "partition.plain")
@pytest.mark.requirements("BF-002", "TL-048")
def test_an_unknown_compression_is_refused_before_the_write(engine: Client, new_uri: Callable[[], str]) -> None:
    """BF-002: a compression that Parquet does not have is an error, and the write has not begun."""
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "insert", as_arrow(ROWS))
    before = instant_files(uri)
    with pytest.raises(ContractError):
        engine.write(uri, "insert", as_arrow([row("d", 1, "x")]), options={"hoodie.parquet.compression.codec": "lz77"})
    assert instant_files(uri) == before


def folders(uri: str) -> set[str]:
    """Return the folders with base files, below the base path."""
    return {path.parent.relative_to(table_folder(uri)).as_posix() for path in base_files(uri)}


@pytest.mark.needs("create", "write.insert", "copy-on-write", "partition.hive")
@pytest.mark.requirements("LAY-006", "PROP-001")
def test_hive_style_folders_contain_the_field_name(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-006: if the table is configured for it, the folder of a partition is field=value."""
    uri = new_uri()
    engine.create(uri, replace(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec(), hive_style=True))
    engine.write(uri, "insert", as_arrow(ROWS))
    assert folders(uri) == {"city=oslo"}


@pytest.mark.needs("create", "write.insert", "copy-on-write", "partition.url-encoded")
@pytest.mark.requirements("PROP-016", "PROP-001", "LAY-018")
def test_url_encoded_folders_escape_the_value(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-016: if the table is configured for it, characters with a meaning in paths are escaped, so that each value has one
    folder.
    """
    uri = new_uri()
    engine.create(uri, replace(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec(), url_encode=True))
    engine.write(uri, "insert", as_arrow([row("a", 1, "x", "oslo/west")]))
    assert folders(uri) == {"oslo%2Fwest"}


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "copy-on-write", "partition.plain")
@pytest.mark.requirements("LAY-009", "LAY-018", "LAY-005")
def test_partitions_lie_at_different_depths(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-009: values with slashes make folders at depths of one, two and four, and a second write finds the rows in all."""
    uri, cities = new_uri(), ("x", "a/b", "a/c/d/e")
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    for ts in (1, 2):
        engine.write(uri, "upsert", as_arrow([row(city, ts, f"value {ts}", city) for city in cities]))
    assert folders(uri) == set(cities)
    expect_rows(engine, uri, [row(city, 2, "value 2", city) for city in cities], "after two writes")


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "copy-on-write", "partition.none")
@pytest.mark.requirements("LAY-010", "LAY-018")
def test_files_of_a_table_without_partitions_are_in_the_base_path(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-010: without partition fields all base files are in the base path itself, before and after an update."""
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", False).spec())
    engine.write(uri, "upsert", as_arrow(ROWS))
    engine.write(uri, "upsert", as_arrow([row("a", 2, "y")]))
    assert folders(uri) == {"."}
    expect_rows(engine, uri, [row("a", 2, "y"), *ROWS[1:]], "after two writes")


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "partition.plain", "merge.event-time")
@BOTH_TYPES
@pytest.mark.requirements("PROP-009", "MRG-028")
def test_the_ordering_field_decides_inside_a_write(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """PROP-009: of two rows of one key in one write the one with the greater ordering value is stored, in either order."""
    uri = new_uri()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())  # type: ignore[arg-type]
    twice = [row("a", 20, "greater"), row("a", 10, "lower"), row("b", 10, "lower"), row("b", 20, "greater")]
    engine.write(uri, "upsert", as_arrow(twice))
    expect_rows(engine, uri, [row("a", 20, "greater"), row("b", 20, "greater")], "after one write")


@pytest.mark.needs("create", "write.upsert", "copy-on-write", "partition.plain")
@pytest.mark.requirements("PROP-001", "BF-010")
@pytest.mark.leaves_damage("it changes the properties of the table")
def test_a_table_of_an_unknown_base_file_format_is_not_written(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-001: the table says that its base files have a format that no release writes; a write is an error, and stores no
    file of another format.
    """
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow(ROWS))
    properties = table_folder(uri) / ".hoodie" / "hoodie.properties"
    lines = [line for line in properties.read_text("latin-1").splitlines() if "base.file.format" not in line]
    properties.write_text("\n".join([*lines, "hoodie.table.base.file.format=CARBON", ""]), "latin-1")
    (properties.parent / ".hoodie.properties.crc").unlink(missing_ok=True)
    before = base_files(uri)
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", as_arrow([row("a", 2, "y")]))
    assert base_files(uri) == before
