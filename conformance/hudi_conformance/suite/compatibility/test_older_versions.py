"""Writers on tables of version 6 and on tables whose migration is not finished; migrations that crash."""

import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import EngineError, Refused
from hudi_conformance.explorer.crash_points import Crashed, copy_storage, crash_states
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.older_tables import ROW, golden_table
from hudi_conformance.suite.support.tables.written_tables import completed_files, files_below, table_folder
from hudi_reference import Migration, migrate, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError, MigrationRefused, TableChanged, UnfinishedMigration
from hudi_reference.ids import SeededIds
from hudi_reference.layout.properties import read_properties
from hudi_reference.storage import LocalStorage, MemoryStorage, ObjectInfo, Storage

#: Golden tables of version 6 without pending actions.
WHOLE = ("v6.cow", "v6.mor", "v6.mor.compacted", "v6.mor.rolled-back", "v6.cow.savepoint", "v6.cow.archived", "v6.mor.archived")
Rows = list[dict[str, object]]
#: The instant at which migrations begin in these tests.
STARTED = "20300317174640000"


def table_version(folder: Path) -> str:
    """Return the version in the properties of a table."""
    lines = (folder / ".hoodie" / "hoodie.properties").read_text().splitlines()
    return next(line.partition("=")[2] for line in lines if line.startswith("hoodie.table.version="))


def set_property(meta: Path, key: str, value: str) -> None:
    """Set a property in the properties file of this folder."""
    file = meta / "hoodie.properties"
    lines = [line for line in file.read_text().splitlines() if not line.startswith(f"{key}=")]
    file.write_text("\n".join([*lines, f"{key}={value}", ""]))
    (meta / ".hoodie.properties.crc").unlink(missing_ok=True)


