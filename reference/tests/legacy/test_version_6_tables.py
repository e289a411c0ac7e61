"""Tables of version 6: names, contents, archived instants, completion times, and migration."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import set_property

from hudi_reference import clean, cluster, create_table, migrate, open_table, restore, rollback, savepoint
from hudi_reference.errors import (
    CorruptCommittedBlock,
    MalformedHistory,
    MalformedLogBlock,
    MalformedMetadata,
    UnfinishedMigration,
    UnsupportedTableVersion,
)
from hudi_reference.files.log.block import BlockType, HeaderKey
from hudi_reference.files.log.writer import BlockWriter
from hudi_reference.layout.properties import TableProperties
from hudi_reference.legacy.archived_log import ArchivedLog, encode_record, read_archived_log
from hudi_reference.query.table import Table
from hudi_reference.schema.avro import arrow_schema, with_meta_columns
from hudi_reference.services.migration.version_6_properties import migrate_properties
from hudi_reference.services.migration.version_6_timeline import completion_times
from hudi_reference.storage import LocalStorage, MemoryStorage, ObjectInfo
from hudi_reference.timeline.contents.actions import read_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.instants.version_6 import (
    LegacyInstant,
    completion_of,
    just_after,
    legacy_instants,
    parse_legacy_name,
    read_json_record,
)

T = "20240101000000000"
PROPERTIES = {
    "hoodie.table.name": "old",
    "hoodie.table.type": "COPY_ON_WRITE",
    "hoodie.table.version": "6",
    "hoodie.timeline.layout.version": "1",
    "hoodie.table.timeline.timezone": "UTC",
}
OVERWRITE = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"


@pytest.mark.parametrize(
    ("name", "action", "state"),
    [
        (f"{T}.commit", "commit", State.COMPLETED),
        (f"{T}.inflight", "commit", State.INFLIGHT),
        (f"{T}.commit.requested", "commit", State.REQUESTED),
        (f"{T}.replacecommit.requested", "replacecommit", State.REQUESTED),
        (f"{T}.compaction.inflight", "compaction", State.INFLIGHT),
        (f"{T}.savepoint", "savepoint", State.COMPLETED),
        ("20240101000000.deltacommit", "deltacommit", State.COMPLETED),
    ],
)
def test_names_of_version_6(name: str, action: str, state: State) -> None:
    """COMPAT-001: a completed instant has one time in its name, a pending one is named as in version 8."""
    found = parse_legacy_name(name)
    assert found == LegacyInstant(name.partition(".")[0], action, state)
    assert found.file_name == name


@pytest.mark.parametrize("action", ["commit", "deltacommit", "replacecommit"])
def test_completed_writes_of_version_6_are_json(action: str) -> None:
    """COMPAT-003: the timeline is shown like that of version 8, whose files are Avro."""
    record = {"partitionToWriteStats": {"p": [{"fileId": "f", "path": "p/f_0_1.parquet"}]}, "operationType": "UPSERT"}
    done = LegacyInstant(T, action, State.COMPLETED)
    found = read_action(json.dumps(record).encode(), done.file_name, done)
    assert found is not None
    assert found["operationType"] == "UPSERT"
    assert found["partitionToWriteStats"]["p"][0]["numWrites"] is None
    with pytest.raises(MalformedMetadata):
        read_action(json.dumps(record).encode(), "now", Instant(T, action, State.COMPLETED, T))


@pytest.mark.parametrize(
    "name", ["hoodie.properties", "metadata", f"{T}", f"{T}_{T}.commit", f"{T}.commit.crc", "x.commit", f"{T}.compaction"]
)
def test_other_files_are_ignored(name: str) -> None:
    """COMPAT-001: other files in .hoodie are not instants, and neither are names of version 8."""
    assert parse_legacy_name(name) is None


def info(name: str, modified: int) -> ObjectInfo:
    """A file in `.hoodie`."""
    return ObjectInfo(f".hoodie/{name}", 1, modified, "v")


def test_an_action_counts_from_its_request() -> None:
    """COMPAT-003: a copy of a table has other modification times, and the same answers."""
    (found,) = legacy_instants([info(f"{T}.commit", 1_704_067_205_678), info(f"{T}.inflight", 1)])
    assert (found.state, found.completion) == (State.COMPLETED, T)


def test_a_migration_takes_the_modification_time() -> None:
    """COMPAT-006: unless the file is older than the request."""
    properties = TableProperties(PROPERTIES)
    assert completion_of(T, info(f"{T}.commit", 1_704_067_205_678), properties) == "20240101000005678"
    assert completion_of(T, info(f"{T}.commit", 1000), properties) == "20240101000000001"


def test_just_after_is_the_next_millisecond() -> None:
    """TL-004: the next millisecond of a date, the next number of a reserved time; never an equal or earlier text."""
    assert just_after("20231231235959999") == "20240101000000000"
    assert just_after("20231231235959") > "20231231235959"
    assert just_after("00000000000001") == "00000000000002"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"Obj\x01", b"[" * 100_000, b"\xff{}"])
def test_invalid_json_of_a_commit_is_an_error(data: bytes) -> None:
    """COMPAT-003: a truncated or other file is an error that names the file."""
    with pytest.raises(MalformedMetadata) as error:
        read_json_record(data, ".hoodie/1.commit")
    assert error.value.path == ".hoodie/1.commit"


def test_writes_to_version_6_are_refused() -> None:
    """COMPAT-005: a write is refused before it changes anything; the error names the remedy."""
    storage = old_table()
    before = [(i.path, i.version) for i in storage.list()]
    with pytest.raises(UnsupportedTableVersion, match="migrate"):
        open_table("memory:///old", storage=storage).upsert(pa.table({"id": ["a"]}))
    assert [(i.path, i.version) for i in storage.list()] == before


@pytest.mark.parametrize(
    "service",
    [lambda t: rollback(t, T), lambda t: restore(t, T), lambda t: savepoint(t, T), clean, cluster],
    ids=["rollback", "restore", "savepoint", "clean", "cluster"],
)
def test_services_of_version_6_are_refused(service: Callable[[Table], object]) -> None:
    """COMPAT-005: before anything is deleted; the error names the migration, and no file to remove."""
    storage = old_table()
    before = [(i.path, i.version) for i in storage.list()]
    with pytest.raises(UnsupportedTableVersion, match="migrate"):
        service(open_table("memory:///old", storage=storage))
    assert [(i.path, i.version) for i in storage.list()] == before


def old_table() -> MemoryStorage:
    """A table of version 6 with one commit that wrote nothing."""
    storage = MemoryStorage()
    schema = {"type": "record", "name": "old", "fields": [{"name": "id", "type": "string"}]}
    entries = {**PROPERTIES, "hoodie.table.recordkey.fields": "id"}
    storage.put(".hoodie/hoodie.properties", "".join(f"{k}={v}\n" for k, v in entries.items()).encode())
    commit = {"partitionToWriteStats": {}, "extraMetadata": {"schema": json.dumps(schema)}, "operationType": "UPSERT"}
    for name in (f"{T}.commit.requested", f"{T}.inflight"):
        storage.put(f".hoodie/{name}", b"")
    storage.put(f".hoodie/{T}.commit", json.dumps(commit).encode())
    return storage


@pytest.mark.parametrize("action", ["commit", "replacecommit"])
def test_a_profile_in_avro_is_migrated_unchanged(action: str) -> None:
    """COMPAT-003: a downgrade by Apache Hudi 1.2.0 leaves the inflight files of overwrites as they are at version 9."""
    storage = old_table()
    profile = encode_record(
        "HoodieCommitMetadata", {"partitionToWriteStats": {}, "operationType": "INSERT_OVERWRITE"}, lambda: b"s" * 16
    )
    written = json.loads(storage.get(f".hoodie/{T}.commit")) | {"partitionToReplaceFileIds": {}}
    for suffix in (".commit.requested", ".inflight", ".commit"):
        storage.delete(f".hoodie/{T}{suffix}")
    inflight = f"{T}.inflight" if action == "commit" else f"{T}.{action}.inflight"
    contents = {f"{T}.{action}.requested": b"", inflight: profile, f"{T}.{action}": json.dumps(written).encode()}
    for name, data in contents.items():
        storage.put(f".hoodie/{name}", data)
    migrate("memory:///old", storage=storage, version=8)
    assert storage.get(f".hoodie/timeline/{inflight}") == profile
    assert open_table("memory:///old", storage=storage).snapshot().num_rows == 0


@pytest.mark.parametrize("partial", [False, True])
def test_a_block_of_some_columns_is_refused_in_an_old_table(partial: bool) -> None:
    """LF-045: version 6 knows no such blocks. Whole rows in the same place are read."""
    storage, group = old_table(), "f0000000-0000-4000-8000-000000000001-0"
    commit = json.loads(storage.get(f".hoodie/{T}.commit"))
    schema, name = with_meta_columns(json.loads(commit["extraMetadata"]["schema"])), f".{group}_{T}.log.1_0-1-2"
    row = pa.Table.from_pylist([{"_hoodie_record_key": "a", "id": "a"}], schema=arrow_schema(schema))
    storage.put(name, BlockWriter(T, schema, partial=partial).avro(row))
    commit["partitionToWriteStats"] = {"": [{"fileId": group, "path": name}]}
    for suffix in (".commit.requested", ".inflight", ".commit"):
        storage.delete(f".hoodie/{T}{suffix}")
    for suffix in (".requested", ".inflight", ""):
        storage.put(f".hoodie/{T}.deltacommit{suffix}", b"" if suffix else json.dumps(commit).encode())
    set_property(storage, "hoodie.table.type", "MERGE_ON_READ")
    table = open_table("memory:///old", storage=storage)
    if partial:
        with pytest.raises(MalformedLogBlock, match="too old") as caught:
            table.snapshot()
        assert (caught.value.path, caught.value.offset) == (name, 0)
    else:
        assert table.snapshot(["id"]).to_pylist() == [{"id": "a"}]


def table_with_a_crashed_append() -> MemoryStorage:
    """A table with one row of one write, and the log file that a crashed write created next: the half of a block."""
    storage, group = old_table(), "f0000000-0000-4000-8000-000000000001-0"
    schema = with_meta_columns(json.loads(json.loads(storage.get(f".hoodie/{T}.commit"))["extraMetadata"]["schema"]))
    for suffix in (".commit.requested", ".inflight", ".commit"):
        storage.delete(f".hoodie/{T}{suffix}")
    set_property(storage, "hoodie.table.type", "MERGE_ON_READ")
    append(storage, T, f".{group}_{T}.log.1_0-1-2", schema, "a")
    crashed = BlockWriter(just_after(T), schema).avro(new_row(schema, "b"))
    storage.put(f".{group}_{T}.log.2_0-1-2", crashed[: len(crashed) // 2])
    return storage


def new_row(schema: Any, key: str) -> pa.Table:
    """A row with that key."""
    return pa.Table.from_pylist([{"_hoodie_record_key": key, "id": key}], schema=arrow_schema(schema))


def append(storage: MemoryStorage, instant: str, name: str, schema: Any, key: str) -> None:
    """A completed write that appends a row to a log file."""
    before = storage.get(name) if storage.head(name) is not None else b""
    data = before + BlockWriter(instant, schema).avro(new_row(schema, key))
    storage.put(name, data)
    stat = {"fileId": name[1:39], "path": name, "logOffset": len(before), "fileSizeInBytes": len(data)}
    commit = {"partitionToWriteStats": {"": [stat]}, "extraMetadata": {}, "operationType": "UPSERT"}
    commit["extraMetadata"] = {"schema": json.dumps({"type": "record", "name": "old", "fields": schema["fields"][5:]})}
    for suffix in (".requested", ".inflight", ""):
        storage.put(f".hoodie/{instant}.deltacommit{suffix}", b"" if suffix else json.dumps(commit).encode())


def test_a_log_file_of_a_crashed_write_alone_is_passed_over() -> None:
    """BLK-016, BLK-017: no completed write names the file; its name has the instant of the slice, which counts."""
    table = open_table("memory:///old", storage=table_with_a_crashed_append())
    assert table.snapshot(["id"]).to_pylist() == [{"id": "a"}]


def test_a_crashed_append_before_a_later_write_is_passed_over_by_time_travel() -> None:
    """BLK-016, RDR-006: only a write after the read time names the file, and appended behind the damage."""
    storage = table_with_a_crashed_append()
    name = next(info.path for info in storage.list() if ".log.2_" in info.path)
    schema = with_meta_columns({"type": "record", "name": "old", "fields": [{"name": "id", "type": "string"}]})
    later = just_after(just_after(T))
    append(storage, later, name, schema, "c")
    table = open_table("memory:///old", storage=storage)
    assert table.snapshot(["id"]).to_pylist() == [{"id": "a"}, {"id": "c"}]
    assert table.as_of(T).select(["id"]).to_pylist() == [{"id": "a"}]


def test_damage_in_a_log_file_that_an_archived_write_may_have_made_is_an_error() -> None:
    """BLK-016: archived metadata does not tell whether the bytes were committed."""
    storage = table_with_a_crashed_append()
    name = next(info.path for info in storage.list() if ".log.2_" in info.path)
    for suffix in (".requested", ".inflight", ""):
        storage.delete(f".hoodie/{T}.deltacommit{suffix}")
    schema = with_meta_columns({"type": "record", "name": "old", "fields": [{"name": "id", "type": "string"}]})
    append(storage, just_after(T), name.replace("-0_", "-1_").replace(T, just_after(T)), schema, "c")
    with pytest.raises(CorruptCommittedBlock):
        open_table("memory:///old", storage=storage).snapshot()


def test_half_migrated_timeline_is_an_error() -> None:
    """COMPAT-006: after an upgrade that crashed between two instants the first instant is not ignored."""
    storage = old_table()
    open_table("memory:///old", storage=storage).snapshot()
    storage.put(".hoodie/timeline/20230101000000000_20230101000001000.commit", b"")
    with pytest.raises(UnfinishedMigration, match="20230101000000000"):
        open_table("memory:///old", storage=storage).snapshot()


ENTRY: dict[str, Any] = {
    "type": "record",
    "name": "HoodieArchivedMetaEntry",
    "fields": [
        {"name": "commitTime", "type": ["null", "string"]},
        {"name": "actionType", "type": ["null", "string"]},
        {"name": "actionState", "type": ["null", "string"]},
        {"name": "stateTransitionTime", "type": ["null", "string"]},
        {"name": "hoodieCommitMetadata", "type": ["null", {"type": "map", "values": "string"}]},
    ],
}


def test_a_table_whose_metadata_table_has_version_6_is_not_written(tmp_path: Path) -> None:
    """COMPAT-006: a downgrade was interrupted after the metadata table. A write is refused before it changes a file."""
    schema = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}]}
    options = {"hoodie.metadata.enable": "true"}
    uri, storage = tmp_path.as_uri(), LocalStorage(tmp_path)
    create_table(uri, name="t", schema=schema, record_key=("id",), options=options).upsert(pa.table({"id": ["a"]}))
    path = ".hoodie/metadata/.hoodie/hoodie.properties"
    changed = (
        storage.get(path).replace(b"table.version=8", b"table.version=6").replace(b"layout.version=2", b"layout.version=1")
    )
    storage.put(path, changed)
    before = {info.path: storage.get(info.path) for info in storage.list()}
    with pytest.raises(UnfinishedMigration):
        open_table(uri, options=options).upsert(pa.table({"id": ["b"]}))
    assert {info.path: storage.get(info.path) for info in storage.list()} == before


def block(*entries: tuple[str, str, str, str | None]) -> bytes:
    """A data block of archived states: requested time, action, state, time of the state."""
    import io

    content = struct.pack(">ii", 3, len(entries))
    for requested, action, state, time in entries:
        out = io.BytesIO()
        record = {"commitTime": requested, "actionType": action, "actionState": state, "stateTransitionTime": time,
                  "hoodieCommitMetadata": {}}  # fmt: skip
        fastavro.schemaless_writer(out, ENTRY, record)
        content += struct.pack(">i", len(out.getvalue())) + out.getvalue()
    schema = json.dumps(ENTRY).encode()
    header = struct.pack(">iii", 1, HeaderKey.SCHEMA, len(schema)) + schema
    body = (
        struct.pack(">ii", 1, BlockType.AVRO_DATA) + header + struct.pack(">q", len(content)) + content + struct.pack(">i", 0)
    )
    return b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)


FOLDER = ".hoodie/archived"


def test_archived_states_become_instants() -> None:
    """COMPAT-003: an action is archived when its completed state is; each counts once, in whatever files its states lie."""
    storage = MemoryStorage()
    first = block((T, "commit", "REQUESTED", None), (T, "commit", "COMPLETED", "20240101000003000"))
    second = block(("20230101000000000", "compaction", "INFLIGHT", None), ("20230101000000000", "commit", "COMPLETED", None))
    storage.put(f"{FOLDER}/.commits_.archive.2_1-0-1", first + second)
    storage.put(f"{FOLDER}/.commits_.archive.10_1-0-1", first + block(("20250101000000000", "clean", "INFLIGHT", None)))
    storage.put(f"{FOLDER}/archivedTimelineMergePlan", b"foreign")
    found = [archived.instant for archived in read_archived_log(storage, FOLDER)]
    assert [(i.requested, i.action, i.completion) for i in found] == [
        ("20230101000000000", "commit", "20230101000000001"),
        (T, "commit", "20240101000003000"),
    ]
    log = ArchivedLog(storage, FOLDER)
    assert [i.identity for i in log.instants(begin=T)] == [found[1].identity]
    assert [i.identity for i in log.completed(end="20230101000000000")] == [found[0].identity]
    assert (log.completion_of(T), log.completion_of("20250101000000000")) == (T, None)
    assert [action.instant.identity for action in log.actions(begin=T)] == [found[1].identity]


def test_truncated_append_to_the_archive_is_ignored() -> None:
    """COMPAT-003: the instants of an incomplete last block are still active; any other damage is an error."""
    whole = block((T, "commit", "COMPLETED", None))
    storage = MemoryStorage()
    storage.put(f"{FOLDER}/.commits_.archive.1_1-0-1", whole + whole[: len(whole) // 2])
    assert len(read_archived_log(storage, FOLDER)) == 1
    storage.put(f"{FOLDER}/.commits_.archive.1_1-0-1", whole[:40] + b"junk" + whole[44:] + whole)
    with pytest.raises(MalformedHistory):
        read_archived_log(storage, FOLDER)
    storage.put(f"{FOLDER}/.commits_.archive.1_1-0-1", block((T, "dance", "COMPLETED", None)))
    with pytest.raises(MalformedHistory, match="dance"):
        read_archived_log(storage, FOLDER)
    storage.put(f"{FOLDER}/.commits_.archive.1_1-0-1", block(("one", "commit", "COMPLETED", None)))
    with pytest.raises(MalformedHistory, match="one"):
        read_archived_log(storage, FOLDER)


def commit(requested: int, completion: int, *groups: str) -> tuple[LegacyInstant, dict[str, Any]]:
    """A completed write to some file groups, at seconds of one minute."""
    times = (f"202401010000{requested:02}000", f"202401010000{completion:02}000")
    stats = {"p": [{"fileId": group} for group in groups]}
    return LegacyInstant(times[0], "commit", State.COMPLETED, times[1]), {"partitionToWriteStats": stats}


def test_modification_times_of_a_copied_table_are_not_used() -> None:
    """COMPAT-006: if all files were modified together later, each write completes before the next one to its file groups."""
    writes = [commit(1, 50, "f"), commit(2, 50, "f", "g"), commit(3, 50, "g"), commit(4, 50, "h")]
    times = completion_times(writes)
    assert list(times.values()) == ["20240101000001001", "20240101000002001", "20240101000050000", "20240101000050001"]


@given(st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59), st.sets(st.sampled_from("fgh"))), max_size=12))
def test_completion_times_keep_slices_apart(writes: list[tuple[int, int, set[str]]]) -> None:
    """COMPAT-006: times are new, later than the request, and before the next write to one of the same file groups."""
    unique = {requested: (requested, completion, groups) for requested, completion, groups in writes}
    made = [commit(requested, completion, *groups) for requested, completion, groups in unique.values()]
    times = completion_times(made)
    assert len(set(times.values()) | {instant.requested for instant in times}) == 2 * len(made)
    for instant, metadata in made:
        mine = {stat["fileId"] for stat in metadata["partitionToWriteStats"]["p"]}
        assert times[instant] > instant.requested
        for other, theirs in made:
            if other.requested > instant.requested and mine & {stat["fileId"] for stat in theirs["partitionToWriteStats"]["p"]}:
                assert times[instant] < other.requested


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ({}, "COMMIT_TIME_ORDERING"),
        ({"hoodie.table.precombine.field": "ts"}, "EVENT_TIME_ORDERING"),
        ({"hoodie.table.precombine.field": "ts", "hoodie.compaction.payload.class": OVERWRITE}, "COMMIT_TIME_ORDERING"),
        ({"hoodie.compaction.payload.class": "com.example.Payload"}, "CUSTOM"),
    ],
)
def test_a_migrated_table_merges_as_before(given: dict[str, str], mode: str) -> None:
    """MRG-020, PROP-006: the mode by which the rows were read is stored; the version at creation stays known."""
    found = migrate_properties(TableProperties({**PROPERTIES, **given, "hoodie.table.metadata.partitions": "files"}))
    assert found["hoodie.record.merge.mode"] == mode
    assert (found["hoodie.table.version"], found["hoodie.table.initial.version"]) == ("8", "6")
    assert "hoodie.table.metadata.partitions" not in found
    if mode != "CUSTOM":
        assert TableProperties(found).merge_mode == mode
