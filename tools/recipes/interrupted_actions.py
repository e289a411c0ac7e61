"""Interrupted actions: the state of a table while an action is pending.

The action runs to its end on the table, and is then set back to the requested state. The order of work of deployed releases
has each of these three states: the plan is published and nothing else has changed (`requested`); the action is started and has
done no work (`begun`); all its work is done and only its completion is missing (`inflight`).
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

Until = Literal["requested", "begun", "inflight"]

#: The suffixes of the timeline files that exist in each state.
KEPT = {"requested": (".requested",), "begun": (".requested", ".inflight")}


@contextmanager
def stopping(table: Path, timeline: str, until: Until | None) -> Iterator[None]:
    """Leave the actions inside the block in state `until`; the timeline of `table` is in its folder `timeline`."""
    if until is None:
        yield
        return
    before = table.with_name(f"{table.name}-before")
    shutil.copytree(table, before)
    try:
        yield
        _roll_back(table, before, timeline, until)
    finally:
        shutil.rmtree(before)


def _roll_back(table: Path, before: Path, timeline: str, until: Until) -> None:
    known = _names(before / timeline)
    new = [table / timeline / name for name in sorted(_names(table / timeline) - known)]
    if until == "inflight":
        for file in new:
            if file.suffix not in (".requested", ".inflight"):
                file.unlink()
        return
    kept = {file.name: file.read_bytes() for file in new if file.suffix in KEPT[until]}
    shutil.rmtree(table)
    shutil.copytree(before, table)
    for name, content in kept.items():
        (table / timeline / name).write_bytes(content)


def _names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")}