@pytest.mark.needs("write.upsert", "table-version.6", "read.snapshot")
@pytest.mark.requirements("COMPAT-005", "COMPAT-001")
@pytest.mark.parametrize("name", ["v6.cow", "v6.mor"])
def test_a_write_does_not_raise_the_version_of_a_table(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """COMPAT-005: a table of version 6 is written at version 6, or the write is refused; the stored version does not change."""
    uri = new_uri()
    shutil.copytree(golden_table(name), table_folder(uri))
    expected = engine.read(uri, Query("snapshot")).num_rows
    with suppress(Refused, EngineError):
        engine.write(uri, "upsert", ROW)
        expected += 1
    assert table_version(table_folder(uri)) == "6"  # before the rows: a reader may refuse a table that was not migrated
    assert engine.read(uri, Query("snapshot")).num_rows == expected


@pytest.mark.needs(
    "table-version.6", "read.cdc", "merge-on-read", "partition.plain", "log.avro", "log.delete", "merge.event-time"
)
@pytest.mark.requirements("COMPAT-001", "COMPAT-003", "TYP-012")
def test_changes_of_a_table_of_version_6(engine: Client, new_uri: Callable[[], str]) -> None:
    """COMPAT-003: at version 6 the log files of a slice have its instant in their names. Each change is nevertheless that of
    the write of its block: the writes of a slice are not one change, and a late write, which changes no row, is none.
    """
    uri = new_uri()
    shutil.copytree(golden_table("v6.mor"), table_folder(uri))
    meta = table_folder(uri) / ".hoodie"
    set_property(meta, "hoodie.table.cdc.enabled", "true")
    for path in meta.glob("2*"):  # the time at which an action completed is the modification time of its file
        moment = datetime.strptime(f"{path.name[:17]}000", "%Y%m%d%H%M%S%f").replace(tzinfo=UTC).timestamp() + 1
        os.utime(path, (moment, moment))
    found = engine.read(uri, Query("cdc")).sort_by("ts_ms").to_pylist()
    changes = [(one["op"], *(one[side] and one[side]["name"] for side in ("before", "after"))) for one in found]
    inserts = [("i", None, name) for name in ("a1", "b1", "c1")]
    later = [("u", "a1", "a2"), ("u", "a2", "a4"), ("u", "c1", "c2"), ("d", "b1", None)]
    assert sorted(changes[:3], key=str) == inserts
    assert (changes[3], sorted(changes[4:6], key=str), changes[6:]) == (later[0], later[1:3], later[3:])


@pytest.mark.needs("create", "write.upsert", "copy-on-write", "partition.none")
@pytest.mark.requirements("COMPAT-002", "COMPAT-004")
@pytest.mark.parametrize("version", [7, 10, 99])
def test_a_table_of_an_unknown_version_is_not_written(engine: Client, new_uri: Callable[[], str], version: int) -> None:
    """COMPAT-002: a writer that does not know the version of a table refuses it, and changes no file.

    Version 7 existed in unreleased code only; later versions than 9 are unknown to each engine here.
    """
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", False).spec())
    engine.write(uri, "upsert", as_arrow([row("a", 1, "first")]))
    file = table_folder(uri) / ".hoodie" / "hoodie.properties"
    text = file.read_text()
    file.write_text(re.sub(r"(?m)^hoodie\.table\.version=.*$", f"hoodie.table.version={version}", text))
    (file.parent / ".hoodie.properties.crc").unlink(missing_ok=True)
    before = files_below(table_folder(uri))
    with pytest.raises((Refused, EngineError)):
        engine.write(uri, "upsert", as_arrow([row("a", 2, "second")]))
    assert files_below(table_folder(uri)) == before
    file.write_text(text)  # the table is inspected after the test


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "copy-on-write", "partition.none")
@pytest.mark.requirements("COMPAT-006")
@pytest.mark.parametrize("name", ["{requested}.commit", "{requested}.commit.requested", "{requested}.inflight"])
def test_writes_are_refused_during_a_migration(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """COMPAT-006: while an instant of version 6 is stored in .hoodie of a table of version 8, its migration is not finished and
    writes are refused.
    """
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", False).spec())
    engine.write(uri, "upsert", as_arrow([row("a", 1, "first")]))
    requested = completed_files(uri)[0].name.partition("_")[0]
    (table_folder(uri) / ".hoodie" / name.format(requested=int(requested) - 1)).write_bytes(b"")
    with pytest.raises((Refused, EngineError)):
        engine.write(uri, "upsert", as_arrow([row("a", 2, "second")]))
    assert len(completed_files(uri)) == 1
    expect_rows(engine, uri, [row("a", 1, "first")], "after the write that had to be refused")


def make_migration(storage: Storage) -> Migration:
    """Return the migration of a table, with a clock and ids that start from the same state each time."""
    return migrate("memory:///old", storage=storage, clock=ManualClock(1_900_000_000_000), ids=SeededIds(1))


def read_rows(storage: Storage) -> Rows:
    """Return the rows of a table with meta columns, except the file name: a compaction moves rows to another file."""
    rows: Rows = open_table("memory:///old", storage=storage).snapshot().drop_columns(["_hoodie_file_name"]).to_pylist()
    return sorted(rows, key=lambda one: str(one["_hoodie_record_key"]))


def completed_before_migration(storage: Storage) -> list[tuple[str, str]]:
    """Return requested time and action of everything that completed before the migration, active and archived."""
    timeline = open_table("memory:///old", storage=storage).timeline
    return sorted({(i.requested, i.action) for i in (*timeline.completed, *timeline.history) if i.requested < STARTED})


def read_logs(storage: Storage) -> list[str]:
    """Return the log files that a snapshot needs."""
    slices = open_table("memory:///old", storage=storage).file_groups().latest_slices
    return [found.path(name) for found in slices for name in found.log_files]


@pytest.mark.needs("table-version.6", "read.snapshot")
@pytest.mark.requirements("COMPAT-006", "COMPAT-003")
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.long
def test_a_crashed_migration_leaves_a_readable_table(engine: Client, name: str) -> None:
    """COMPAT-006: after a crash behind any request, rows and actions are unchanged; a second run ends in the state of an
    undisturbed one.
    """
    only_in_process(engine)
    storage = copy_storage(LocalStorage(golden_table(name)))
    rows, instants = read_rows(storage), completed_before_migration(storage)
    versions, ended = set(), set[frozenset[tuple[str, bytes]]]()
    for crash in crash_states(storage, make_migration):
        assert read_rows(crash.storage) == rows, crash
        assert completed_before_migration(crash.storage) == instants, crash
        versions.add(read_properties(crash.storage).get("hoodie.table.version"))
        if old_timeline_files(crash.storage):
            expect_writers_stopped(crash)
        make_migration(crash.storage)
        content = frozenset((info.path, crash.storage.get(info.path)) for info in crash.storage.list())
        if content in ended:  # the same bytes as after an earlier crash, which were checked
            continue
        ended.add(content)
        assert read_rows(crash.storage) == rows, f"{crash}, then a second run"
        assert completed_before_migration(crash.storage) == instants, f"{crash}, then a second run"
        assert old_timeline_files(crash.storage) == read_logs(crash.storage) == [], f"{crash}, then a second run"
        assert read_properties(crash.storage).get("hoodie.table.version") == "8"
    assert versions == {"6", "8"}


def expect_writers_stopped(crash: Crashed) -> None:
    """A table between two versions refuses writes."""
    table = open_table(
        "memory:///old", storage=copy_storage(crash.storage), clock=ManualClock(1_900_000_000_000), ids=SeededIds(2)
    )
    with pytest.raises(HudiError):
        table.upsert(ROW)


def old_timeline_files(storage: Storage) -> list[str]:
    """Files of the old timeline."""
    return [info.path for info in storage.list(".hoodie") if is_old(info)]


def is_old(info: ObjectInfo) -> bool:
    """Whether the file is an instant of version 6, or one of its archive."""
    name = info.path.removeprefix(".hoodie/")
    return name[:1].isdigit() or ".commits_.archive" in name


@pytest.mark.needs("table-version.6", "write.upsert")
@pytest.mark.requirements("COMPAT-006", "COMPAT-003")
@pytest.mark.parametrize("name", WHOLE)
def test_a_migrated_table_accepts_writes(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """COMPAT-006: after a migration the rows are unchanged; after a further write they are the earlier rows and the new one."""
    only_in_process(engine)
    uri = new_uri()
    shutil.copytree(golden_table(name), table_folder(uri))
    before = read_rows(LocalStorage(table_folder(uri)))
    planned = migrate(uri, dry_run=True)
    assert table_version(table_folder(uri)) == "6"
    assert migrate(uri) == planned
    assert read_rows(LocalStorage(table_folder(uri))) == before
    engine.write(uri, "upsert", ROW)
    after = read_rows(LocalStorage(table_folder(uri)))
    assert [one for one in after if one["_hoodie_record_key"] != "z"] == before
    assert len(after) == len(before) + 1


@pytest.mark.needs("table-version.6", "read.snapshot")
@pytest.mark.requirements("COMPAT-006", "COMPAT-003", "TL-004")
@pytest.mark.parametrize("name", ["v6.cow", "v6.mor"])
def test_a_migration_of_files_with_other_times(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """COMPAT-006: at version 6 an action completed at the modification time of its file, and a copy of a table may have any. In
    the new timeline each action completes after its request, and before the next one is requested.
    """
    only_in_process(engine)
    uri = new_uri()
    shutil.copytree(golden_table(name), table_folder(uri))
    for path in (table_folder(uri) / ".hoodie").iterdir():
        os.utime(path, (0, 0))
    before = read_rows(LocalStorage(table_folder(uri)))
    migrate(uri)
    assert read_rows(LocalStorage(table_folder(uri))) == before
    done = open_table(uri).timeline.completed
    assert all(one.completion is not None and one.requested < one.completion for one in done)
    assert [one.requested for one in done] == [one.requested for one in sorted(done, key=lambda one: str(one.completion))]


PROPERTIES, PACKAGE = ".hoodie/hoodie.properties", "org.apache.hudi."
GENERATOR, TYPE = "hoodie.table.keygenerator.class", "hoodie.table.keygenerator.type"
CLASS, MODE = "hoodie.compaction.payload.class", "hoodie.record.merge.mode"
STRATEGY, FORMER = "hoodie.record.merge.strategy.id", "hoodie.compaction.record.merger.strategy"
INITIAL, INFLIGHT = "hoodie.table.initial.version", "hoodie.table.metadata.partitions.inflight"
MERGER, EVENT_TIME = "0f2c1d1c-5a7b-4f0e-9a53-1b3c5d7e9f01", "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
#: Entries of a table of version 6, and those that it has after a migration; None if it has none.
MIGRATED: dict[str, tuple[dict[str, str | None], dict[str, str | None]]] = {
    "simple keys": ({GENERATOR: f"{PACKAGE}keygen.SimpleKeyGenerator"}, {TYPE: "SIMPLE"}),
    "keys of no partition": ({GENERATOR: f"{PACKAGE}keygen.NonpartitionedKeyGenerator"}, {TYPE: "NON_PARTITION"}),
    "keys of several fields": ({GENERATOR: f"{PACKAGE}keygen.ComplexKeyGenerator"}, {TYPE: "COMPLEX"}),
    "paths of times": ({GENERATOR: f"{PACKAGE}keygen.TimestampBasedKeyGenerator"}, {TYPE: "TIMESTAMP"}),
    "a type for each partition field": ({GENERATOR: f"{PACKAGE}keygen.CustomKeyGenerator"}, {TYPE: "CUSTOM"}),
    "deletes of a key in every partition": (
        {GENERATOR: f"{PACKAGE}keygen.GlobalDeleteKeyGenerator"}, {TYPE: "GLOBAL_DELETE"},
    ),
    "keys of a class of a user": ({GENERATOR: "com.example.Keys"}, {TYPE: "USER_PROVIDED", GENERATOR: "com.example.Keys"}),
    "no generator": ({GENERATOR: None}, {TYPE: None, GENERATOR: None}),
    "a payload class of a user": ({CLASS: "com.example.Payload"}, {MODE: "CUSTOM", CLASS: "com.example.Payload"}),
    "an earlier first version": ({INITIAL: "5"}, {INITIAL: "5"}),
    "no first version": ({INITIAL: None}, {INITIAL: "6"}),
    "a strategy of a user": (
        {CLASS: "com.example.Payload", STRATEGY: MERGER}, {MODE: "CUSTOM", CLASS: "com.example.Payload", STRATEGY: MERGER},
    ),
    "a strategy under its former name": (
        {FORMER: EVENT_TIME}, {MODE: "EVENT_TIME_ORDERING", STRATEGY: EVENT_TIME, FORMER: None},
    ),
    "indexes that are built and being built": (
        {"hoodie.table.metadata.partitions": "files", INFLIGHT: "record_index"},
        {"hoodie.table.metadata.partitions": "", INFLIGHT: ""},
    ),
    "the latest row": (
        {CLASS: f"{PACKAGE}common.model.OverwriteWithLatestAvroPayload"}, {MODE: "COMMIT_TIME_ORDERING"},
    ),
}  # fmt: skip


@pytest.mark.needs("table-version.6", "read.snapshot")
@pytest.mark.requirements("COMPAT-006", "PROP-006", "PROP-010")
@pytest.mark.parametrize("name", MIGRATED)
def test_a_migration_converts_properties(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """PROP-006: at version 8 the type of the key generator and the merge mode are properties; they follow from the classes that
    version 6 has, and a class without a type stays. The metadata table is deleted, and its partitions are not listed any more.
    """
    only_in_process(engine)
    uri, (given, expected) = new_uri(), MIGRATED[name]
    shutil.copytree(golden_table("v6.cow"), table_folder(uri))
    file = table_folder(uri) / PROPERTIES
    replaced = (TYPE, MODE, STRATEGY, "hoodie.table.checksum", *given)
    kept = [line for line in file.read_text().splitlines() if line.partition("=")[0] not in replaced]
    file.write_text("\n".join([*kept, *(f"{key}={value}" for key, value in given.items() if value is not None)]) + "\n")
    migrate(uri)
    found = read_properties(LocalStorage(table_folder(uri)))
    assert {key: found.get(key) for key in expected} == expected


@pytest.mark.needs("table-version.6", "read.snapshot")
@pytest.mark.requirements("COMPAT-006", "COMPAT-003")
def test_a_migration_of_an_archive_with_an_incomplete_block(engine: Client) -> None:
    """COMPAT-006: at the end of a file of the archive an incomplete block is what a crashed writer left, and its actions are
    still active. Before another block it is damage, and the table stays at version 6.
    """
    only_in_process(engine)
    storage = copy_storage(LocalStorage(golden_table("v6.mor.archived")))
    path = max(info.path for info in storage.list(".hoodie") if ".commits_.archive" in info.path)
    data, instants = storage.get(path), completed_before_migration(storage)
    storage.put(path, data[:40] + data)
    with pytest.raises(HudiError):
        make_migration(storage)
    assert read_properties(storage).is_legacy
    storage.put(path, data + data[:40])
    make_migration(storage)
    assert completed_before_migration(storage) == instants


@pytest.mark.needs("table-version.6")
@pytest.mark.requirements("COMPAT-006")
@pytest.mark.parametrize("name", ["v6.mor.pending-compaction", "v6.cow.pending", "v6.mor.pending", "v6.mor.clustered"])
def test_pending_actions_block_a_migration(engine: Client, name: str) -> None:
    """COMPAT-006: a table with a pending action stays at version 6; the message names the action and the remedy."""
    only_in_process(engine)
    storage = copy_storage(LocalStorage(golden_table(name)))
    before = [info.path for info in storage.list()]
    with pytest.raises(MigrationRefused) as refused:
        make_migration(storage)
    assert refused.value.remedy is not None
    assert [info.path for info in storage.list()] == before


@pytest.mark.needs("table-version.6")
@pytest.mark.requirements("COMPAT-006")
@pytest.mark.parametrize("name", ["v6.cow", "v6.mor"])
def test_a_history_of_schemas_blocks_a_migration(engine: Client, name: str) -> None:
    """COMPAT-006: version 6 has a history of schemas in files of its own. A migration that does not convert it would lose the
    names and types that columns had, so that it is refused, and the table stays as it is.
    """
    only_in_process(engine)
    storage = copy_storage(LocalStorage(golden_table(name)))
    storage.put(".hoodie/.schema/20260101000000000.schemacommit", b'{"schemas": []}')
    before = [info.path for info in storage.list()]
    with pytest.raises(MigrationRefused) as refused:
        make_migration(storage)
    assert refused.value.remedy is not None
    assert [info.path for info in storage.list()] == before


class BusyStorage(MemoryStorage):
    """Storage in which another writer completes an instant of version 6 as soon as the new timeline is created."""

    def create(self, path: str, data: bytes) -> None:
        """Create the object, and let the other writer run."""
        super().create(path, data)
        self.put(".hoodie/20990101000000000.commit", b"{}")


@pytest.mark.needs("table-version.6")
@pytest.mark.requirements("COMPAT-006")
def test_a_write_during_a_migration_stops_it(engine: Client) -> None:
    """COMPAT-006: a concurrent writer of version 6 is detected before the switch: the table stays at version 6 and has that
    writer's instant.
    """
    only_in_process(engine)
    storage = BusyStorage()
    for info in (source := LocalStorage(golden_table("v6.cow"))).list():
        storage.put(info.path, source.get(info.path))
    with pytest.raises(TableChanged):
        make_migration(storage)
    assert read_properties(storage).is_legacy


@pytest.mark.needs("table-version.6")
@pytest.mark.requirements("COMPAT-006")
def test_an_instant_written_after_the_switch_is_kept(engine: Client) -> None:
    """COMPAT-006: a second run deletes only what the timeline of version 8 contains; an unknown instant is an error."""
    only_in_process(engine)
    storage = copy_storage(LocalStorage(golden_table("v6.cow")))
    make_migration(storage)
    storage.put(".hoodie/20990101000000000.commit", b"{}")
    with pytest.raises(UnfinishedMigration):
        make_migration(storage)
    assert storage.head(".hoodie/20990101000000000.commit") is not None


@pytest.mark.needs("table-version.6")
@pytest.mark.requirements("COMPAT-006")
def test_instants_of_another_migration_are_kept(engine: Client) -> None:
    """COMPAT-006: an instant in the new timeline that the old one lacks may be the only copy: it is an error, and nothing is
    deleted.
    """
    only_in_process(engine)
    storage = copy_storage(LocalStorage(golden_table("v6.cow")))
    moved = ".hoodie/timeline/20200101000000000_20200101000000001.commit"
    storage.put(moved, b"{}")
    before = [info.path for info in storage.list()]
    with pytest.raises(UnfinishedMigration):
        make_migration(storage)
    assert [info.path for info in storage.list()] == before
