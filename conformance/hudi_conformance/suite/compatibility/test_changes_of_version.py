"""Changes of a table between version 8 and version 9: rows, indexes and properties afterwards, refusals, and crashes."""

import json
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.crash_points import crash_states
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.tables.migrated_tables import (
    INDEXED,
    PLACEHOLDER,
    REPLACED,
    TYPES,
    Type,
    answers,
    as_rows,
    change,
    migrated,
    opened,
    properties,
    snapshot,
    versions,
    with_payload,
    written,
)
from hudi_conformance.suite.support.tables.older_tables import golden_table
from hudi_reference import WritableTable, create_index, create_table, migrate
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError, MigrationRefused, TableChanged
from hudi_reference.ids import SeededIds
from hudi_reference.layout.properties import PROPERTIES_PATH, read_properties
from hudi_reference.metadata.records import ColumnStats
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.storage import LocalStorage, MemoryStorage, Storage
from hudi_reference.write.concurrency.heartbeats import Heartbeats

pytestmark = [
    pytest.mark.versions(8, 9),
    pytest.mark.needs("table-version.9", "write.upsert"),
    pytest.mark.filterwarnings("ignore:payload classes such as:DeprecationWarning"),
]
BOTH_TYPES = pytest.mark.parametrize("type", TYPES)
EVERY_CLASS = pytest.mark.parametrize("name", REPLACED)
DEFINITIONS = ".hoodie/.index_defs/index.json"
_DATE = {"type": "int", "logicalType": "date"}
DAYS = {
    "type": "record",
    "name": "days",
    "fields": [{"name": "id", "type": "string"}, {"name": "day", "type": ["null", _DATE], "default": None}],
}
#: What a table stores at version 8 under another name, or as the class that its mode is stored with.
STRATEGY = "hoodie.compaction.record.merger.strategy"


def set_entries(storage: Storage, **changed: str) -> None:
    """Change entries of the properties file; `_` in a name is a dot. An empty value removes the entry."""
    entries = {**properties(storage), **{key.replace("_", "."): value for key, value in changed.items()}}
    lines = (f"{key}={value}\n".replace(":", "\\:") for key, value in entries.items() if value)
    storage.put(PROPERTIES_PATH, "".join(lines).encode())


def contents(storage: Storage) -> dict[str, bytes]:
    """Return every object of a table."""
    return {info.path: storage.get(info.path) for info in storage.list()}


def expect_refused(storage: Storage, version: int, word: str) -> None:
    """A migration is refused with a remedy, names the reason, and changes nothing."""
    before = contents(storage)
    with pytest.raises(MigrationRefused, match=word) as refused:
        migrated(version)(storage)
    assert refused.value.remedy is not None
    assert contents(storage) == before


@BOTH_TYPES
@EVERY_CLASS
@pytest.mark.requirements("COMPAT-008", "COMPAT-010", "MRG-010", "PROP-022", "PROP-024", "PROP-025")
def test_a_table_answers_the_same_at_each_version(engine: Client, type: Type, name: str) -> None:
    """COMPAT-008: after an upgrade, and after a downgrade, each query of a table has the same rows as before; the second one
    restores the properties.
    """
    only_in_process(engine)
    storage = with_payload(type, name, options=INDEXED).storage
    # Log files of former slices, which only time travel reads, are merged by the rules of the present version.
    times = (type, name) != ("MERGE_ON_READ", "debezium.MySqlDebeziumAvroPayload")
    before, entries = answers(storage, times=times), properties(storage)
    for version in (9, 8):
        planned = migrate("memory:///migrated", version=version, dry_run=True, storage=storage)
        assert migrated(version)(storage) == planned
        assert versions(storage) == (version, version)
        after = answers(storage, times=times)
        assert {key: after[key] for key in before} == before, f"at version {version}"
    assert {key: value for key, value in properties(storage).items() if key != STRATEGY} == entries


