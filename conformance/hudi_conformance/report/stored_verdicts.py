"""The stored verdicts: the outcome of each case for each engine in its last recorded run."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hudi_conformance.cases.renames import current_case
from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.report.evidence.evidence import RESULTS
from hudi_conformance.report.saved_run import read


def record(report: Path, results: Path = RESULTS) -> list[Path]:
    """Store outcomes and counters of `report`/report.jsonl, one file per engine, and return these files.

    A report of some cases replaces the stored results of these cases and leaves the others.
    """
    found: dict[str, dict[str, str]] = {}
    counts: dict[str, dict[str, Counter[str]]] = {}
    for result in read(report)[1]:
        if result.outcome is Outcome.NOT_RUN:
            continue
        known, case = found.setdefault(result.engine, {}), case_of(result)
        known[case] = _worse(known.get(case), result.outcome)
        counts.setdefault(result.engine, {}).setdefault(case, Counter()).update(result.counts)
    return [_merge(results, engine, outcomes, counts[engine]) for engine, outcomes in found.items()]


def case_of(result: Result) -> str:
    """The case that a result belongs to; a Python test has one result for each of its parameters, in brackets."""
    return result.case.partition("[")[0]


def _worse(known: str | None, found: Outcome) -> str:
    """The outcome of two results of one case: the failure if there is one, else the one that is not "unsupported"."""
    if known is None or known == Outcome.UNSUPPORTED or found.is_failure or found is Outcome.REFUSED:
        return found.value
    return known


def _current(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {current_case(case): value for case, value in stored.items()}


def _merge(results: Path, engine: str, outcomes: dict[str, str], counts: Mapping[str, Mapping[str, int]]) -> Path:
    path = results / f"{engine.replace('/', '_').replace(':', '_')}.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"cases": {}}
    cases = dict(sorted((_current(before["cases"]) | outcomes).items()))
    counted = {case: tried for case, tried in sorted({**_current(before.get("counts", {})), **counts}.items()) if tried}
    results.mkdir(parents=True, exist_ok=True)
    kept = {"engine": engine, "cases": cases} | ({"counts": counted} if counted else {})
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return path
