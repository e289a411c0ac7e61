"""Where specification and engines differ, read from `errata.toml`, which explains its keys."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[1] / "errata.toml"

_FIXTURE = re.compile(r"fixtures/([\w.-]+/[\w.-]+)")
_PYTHON_CASE = re.compile(r"\btest_\w+(?:::test_\w+)?")


@dataclass(frozen=True)
class Erratum:
    """One difference.

    `open`: neither side is clearly right, so cases record the answers and no engine fails. `code` says why no line of the
    reference is marked with the erratum; without it, the lines that follow the deployed format against the text are marked.
    `by_hand` says why no run of the suite shows the difference.
    """

    id: str
    requirements: tuple[str, ...]
    text: str
    deployed: str
    evidence: tuple[str, ...]
    reference: str
    open: bool = False
    code: str | None = None
    by_hand: str | None = None

    @property
    def deviates(self) -> bool:
        """Whether the reference follows the deployed format against the text."""
        return self.code is None

    @property
    def fixtures(self) -> tuple[str, ...]:
        """The golden cases among the evidence, as `<folder>/<case>`."""
        return tuple(found for line in self.evidence for found in _FIXTURE.findall(line))

    @property
    def python_cases(self) -> tuple[str, ...]:
        """The Python cases among the evidence, as `<module>::<function>`, or `<module>` for all of a module."""
        return tuple(found for line in self.evidence for found in _PYTHON_CASE.findall(line))


@cache
def errata() -> tuple[Erratum, ...]:
    """All errata in order."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["erratum"]
    lists = ("requirements", "evidence")
    return tuple(Erratum(**(entry | {name: tuple(entry[name]) for name in lists})) for entry in entries)


def about(requirement: str) -> tuple[Erratum, ...]:
    """The errata that concern one requirement."""
    return tuple(e for e in errata() if requirement in e.requirements)