@BOTH_TYPES
@pytest.mark.requirements("COMPAT-008", "MRG-049")
def test_an_upgrade_does_not_store_placeholders(engine: Client, type: Type) -> None:
    """COMPAT-008: the compaction of an upgrade replaces the placeholder of values that were not sent, as queries do."""
    only_in_process(engine)
    storage = with_payload(type, "debezium.PostgresDebeziumAvroPayload").storage
    migrated(9)(storage)
    notes = {row["id"]: row["note"] for row in opened(storage).read_optimized().to_pylist()}
    assert notes["a"] == "n3"
    assert PLACEHOLDER not in notes.values()


@BOTH_TYPES
@pytest.mark.parametrize("name", ["DefaultHoodieRecordPayload", "OverwriteWithLatestAvroPayload"])
@pytest.mark.requirements("COMPAT-008", "COMPAT-010", "MRG-051", "PROP-024", "MRG-014")
def test_a_delete_marker_is_carried_over(engine: Client, type: Type, name: str) -> None:
    """MRG-051: the delete marker of a table of version 8 is one of the table of version 9, and of version 8 again."""
    only_in_process(engine)
    marker = {"hoodie.payload.delete.field": "Op", "hoodie.payload.delete.marker": "GONE"}
    table = with_payload(type, name)
    set_entries(storage := table.storage, **{key.replace(".", "_"): value for key, value in marker.items()})
    for day, (version, key) in zip((10, 20), ((9, "a"), (8, "b")), strict=True):
        migrated(version, day)(storage)
        prefix = "hoodie.record.merge.property." if version == 9 else ""
        assert {key: properties(storage).get(f"{prefix}{key}") for key in marker} == marker
        opened(storage, day + 1).upsert(as_rows(change(key, day, "x", kind="gone")))
        assert key not in {row["id"] for row in snapshot(storage)}


@pytest.mark.requirements("COMPAT-008", "COMPAT-010", "MRG-018")
def test_a_strategy_id_decides_before_and_after(engine: Client) -> None:
    """COMPAT-008: a table whose strategy id is that of a private merger stays CUSTOM, whatever its payload class is."""
    only_in_process(engine)
    private = "11111111-2222-3333-4444-555555555555"
    mode = {"hoodie.record.merge.mode": "CUSTOM", "hoodie.record.merge.strategy.id": private}
    storage = with_payload("COPY_ON_WRITE", "DefaultHoodieRecordPayload", batches=0).storage
    set_entries(storage, **{key.replace(".", "_"): value for key, value in mode.items()})
    for version in (9, 8):
        migrated(version)(storage)
        assert {key: properties(storage)[key] for key in mode} == mode


def with_indexes(type: Type, version: int = 8) -> WritableTable:
    """A table with statistics, a record index, a secondary index and an expression index."""
    table = written(type, version, ordering=("ts",), options=INDEXED)
    create_index(opened(table.storage, 2), "by_name", "name")
    create_index(opened(table.storage, 3), "by_length", "note", using="column_stats", function="length")
    opened(table.storage, 4).upsert(as_rows(change("a", 9, "indexed")))
    return table


def definitions(storage: Storage) -> dict[str, Any]:
    """Return the stored definitions of indexes by partition."""
    found: dict[str, Any] = json.loads(storage.get(DEFINITIONS))["indexDefinitions"]
    return found


def column_statistics(storage: Storage) -> list[ColumnStats]:
    """Return the column statistics of all files."""
    table = opened(storage)
    metadata = MetadataTable.for_table(table)
    assert metadata is not None, "there is no metadata table"
    payloads = [record.payload for record in metadata.records("column_stats", table.timeline).values()]
    return [one for one in payloads if isinstance(one, ColumnStats)]


@BOTH_TYPES
@pytest.mark.requirements("COMPAT-008", "IDX-022", "IDX-032", "IDX-043", "IDX-049")
def test_indexes_without_a_version_become_v1(engine: Client, type: Type) -> None:
    """COMPAT-008: an upgrade gives the definitions of Apache Hudi 1.0, which have no version, V1; filters use the indexes, and
    later writes keep them up to date.
    """
    only_in_process(engine)
    storage = with_indexes(type).storage
    old = {name: {k: v for k, v in one.items() if k != "version"} for name, one in definitions(storage).items()}
    storage.put(DEFINITIONS, json.dumps({"indexDefinitions": old}).encode())
    before = answers(storage, times=False)
    migrated(9)(storage)
    assert answers(storage, times=False) == before
    assert definitions(storage) == {name: {**one, "version": "V1"} for name, one in old.items()}
    opened(storage, 11).upsert(as_rows(change("b", 9, "found"), change("z", 1, None)))
    assert [row["id"] for row in opened(storage).snapshot(where=[("name", "=", "found")]).to_pylist()] == ["b"]
    assert {one.value_type for one in column_statistics(storage)} == {None}, "an index of version V1 has types of values"


