"""The progress of a run: a bar with the time left on a terminal, a line every half minute elsewhere."""

import io
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from hudi_conformance.cases.verdict import WORST_FIRST, Outcome, Result
from hudi_conformance.report.matrix import matrix_table
from hudi_conformance.report.run import Run
from hudi_conformance.runner.progress.forecast import Forecast, format_duration, is_golden
from hudi_conformance.runner.run_report import engine_run

#: Seconds between two lines of progress where the output is not a terminal.
BETWEEN_LINES = 30.0


class ProgressDisplay:
    """A pytest plugin that replaces the output of pytest, and prints the matrix of the golden cases when all have ended.

    Args:
        console: receives bar and lines.
        output: receives the matrix.
        engines: the engines of the run.
    """

    def __init__(self, console: Console, output: Console | None = None, engines: Sequence[str] = ("reference",)) -> None:
        self.console, self.output, self.engines = console, output or console, tuple(engines)
        self.counts: Counter[Outcome] = Counter()
        self.broken: list[str] = []
        #: Cases whose process ended, by a time limit or a crash: they have no result.
        self.lost: list[str] = []
        self.silenced = io.StringIO()
        self.forecast = Forecast(self.engines)
        self._golden: list[dict[str, Any]] = []
        self._hellos: dict[str, dict[str, Any]] = {}
        self._number = self._left_of_golden = 0
        text = [TextColumn("{task.fields[cases]}"), TimeElapsedColumn(), TextColumn("{task.description}")]
        self._progress = Progress(BarColumn(30), *text, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task("collecting cases", total=None, cases="")
        self._started = self._last_line = time.monotonic()

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Redirect the reporter of pytest into a buffer; other plugins need it."""
        plugins = config.pluginmanager
        plugins.unregister(plugins.getplugin("terminalreporter"))
        plugins.register(pytest.TerminalReporter(config, self.silenced), "terminalreporter")
        self._progress.start()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the error of a case file that cannot be used."""
        if report.failed:
            self.broken.append(str(report.longrepr))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Set the cases."""
        self._expect([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Set the cases when other processes collect, when the first of them has collected."""
        if not self._number:
            self._expect(ids)

    def _expect(self, nodes: Sequence[str]) -> None:
        if nodes:
            self.forecast.set_cases(nodes)
            self._number, self._left_of_golden = len(nodes), sum(map(is_golden, nodes))
            self._started = time.monotonic()
            self._progress.update(self._task, total=1.0)

    @property
    def remaining_seconds(self) -> float | None:
        """The seconds that the rest of the run takes."""
        return self.forecast.remaining_seconds(time.monotonic() - self._started)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a result and show progress."""
        line = getattr(report, "hudi_result", None)
        if line is None:
            if report.failed and report.when not in ("setup", "call", "teardown"):  # xdist reports a process that ended
                self.lost.append(str(report.longrepr))
            return
        self.counts[Outcome(line["outcome"])] += 1
        self._hellos[line["engine"]] = getattr(report, "hudi_hello", {})
        self.forecast.count_case(report.nodeid, line["seconds"])
        self._show(line)
        if is_golden(report.nodeid):
            self._golden.append(line)
            self._left_of_golden -= 1
            if not self._left_of_golden and len(self._golden) < self._number:
                self._show_golden()

    def _show(self, line: dict[str, Any]) -> None:
        tally = "  ".join(f"{self.counts[o]} {o.label}" for o in reversed(WORST_FIRST) if self.counts[o])
        cases, left = f"{sum(self.counts.values())} of {self._number}", f"{format_duration(self.remaining_seconds)} left"
        text = f"{left}   {tally}   {line['engine']} {line['case']}"
        self._progress.update(self._task, completed=self.forecast.finished_share, cases=cases, description=text)
        if not self.console.is_terminal and time.monotonic() - self._last_line >= BETWEEN_LINES:
            self._last_line = time.monotonic()
            self.console.print(f"{time.strftime('%X')}  {cases}   {left}   {tally}", soft_wrap=True)

    def _show_golden(self) -> None:
        """Print the matrix of the golden cases, and how long the other cases take."""
        took, others = time.monotonic() - self._started, self._number - len(self._golden)
        engines = tuple(engine_run(name, self._hellos.get(name)) for name in self.engines)
        run = Run(engines, seed=None, started="", seconds=took, complete=False)
        self._progress.stop()
        self.output.print(f"golden cases, after {format_duration(took)}\n")
        self.output.print(matrix_table(run, [Result.from_json(line) for line in self._golden]))
        self.output.print(
            f"\n{others} model-based and concurrency cases follow; they take about {format_duration(self.remaining_seconds)}"
            " (--tier golden leaves them out)\n",
            soft_wrap=True,
        )
        self._last_line = time.monotonic()
        self._progress.start()

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Remove the bar."""
        self._progress.stop()
