"""The stored verdicts: the outcome of each case for each engine in its last recorded run."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from hudi_conformance.cases.renames import current_case
from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.report.evidence.evidence import RESULTS, golden_cases, suite_cases
from hudi_conformance.report.published import case_without_parameters, outcomes_by_case
from hudi_conformance.report.saved_run import read_report
from hudi_conformance.requirements.requirement import VERSIONS


def store_verdicts(report: Path, results: Path = RESULTS) -> list[Path]:
    """Store outcomes and counters of `report`/report.jsonl, one file per engine, and return these files.

    A report of some cases replaces the stored results of these cases and leaves the others. One of `run --table-version` is
    stored beside them: outcomes of the cases with tables of that version alone.
    """
    run, results_of_report = read_report(report)
    if run.table_version is not None:
        return _store_version(results, run.table_version, results_of_report)
    counts: dict[str, dict[str, Counter[str]]] = {}
    for result in results_of_report:
        if result.outcome is not Outcome.NOT_RUN:
            counts.setdefault(result.engine, {}).setdefault(case_without_parameters(result), Counter()).update(result.counts)
    stored = []
    for engine, found in outcomes_by_case(results_of_report).items():
        lists = {
            "at_newest_version": _cases_at(results_of_report, engine),
            "skipped": _skipped_cases(results_of_report, engine, found),
        }
        stored.append(_merge(results, engine, found, counts[engine], lists))
    return stored


def _store_version(results: Path, version: int, results_of_report: Sequence[Result]) -> list[Path]:
    """Store the outcomes of the cases that hold for each version and were about one alone, in a run that named it."""
    stored = []
    golden = {case.id for case in golden_cases() if case.for_each_version}
    of_version = [one for one in results_of_report if one.versions == (version,) and ("::" in one.case or one.case in golden)]
    for engine, found in outcomes_by_case(of_version).items():
        path = _path_of(results, engine)
        new: dict[str, Any] = {"engine": engine, "cases": {}}
        before: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else new
        by_version = before.get("by_version", {})
        outcomes = dict(sorted((_current(by_version.get(str(version), {})) | found).items()))
        by_version = dict(sorted({**by_version, str(version): outcomes}.items()))
        results.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(before | {"by_version": by_version}, indent=1) + "\n", encoding="utf-8")
        stored.append(path)
    return stored


def _path_of(results: Path, engine: str) -> Path:
    return results / f"{engine.replace('/', '_').replace(':', '_')}.json"


def _cases_at(results: Sequence[Result], engine: str) -> set[str]:
    """The Python cases of an engine that made only tables of the newest version, with one of their parameters at least."""
    return {
        case_without_parameters(one)
        for one in results
        if one.engine == engine
        and one.versions == VERSIONS[-1:]
        and "::" in one.case
        and one.outcome is not Outcome.UNSUPPORTED
    }


def _skipped_cases(results: Sequence[Result], engine: str, outcomes: Mapping[str, str]) -> set[str]:
    """The cases that were not asked although the engine offers what they need: they skip themselves, or each parameter needs
    more.
    """
    needs = {case.id: frozenset(case.needs) for case in suite_cases()}
    found = {
        case_without_parameters(one)
        for one in results
        if one.engine == engine and not one.missing_features & needs.get(case_without_parameters(one), frozenset())
    }
    return {case for case in found if outcomes.get(case) == Outcome.UNSUPPORTED}


def _current(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {current_case(case): value for case, value in stored.items()}


def _merge(
    results: Path, engine: str, outcomes: dict[str, str], counts: Mapping[str, Mapping[str, int]],
    lists: Mapping[str, Collection[str]],
) -> Path:  # fmt: skip
    """Store outcomes, counters and `lists` of cases, by the names of the lists, beside those of cases that were not asked."""
    path = _path_of(results, engine)
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"cases": {}}
    cases = dict(sorted((_current(before["cases"]) | outcomes).items()))
    counted = {case: tried for case, tried in sorted({**_current(before.get("counts", {})), **counts}.items()) if tried}
    results.mkdir(parents=True, exist_ok=True)
    kept = {"engine": engine, "cases": cases} | ({"counts": counted} if counted else {})
    for name, new in lists.items():
        listed = sorted({*(set(map(current_case, before.get(name, ()))) - outcomes.keys()), *new})
        kept |= {name: listed} if listed else {}
    kept |= {"by_version": before["by_version"]} if "by_version" in before else {}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return path
