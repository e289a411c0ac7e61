"""Real faults of real engines and the cases that show them, read from `track_record.toml`, which explains its keys."""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("track_record.toml")


class Effect(StrEnum):
    """What a user of an engine with the fault sees; the worst first."""

    LOST = "lost rows"
    STALE = "stale rows"
    DUPLICATE = "duplicate rows"
    WRONG_ROWS = "wrong rows"
    WRONG_VALUES = "wrong values"
    ERROR = "error"


class State(StrEnum):
    """What is known of the newest release of the engine."""

    PRESENT = "present"
    FIXED = "fixed"
    MERGED = "merged"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Fault:
    """One fault. `cases` is empty if and only if `reason` says why no case shows it."""

    id: str
    engine: str
    versions: str
    title: str
    links: tuple[str, ...]
    state: State
    effect: Effect | None = None
    cases: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()
    reading: str = ""
    seen: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    note: str = ""
    reason: str = ""


@cache
def known_faults() -> tuple[Fault, ...]:
    """All faults in the order of the file. An unknown key, effect or state is an error of Python."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["fault"]
    lists = ("links", "cases", "mutants", "seen", "errata")
    return tuple(
        Fault(
            **{
                **entry,
                **{name: tuple(entry[name]) for name in lists if name in entry},
                "state": State(entry["state"]),
                "effect": Effect(entry["effect"]) if "effect" in entry else None,
            }
        )
        for entry in entries
    )
