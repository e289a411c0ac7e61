"""The cases that kill each mutant: the committed outcome of `hudi-conformance mutants`."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.cases.renames import current_case, current_mutant
from hudi_conformance.mutants.harness.mutant import Mutant

#: Mutant -> the cases that failed with it.
FILE = Path(__file__).parents[1] / "results.json"


@dataclass(frozen=True)
class Kill:
    """A mutant and the cases that kill it; `killed_by` is None when the mutant was never run.

    `place` is file and line of the mutant, `fingerprint` changes when it does.
    """

    name: str
    breaks: tuple[str, ...]
    description: str
    killed_by: tuple[str, ...] | None
    place: str = ""
    fingerprint: str = ""


def load_kills(mutants: Iterable[Mutant]) -> tuple[Kill, ...]:
    """The recorded outcomes of `mutants`."""
    recorded = recorded_kills()
    return tuple(
        Kill(m.name, m.breaks, m.description, tuple(recorded[m.name]) if m.name in recorded else None) for m in mutants
    )


def save_kills(kills: dict[str, list[str]], known: Iterable[Mutant]) -> None:
    """Store new outcomes beside those of the mutants that were not run; remove those of mutants that no longer exist."""
    merged = recorded_kills() | kills
    names = sorted(m.name for m in known if m.name in merged)
    FILE.write_text(json.dumps({n: sorted(merged[n]) for n in names}, indent=1) + "\n", encoding="utf-8")


def recorded_kills() -> dict[str, list[str]]:
    """The cases that kill each mutant, under the names of today."""
    stored: dict[str, list[str]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return {current_mutant(name): sorted(set(map(current_case, cases))) for name, cases in stored.items()}