@BOTH_TYPES
@pytest.mark.needs("read.snapshot", "read.filter", "service.migrate", "service.index")
@pytest.mark.requirements("IDX-043", "IDX-049", "IDX-045")
def test_upgraded_secondary_indexes_are_read_as_v1(engine: Client, type: Type) -> None:
    """IDX-043: entries of dates are texts in version V1 and numbers of days in V2. After an upgrade the index of a date column
    is V1 still: filters on it find the rows of before, and those that are written afterwards.
    """
    only_in_process(engine)
    days = {f"k{number}": date(2026, 1, 1 + number) for number in range(9)}
    table = create_table(
        "memory:///migrated", name="days", schema=DAYS, record_key=["id"], table_type=type, version=8, options=INDEXED,
        storage=MemoryStorage(), clock=ManualClock(1_767_225_600_000), ids=SeededIds(0),
    )  # fmt: skip
    table.upsert(pa.table({"id": list(days), "day": list(days.values())}))
    create_index(opened(table.storage, 2), "by_day", "day")
    migrated(9)(table.storage)
    opened(table.storage, 11).upsert(pa.table({"id": ["later"], "day": [date(2026, 1, 5)]}))
    assert definitions(table.storage)["secondary_index_by_day"]["version"] == "V1"
    for key, day in days.items():
        found = opened(table.storage).snapshot(["id"], where=[("day", "=", day)]).column("id").to_pylist()
        assert sorted(found) == [key, *(["later"] if key == "k4" else [])]


@BOTH_TYPES
@pytest.mark.requirements("COMPAT-010", "IDX-022", "PROP-012")
def test_a_downgrade_drops_later_indexes(engine: Client, type: Type) -> None:
    """COMPAT-010: a downgrade drops the indexes of V2, with their definitions and files; those of V1 stay."""
    only_in_process(engine)
    storage = with_indexes(type, 9).storage
    before = answers(storage, times=False)
    migrated(8)(storage)
    assert answers(storage, times=False) == before
    assert properties(storage)["hoodie.table.metadata.partitions"] == "files,record_index"
    assert set(definitions(storage)) == {"record_index"}
    folders = {
        info.path.split("/")[2] for info in storage.list(".hoodie/metadata/") if ".hoodie/metadata/.hoodie" not in info.path
    }
    assert folders == {"files", "record_index"}


@BOTH_TYPES
@pytest.mark.requirements("COMPAT-010", "IDX-020")
def test_a_downgrade_drops_a_partitioned_record_index(engine: Client, type: Type) -> None:
    """COMPAT-010: writers of version 8 look a key up in all groups of a partitioned record index, so that it is dropped."""
    only_in_process(engine)
    options = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.level.index.enable": "true"}
    storage = written(type, 9, ordering=("ts",), options=options).storage
    migrated(8)(storage)
    assert properties(storage)["hoodie.table.metadata.partitions"] == "files"


