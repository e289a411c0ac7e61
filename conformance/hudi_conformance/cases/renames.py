"""Old ids of Python cases and old names of mutants, and what they are called today.

Ids are stored in lists of expected failures, verdicts and reports, so they stay valid when a test or a mutant is renamed.
`renames/README.md` describes the files that are read here.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("renames")


class RenameError(ValueError):
    """The files of renames contradict each other."""


@dataclass(frozen=True)
class Renames:
    """Old name -> newer name: of test files, of cases without parameters, and of mutants."""

    files: Mapping[str, str] = field(default_factory=dict)
    cases: Mapping[str, str] = field(default_factory=dict)
    mutants: Mapping[str, str] = field(default_factory=dict)

    def current_case(self, case: str) -> str:
        """The id that a case has today; parameters in brackets are kept.

        Raises:
            RenameError: the renames of this id form a circle.
        """
        return _last(case, self._newer_case) if "::" in case else case

    def _newer_case(self, case: str) -> str:
        test, bracket, parameters = case.partition("[")
        if case in self.cases:
            return self.cases[case]
        if test in self.cases:
            return self.cases[test] + bracket + parameters
        file, colons, rest = case.partition("::")
        return self.files.get(file, file) + colons + rest

    def current_mutant(self, name: str) -> str:
        """The name that a mutant has today. Raises `RenameError` if the renames of this name form a circle."""
        return _last(name, lambda known: self.mutants.get(known, known))


def _last(name: str, newer: Callable[[str], str]) -> str:
    """Follow renames to the last one."""
    passed = [name]
    while (found := newer(passed[-1])) != passed[-1]:
        if found in passed:
            raise RenameError(f"renames form a circle: {' -> '.join([*passed, found])}")
        passed.append(found)
    return passed[-1]


@cache
def renames(folder: Path = FOLDER) -> Renames:
    """All renames below `folder`, merged.

    Raises:
        RenameError: an unknown table, or one name with two successors.
    """
    tables: dict[str, dict[str, str]] = {"files": {}, "cases": {}, "mutants": {}}
    for path in sorted(folder.glob("*.toml")):
        for kind, entries in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if kind not in tables:
                raise RenameError(f"{path.name}: no table {kind!r}; the tables are {', '.join(tables)}")
            for old, new in entries.items():
                if tables[kind].setdefault(old, new) != new:
                    raise RenameError(f"{path.name}: {old} is renamed to {new}, and elsewhere to {tables[kind][old]}")
    return Renames(**tables)


def current_case(case: str) -> str:
    """The id that a case has today. Ids that were never renamed, and those of golden cases, are returned as they are."""
    return renames().current_case(case)


def current_mutant(name: str) -> str:
    """The name that a mutant has today. Names that were never renamed are returned as they are."""
    return renames().current_mutant(name)
