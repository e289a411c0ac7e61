"""The inventory of the specification, read from `requirements/*.toml`.

One file per area; `requirements/index.toml` names the areas in order, the documents that the rules are taken from, and
explains every key. The ids are stable: cases, mutants, errata and `@implements` cite them.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

FOLDER = Path(__file__).parent

Level = Literal["must", "should", "may"]

#: The table versions that rules and cases are about.
VERSIONS = (8, 9)


class UnknownRequirement(LookupError):
    """An id that is not in the inventory."""


@dataclass(frozen=True)
class Document:
    """A published text that rules are taken from. `page` is its current address, where `url` is a fixed revision."""

    id: str
    title: str
    url: str
    page: str | None = None
    headings: tuple[str, ...] = ()

    def heading(self, anchor: str) -> str:
        """The heading that has this anchor; raises `KeyError`."""
        return {anchor_of(heading): heading for heading in self.headings}[anchor]


def versions_of_golden_case(case: Mapping[str, Any]) -> tuple[int, ...]:
    """The table versions that a golden case, the content of `case.json`, is about.

    A case says so; otherwise a table is of version 8, and what holds for a file or a function holds for every version.
    """
    return tuple(case.get("versions", VERSIONS[:1] if "table" in case else VERSIONS))


def can_choose_version(table: str | None, versions: Collection[int]) -> bool:
    """Whether a run can name the version of a golden case: its table is a table of several versions."""
    return table is not None and len(versions) > 1


def holds_for_each_version(needs: Collection[str], *, marked: bool) -> bool:
    """Whether a Python case without a mark `versions` is about each table version.

    Its engine creates its tables, or it has the mark `each_version` and makes them itself.
    """
    return marked or "create" in needs


def is_version_drawn(fixtures: Collection[str]) -> bool:
    """Whether the version of the tables of such a case is drawn. Tables that several cases share are of the first version.

    A run that names a version makes all of them with it.
    """
    return not {"shared_tables", "histories"} & set(fixtures)


def anchor_of(heading: str) -> str:
    """The anchor that GitHub and Docusaurus give a heading: lower case, no punctuation, hyphens for blanks."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@dataclass(frozen=True)
class Requirement:
    """One rule, with the sentence of the specification that carries it (`quote`).

    `source` is a document and an anchor in it, `also` are further places that carry or touch the rule. `ambiguity` is what
    the texts leave open, or None. `versions` are the table versions for which the rule holds.
    """

    id: str
    section: str
    source: str
    level: Level
    role: tuple[str, ...]
    text: str
    quote: str
    check: str
    mutant: str
    also: tuple[str, ...] = ()
    ambiguity: str | None = None
    versions: tuple[int, ...] = VERSIONS

    @property
    def area(self) -> str:
        """The part of the id before its number."""
        return self.id.rpartition("-")[0]

    @property
    def cited(self) -> str:
        """Title of the document and section of the rule in it."""
        return f"{self.document.title}: {self.section}"

    @property
    def document(self) -> Document:
        """The document that the rule is taken from."""
        return documents()[self.source.partition("#")[0]]

    @property
    def url(self) -> str:
        """The address of the rule in the published text."""
        return url_of(self.source)


@dataclass(frozen=True)
class Area:
    """A group of rules about one thing, in document order."""

    id: str
    title: str
    requirements: tuple[Requirement, ...]


@cache
def _read(name: str) -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))


def _requirement(entry: dict[str, Any]) -> Requirement:
    lists = {k: tuple(v) for k, v in entry.items() if isinstance(v, list)}
    return Requirement(**(entry | lists))


@cache
def documents() -> MappingProxyType[str, Document]:
    """The texts that `Requirement.source` refers to, by id."""
    found = (Document(**(d | {"headings": tuple(d.get("headings", ()))})) for d in _read("index.toml")["document"])
    return MappingProxyType({d.id: d for d in found})


def url_of(source: str) -> str:
    """The address of a place in a document, given as in `Requirement.source`."""
    document, separator, anchor = source.partition("#")
    return f"{documents()[document].url}{separator}{anchor}"


@cache
def area_ids() -> tuple[str, ...]:
    """The ids of all areas, in the order of the texts."""
    return tuple(entry["id"] for entry in _read("index.toml")["area"])


@cache
def area(id_: str) -> Area:
    """One area with its requirements; only its file is read. Raises `KeyError`."""
    title = {entry["id"]: entry["title"] for entry in _read("index.toml")["area"]}[id_]
    return Area(id_, title, tuple(map(_requirement, _read(f"{id_.lower()}.toml")["requirement"])))


def areas() -> tuple[Area, ...]:
    """All areas with their requirements, in the order of the texts."""
    return tuple(map(area, area_ids()))


@cache
def requirements() -> MappingProxyType[str, Requirement]:
    """Every requirement by its id, in order."""
    return MappingProxyType({r.id: r for area in areas() for r in area.requirements})


@cache
def excluded() -> MappingProxyType[str, str]:
    """The reason by id for each requirement that will not be checked."""
    return MappingProxyType({e["id"]: e["reason"] for e in _read("excluded.toml")["excluded"]})


def requirement(id_: str) -> Requirement:
    """The requirement `id_`; raises `UnknownRequirement`."""
    prefix = id_.rpartition("-")[0]
    rules = area(prefix).requirements if prefix in area_ids() else ()
    found = next((rule for rule in rules if rule.id == id_), None)
    if found is None:
        raise UnknownRequirement(f"no requirement {id_!r} in {FOLDER.name}/")
    return found


def unknown(ids: Iterable[str]) -> list[str]:
    """Those of `ids` that are not in the inventory, in order."""
    known = requirements()
    return [i for i in ids if i not in known]
