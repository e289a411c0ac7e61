"""A table as it lies there while an action is still under way: what an engine leaves that stops in the middle.

The action is run to its end on the table, and then taken back as far as wanted. Each of the three states is one that the
deployed order of work passes through: the plan is published and nothing else has changed (`requested`); the action was started
and has done nothing yet (`begun`); all its work is done and only its completion is missing (`inflight`).
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

Until = Literal["requested", "begun", "inflight"]

#: The files of the timeline that each state leaves in place, by how their names end.
KEPT = {"requested": (".requested",), "begun": (".requested", ".inflight")}


@contextmanager
def stopping(table: Path, timeline: str, until: Until | None) -> Iterator[None]:
    """Whatever is done to `table` within, whose active timeline lies in its folder `timeline`, gets no further than `until`."""
    if until is None:
        yield
        return
    before = table.with_name(f"{table.name}-before")
    shutil.copytree(table, before)
    try:
        yield
        _take_back(table, before, timeline, until)
    finally:
        shutil.rmtree(before)


def _take_back(table: Path, before: Path, timeline: str, until: Until) -> None:
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
