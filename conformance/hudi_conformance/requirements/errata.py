"""Where specification and engines differ, read from `errata.toml`, which explains its keys."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[1] / "errata.toml"

_FIXTURE = re.compile(r"fixtures/([\w.-]+/[\w.-]+)")


@dataclass(frozen=True)
class Erratum:
    """One difference. `open`: neither side is clearly right, so cases record answers and nobody fails."""

    id: str
    requirements: tuple[str, ...]
    text: str
    deployed: str
    evidence: tuple[str, ...]
    reference: str
    open: bool = False

    @property
    def fixtures(self) -> tuple[str, ...]:
        """The golden cases among the evidence, as `<area>/<case>`."""
        return tuple(found for line in self.evidence for found in _FIXTURE.findall(line))


@cache
def errata() -> tuple[Erratum, ...]:
    """All errata in order."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["erratum"]
    lists = ("requirements", "evidence")
    return tuple(Erratum(**(entry | {name: tuple(entry[name]) for name in lists})) for entry in entries)


def about(requirement: str) -> tuple[Erratum, ...]:
    """The errata that concern one requirement."""
    return tuple(e for e in errata() if requirement in e.requirements)
