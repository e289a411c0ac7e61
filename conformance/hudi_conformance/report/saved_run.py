"""A run as files: `report.jsonl`, `run.json` and the HTML page."""

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from hudi_conformance.cases.verdict import Result
from hudi_conformance.report.html import render_page
from hudi_conformance.report.run import EngineRun, Run


def write_report(folder: Path, run: Run, results: Sequence[Result]) -> Path:
    """`report.jsonl` (one result a line), `run.json` and the page `index.html`; the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(r.to_json(), ensure_ascii=False) for r in results)
    (folder / "report.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(run.to_json(), ensure_ascii=False, indent=1), encoding="utf-8")
    index = folder / "index.html"
    index.write_text(render_page(run, results), encoding="utf-8")
    return index


def read_report(folder: Path) -> tuple[Run, list[Result]]:
    """A report that `write_report` has written, in this or an earlier release."""
    raw = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    engines = tuple(EngineRun(**(e | {"features": tuple(e["features"])})) for e in raw["engines"])
    known = {field.name: raw[field.name] for field in fields(Run) if field.name in raw}
    known |= {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
    lines = (folder / "report.jsonl").read_text(encoding="utf-8").splitlines()
    return Run(**(known | {"engines": engines})), [Result.from_json(json.loads(line)) for line in lines]
