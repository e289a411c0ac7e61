"""The table of attempts with hostile input: drawn attempts hold, and one that breaks is counted."""

import subprocess
import sys
from pathlib import Path

import pytest
from tools.hostile import paths
from tools.hostile.areas import areas, damage
from tools.hostile.areas import paths as tried_paths

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]


def test_drawn_paths_hold() -> None:
    """LAY-005: nothing outside of a table changes, and each error is typed."""
    found = tried_paths(40, 7)
    assert (found.tried, found.broken, found.says) == (40, 0, ())


def test_attempts_reach_metadata_plans_and_properties() -> None:
    """The attempts are at many places, and many of them are refused."""
    found = list(paths.attempts(60, 3))
    assert {one.place.split()[0].rpartition(".")[2] for one in found} >= {"properties", "deltacommit"}
    assert len({one.place for one in found}) > 15
    assert sum(one.outcome != "done" for one in found) > 5


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (lambda table: (table.storage.root.parent / "outside/precious/file").unlink(), "outside of the table"),
        (lambda table: table.storage.delete(".hoodie/hoodie.properties"), "properties are gone"),
        (lambda table: 1 / 0, "untyped ZeroDivisionError"),
    ],
    ids=["outside", "properties", "untyped"],
)
def test_broken_attempts_are_counted(action, told, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    """An action that does what must not happen is found."""
    monkeypatch.setattr(paths, "ACTIONS", {"break": action})
    monkeypatch.setattr(paths, "_put", lambda storage, text, random: "nothing")
    (found,) = paths.attempts(1, 1)
    assert told in found.broken


def test_drawn_damages_hold() -> None:
    """Damages to a few golden tables: no silent one without a reason."""
    assert damage(20, 1).broken == 0


def test_every_area_is_a_row() -> None:
    """The command runs the tests of an area and shows their number."""
    assert len(areas(quick=True, seed=1)) > 10
    done = subprocess.run(
        [sys.executable, "-m", "tools.hostile", "--quick", "--only", "reports"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "reports and sites" in done.stdout
