"""Why drawn mutants survive: `triage.json`, one entry for each, by the content of the change.

An entry whose change no longer occurs in the reference is out of date; a test finds it.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hudi_conformance.mutants.drawn.draw import Change, mutants_of_source, reference_folder

FILE = Path(__file__).with_name("triage.json")

#: `equivalent`: the changed code does the same. `not observable`: no answer and no stored byte that a rule is about differs,
#: for example the text of an error, a cache, or the order of work. `hole`: the suite should have a case, and has none.
Kind = Literal["equivalent", "not observable", "hole"]


@dataclass(frozen=True)
class Entry:
    """One survivor, its kind, and the reason."""

    change: Change
    kind: Kind
    reason: str


def load_triage(path: Path = FILE) -> tuple[Entry, ...]:
    """The entries of the file."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return tuple(Entry(Change(**one["change"]), one["kind"], one["reason"]) for one in found)


def find_stale_entries(entries: Iterable[Entry], root: Path | None = None) -> Iterator[Entry]:
    """The entries whose change does not occur in the reference."""
    root, known = root or reference_folder(), dict[str, frozenset[Change]]()
    for entry in entries:
        path = entry.change.path
        if path not in known:
            file = root / path
            text = file.read_text(encoding="utf-8") if file.is_file() else ""
            known[path] = frozenset(mutant.change for mutant in mutants_of_source(path, text))
        if entry.change not in known[path]:
            yield entry