@pytest.mark.parametrize("version", [9, 8])
@pytest.mark.parametrize("name", ["DefaultHoodieRecordPayload", "PartialUpdateAvroPayload"])
@BOTH_TYPES
@pytest.mark.requirements("COMPAT-009", "COMPAT-008", "COMPAT-010")
@pytest.mark.long
def test_a_crashed_change_of_version(engine: Client, type: Type, name: str, version: int) -> None:
    """COMPAT-009: after a crash behind any request the rows are the same, and the version of the metadata table is not above
    that of its table; a second run completes the change.
    """
    only_in_process(engine)
    start = with_payload(type, name, options=INDEXED).storage
    if version == 8:
        migrated(9, 1)(start)
        opened(start, 2).upsert(as_rows(change("b", 7, None)))
    rows, seen, ended = snapshot(start), set(), set[frozenset[tuple[str, bytes]]]()
    for crash in crash_states(start, migrated(version)):
        assert snapshot(crash.storage) == rows, crash
        seen.add(versions(crash.storage))
        migrated(version, 20)(crash.storage)
        content = frozenset(contents(crash.storage).items())
        if content in ended:  # the same bytes as after an earlier crash, which were checked
            continue
        ended.add(content)
        assert snapshot(crash.storage) == rows, f"{crash}, then a second run"
        assert versions(crash.storage) == (version, version), f"{crash}, then a second run"
    assert seen == {(8, 8), (9, 8), (9, 9)}


@pytest.mark.requirements("COMPAT-009")
def test_a_metadata_table_above_its_table(engine: Client) -> None:
    """COMPAT-009: a metadata table that a refused upgrade of another engine left at version 9 gets version 8 again; the table
    can be read before, too.
    """
    only_in_process(engine)
    storage = written("MERGE_ON_READ", ordering=("ts",), options=INDEXED).storage
    path = f".hoodie/metadata/{PROPERTIES_PATH}"
    rows = snapshot(storage)
    storage.put(path, storage.get(path).replace(b"hoodie.table.version=8", b"hoodie.table.version=9"))
    assert versions(storage) == (8, 9)
    assert snapshot(storage) == rows
    migrated(None)(storage)
    assert versions(storage) == (8, 8)
    assert snapshot(storage) == rows


@BOTH_TYPES
@pytest.mark.parametrize("version", [9, 8])
@pytest.mark.requirements("COMPAT-009", "META-013")
def test_keys_of_another_form_block_a_change(engine: Client, type: Type, version: int) -> None:
    """META-013: keys of a complex key generator with one key field, which writers of the other version would not find again,
    block the change before anything is changed; a table without rows is changed.
    """
    only_in_process(engine)
    table = written(type, 17 - version, partition=("p", "Op"), options=INDEXED)
    expect_refused(table.storage, version, "complex key generator")
    empty = written(type, 17 - version, partition=("p", "Op"), batches=0)
    migrated(version)(empty.storage)
    assert versions(empty.storage)[0] == version


@pytest.mark.requirements("COMPAT-009", "COMPAT-010", "MRG-046")
def test_what_version_8_cannot_express_blocks_a_downgrade(engine: Client) -> None:
    """COMPAT-010: several ordering fields, and a partial update mode that no payload class has, block a downgrade."""
    only_in_process(engine)
    expect_refused(written("MERGE_ON_READ", 9, ordering=("ts", "_event_pos")).storage, 8, "several ordering fields")
    unknown = {"hoodie.table.partial.update.mode": "FILL_UNAVAILABLE"}
    storage = written("MERGE_ON_READ", 9, ordering=("ts",), properties=unknown).storage
    expect_refused(storage, 8, "no payload class")


@pytest.mark.requirements("COMPAT-009", "PAY-027")
def test_missing_ordering_fields_block_an_upgrade(engine: Client) -> None:
    """PAY-027: a table with the payload class of MySQL, but without the columns that version 9 compares, is not upgraded."""
    only_in_process(engine)
    storage = with_payload("COPY_ON_WRITE", "debezium.MySqlDebeziumAvroPayload", batches=0).storage
    set_entries(storage, hoodie_table_create_schema='{"type":"record","name":"r","fields":[]}')
    expect_refused(storage, 9, "lacks an ordering field")


@pytest.mark.parametrize("name", ["DefaultHoodieRecordPayload", "PartialUpdateAvroPayload"])
@pytest.mark.requirements("COMPAT-008", "SVC-006")
def test_pending_compactions_are_executed(engine: Client, name: str) -> None:
    """COMPAT-008: an upgrade executes a pending compaction by the rules of version 8: no log files are left."""
    only_in_process(engine)
    table = with_payload("MERGE_ON_READ", name, options=INDEXED)
    schedule_compaction(table)
    table.upsert(as_rows(change("a", 9, None)))
    rows = snapshot(storage := table.storage)
    migrated(9)(storage)
    assert snapshot(storage) == rows
    assert not [log for found in opened(storage).file_groups().latest_slices for log in found.log_files]
    assert not opened(storage).timeline.pending


