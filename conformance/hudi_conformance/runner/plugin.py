"""The pytest plugin: golden cases as items, engines as fixtures, results and lists of expected failures.

Every pytest run of an environment that has the suite loads it, so it only registers options and marks; the suite is imported
when the first golden case, or the first test with the fixtures of the suite, is collected.
"""

import os
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hudi_conformance.processes.session import end_with_parent
from hudi_conformance.report import junit_names
from hudi_conformance.runner.pytest_session import SESSION, get_session

if TYPE_CHECKING:
    from hudi_conformance.runner.run_report import FinishedRun

#: Names that the folder of the golden cases has, in a checkout and in an installed package.
FIXTURE_FOLDERS = ("fixtures", "_fixtures")

MARKS = (
    "requirements(*ids): the rules of the specification that a test checks",
    "needs(*features, writer=()): features without which an engine is not asked; writer= for the one that writes",
    "versions(*numbers): the table versions of the tables that a test makes; 8 if it does not say",
    "each_version: the test makes its tables itself, at the version that is drawn for it (engine.table_version)",
    "long: a search of many seconds; `pytest` of the project leaves it out, and CI runs it in a step of its own",
    "hudi_engine(name, writer=None): the engine whose result it is; set by the suite",
    "leaves_damage(reason): the test damages the tables that the engine wrote, so that they are not validated after it",
    "slow: takes more than a few seconds",
    "s3: needs an object store (moto's server is started)",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the suite."""
    group = parser.getgroup("hudi-conformance", "conformance of Apache Hudi engines")
    group.addoption("--engine", action="append", metavar="NAME-OR-COMMAND", help="engine under test, repeatable")
    pattern = {"action": "append", "metavar": "PATTERN", "default": []}
    group.addoption("--cases", help="only cases whose id, chapter, area, rule or erratum matches, repeatable", **pattern)
    group.addoption(
        "--skip-cases", help="not the cases whose id, chapter, area, rule or erratum matches, repeatable", **pattern
    )
    group.addoption("--expected-failures", metavar="FILE", type=Path, help="list of known failures, or a folder of them")
    group.addoption("--update-expected-failures", action="store_true", help="rewrite the list, keeping reasons")
    group.addoption("--report", metavar="DIR", type=Path, help="write report.jsonl, run.json and index.html")
    group.addoption("--mutant", metavar="NAME", help="apply a mutant to the reference (hudi-conformance mutants)")
    group.addoption(
        "--record-lines", metavar="DIR", type=Path, help="record the lines of the reference that each case executes"
    )
    group.addoption("--seed", metavar="N", type=int, help="seed of drawn data")
    group.addoption("--programs", metavar="N", type=int, help="programs that each model-based test draws")
    group.addoption("--table-version", metavar="N", type=int, help="version of new tables of cases that hold for each version")
    group.addoption("--message-timeout", metavar="S", type=float, help="time limit of each message, in seconds")
    group.addoption("--max-timeouts", metavar="N", type=int, help="time-outs after which an engine is not asked any more")
    group.addoption("--known-flaky", metavar="FILE", type=Path, help="cases that may pass or fail: a pattern a line, # reason")
    group.addoption("--trace-messages", metavar="FILE", help="write every message of each case; -: to the terminal")
    group.addoption("--plain", action="store_true", help="run the reference without its fast paths (HUDI_REFERENCE_PLAIN=1)")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Apply a drawn mutant, or record lines, before anything imports the reference."""
    given = early_config.known_args_namespace
    if (given.mutant or "").startswith("drawn:"):
        from hudi_conformance.mutants.drawn.draw import install_mutant, limit_memory

        limit_memory()
        install_mutant(given.mutant)
    if given.record_lines is not None:
        from hudi_conformance.runner.mutation.lines import LineRecorder

        early_config.pluginmanager.register(LineRecorder(given.record_lines), "hudi-conformance-lines")


def pytest_configure(config: pytest.Config) -> None:
    """Register marks, and what collects the results."""
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    if config.getoption("engine") or config.getoption("expected_failures"):
        _check_lists(config)
    if config.getoption("plain"):
        os.environ["HUDI_REFERENCE_PLAIN"] = "1"  # workers and engines that are started later inherit it
    if hasattr(config, "workerinput"):
        end_with_parent()
    else:
        config.pluginmanager.register(Results(config), "hudi-conformance-results")


def _check_lists(config: pytest.Config) -> None:
    """A list of expected failures, or of flaky cases, that cannot be used is a usage error."""
    from hudi_conformance.runner.expected_failures import ListError

    try:
        session = get_session(config)
        for engine in session.engines:
            session.expected_failures(engine)
    except ListError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Add the golden cases before `--pyargs hudi_conformance.suite`."""
    if session.config.option.pyargs and "hudi_conformance.suite" in session.config.args:
        from hudi_conformance.cases.schema import fixtures_root

        if str(fixtures_root()) not in session.config.args:
            session.config.args.insert(0, str(fixtures_root()))
    if session.config.getoption("mutant"):
        get_session(session.config).apply_mutant()


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect only the case files of a folder of golden cases, not the tables and files beside them."""
    if (path / "case.json").is_file():
        from hudi_conformance.cases import case
        from hudi_conformance.runner import golden_cases

        if case.looks_like_a_case(path / "case.json"):
            return golden_cases.CaseFolder.from_parent(parent, path=path)
    elif path.parent.name in FIXTURE_FOLDERS:
        from hudi_conformance.cases.schema import fixtures_root
        from hudi_conformance.runner import golden_cases

        if path.parent == fixtures_root():
            return golden_cases.ChapterFolder.from_parent(parent, path=path)
    return None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the golden case in a `case.json`, unless the file belongs to another project."""
    if file_path.name != "case.json":
        return None
    from hudi_conformance.cases import case
    from hudi_conformance.runner import golden_cases

    if not case.looks_like_a_case(file_path):
        return None
    return golden_cases.make_case_file(parent, file_path)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Apply `--cases` and `--skip-cases`; give each engine that is a process one worker of xdist, so that it starts once."""
    ours = [item for item in items if _is_ours(item)]
    if not ours:
        return
    from hudi_conformance.runner import selection

    if config.pluginmanager.hasplugin("xdist"):
        selection.group_by_engine(ours)
    only, skip = config.getoption("cases"), config.getoption("skip_cases")
    if only or skip:
        chosen = [item for item in ours if selection.is_item_chosen(item, only, skip)]
        kept = set(map(id, chosen))
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = chosen


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Set the seed of drawn data, and skip a test of an engine that does not declare what the test needs."""
    if _is_ours(item) and (log := get_session(item.config).log) is not None:
        log.start_case()
    worker = getattr(item.config, "workerinput", {})
    if _is_ours(item) and "hudi_running_case" in worker:
        from hudi_conformance.runner import ended_workers

        ended_workers.record_running_case(worker["hudi_running_case"], item)
    seed = item.config.getoption("seed")
    if seed is not None and "hypothesis" in sys.modules:  # importing it takes long, and few cases need it
        from hypothesis import core

        core.global_force_seed = seed
    if _is_program(item):
        from hudi_conformance import counters
        from hudi_conformance.runner import python_cases

        counters.taken()  # reset what other tests counted
        get_session(item.config).forget_used_tables()
        python_cases.skip_unless_declared(item, get_session(item.config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """After a Python test that passed, validate the tables that its engine wrote."""
    yield
    if _is_program(item):
        from hudi_conformance.runner import python_cases

        python_cases.validate_written_tables(item, get_session(item.config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make the result of a case, and the report of pytest from it."""
    report = yield
    ended = call.when == "call" or (call.when == "setup" and not report.passed)
    if ended and _is_ours(item):
        from hudi_conformance.runner import python_cases, results

        if python_cases.NO_RESULT not in item.stash:
            results.compare_with_list(report, item, results.make_result(item, call), get_session(item.config))
    if call.when == "teardown" and _is_ours(item) and (log := get_session(item.config).log) is not None:
        facts = dict(item.user_properties)
        log.end_case(f"{facts.get('case', item.nodeid)}   {facts.get('engine', '')}   {facts.get('outcome', '')}")
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the engines and revert the mutant."""
    known = session.config.stash.get(SESSION, None)
    if known is not None:
        known.close()


class Results:
    """Collects the results of all processes, and finishes the run with them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.started = time.time()
        self.lines: list[dict[str, Any]] = []
        self.hellos: dict[str, dict[str, Any]] = {}
        self.ending: FinishedRun | None = None
        self._running: tempfile.TemporaryDirectory[str] | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """A case whose worker ended is not run again."""
        ours = config.getoption("engine") or "hudi_conformance.suite" in config.args
        if not ours or config.getvalue("dist") != "loadgroup":
            return None
        from hudi_conformance.runner import ended_workers

        return ended_workers.make_scheduler(config, log)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker in which file it writes the running case."""
        if self._running is None:
            self._running = tempfile.TemporaryDirectory(prefix="hudi-conformance-running-")
            self.config.add_cleanup(self._running.cleanup)
        node.workerinput["hudi_running_case"] = f"{self._running.name}/{node.gateway.id}.json"

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        """Give the report of a case whose worker ended a result."""
        from hudi_conformance.runner import ended_workers, results

        limit = float(self.config.getini("faulthandler_timeout") or 0)
        result = ended_workers.make_result_of_ended_worker(report.node.workerinput["hudi_running_case"], crashitem, limit)
        if result is not None:
            results.compare_ended_with_list(report, result, get_session(self.config), self.hellos)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the result that a report carries, if it is the report of a case."""
        line = getattr(report, "hudi_result", None)
        if line is not None:
            junit_names.rename_case(self.config, report, line)
            self.lines.append(line)
            self.hellos[line["engine"]] = getattr(report, "hudi_hello")  # noqa: B009 - no field of pytest's class

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Check or rewrite the lists of expected failures, and write the reports."""
        if self.lines:
            from hudi_conformance.runner import run_report

            self.ending = run_report.finish_run(session, get_session(self.config), self.lines, self.hellos, self.started)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print messages about lists and reports below the summary of pytest."""
        if self.ending is not None and self.ending.messages:
            terminalreporter.section("hudi-conformance")
            for line in self.ending.messages:
                terminalreporter.line(line)


def _is_ours(item: pytest.Item) -> bool:
    return item.get_closest_marker("hudi_engine") is not None


def _is_program(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and _is_ours(item)
