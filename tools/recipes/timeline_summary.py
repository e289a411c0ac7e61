"""The timeline of an unchanged table, computed from the names of its files and the rows of its history.

This is the expected answer of `inspect`. It does not use the reference, because expected answers must be independent of it.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

_COMPLETED = re.compile(r"(\d{17})_(\d{17})\.([a-z]+)")
_PENDING = re.compile(r"(\d{17})\.(?:([a-z]+)\.)?(requested|inflight)")
#: Pending action -> name of the completed action, if they differ.
COMPLETES_AS = {"compaction": "commit", "logcompaction": "deltacommit", "clustering": "replacecommit"}


def timeline_of(table: Path) -> dict[str, Any]:
    """The `timeline` in the inspection of `table`."""
    folder = table / ".hoodie" / table_property(table, "hoodie.timeline.path", "timeline")
    names = [file.name for file in folder.iterdir() if file.is_file()]
    found = [m.groups() for name in names if (m := _COMPLETED.fullmatch(name))]
    active = [{"requested": r, "completion": c, "action": a, "where": "active"} for r, c, a in found]
    pending: dict[tuple[str, str], str] = {}
    for match in filter(None, map(_PENDING.fullmatch, names)):
        requested, action, state = match.groups()
        if pending.get((requested, action or "commit")) != "inflight":
            pending[requested, action or "commit"] = state
    done = {(r, a) for r, _, a in found}
    still = [
        {"requested": requested, "action": action, "state": state.upper()}
        for (requested, action), state in pending.items()
        if (requested, COMPLETES_AS.get(action, action)) not in done
    ]
    history = folder / table_property(table, "hoodie.timeline.history.path", "history")
    archived = [entry for entry in _archived(history) if (entry["requested"], entry["action"]) not in done]
    return {
        "completed": sorted([*archived, *active], key=lambda e: (e["requested"], e["action"])),
        "pending": sorted(still, key=lambda e: e["requested"]),
    }


def table_property(table: Path, key: str, default: str) -> str:
    """The value of a table property without escapes."""
    file = table / ".hoodie" / "hoodie.properties"
    lines = file.read_text("latin-1").splitlines() if file.is_file() else []
    return next((line.partition("=")[2] for line in lines if line.startswith(f"{key}=")), default)


def _archived(history: Path) -> Iterator[dict[str, str]]:
    """The instants in the files that the current manifest lists."""
    version = history / "_version_"
    numbers = [int(f.name.partition("_")[2]) for f in history.glob("manifest_*") if f.name[9:].isdigit()]
    if not numbers:
        return
    current = version.read_text() if version.is_file() else str(max(numbers))
    for file in json.loads((history / f"manifest_{current}").read_text())["files"]:
        rows = pq.read_table(history / file["fileName"], columns=["instantTime", "completionTime", "action"])
        for row in rows.to_pylist():
            times = {"requested": row["instantTime"], "completion": row["completionTime"]}
            yield {**times, "action": row["action"], "where": "archived"}
