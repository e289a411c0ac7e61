"""The committed verdicts: what each engine answered to each case when it was last run."""

import json
from pathlib import Path

from hudi_conformance.ending import read
from hudi_conformance.report.evidence import RESULTS
from hudi_conformance.verdict import Outcome, Result


def record(report: Path, results: Path = RESULTS) -> list[Path]:
    """Keep the outcomes of `report`/report.jsonl, one file per engine; the files written.

    A report of some cases replaces the outcomes of these cases and leaves the others.
    """
    found: dict[str, dict[str, str]] = {}
    for result in read(report)[1]:
        known = found.setdefault(result.engine, {})
        known[case_of(result)] = _worse(known.get(case_of(result)), result.outcome)
    return [_merge(results, engine, outcomes) for engine, outcomes in found.items()]


def case_of(result: Result) -> str:
    """The case that a result belongs to; a Python test has one result for each of its parameters, in brackets."""
    return result.case.partition("[")[0]


def _worse(known: str | None, found: Outcome) -> str:
    """What two results of one case come to: the failure if one of them is one, else the one that says more."""
    if known is None or known == Outcome.UNSUPPORTED or found.is_failure:
        return found.value
    return known


def _merge(results: Path, engine: str, outcomes: dict[str, str]) -> Path:
    path = results / f"{engine.replace('/', '_').replace(':', '_')}.json"
    before = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.is_file() else {}
    cases = dict(sorted((before | outcomes).items()))
    results.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"engine": engine, "cases": cases}, indent=1) + "\n", encoding="utf-8")
    return path
