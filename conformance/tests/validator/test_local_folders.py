"""What only a local folder has: symbolic links, temporary files, and files and folders in each other's place."""

import os
from pathlib import Path

import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import CHEAP
from hudi_conformance.validator.stored.read_only import ReadOnlyStorage
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import Validation, validate
from hudi_reference.clock import ManualClock, SystemClock
from hudi_reference.errors import Misuse, TableNotFound

HOUR = 3_600_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table in a folder."""
    storage = t.copy_on_write()
    for info in storage.list(""):
        path = tmp_path / info.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(storage.get(info.path))
    return tmp_path


def _validated(folder: Path, later: int = 0) -> Validation:
    found = validate(load_table(str(folder), clock=ManualClock(SystemClock().now() + later)), CHEAP)
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


def test_a_symbolic_link_is_found_and_not_followed(folder: Path):
    """The link is reported, and the validation goes on with the rest of the table."""
    (folder / "north" / "link").symlink_to(folder)
    assert t.rules_of(_validated(folder).findings) == {"LAY-005"}


def test_a_temporary_file_counts_after_an_hour(folder: Path):
    """A writer at work may be about to store it; later it is left behind by a crash."""
    (folder / "north" / ".staging~x").write_bytes(b"1234")
    assert _validated(folder).findings == ()
    (finding,) = _validated(folder, 2 * HOUR).findings
    assert (finding.rule, finding.severity, finding.path) == ("LAY-019", "lost-space", "north/.staging~x")


def test_a_file_in_place_of_the_timeline_is_found(folder: Path):
    """The table is not taken for an empty one."""
    timeline = folder / ".hoodie" / "timeline"
    timeline.rename(folder / "kept")
    timeline.write_bytes(b"x")
    assert "LAY-017" in t.rules_of(_validated(folder).findings)


def test_a_folder_in_place_of_an_instant_is_found(folder: Path):
    """The action is not taken for one that never completed."""
    (file,) = list((folder / ".hoodie" / "timeline").glob("*_*.commit"))[-1:]
    file.unlink()
    file.mkdir()
    assert "TL-046" in t.rules_of(_validated(folder).findings)


def test_a_timeline_in_another_folder_is_found(folder: Path):
    """LAY-017: data files without a single action are those of a table whose timeline was lost or is elsewhere."""
    (folder / ".hoodie" / "timeline").rename(folder / ".hoodie" / "elsewhere")
    assert "LAY-017" in t.rules_of(_validated(folder).findings)


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
    (folder / ".hoodie" / ".heartbeat").mkdir()
    (folder / ".hoodie" / ".heartbeat" / requested).write_bytes(b"")
    os.utime(folder / ".hoodie" / ".heartbeat" / requested, (2_000_000_000, SystemClock().now() / 1000 + 7200))
    assert _validated(folder, 2 * HOUR).findings == ()


def test_a_folder_without_a_table_is_an_error(tmp_path: Path):
    """It is not taken for a sound table."""
    with pytest.raises(TableNotFound):
        load_table(str(tmp_path / "nothing"))
