"""Completion metadata: written as deployed writers do, read by the schema that is in the file, refused when damaged."""

import io
import json
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import HudiError, MalformedMetadata, PathOutsideTable
from hudi_reference.timeline.contents.avro_container import read_record
from hudi_reference.timeline.contents.metadata import (
    COMMIT_METADATA_SCHEMA,
    WriteStat,
    groups_of_compaction,
    read_commit_metadata,
    write_commit_metadata,
)

STAT_FIELDS = [
    "fileId", "path", "prevCommit", "numWrites", "numDeletes", "numUpdateWrites", "totalWriteBytes", "totalWriteErrors",
    "partitionPath", "totalLogRecords", "totalLogFiles", "totalUpdatedRecordsCompacted", "numInserts", "totalLogBlocks",
    "totalCorruptLogBlock", "totalRollbackBlocks", "fileSizeInBytes", "logVersion", "logOffset", "baseFile", "logFiles",
    "cdcStats", "prevBaseFile", "minEventTime", "maxEventTime", "runtimeStats", "totalLogFilesCompacted", "totalLogReadTimeMs",
    "totalLogSizeCompacted", "tempPath", "numUpdates",
]  # fmt: skip

#: The same record with its fields in another order, other field order inside, and without what readers do not need.
OTHER_SCHEMA: dict[str, Any] = {
    "type": "record", "name": "HoodieReplaceCommitMetadata", "namespace": "org.apache.hudi.avro.model", "fields": [
        {"name": "operationType", "type": ["null", "string"]},
        {"name": "partitionToReplaceFileIds", "type": ["null", {"type": "map", "values": {"type": "array", "items": "string"}}]},
        {"name": "futureField", "type": "long"},
        {"name": "partitionToWriteStats", "type": ["null", {"type": "map", "values": {"type": "array", "items": {
            "type": "record", "name": "HoodieWriteStat", "fields": [
                {"name": "fileSizeInBytes", "type": ["null", "long"]},
                {"name": "path", "type": ["null", "string"]},
                {"name": "numInserts", "type": "int"},
                {"name": "fileId", "type": ["null", "string"]},
            ]}}}]},
        {"name": "extraMetadata", "type": ["null", {"type": "map", "values": "string"}]},
    ],
}  # fmt: skip


def container(schema: Any, *records: Any, codec: str = "null") -> bytes:
    """An Avro container written by the Avro library alone."""
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), records, codec=codec, sync_marker=b"s" * 16)
    return out.getvalue()


def replace_metadata(stat: dict[str, Any], partition: str = "p=1") -> bytes:
    """Metadata of another release's replacecommit with one write stat."""
    stat = {"fileSizeInBytes": 7, "path": "p=1/f_0-0-0_1.parquet", "numInserts": 3, "fileId": "f", **stat}
    return container(
        OTHER_SCHEMA,
        {
            "operationType": "INSERT_OVERWRITE",
            "partitionToReplaceFileIds": {"p=1": ["old-0", "old-1"]},
            "futureField": 1,
            "partitionToWriteStats": {partition: [stat]},
            "extraMetadata": {"schema": "S"},
        },
    )


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_metadata_is_read_by_the_schema_in_the_file(codec: str) -> None:
    """TL-002, TL-012: field order and fields differ between releases; the schema in the file is used."""
    data = replace_metadata({})
    if codec != "null":
        data = container(OTHER_SCHEMA, next(iter(fastavro.reader(io.BytesIO(data)))), codec=codec)
    found = read_commit_metadata(data, "x")
    assert found.operation == "INSERT_OVERWRITE"
    assert found.schema == "S"
    assert found.replaced == {"p=1": ("old-0", "old-1")}
    assert found.stats == (WriteStat("f", "p=1", "p=1/f_0-0-0_1.parquet", inserts=3, size=7),)


