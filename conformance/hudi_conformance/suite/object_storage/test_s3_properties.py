"""Concurrent changes of the table's properties, on storage where a reader may see part of a file."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.crash_points import copy_storage, crash_states
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_reference import create_table, open_table
from hudi_reference.errors import HudiError
from hudi_reference.layout.properties import BACKUP_PATH, PROPERTIES_PATH
from hudi_reference.layout.properties_writer import update_properties
from hudi_reference.locks import InProcessLock
from hudi_reference.storage import MemoryStorage, Storage

pytestmark = pytest.mark.needs("create", "write.upsert", "read.snapshot")

KEY = "hoodie.table.cdc.enabled"
ROWS = [row("a", 1, "first")]


def new_table() -> MemoryStorage:
    """Return a table with a row."""
    storage, spec = MemoryStorage(), Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", False).spec()
    create_table("memory:///p", name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, ordering=spec.ordering,
                 merge_mode=spec.merge_mode, storage=storage).upsert(as_arrow(ROWS))  # fmt: skip
    return storage


def change_setting(storage: Storage) -> None:
    """Change one setting."""
    update_properties(storage, InProcessLock(), {KEY: "true"}, comment="changed")


def setting_read(storage: Storage) -> str | None:
    """Return the setting as a reader has it after it has read the rows."""
    table = open_table("memory:///p", storage=storage)
    assert table.snapshot(["id", "value"]).to_pylist() == [{"id": "a", "value": "first"}]
    return table.properties.get(KEY)


@pytest.mark.requirements("S3-005", "PROP-011")
def test_a_crashed_change_leaves_old_or_new_properties(engine: Client) -> None:
    """PROP-011: after a crash behind each request of a change, the table has the old properties or the new ones, and the next
    change succeeds.
    """
    only_in_process(engine)
    before, points = new_table(), 0
    for crash in crash_states(before, change_setting):
        assert setting_read(crash.storage) in (("false", "true") if not crash.ended else ("true",)), crash
        change_setting(crash.storage)
        assert setting_read(crash.storage) == "true", crash
        assert crash.storage.head(BACKUP_PATH) is None, crash
        points += 1
    assert points > 3


@pytest.mark.requirements("S3-005", "PROP-011")
def test_a_truncated_properties_file_is_detected(engine: Client) -> None:
    """S3-005: if storage returns only the first bytes of the new file while the backup exists, a reader has the old properties
    or the new ones, never part of them; the next change restores the file.
    """
    only_in_process(engine)
    before, after = new_table(), new_table()
    change_setting(after)
    old, new = before.get(PROPERTIES_PATH), after.get(PROPERTIES_PATH)
    for end in range(0, len(new), 7):
        storage = copy_storage(before)
        storage.put(BACKUP_PATH, old)
        storage.put(PROPERTIES_PATH, new[:end])
        assert setting_read(storage) in ("false", "true"), f"the first {end} bytes of {len(new)} beside a backup"
        change_setting(storage)
        assert setting_read(storage) == "true"


@pytest.mark.requirements("S3-005", "PROP-011")
def test_a_change_beside_a_cut_backup_is_refused(engine: Client) -> None:
    """S3-005: the file is empty, and the backup has no checksum because its end is missing. The settings
    of the table are not known, so a change is refused, and both files stay as they are.
    """
    only_in_process(engine)
    storage = new_table()
    old = storage.get(PROPERTIES_PATH)
    lines = [line for line in old.splitlines(keepends=True) if not line.startswith(b"hoodie.table.checksum")]
    storage.put(BACKUP_PATH, b"".join(lines))
    storage.put(PROPERTIES_PATH, b"")
    with pytest.raises(HudiError):
        change_setting(storage)
    assert (storage.get(PROPERTIES_PATH), storage.get(BACKUP_PATH)) == (b"", b"".join(lines))
