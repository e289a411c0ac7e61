"""Who cites which rule: code, cases, mutants, and what engines answered.

Everything is read from files of a source checkout, so that the answer does not depend on which engines are installed.
"""

import ast
import importlib
import importlib.util
import json
import pkgutil
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.renames import current_case
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.mutants import all_mutants
from hudi_conformance.mutants.harness.score import Kill, load_kills

#: The source checkout; of an installed package there is none.
ROOT = Path(__file__).parents[3]

#: What engines answered last, one small file per engine, written by `hudi-conformance coverage --record`.
RESULTS = ROOT / "conformance" / "results"

#: The packages whose functions carry `@implements`, and where their sources lie.
IMPLEMENTATIONS = ("hudi_reference", "hudi_spark")


@dataclass(frozen=True)
class CitedCase:
    """A golden case or a Python test of the suite, with the rules that it cites; `path` is relative to the checkout.

    `golden` is the whole case, None for a Python test.
    """

    id: str
    requirements: tuple[str, ...]
    errata: tuple[str, ...]
    path: str
    description: str
    golden: cases.Case | None = None


@dataclass(frozen=True)
class Evidence:
    """All that is known of every rule. `implemented` maps a rule to (place, source file), `verdicts` an engine to the
    outcome of each case."""

    implemented: Mapping[str, list[tuple[str, str]]] = field(default_factory=dict)
    cases: tuple[CitedCase, ...] = ()
    kills: tuple[Kill, ...] = ()
    verdicts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: What each case tried, on the reference (`counts.MEANINGS`).
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def citing(self, requirement: str) -> tuple[CitedCase, ...]:
        """The cases that cite a rule."""
        return tuple(c for c in self.cases if requirement in c.requirements)

    def breaking(self, requirement: str) -> tuple[Kill, ...]:
        """The mutants that break a rule."""
        return tuple(k for k in self.kills if requirement in k.breaks)


@cache
def gather() -> Evidence:
    """The evidence of this checkout."""
    known = (*golden_cases(), *suite_cases())
    counts = recorded_counts({case.id for case in known})
    return Evidence(implemented(), known, load_kills(all_mutants()), recorded_verdicts(), counts)


def implemented() -> dict[str, list[tuple[str, str]]]:
    """The functions and classes marked `@implements`, by rule, as ("module:qualified name", source file).

    The sources are parsed and not imported: a module that needs Spark counts wherever this runs.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for package in IMPLEMENTATIONS:
        folder = _folder_of(package)
        for path in sorted(folder.rglob("*.py")):
            module = ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
            for rule, name in _marked(ast.parse(path.read_text(encoding="utf-8")), ""):
                found.setdefault(rule, []).append((f"{module}:{name}", _in_checkout(path)))
    return found


def _folder_of(package: str) -> Path:
    """Where a package lies, found without importing it."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations, f"{package} is part of this distribution"
    return Path(spec.submodule_search_locations[0])


def _in_checkout(path: Path) -> str:
    """A path as it is written on the page; of an installed package its whole path."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def _marked(node: ast.AST, prefix: str) -> Iterator[tuple[str, str]]:
    """(rule, qualified name) of everything below `node` that is marked."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            for mark in child.decorator_list:
                if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "implements":
                    yield from ((ast.literal_eval(rule), prefix + child.name) for rule in mark.args)
            inside = "." if isinstance(child, ast.ClassDef) else ".<locals>."
            yield from _marked(child, prefix + child.name + inside)
        else:
            yield from _marked(child, prefix)


def golden_cases() -> tuple[CitedCase, ...]:
    """The cases of `fixtures/`."""
    root = fixtures_root()
    return tuple(
        CitedCase(c.id, c.requirements, c.errata, f"fixtures/{c.path.relative_to(root).as_posix()}", c.description, c)
        for c in cases.find_cases(root)
    )


def suite_cases() -> tuple[CitedCase, ...]:
    """The tests written in Python in `hudi_conformance.suite`, with the ids of their `requirements` marks."""
    package = importlib.import_module("hudi_conformance.suite")
    return tuple(
        case
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if module.name.rpartition(".")[2].startswith("test_")
        for case in _tests_of(importlib.import_module(module.name))
    )


def _tests_of(module: Any) -> Iterator[CitedCase]:
    path = Path(module.__file__)
    for name, test in vars(module).items():
        if name.startswith("test_") and callable(test):
            marks = [*getattr(test, "pytestmark", ()), *_as_list(getattr(module, "pytestmark", ()))]
            rules = tuple(dict.fromkeys(rule for m in marks if m.name == "requirements" for rule in m.args))
            doc = (test.__doc__ or "").strip().split("\n\n")[0]
            yield CitedCase(f"{path.stem}::{name}", rules, (), _in_checkout(path), " ".join(doc.split()))


def _as_list(marks: Any) -> list[Any]:
    return list(marks) if isinstance(marks, list | tuple) else [marks]


def recorded_verdicts() -> dict[str, dict[str, str]]:
    """Engine -> case -> outcome, from the committed results."""
    files = (json.loads(p.read_text(encoding="utf-8")) for p in sorted(RESULTS.glob("*.json")))
    return {f["engine"]: {current_case(case): outcome for case, outcome in f["cases"].items()} for f in files}


def recorded_counts(cases: Container[str]) -> dict[str, dict[str, int]]:
    """Case -> what it tried on the reference, of the cases that there still are."""
    path = RESULTS / "reference.json"
    found = json.loads(path.read_text(encoding="utf-8")).get("counts", {}) if path.is_file() else {}
    return {current: counts for case, counts in found.items() if (current := current_case(case)) in cases}