def with_pending_write(type: Type) -> tuple[MemoryStorage, str]:
    """A table with a write that crashed before its completion, and the requested time of that write."""
    storage = written(type, ordering=("ts",), options=INDEXED).storage
    states = list(crash_states(storage, lambda store: opened(store, 2).upsert(as_rows(change("a", 9, "failed")))))
    pending = [(one.storage, opened(one.storage).timeline.pending) for one in states]
    crashed, instants = next((one, found) for one, found in reversed(pending) if found)
    return crashed, instants[0].requested


@BOTH_TYPES
@pytest.mark.requirements("COMPAT-009", "TL-030")
def test_failed_writes_are_rolled_back(engine: Client, type: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    """COMPAT-009: an upgrade rolls a failed write back; while the heartbeat of the writer is new, it is refused."""
    only_in_process(engine)
    storage, requested = with_pending_write(type)
    with monkeypatch.context() as patch:
        patch.setattr(Heartbeats, "is_active", lambda self, instant: instant == requested)
        expect_refused(storage, 9, "pending")
    assert migrated(9)(storage).rolled_back == (requested,)
    assert not opened(storage).timeline.pending
    assert "failed" not in {row["name"] for row in snapshot(storage)}


class BusyStorage(MemoryStorage):
    """Storage in which another writer begins as soon as the compaction of a migration completes."""

    def create(self, path: str, data: bytes) -> None:
        """Create the object, and let the other writer begin."""
        super().create(path, data)
        if path.startswith(".hoodie/timeline/") and path.endswith(".commit"):
            self.put(".hoodie/timeline/20400101000000000.deltacommit.requested", b"")


@pytest.mark.requirements("COMPAT-009")
def test_a_write_during_an_upgrade_stops_it(engine: Client) -> None:
    """COMPAT-009: a writer that begins after the compaction is detected; the table stays at version 8 with its rows."""
    only_in_process(engine)
    storage = BusyStorage()
    for path, content in contents(with_payload("MERGE_ON_READ", "PartialUpdateAvroPayload").storage).items():
        storage.put(path, content)
    rows = snapshot(storage)
    with pytest.raises(TableChanged):
        migrated(9)(storage)
    assert versions(storage)[0] == 8
    assert snapshot(storage) == rows


@pytest.mark.needs("table-version.6")
@pytest.mark.parametrize("name", ["v6.cow", "v6.mor", "v6.mor.archived"])
@pytest.mark.requirements("COMPAT-006", "COMPAT-008", "PROP-022")
def test_a_table_of_version_6_becomes_one_of_version_9(engine: Client, tmp_path: Path, name: str) -> None:
    """COMPAT-008: a table of version 6 is migrated to version 8 and then to version 9, and its rows are the same."""
    only_in_process(engine)
    shutil.copytree(golden_table(name), folder := tmp_path / "table")
    storage = LocalStorage(folder)
    before = sorted(map(str, opened(storage).snapshot().drop_columns(["_hoodie_file_name"]).to_pylist()))
    planned = migrate(folder.as_uri(), version=9, dry_run=True)
    assert migrate(folder.as_uri(), version=9) == planned
    assert sorted(map(str, opened(storage).snapshot().drop_columns(["_hoodie_file_name"]).to_pylist())) == before
    assert read_properties(storage).version == 9
    assert properties(storage)["hoodie.table.initial.version"] == "6"


@pytest.mark.requirements("COMPAT-009")
def test_there_is_no_migration_to_another_version(engine: Client) -> None:
    """COMPAT-009: a migration to a version that is not known is refused, and changes nothing."""
    only_in_process(engine)
    storage = written("COPY_ON_WRITE").storage
    before = contents(storage)
    for version in (6, 7, 10):
        with pytest.raises(HudiError):
            migrated(version)(storage)
    assert contents(storage) == before
