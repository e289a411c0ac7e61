"""Updates of table properties: the view of readers during an update, and recovery after a crash."""

import pytest

from hudi_conformance.explorer.crash_points import copy_storage, crash_states
from hudi_reference.errors import MalformedProperties, Misuse
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.properties import BACKUP_PATH, PROPERTIES_PATH, read_properties
from hudi_reference.layout.properties_writer import recover, update_properties, with_checksum, write_properties
from hudi_reference.locks import InProcessLock
from hudi_reference.storage import MemoryStorage, Storage

BEFORE = {
    "hoodie.table.name": "trips",
    "hoodie.database.name": "default",
    "hoodie.table.type": "COPY_ON_WRITE",
    "hoodie.table.version": "8",
    "hoodie.timeline.layout.version": "2",
    "hoodie.table.metadata.partitions": "files",
    "strange.key": "ä\\=: #",
}
CHANGES = {"hoodie.table.metadata.partitions": "column_stats,files", "new": "1"}
AFTER = {**{k: v for k, v in BEFORE.items() if k != "strange.key"}, **CHANGES}


def created(entries: dict[str, str] = BEFORE) -> MemoryStorage:
    """A table with these properties."""
    storage = MemoryStorage()
    write_properties(storage, entries, "made for a test")
    return storage


def update(storage: Storage) -> None:
    """The update that these tests use."""
    update_properties(storage, InProcessLock(), CHANGES, ["strange.key"], comment="updated")


def entries_of(storage: Storage) -> dict[str, str]:
    """The properties that a reader sees, without the checksum."""
    found = dict(read_properties(storage).entries)
    assert found.pop("hoodie.table.checksum", None) is not None
    return found


def test_keys_are_set_and_deleted() -> None:
    """S3-005: an update sets keys and takes others away, keeps the rest, and leaves no backup."""
    storage = created()
    update(storage)
    assert entries_of(storage) == AFTER
    assert storage.head(BACKUP_PATH) is None


def test_updates_are_atomic_for_readers() -> None:
    """S3-005: after a crash of an update at any request, readers see the old or the new properties, and the next update
    succeeds."""
    states = list(crash_states(created(), update))
    assert len(states) > 3
    for state in states:
        assert entries_of(state.storage) in (BEFORE, AFTER), state
        update(state.storage)
        assert entries_of(state.storage) == AFTER, state
        assert state.storage.head(BACKUP_PATH) is None, state


def test_a_crash_of_a_recovery_is_recovered() -> None:
    """S3-005: after a crash of the recovery, the next writer recovers the same state."""
    for state in crash_states(created(), update):
        for again in crash_states(state.storage, recover):
            assert entries_of(again.storage) in (BEFORE, AFTER), (state, again)
            recover(again.storage)
            assert again.storage.head(BACKUP_PATH) is None
            assert entries_of(again.storage) in (BEFORE, AFTER), (state, again)


def deployed_steps() -> list[tuple[str, MemoryStorage]]:
    """A crash of Apache Hudi's update, which deletes the file before it writes it, may leave a part of the file."""
    old, new = dump(with_checksum(BEFORE), "old"), dump(with_checksum(AFTER), "new")
    states: list[tuple[str, bytes | None, bytes | None]] = [
        ("backed up", old, old),
        ("deleted", None, old),
        ("written", new, old),
    ]
    states += [(f"written up to byte {end}", new[:end], old) for end in range(len(new))]
    found = []
    for name, main, backup in states:
        storage = MemoryStorage()
        for path, content in ((PROPERTIES_PATH, main), (BACKUP_PATH, backup)):
            if content is not None:
                storage.put(path, content)
        found.append((name, storage))
    return found


def test_interrupted_updates_of_deployed_writers_are_recovered() -> None:
    """PROP-011, S3-005: for any part of the file next to the backup, no reader uses incomplete properties."""
    for name, storage in deployed_steps():
        assert entries_of(storage) in (BEFORE, AFTER), name
        copy = copy_storage(storage)
        recover(copy)
        assert entries_of(copy) == entries_of(storage), name
        assert copy.head(BACKUP_PATH) is None
        update(storage)
        assert entries_of(storage) == AFTER, name


@pytest.mark.parametrize("main", [None, b"", b"hoodie.table.name=trips"])
def test_update_fails_without_a_valid_file(main: bytes | None) -> None:
    """S3-005: with an invalid file and an invalid backup the update fails, and both files remain for a manual repair."""
    storage = MemoryStorage()
    storage.put(BACKUP_PATH, dump(with_checksum(BEFORE), "x")[:100])
    if main is not None:
        storage.put(PROPERTIES_PATH, main)
    before = {info.path: storage.get(info.path) for info in storage.list()}
    with pytest.raises(MalformedProperties):
        update(storage)
    assert {info.path: storage.get(info.path) for info in storage.list()} == before


def test_a_file_without_checksum_is_updated() -> None:
    """PROP-011: a file without a checksum is valid; the first update adds one."""
    storage = MemoryStorage()
    storage.put(PROPERTIES_PATH, dump(BEFORE, "by hand"))
    for state in crash_states(storage, update):
        assert {**read_properties(state.storage).entries, "hoodie.table.checksum": ""} in (
            {**BEFORE, "hoodie.table.checksum": ""},
            {**AFTER, "hoodie.table.checksum": ""},
        )
    update(storage)
    assert entries_of(storage) == AFTER


@pytest.mark.parametrize(
    ("changes", "deleted"),
    [
        ({"hoodie.table.type": "COPY_ON_MOON"}, ()),
        ({"hoodie.populate.meta.fields": "perhaps"}, ()),
        ({}, ("hoodie.table.name",)),
        ({"hoodie.table.version": ""}, ()),
        ({"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}, ()),
    ],
)
def test_invalid_updates_are_refused(changes: dict[str, str], deleted: tuple[str, ...]) -> None:
    """PROP-002, PROP-005: unknown values and the removal of a mandatory key are refused."""
    storage = created()
    with pytest.raises(Misuse):
        update_properties(storage, InProcessLock(), changes, deleted, comment="x")
    assert entries_of(storage) == BEFORE
    assert storage.head(BACKUP_PATH) is None


def test_an_update_that_changes_nothing_writes_nothing() -> None:
    """S3-005: properties that are already set are not written."""
    storage = created()
    before = storage.head(PROPERTIES_PATH)
    update_properties(storage, InProcessLock(), {"hoodie.table.name": "trips"}, comment="x")
    assert storage.head(PROPERTIES_PATH) == before


def test_renamed_table_gets_a_new_checksum() -> None:
    """PROP-011: a renamed table is readable."""
    storage = created()
    update_properties(storage, InProcessLock(), {"hoodie.table.name": "rides"}, comment="x")
    assert read_properties(storage).name == "rides"
    assert (
        load(storage.get(PROPERTIES_PATH))["hoodie.table.checksum"]
        == with_checksum({**BEFORE, "hoodie.table.name": "rides"})["hoodie.table.checksum"]
    )
