"""Who cites which rule: code, cases, mutants, and what engines answered.

Everything is read from files of a source checkout, so that the answer does not depend on which engines are installed. Python
sources are parsed and not imported, and what was parsed is kept in the user's cache folder (`file_cache`).
"""

import glob
import importlib.util
import json
import os
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hudi_conformance.cases import suite_marks
from hudi_conformance.cases.renames import current_case
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.mutants.harness.score import Kill, recorded_kills
from hudi_conformance.report.evidence import source_facts
from hudi_conformance.report.evidence.file_cache import FileCache, cache_folder
from hudi_conformance.requirements.requirement import (
    VERSIONS,
    can_choose_version,
    holds_for_each_version,
    versions_of_golden_case,
)

#: The source checkout; of an installed package there is none.
ROOT = Path(__file__).parents[4]

_PACKAGE = Path(__file__).parents[2]

#: What engines answered last, one small file per engine, written by `hudi-conformance coverage --record`.
RESULTS = _PACKAGE / "_results" if (_PACKAGE / "_results").is_dir() else ROOT / "conformance" / "results"

#: The packages whose functions carry `@implements`.
IMPLEMENTATIONS = ("hudi_reference", "hudi_spark")


class SourcePlace(NamedTuple):
    """Code that carries a rule: "module:qualified name", file relative to the checkout, line."""

    name: str
    file: str
    line: int = 0


@dataclass(frozen=True)
class CitedCase:
    """A golden case or a Python test of the suite, with the rules that it cites; `path` is relative to the checkout.

    `needs` are the features that it needs of the engine under test, `writer_needs` those of an engine that writes for it.
    `golden` is the content of case.json, None for a Python test. `versions` are the table versions that it is about; with
    `for_each_version` it, or each of its parameters, is about one of them in a run.
    """

    id: str
    requirements: tuple[str, ...]
    errata: tuple[str, ...]
    path: str
    description: str
    golden: Mapping[str, Any] | None = None
    line: int = 0
    needs: tuple[str, ...] = ()
    writer_needs: tuple[str, ...] = ()
    versions: tuple[int, ...] = VERSIONS
    fingerprint: str = ""
    for_each_version: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """What is dangerous about a wrong answer, of a golden case."""
        return tuple((self.golden or {}).get("flags", ()))


class FeatureText(NamedTuple):
    """Meaning and example of a feature of the contract."""

    meaning: str
    example: str


@dataclass(frozen=True)
class Evidence:
    """All that is known of every rule. `implemented` maps a rule to its places in the code, `verdicts` an engine to the
    outcome of each case."""

    implemented: Mapping[str, list[SourcePlace]] = field(default_factory=dict)
    cases: tuple[CitedCase, ...] = ()
    kills: tuple[Kill, ...] = ()
    verdicts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: Engine -> the cases with a drawn version whose recorded run made a table of version 9.
    at_newest: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Engine -> the cases that skip themselves for it, whatever features it declares.
    skipped: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Engine -> table version -> case -> outcome in a run that named the version (`run --table-version`).
    by_version: Mapping[str, Mapping[int, Mapping[str, str]]] = field(default_factory=dict)
    #: What each case tried, on the reference (`counts.MEANINGS`).
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: The features of the contract.
    features: Mapping[str, FeatureText] = field(default_factory=dict)
    #: Where the code of the reference names an erratum.
    deviations: Mapping[str, list[SourcePlace]] = field(default_factory=dict)
    #: A fingerprint of each function, class and constant of the reference, by `module:qualified name`.
    definitions: Mapping[str, str] = field(default_factory=dict)

    def cases_citing(self, requirement: str) -> tuple[CitedCase, ...]:
        """The cases that cite a rule."""
        return tuple(c for c in self.cases if requirement in c.requirements)

    def mutants_breaking(self, requirement: str) -> tuple[Kill, ...]:
        """The mutants that break a rule."""
        return tuple(k for k in self.kills if requirement in k.breaks)


