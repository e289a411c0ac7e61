"""The committed verdicts: what each engine answered to each case when it was last run."""

import json
from pathlib import Path

from hudi_conformance.report.evidence import RESULTS
from hudi_conformance.verdict import Outcome, Result


def record(report: Path, results: Path = RESULTS) -> list[Path]:
    """Keep the outcomes of `report`/report.jsonl, one file per engine; the files written.

    A report of some cases replaces the outcomes of these cases and leaves the others.
    """
    found: dict[str, dict[str, str]] = {}
    for line in (report / "report.jsonl").read_text(encoding="utf-8").splitlines():
        result = Result.from_json(json.loads(line))
        known = found.setdefault(result.engine, {})
        known[result.case] = _worse(known.get(result.case), result.outcome)
    return [_merge(results, engine, outcomes) for engine, outcomes in found.items()]


def _worse(known: str | None, found: Outcome) -> str:
    """A case that has several results, one per parameter, counts as failed if one of them is."""
    return known if known is not None and Outcome(known).is_failure else found.value


def _merge(results: Path, engine: str, outcomes: dict[str, str]) -> Path:
    path = results / f"{engine.replace('/', '_').replace(':', '_')}.json"
    before = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.is_file() else {}
    cases = dict(sorted((before | outcomes).items()))
    results.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"engine": engine, "cases": cases}, indent=1) + "\n", encoding="utf-8")
    return path
