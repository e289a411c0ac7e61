"""The end of a run: check or rewrite the lists of expected failures, write the reports."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.cases.schema import PACKAGE, fixtures_root
from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.report.run import EngineRun, Run
from hudi_conformance.report.saved_run import write_report
from hudi_conformance.runner.session import Session


@dataclass(frozen=True)
class FinishedRun:
    """A finished run; `page` is the HTML report, if one was requested."""

    run: Run
    results: tuple[Result, ...]
    page: Path | None

    @property
    def messages(self) -> list[str]:
        """Messages about lists and reports, one a line."""
        page = [] if self.page is None else [f"report: {self.page}"]
        return [*self.run.stale, *self.run.stopped, *(f"rewritten: {path}" for path in self.run.rewritten), *page]


def finish_run(
    session: pytest.Session,
    ours: Session,
    lines: Sequence[dict[str, Any]],
    hellos: dict[str, dict[str, Any]],
    started: float,
) -> FinishedRun:
    """Check the lists and write the reports that were requested."""
    results = [Result.from_json(line) for line in lines]
    stopped = _stopped(results)
    complete = is_complete(session) and not stopped
    stale = [] if ours.update else ours.describe_stale_entries(results, complete=complete)
    written = ours.rewrite_lists(results, complete=complete) if ours.update else []
    if (stale or stopped) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    run = Run(
        engines=tuple(engine_run(name, hellos.get(name)) for name in ours.engines),
        seed=session.config.getoption("seed"),
        table_version=session.config.getoption("table_version"),
        started=time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(started)),
        seconds=round(time.time() - started, 1),
        complete=complete,
        stale=tuple(stale),
        rewritten=tuple(map(str, written)),
        stopped=tuple(stopped),
        table_versions=tuple(sorted({version for result in results for version in result.versions})),
    )
    folder = session.config.getoption("report")
    return FinishedRun(run, tuple(results), None if folder is None else write_report(folder, run, results))


def _stopped(results: Sequence[Result]) -> list[str]:
    """For each engine that was not asked to the end: how many cases were not run, and why. The run is not as expected then."""
    left: dict[str, list[Result]] = {}
    for result in results:
        if result.outcome is Outcome.NOT_RUN:
            left.setdefault(result.engine, []).append(result)
    return [f"{engine}: {len(cases)} {_cases(len(cases))} {cases[0].message}" for engine, cases in left.items()]


def _cases(number: int) -> str:
    return "case" if number == 1 else "cases"


def is_complete(session: pytest.Session) -> bool:
    """Whether the whole suite ran to its end: only then is a listed case without result a case that does not exist."""
    config = session.config
    where = config.invocation_params.dir
    asked = {PACKAGE / "suite" if arg == "hudi_conformance.suite" else (where / arg).resolve() for arg in config.args}
    chosen = any(config.getoption(name, None) for name in ("cases", "skip_cases", "keyword", "markexpr", "lf", "deselect"))
    stopped = bool(session.shouldstop or session.shouldfail) or session.exitstatus not in (0, 1)
    return {PACKAGE / "suite", fixtures_root()} <= asked and not chosen and not stopped


def engine_run(name: str, hello: dict[str, Any] | None) -> EngineRun:
    """The engine of a run, from its introduction."""
    said = (hello or {}).get("hello")
    failed = (hello or {}).get("failed_start")
    if said is None:
        return EngineRun(name, failed_start=failed)
    links = {kind: said[kind] for kind in ("homepage", "issues", "source") if kind in said}
    return EngineRun(name, said["version"], said["language"], tuple(said["features"]), links=links)