@cache
def gather_evidence() -> Evidence:
    """The evidence of this checkout."""
    files = FileCache(cache_folder(), ROOT)
    known = (*golden_cases(files), *suite_cases(files))
    counts = recorded_counts({case.id for case in known})
    found = Evidence(
        find_implementations(files),
        known,
        mutants(files),
        recorded_verdicts(),
        listed_cases("at_newest_version"),
        listed_cases("skipped"),
        verdicts_by_version(),
        counts,
        features(files),
        find_deviations(files),
        find_definitions(files),
    )
    files.save()
    return found


def _uncached() -> FileCache:
    return FileCache(None, ROOT)


def find_implementations(files: FileCache | None = None) -> dict[str, list[SourcePlace]]:
    """The functions and classes marked `@implements`, by rule; a module that needs Spark counts wherever this runs."""
    found: dict[str, list[SourcePlace]] = {}
    for module, path, facts in _reference_modules(files or _uncached()):
        for rule, name, line in facts["implements"]:
            found.setdefault(rule, []).append(SourcePlace(f"{module}:{name}", path, line))
    return found


def find_deviations(files: FileCache | None = None) -> dict[str, list[SourcePlace]]:
    """The lines of the reference that name an erratum, by erratum."""
    found: dict[str, list[SourcePlace]] = {}
    for module, path, facts in _reference_modules(files or _uncached()):
        for erratum, line in facts["errata"]:
            found.setdefault(erratum, []).append(SourcePlace(module, path, line))
    return found


def find_definitions(files: FileCache | None = None) -> dict[str, str]:
    """A fingerprint of each function, class and constant of the reference, by `module:qualified name`."""
    return {
        f"{module}:{name}": found
        for module, _, facts in _reference_modules(files or _uncached())
        for name, found in facts["definitions"].items()
    }


def _reference_modules(files: FileCache) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Name, path in the checkout and facts of each module of the reference."""
    for package in IMPLEMENTATIONS:
        for module, shown, path in _modules(_folder_of(package)):
            yield module, shown, files.read(path, source_facts.read_reference_module)


def _modules(package: Path, prefix: str = "") -> list[tuple[str, str, str]]:
    """Name, path relative to the checkout and path of each module of a package, sorted by path.

    `prefix` is the name of the package above with a dot.
    """
    return [(prefix + module.removesuffix(".__init__"), shown, path) for module, shown, path in _files(package, (".py",))]


def _files(package: Path, endings: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Name with dots, path relative to the checkout and path of each file of a package with one of these endings.

    They are sorted by path. Of an installed package the whole path is shown.
    """
    above, checkout = str(package.parent), str(ROOT)
    found = []
    for folder, _, names in os.walk(package):
        for path in (f"{folder}{os.sep}{name}" for name in names if name.endswith(endings)):
            name = path[len(above) + 1 :].rpartition(".")[0].replace(os.sep, ".")
            found.append((name, path.removeprefix(checkout + os.sep).replace(os.sep, "/"), path))
    return sorted(found, key=lambda one: one[2].replace(os.sep, "\0"))


