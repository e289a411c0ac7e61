"""What only a local folder has: symbolic links, temporary files, and files and folders in each other's place."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import CHEAP
from hudi_conformance.validator.stored.read_only import ReadOnlyStorage
from hudi_conformance.validator.stored.table import StoredTable, load_table
from hudi_conformance.validator.validation import Validation, validate
from hudi_reference.clock import ManualClock, SystemClock
from hudi_reference.errors import Misuse, TableNotFound

HOUR = 3_600_000


def write_folder(folder: Path) -> Path:
    """Write a table into a folder."""
    return t.copy_to_folder(t.copy_on_write(), folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table in a folder."""
    return write_folder(tmp_path)


def load_later(folder: Path, later: int) -> StoredTable:
    """The table after so many milliseconds."""
    return load_table(str(folder), clock=ManualClock(SystemClock().now() + later))


def _validated(folder: Path, later: int = 0) -> Validation:
    found = validate(load_later(folder, later), CHEAP)
    assert not found.broken, found.broken
    return found


def _state(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = (Path(root, name) for root, _, names in os.walk(folder) for name in names)
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_nothing_is_changed(folder: Path):
    """A validation reads only: every file keeps its bytes and its time."""
    before = _state(folder)
    assert _validated(folder).findings == ()
    assert _state(folder) == before


@pytest.mark.parametrize("request_", ["put", "create", "delete", "replace"])
def test_every_change_is_refused(request_: str):
    """The storage of a validation has no request that changes the table."""
    storage = ReadOnlyStorage(t.copy_on_write())
    arguments = {"put": ("a", b""), "create": ("a", b""), "delete": ("a",), "replace": ("a", b"", "1")}[request_]
    with pytest.raises(Misuse):
        getattr(storage, request_)(*arguments)


def _link(folder: Path) -> None:
    """The link is not followed."""
    (folder / "north" / "link").symlink_to(folder)


def _staged(folder: Path) -> None:
    (folder / "north" / ".staging~x").write_bytes(b"1234")


def _file_as_timeline(folder: Path) -> None:
    """The table is not taken for an empty one."""
    timeline = folder / ".hoodie" / "timeline"
    timeline.rename(folder / "kept")
    timeline.write_bytes(b"x")


def _folder_as_instant(folder: Path) -> None:
    """The action is not taken for one that never completed."""
    (file,) = list((folder / ".hoodie" / "timeline").glob("*_*.commit"))[-1:]
    file.unlink()
    file.mkdir()


def _timeline_elsewhere(folder: Path) -> None:
    """Data files without a single action are those of a table whose timeline was lost or is elsewhere."""
    (folder / ".hoodie" / "timeline").rename(folder / ".hoodie" / "elsewhere")


#: Edits of a folder, the hours that pass then, and rules and severities that are found.
EDITS: dict[str, tuple[Callable[[Path], None], int, set[tuple[str, str]]]] = {
    "a symbolic link": (_link, 0, {("LAY-005", "wrong-answers")}),
    "a temporary file of a writer at work": (_staged, 0, set()),
    "a temporary file of a crash": (_staged, 2, {("LAY-019", "lost-space")}),
    "a file in place of the timeline": (_file_as_timeline, 0, {("LAY-017", "data-lost")}),
    "a folder in place of an instant": (_folder_as_instant, 0, {("TL-046", "wrong-answers")}),
    "a timeline in another folder": (_timeline_elsewhere, 0, {("LAY-017", "data-lost")}),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_only_a_folder_can_have_is_found(folder: Path, name: str):
    """Links, temporary files, and files and folders in each other's place."""
    edit, hours, expected = EDITS[name]
    edit(folder)
    found = {(one.rule, one.severity) for one in _validated(folder, hours * HOUR).findings}
    assert expected <= found
    assert bool(found) == bool(expected)


def test_a_pending_write_is_left_alone_while_it_may_be_at_work(folder: Path):
    """Its files have no owner from an hour on, unless its writer sends heartbeats; the pending action is always shown."""
    requested = "20260921235959000"
    (folder / ".hoodie" / "timeline" / f"{requested}.commit.requested").write_bytes(b"")
    (folder / ".hoodie" / "timeline" / f"{requested}.inflight").write_bytes(b"")
    base = next((folder / "north").glob("*.parquet"))
    (folder / "north" / f"{base.name.rpartition('_')[0]}_{requested}.parquet").write_bytes(b"half")
    for later, rules in ((0, set()), (2 * HOUR, {"TL-030"})):
        found = _validated(folder, later)
        assert t.rules_of(found.findings) == rules
        (pending,) = found.pending
        assert (pending.requested, pending.heartbeat) == (requested, "none")
        assert "archiving of later actions" in pending.blocks
        assert "once a later write has completed, every single writer of Apache Hudi" in pending.blocks
    (folder / ".hoodie" / ".heartbeat").mkdir()
    (folder / ".hoodie" / ".heartbeat" / requested).write_bytes(b"")
    os.utime(folder / ".hoodie" / ".heartbeat" / requested, (2_000_000_000, SystemClock().now() / 1000 + 7200))
    assert _validated(folder, 2 * HOUR).findings == ()


def test_a_folder_without_a_table_is_an_error(tmp_path: Path):
    """It is not taken for a sound table."""
    with pytest.raises(TableNotFound):
        load_table(str(tmp_path / "nothing"))
