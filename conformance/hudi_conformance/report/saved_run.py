"""A run as files: `report.jsonl`, `run.json` and the HTML page."""

import json
from collections.abc import Sequence
from pathlib import Path

from hudi_conformance.cases.verdict import Result
from hudi_conformance.report.html import page
from hudi_conformance.report.run import EngineRun, Run


def write(folder: Path, run: Run, results: Sequence[Result]) -> Path:
    """`report.jsonl` (one result a line), `run.json` and the page `index.html`; the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(r.to_json(), ensure_ascii=False) for r in results)
    (folder / "report.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(run.to_json(), ensure_ascii=False, indent=1), encoding="utf-8")
    index = folder / "index.html"
    index.write_text(page(run, results), encoding="utf-8")
    return index


def read(folder: Path) -> tuple[Run, list[Result]]:
    """A report as `write` left it."""
    raw = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    engines = tuple(EngineRun(**(e | {"features": tuple(e["features"])})) for e in raw["engines"])
    lists = {name: tuple(raw.get(name, ())) for name in ("stale", "rewritten", "stopped")}
    lines = (folder / "report.jsonl").read_text(encoding="utf-8").splitlines()
    return Run(**(raw | lists | {"engines": engines})), [Result.from_json(json.loads(line)) for line in lines]
