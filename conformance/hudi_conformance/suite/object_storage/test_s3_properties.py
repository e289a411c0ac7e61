"""The table's properties while somebody changes them, on storage that may show half a file."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.crash_points import copy_of, crashes
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_reference import create_table, open_table
from hudi_reference.layout.properties import BACKUP_PATH, PROPERTIES_PATH
from hudi_reference.layout.properties_update import update_properties
from hudi_reference.locks import InProcessLock
from hudi_reference.storage import MemoryStorage, Storage

pytestmark = pytest.mark.needs("create", "write.upsert", "read.snapshot")

KEY = "hoodie.table.cdc.enabled"
ROWS = [row("a", 1, "first")]


def created() -> MemoryStorage:
    """A table with a row."""
    storage, spec = MemoryStorage(), Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", False).spec()
    create_table("memory:///p", name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, ordering=spec.ordering,
                 merge_mode=spec.merge_mode, storage=storage).upsert(as_arrow(ROWS))  # fmt: skip
    return storage


def change(storage: Storage) -> None:
    """Switch something on."""
    update_properties(storage, InProcessLock(), {KEY: "true"}, comment="changed")


def reads(storage: Storage) -> str | None:
    """The setting as a reader of the table has it, after it has read the rows."""
    table = open_table("memory:///p", storage=storage)
    assert table.snapshot(["id", "value"]).to_pylist() == [{"id": "a", "value": "first"}]
    return table.properties.get(KEY)


@pytest.mark.requirements("S3-005", "PROP-011")
def test_wherever_a_change_of_the_properties_dies_readers_have_old_or_new_ones(engine: Client) -> None:
    """After each request of a change the table has the old properties or the new ones, and the next change ends."""
    only_in_process(engine)
    before, points = created(), 0
    for crash in crashes(before, change):
        assert reads(crash.storage) in (("false", "true") if not crash.ended else ("true",)), crash
        change(crash.storage)
        assert reads(crash.storage) == "true", crash
        assert crash.storage.head(BACKUP_PATH) is None, crash
        points += 1
    assert points > 3


@pytest.mark.requirements("S3-005", "PROP-011")
def test_half_a_file_is_told_from_a_whole_one(engine: Client) -> None:
    """Where storage shows the first bytes of the new file beside the backup, a reader has the old properties or the new ones,
    never a part of them for all; the next change puts it right."""
    only_in_process(engine)
    before, after = created(), created()
    change(after)
    old, new = before.get(PROPERTIES_PATH), after.get(PROPERTIES_PATH)
    for end in range(0, len(new), 7):
        storage = copy_of(before)
        storage.put(BACKUP_PATH, old)
        storage.put(PROPERTIES_PATH, new[:end])
        assert reads(storage) in ("false", "true"), f"the first {end} bytes of {len(new)} beside a backup"
        change(storage)
        assert reads(storage) == "true"
