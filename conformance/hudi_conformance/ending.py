"""The end of a run: lists of expected failures are checked or rewritten, reports written."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance import __version__
from hudi_conformance.cases import PACKAGE, fixtures_root
from hudi_conformance.session import Session
from hudi_conformance.verdict import Result


@dataclass(frozen=True)
class EngineRun:
    """An engine in a run: the name it was asked for by, how it introduced itself, why it did not start if it did not."""

    name: str
    version: str | None = None
    language: str | None = None
    features: tuple[str, ...] = ()
    failed_start: str | None = None

    @property
    def title(self) -> str:
        """Name and version for people; the version once."""
        name = self.name.partition("@")[0]
        return name if self.version is None or self.name == "reference" else f"{name} {self.version}"


@dataclass(frozen=True)
class Run:
    """What a report says about the run as a whole; `seconds` is wall time."""

    engines: tuple[EngineRun, ...]
    seed: int | None
    started: str
    seconds: float
    complete: bool
    stale: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    suite: str = __version__
    table_version: int = 8

    def to_json(self) -> dict[str, Any]:
        """The content of `run.json`."""
        return vars(self) | {"engines": [vars(e) for e in self.engines]}


@dataclass(frozen=True)
class Ending:
    """A run that is over; `page` is the report page, if one was asked for."""

    run: Run
    results: tuple[Result, ...]
    page: Path | None

    @property
    def told(self) -> list[str]:
        """What lists and reports have to say, line by line."""
        page = [] if self.page is None else [f"report: {self.page}"]
        return [*self.run.stale, *(f"rewritten: {path}" for path in self.run.rewritten), *page]


def finish(
    session: pytest.Session,
    ours: Session,
    lines: Sequence[dict[str, Any]],
    hellos: dict[str, dict[str, Any]],
    started: float,
) -> Ending:
    """Judge the lists and write the reports that were asked for."""
    results = [Result.from_json(line) for line in lines]
    complete = is_complete(session)
    stale = [] if ours.update else ours.stale(results, complete=complete)
    written = ours.rewrite(results, complete=complete) if ours.update else []
    if stale and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    run = Run(
        engines=tuple(engine_run(name, hellos.get(name)) for name in ours.engines),
        seed=session.config.getoption("seed"),
        started=time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(started)),
        seconds=round(time.time() - started, 1),
        complete=complete,
        stale=tuple(stale),
        rewritten=tuple(map(str, written)),
    )
    folder = session.config.getoption("report")
    return Ending(run, tuple(results), None if folder is None else write(folder, run, results))


def is_complete(session: pytest.Session) -> bool:
    """Whether the whole suite was asked for and nothing stopped the run: only then can a listed case be said to be gone."""
    config = session.config
    where = config.invocation_params.dir
    asked = {PACKAGE / "suite" if arg == "hudi_conformance.suite" else (where / arg).resolve() for arg in config.args}
    chosen = any(config.getoption(name, None) for name in ("cases", "keyword", "markexpr", "lf", "deselect"))
    stopped = bool(session.shouldstop or session.shouldfail) or session.exitstatus not in (0, 1)
    return {PACKAGE / "suite", fixtures_root()} <= asked and not chosen and not stopped


def engine_run(name: str, hello: dict[str, Any] | None) -> EngineRun:
    """The engine of a run, from what it said first."""
    said = (hello or {}).get("hello")
    failed = (hello or {}).get("failed_start")
    if said is None:
        return EngineRun(name, failed_start=failed)
    return EngineRun(name, said["version"], said["language"], tuple(said["features"]))


def write(folder: Path, run: Run, results: Sequence[Result]) -> Path:
    """`report.jsonl` (one result a line), `run.json` and the page `index.html`; the page's path."""
    from hudi_conformance.report.html import page

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
    lists = {name: tuple(raw[name]) for name in ("stale", "rewritten")}
    lines = (folder / "report.jsonl").read_text(encoding="utf-8").splitlines()
    return Run(**(raw | lists | {"engines": engines})), [Result.from_json(json.loads(line)) for line in lines]
