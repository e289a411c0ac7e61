"""Rules that no mutant tests in each of their roles, with the reason: `untested.toml` beside this module."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Untested:
    """A rule, the roles in which no mutant of it is killed by a case that cites it, and why."""

    rule: str
    roles: tuple[str, ...]
    reason: str


def load_untested(path: Path = FILE) -> tuple[Untested, ...]:
    """The entries of the file."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(Untested(rule, tuple(entry["roles"]), entry["reason"]) for rule, entry in found.items())
