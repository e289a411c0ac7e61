"""The chapters of the specification: one vocabulary for rules, golden cases, tests and mutants.

They are read from `index.toml`, which groups the areas of the rules. Reports have one row for each chapter; the folders of
`suite/` and `mutants/` have the ids of the chapters as names.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

FILE = Path(__file__).with_name("index.toml")

#: The chapter of a test outside the suite that cites no rule.
OTHER = "other"


@dataclass(frozen=True)
class Chapter:
    """One chapter. `areas` are areas of rules, `golden` first words of the ids of golden cases."""

    id: str
    title: str
    areas: tuple[str, ...]
    golden: tuple[str, ...] = ()


@cache
def chapters() -> MappingProxyType[str, Chapter]:
    """All chapters by id, in the order of reports."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["chapter"]
    found = (Chapter(e["id"], e["title"], tuple(e["areas"]), tuple(e.get("golden", ()))) for e in entries)
    return MappingProxyType({chapter.id: chapter for chapter in found})


def title(chapter: str) -> str:
    """The title of a chapter; of an unknown one its id."""
    known = chapters().get(chapter)
    return chapter if known is None else known.title


def in_order(ids: Iterable[str]) -> list[str]:
    """Each of these chapters once, in the order of reports; unknown ones last, in the order of the alphabet."""
    present = set(ids)
    return [*(c for c in chapters() if c in present), *sorted(present - chapters().keys())]


@cache
def _by_area() -> dict[str, str]:
    return {area: chapter.id for chapter in chapters().values() for area in chapter.areas}


@cache
def _by_word() -> dict[str, str]:
    return {word: chapter.id for chapter in chapters().values() for word in chapter.golden}


def chapter_of_rule(rule: str) -> str:
    """The chapter of a rule, given by its id. Raises `KeyError` for an area that no chapter has."""
    return _by_area()[rule.rpartition("-")[0]]


def chapter_of_golden_case(case: str) -> str:
    """The chapter of a golden case, given by its id. Raises `KeyError` for an unknown first word."""
    return _by_word()[case.partition(".")[0]]


def golden_words() -> tuple[str, ...]:
    """The first words that ids of golden cases may have, in the order of the chapters."""
    return tuple(_by_word())


def chapter_of_test(path: Path, rules: Iterable[str]) -> str:
    """The chapter of a Python case: the folder of its file; outside the suite the chapter of its first rule, or `OTHER`."""
    if path.parent.name in chapters():
        return path.parent.name
    return next((_by_area()[area] for rule in rules if (area := rule.rpartition("-")[0]) in _by_area()), OTHER)