def test_written_metadata_has_the_deployed_schema_and_values() -> None:
    """TL-007, TL-009: 31 fields of a write stat in the deployed order; version null; the schema under extraMetadata; no codec."""
    log = WriteStat("f-0", "p", "p/.f-0_5.log.1_0-0-0", "5", writes=2, updates=2, deletes=1, size=99, is_log=True)
    base = WriteStat("g-0", "p", "p/g-0_1-0-0_5.parquet", writes=4, inserts=4, size=1000)
    data = write_commit_metadata("UPSERT", [log, base], {"type": "record"}, b"m" * 16)
    reader = fastavro.reader(io.BytesIO(data))
    assert set(reader.metadata) - {"avro.codec"} == {"avro.schema"}
    assert reader.metadata.get("avro.codec", "null") == "null"
    (record,) = reader
    assert list(record) == ["partitionToWriteStats", "compacted", "extraMetadata", "version", "operationType"]
    assert (record["compacted"], record["version"], record["operationType"]) == (False, None, "UPSERT")
    assert record["extraMetadata"] == {"schema": '{"type":"record"}'}
    first, second = record["partitionToWriteStats"]["p"]
    assert list(first) == STAT_FIELDS
    assert (first["prevCommit"], first["baseFile"], first["logFiles"]) == ("5", "", [".f-0_5.log.1_0-0-0"])
    assert (first["logVersion"], first["logOffset"], first["prevBaseFile"]) == (1, 0, None)
    assert (second["prevCommit"], second["prevBaseFile"], second["logFiles"], second["logVersion"]) == (
        "null",
        None,
        None,
        None,
    )
    assert (second["fileSizeInBytes"], second["totalWriteBytes"], second["numInserts"], second["numWrites"]) == (
        1000,
        1000,
        4,
        4,
    )
    for stat in (first, second):
        assert [stat[name] for name in ("tempPath", "cdcStats", "minEventTime", "maxEventTime", "totalLogFiles")] == [None] * 5
        assert stat["numUpdates"] == 0
    assert read_commit_metadata(data, "x").stats == (log, base)


def test_the_embedded_schema_is_the_deployed_one() -> None:
    """TL-007: names, namespace, unions with null first, strings as java.lang.String; the version is an int with default 1."""
    fields = {field["name"]: field for field in COMMIT_METADATA_SCHEMA["fields"]}
    assert (COMMIT_METADATA_SCHEMA["namespace"], COMMIT_METADATA_SCHEMA["name"]) == (
        "org.apache.hudi.avro.model",
        "HoodieCommitMetadata",
    )
    assert fields["version"]["type"] == ["int", "null"]
    assert fields["version"]["default"] == 1
    assert fields["operationType"]["type"] == ["null", {"type": "string", "avro.java.string": "String"}]
    stat = fields["partitionToWriteStats"]["type"][1]["values"]["items"]
    assert [field["name"] for field in stat["fields"]] == STAT_FIELDS
    assert all(field["type"][0] == "null" and field["default"] is None for field in stat["fields"])


def test_metadata_cut_at_any_byte_is_malformed() -> None:
    """TL-002: a truncated file is never read as one with fewer files."""
    data = write_commit_metadata("UPSERT", [WriteStat("f", "p", "p/f_0-0-0_5.parquet")], {"type": "record"}, b"m" * 16)
    for length in range(len(data)):
        with pytest.raises(MalformedMetadata) as raised:
            read_commit_metadata(data[:length], "the/path")
        assert raised.value.path == "the/path"
        assert raised.value.rule == "TL-002"