def _folder_of(package: str) -> Path:
    """The folder of a package, found without importing it."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations, f"{package} is part of this distribution"
    return Path(spec.submodule_search_locations[0])


def golden_cases(files: FileCache | None = None) -> tuple[CitedCase, ...]:
    """The cases of `fixtures/`, in the order of their ids."""
    files = files or _uncached()
    root = fixtures_root()
    found = []
    for path in glob.iglob("*/*/case.json", root_dir=root):  # noqa: PTH207 - takes a third of the time of Path.glob
        case = files.read(f"{root}{os.sep}{path}", source_facts.read_json)
        versions = versions_of_golden_case(case)
        found.append(
            CitedCase(
                case["id"],
                tuple(case["requirements"]),
                tuple(case.get("errata", ())),
                f"fixtures/{path}".replace(os.sep, "/"),
                case["description"],
                case,
                needs=tuple(case["needs"]),
                versions=versions,
                for_each_version=can_choose_version(case.get("table"), versions),
            )
        )
    return tuple(sorted(found, key=lambda c: c.id))


def suite_cases(files: FileCache | None = None) -> tuple[CitedCase, ...]:
    """The tests written in Python in `hudi_conformance.suite`, with what their marks `requirements` and `needs` name."""
    files = files or _uncached()
    paths = {module: (shown, path) for module, shown, path in _modules(_PACKAGE / "suite", "hudi_conformance.")}
    read = {module: files.read(path, suite_marks.read_suite_module) for module, (_, path) in paths.items()}
    modules = suite_marks.Modules(read)
    return tuple(
        _suite_case(modules, module, test, paths[module][0])
        for module, facts in read.items()
        if module.rpartition(".")[2].startswith("test_")
        for test in facts["tests"]
    )


def _suite_case(modules: suite_marks.Modules, module: str, test: Mapping[str, Any], path: str) -> CitedCase:
    """A test of a module of the suite."""
    needs, writer_needs = (modules.texts_of_test(module, test, what) for what in ("needs", "writer"))
    for_each = not test["versions"] and holds_for_each_version((*needs, *writer_needs), marked=test["each_version"])
    return CitedCase(
        f"{module.rpartition('.')[2]}::{test['name']}",
        modules.texts_of_test(module, test, "requirements"),
        (),
        path,
        test["description"],
        line=test["line"],
        needs=needs,
        writer_needs=writer_needs,
        versions=VERSIONS if for_each else tuple(test["versions"]) or VERSIONS[:1],
        fingerprint=test["fingerprint"],
        for_each_version=for_each,
    )


def mutants(files: FileCache | None = None) -> tuple[Kill, ...]:
    """Every mutant with the cases that kill it, by name."""
    files = files or _uncached()
    recorded = recorded_kills()
    found = []
    for _, shown, path in _files(_PACKAGE / "mutants", (".py", ".toml")):
        read = source_facts.read_mutants if path.endswith(".py") else source_facts.read_mutants_of_file
        for mutant in files.read(path, read):
            killers = tuple(recorded[mutant["name"]]) if mutant["name"] in recorded else None
            place = f"{shown}:{mutant['line']}"
            breaks = tuple(mutant["breaks"])
            found.append(Kill(mutant["name"], breaks, mutant["description"], killers, place, mutant["fingerprint"]))
    return tuple(sorted(found, key=lambda kill: kill.name))


def features(files: FileCache | None = None) -> dict[str, FeatureText]:
    """The features of the contract with engines; functions as `compute.<name>`."""
    files, folder = files or _uncached(), _PACKAGE / "contract"
    plain = files.read(str(folder / "features.toml"), source_facts.read_toml)
    found = {name: FeatureText(raw["meaning"], raw["example"]) for name, raw in plain.items()}
    for name, raw in files.read(str(folder / "functions.toml"), source_facts.read_toml).items():
        example = f"{json.dumps(json.loads(raw['arguments']))} gives {json.dumps(json.loads(raw['value']))}"
        found[f"compute.{name}"] = FeatureText(raw["meaning"], example)
    return found


def recorded_verdicts() -> dict[str, dict[str, str]]:
    """Engine -> case -> outcome, from the committed results."""
    files = (json.loads(p.read_text(encoding="utf-8")) for p in sorted(RESULTS.glob("*.json")))
    return {f["engine"]: {current_case(case): outcome for case, outcome in f["cases"].items()} for f in files}


def listed_cases(name: str) -> dict[str, frozenset[str]]:
    """Engine -> the cases in this list of its committed results."""
    files = (json.loads(p.read_text(encoding="utf-8")) for p in sorted(RESULTS.glob("*.json")))
    return {f["engine"]: frozenset(map(current_case, f.get(name, ()))) for f in files}


def verdicts_by_version() -> dict[str, dict[int, dict[str, str]]]:
    """Engine -> table version -> case -> outcome in the last run that named the version."""
    files = (json.loads(p.read_text(encoding="utf-8")) for p in sorted(RESULTS.glob("*.json")))
    return {
        f["engine"]: {
            int(version): {current_case(case): outcome for case, outcome in found.items()}
            for version, found in f.get("by_version", {}).items()
        }
        for f in files
    }


def recorded_counts(cases: Container[str]) -> dict[str, dict[str, int]]:
    """Case -> what it tried on the reference, of the cases that there still are."""
    path = RESULTS / "reference.json"
    found = json.loads(path.read_text(encoding="utf-8")).get("counts", {}) if path.is_file() else {}
    return {current: counts for case, counts in found.items() if (current := current_case(case)) in cases}
