"""Interrupted actions: the files that are removed and kept in each state."""

from pathlib import Path

import pytest
from tools.recipes.interrupted_actions import Until, stopping

TIMELINE = ".hoodie/timeline"


def files(table: Path) -> set[str]:
    """Paths of the files, folders aside."""
    return {path.relative_to(table).as_posix() for path in table.rglob("*") if path.is_file()}


def clean(table: Path) -> None:
    """What a clean does: plan, start, delete, complete."""
    for name in ("2.clean.requested", "2.clean.inflight"):
        (table / TIMELINE / name).write_bytes(b"plan")
    (table / "old.parquet").unlink()
    (table / TIMELINE / "2_3.clean").write_bytes(b"done")


@pytest.mark.parametrize(
    ("until", "kept"),
    [
        ("requested", {"old.parquet", f"{TIMELINE}/2.clean.requested"}),
        ("begun", {"old.parquet", f"{TIMELINE}/2.clean.requested", f"{TIMELINE}/2.clean.inflight"}),
        ("inflight", {f"{TIMELINE}/2.clean.requested", f"{TIMELINE}/2.clean.inflight"}),
        (None, {f"{TIMELINE}/2.clean.requested", f"{TIMELINE}/2.clean.inflight", f"{TIMELINE}/2_3.clean"}),
    ],
)
def test_state_of_an_interrupted_action(tmp_path: Path, until: Until | None, kept: set[str]):
    """Requested and begun actions have changed nothing; an inflight one has done all its work; earlier instants are unchanged."""
    table = tmp_path / "table"
    (table / TIMELINE).mkdir(parents=True)
    (table / TIMELINE / "1_2.commit").touch()
    (table / "old.parquet").touch()
    with stopping(table, TIMELINE, until):
        clean(table)
    assert files(table) == kept | {f"{TIMELINE}/1_2.commit"}
    assert [path.name for path in tmp_path.iterdir()] == ["table"]