@bounded(1500)
@given(st.integers(0, 10**6), st.integers(1, 255))
def test_metadata_with_a_changed_byte_is_read_or_refused(place: int, change: int) -> None:
    """TL-002: a damaged file gives metadata or an error of the reference, without delay."""
    data = bytearray(replace_metadata({}))
    data[place % len(data)] ^= change
    try:
        read_commit_metadata(bytes(data), "x")
    except HudiError as error:
        assert error.path == "x"


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "TL-002"),
        (b"{}", "TL-002"),
        (b'{"partitionToWriteStats": {}}', "TL-002"),
        (b"Obj\x01", "TL-002"),
        (b"PAR1" + bytes(100), "TL-002"),
        (container(OTHER_SCHEMA), "TL-002"),
        (container("long", 5), "TL-002"),
        (container({"type": "record", "name": "r", "fields": []}, {}), "TL-007"),
        (container({"type": "record", "name": "r", "fields": [{"name": "partitionToWriteStats", "type": "string"}]},
                   {"partitionToWriteStats": "x"}), "TL-007"),
        (container({"type": "record", "name": "r", "fields": [{"name": "partitionToWriteStats", "type":
                   {"type": "map", "values": {"type": "array", "items": "long"}}}]}, {"partitionToWriteStats": {"p": [1]}}), "TL-007"),
        (container({"type": "record", "name": "r", "fields": [{"name": "partitionToWriteStats", "type":
                   {"type": "map", "values": {"type": "array", "items": {"type": "map", "values": "string"}}}}]},
                   {"partitionToWriteStats": {"p": [{"fileId": "f", "path": "p/x", "fileSizeInBytes": "many"}]}}), "TL-007"),
    ],
)  # fmt: skip
def test_other_files_are_not_commit_metadata(data: bytes, rule: str) -> None:
    """TL-002, TL-007: empty files, JSON of older layouts, other records: an error, never an empty commit."""
    with pytest.raises(MalformedMetadata) as raised:
        read_commit_metadata(data, "x")
    assert (raised.value.rule, raised.value.path) == (rule, "x")


def test_two_records_are_refused() -> None:
    """TL-002: a file must contain exactly one record."""
    (record,) = fastavro.reader(io.BytesIO(replace_metadata({})))
    with pytest.raises(MalformedMetadata):
        read_record(container(OTHER_SCHEMA, record, record), "x")


def test_a_very_large_record_count_is_refused() -> None:
    """TL-002: the declared number of records is not trusted, because records without fields take no bytes."""
    head = container({"type": "record", "name": "r", "fields": []})
    many = bytes([0x80] * 7 + [0x20])  # zigzag of 2**53
    with pytest.raises(MalformedMetadata):
        read_record(head + many + b"\x00" + b"s" * 16, "x")


@pytest.mark.parametrize(
    ("stat", "partition"),
    [
        ({"path": "../outside.parquet"}, "p=1"),
        ({"path": "/etc/passwd"}, "p=1"),
        ({"path": "p=1/../../x"}, "p=1"),
        ({"path": "p=1/x\0y"}, "p=1"),
        ({"fileId": "../f"}, "p=1"),
        ({"fileId": "a/b"}, "p=1"),
        ({}, "../other"),
        ({}, "/abs"),
        ({}, "a/./b"),
    ],
)
def test_metadata_cannot_lead_outside_the_table(stat: dict[str, Any], partition: str) -> None:
    """LAY-005, LAY-020: file paths, partition paths and file ids are names inside the table; the error names the instant's file."""
    with pytest.raises(PathOutsideTable) as raised:
        read_commit_metadata(replace_metadata(stat, partition), ".hoodie/timeline/1_2.commit")
    assert raised.value.path == ".hoodie/timeline/1_2.commit"
    assert raised.value.rule in ("LAY-005", "LAY-020")


def test_a_compaction_plan_names_its_file_groups() -> None:
    """TL-015, ER-004: the operations of a HoodieCompactionPlan; anything else is refused."""
    operation = {"type": "record", "name": "o", "fields": [
        {"name": "fileId", "type": ["null", "string"]}, {"name": "partitionPath", "type": ["null", "string"]}]}  # fmt: skip
    schema = {"type": "record", "name": "HoodieCompactionPlan", "fields": [
        {"name": "operations", "type": ["null", {"type": "array", "items": operation}]}]}  # fmt: skip
    plan = container(schema, {"operations": [{"fileId": "f", "partitionPath": "p"}, {"fileId": "g", "partitionPath": None}]})
    assert groups_of_compaction(read_record(plan, "x"), "x") == (("p", "f"), ("", "g"))
    assert groups_of_compaction(read_record(container(schema, {"operations": None}), "x"), "x") == ()
    with pytest.raises(MalformedMetadata) as raised:
        groups_of_compaction(read_record(replace_metadata({}), "x"), "x")
    assert raised.value.rule == "TL-015"
