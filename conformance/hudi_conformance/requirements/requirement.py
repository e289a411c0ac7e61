"""The inventory of the specification, read from `requirements/*.toml`.

One file per area; `requirements/index.toml` names the areas in order, the documents that the sources point into, and
explains every key. The ids are stable: cases, planted bugs, errata and `@implements` cite them.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

FOLDER = Path(__file__).parent

Level = Literal["must", "should", "may"]


class UnknownRequirement(LookupError):
    """An id that the inventory does not hold."""


@dataclass(frozen=True)
class Requirement:
    """One rule. `also` are further places that carry or touch it; `ambiguity` is what the texts leave open, or None."""

    id: str
    section: str
    source: str
    level: Level
    role: tuple[str, ...]
    text: str
    check: str
    mutant: str
    also: tuple[str, ...] = ()
    ambiguity: str | None = None

    @property
    def area(self) -> str:
        """The part of the id before its number."""
        return self.id.rpartition("-")[0]

    @property
    def cited(self) -> str:
        """Document and line of the rule, for people."""
        file, _, line = self.source.rpartition(":")
        return f"{documents()[file]}, line {line}"


@dataclass(frozen=True)
class Area:
    """A group of rules about one thing, in document order."""

    id: str
    title: str
    requirements: tuple[Requirement, ...]


def _read(name: str) -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))


def _requirement(entry: dict[str, Any]) -> Requirement:
    lists = {k: tuple(v) for k, v in entry.items() if isinstance(v, list)}
    return Requirement(**(entry | lists))


@cache
def documents() -> MappingProxyType[str, str]:
    """Title by file name of the texts that `Requirement.source` points into."""
    return MappingProxyType({d["file"]: d["title"] for d in _read("index.toml")["document"]})


@cache
def areas() -> tuple[Area, ...]:
    """All areas with their requirements, in the order in which the texts take them up."""
    return tuple(
        Area(a["id"], a["title"], tuple(map(_requirement, _read(f"{a['id'].lower()}.toml")["requirement"])))
        for a in _read("index.toml")["area"]
    )


@cache
def requirements() -> MappingProxyType[str, Requirement]:
    """Every requirement by its id, in order."""
    return MappingProxyType({r.id: r for area in areas() for r in area.requirements})


@cache
def excluded() -> MappingProxyType[str, str]:
    """The reason by id for each requirement that nobody is going to check."""
    return MappingProxyType({e["id"]: e["reason"] for e in _read("excluded.toml")["excluded"]})


def requirement(id_: str) -> Requirement:
    """The requirement `id_`; raises `UnknownRequirement`."""
    try:
        return requirements()[id_]
    except KeyError:
        raise UnknownRequirement(f"no requirement {id_!r} in {FOLDER.name}/") from None


def unknown(ids: Iterable[str]) -> list[str]:
    """Those of `ids` that the inventory does not hold, in order."""
    return [i for i in ids if i not in requirements()]
