"""Comparing an inspection of a table or file with what a case expects.

Of an object only the keys in the expected JSON are compared, except under the names of `CLOSED`, where no key may be added.
Lists are compared whole and in order, the timeline's and slices by their instants.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hudi_conformance.cases.rows import Row, format_value

#: Members that must match completely: an additional file group, instant, header or column is as wrong as a missing one.
CLOSED = frozenset({"file_groups", "timeline", "header", "rows", "deletes", "entries", "found"})


@dataclass(frozen=True)
class Contradiction:
    """The first place where an inspection differs: its path in the JSON, expected and found value."""

    path: str
    expected: Any
    found: Any

    def summary(self) -> str:
        """One line."""
        return f"{self.path}: expected {format_value(self.expected)}, found {format_value(self.found)}"

    def pair(self) -> tuple[Row, Row]:
        """Expected and found for a report that shows rows side by side."""
        return {"at": self.path, "value": self.expected}, {"at": self.path, "value": self.found}


def find_contradiction(expected: Any, found: Any) -> Contradiction | None:
    """The first place where `found` contradicts `expected`, None if there is none."""
    return _contradiction(expected, found, (), closed=False)


def _contradiction(expected: Any, found: Any, at: tuple[str, ...], *, closed: bool) -> Contradiction | None:
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return _in_object(expected, found, at, closed=closed)
    if isinstance(expected, list) and isinstance(found, list):
        return _in_list(expected, found, at, closed=closed)
    return None if expected == found else Contradiction(".".join(at) or "everything", expected, found)


def _in_list(expected: list[Any], found: list[Any], at: tuple[str, ...], *, closed: bool) -> Contradiction | None:
    if at[:1] == ("timeline",) and len(at) == len(("timeline", "completed")):
        expected, found = sorted(expected, key=_instant), sorted(found, key=_instant)
    if at[:1] == ("file_groups",) and at[-1] == "slices":
        expected, found = sorted(expected, key=_base_instant), sorted(found, key=_base_instant)
    for number, (one, other) in enumerate(zip(expected, found, strict=False)):
        if (different := _contradiction(one, other, (*at, str(number)), closed=closed)) is not None:
            return different
    if len(expected) != len(found):
        number = min(len(expected), len(found))
        one, other = ([*items[number : number + 1], None][0] for items in (expected, found))
        return Contradiction(".".join((*at, str(number))), one, other)
    return None


def _in_object(
    expected: Mapping[str, Any], found: Mapping[str, Any], at: tuple[str, ...], *, closed: bool
) -> Contradiction | None:
    if closed and (strange := found.keys() - expected.keys()):
        name = min(strange)
        return Contradiction(".".join((*at, name)), None, found[name])
    for name, value in expected.items():
        inner = closed or name in CLOSED
        if (different := _contradiction(value, found.get(name), (*at, name), closed=inner)) is not None:
            return different
    return None


def _base_instant(entry: Mapping[str, Any]) -> str:
    return str(entry.get("base_instant"))


def _instant(entry: Mapping[str, Any]) -> tuple[str, str]:
    return str(entry.get("requested")), str(entry.get("action"))
