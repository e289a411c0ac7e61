"""`hudi-conformance run`: the suite on one or several engines, as one pytest session with its own output."""

import os
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from rich.console import Console

from hudi_conformance.cases.schema import PACKAGE, fixtures_root
from hudi_conformance.commands.exit_codes import BROKEN, USAGE
from hudi_conformance.commands.suite.run_usage import RunUsage, WrongUsage, check_usage, read_patterns
from hudi_conformance.engines import registry
from hudi_conformance.processes.session import files_in_memory
from hudi_conformance.report.console import make_console, print_results
from hudi_conformance.requirements.requirement import VERSIONS
from hudi_conformance.runner.progress.display import ProgressDisplay
from hudi_conformance.runner.run_report import FinishedRun
from hudi_conformance.runner.selection import UnknownPattern, nodes_to_collect
from hudi_conformance.runner.session import SEED

#: Plugins of a run of chosen cases. Looking for all plugins of the environment takes longer than most cases.
OUR_PLUGIN = ("--disable-plugin-autoload", "-p", "hudi_conformance")

#: What chosen cases need if they are golden cases only, and if there are Python cases among them.
GOLDEN_ONLY, PYTHON = ("--assert=plain",), ("-p", "hypothesispytest")

NO_GOLDEN = "no golden case is chosen, only Python cases, which --tier full runs"

NOTHING_LEFT = (
    "no case of an engine is left: parameters do not match, or the chosen tests use no engine (run these with pytest)"
)


def run(
    engine: Annotated[
        list[str] | None,
        typer.Argument(help="Names of engines, or command lines of adapters in quotes; the reference if none is given."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="PATTERN",
            help="Run cases by id, chapter, area, rule or erratum; * matches any text; @FILE: one pattern a line; repeatable.",
        ),
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option("--skip", metavar="PATTERN", help="Leave out cases by the same patterns; repeatable.")
    ] = None,
    tier: Annotated[
        Literal["golden", "full"],
        typer.Option("--tier", help="golden: only the golden cases; full: also the model-based and concurrency cases."),
    ] = "full",
    expected_failures: Annotated[
        Path | None, typer.Option("--expected-failures", metavar="FILE", help="List of known failures, or a folder of lists.")
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Rewrite the list of known failures; reasons are kept.")] = False,
    known_flaky: Annotated[
        Path | None,
        typer.Option(
            "--known-flaky", metavar="FILE", help="Cases that may pass or fail: one pattern a line, # before a reason."
        ),
    ] = None,
    message_timeout: Annotated[
        float | None, typer.Option(metavar="S", min=0.1, help="Seconds for each answer; default: 120, longer for JVM engines.")
    ] = None,
    max_timeouts: Annotated[
        int, typer.Option(metavar="N", min=0, help="Stop asking an engine after N unexpected time-outs; 0: never.")
    ] = 10,
    trace: Annotated[
        bool, typer.Option("--trace", help="Write all messages to and from engines to trace.txt in the folder of the reports.")
    ] = False,
    trace_to: Annotated[
        str | None,
        typer.Option("--trace-to", metavar="FILE", help="Write the messages to this file instead; -: to the terminal."),
    ] = None,
    format_: Annotated[
        Literal["text", "github"], typer.Option("--format", help="github: adds annotations and a summary for GitHub Actions.")
    ] = "text",
    report: Annotated[Path, typer.Option("--report", metavar="DIR", help="Folder of the reports.")] = Path("report"),
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of random data.")] = SEED,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="Processes that run cases; default: one for each core, 1 with --only."),
    ] = None,
    scale: Annotated[
        int | None,
        typer.Option(
            "--scale",
            metavar="ROWS",
            min=1,
            help="Run no cases; compare engines on tables with this number of random rows, by hashes of their answers.",
        ),
    ] = None,
    programs: Annotated[
        int | None, typer.Option("--programs", metavar="N", min=1, help="Number of random programs for each model-based test.")
    ] = None,
    table_version: Annotated[
        int | None,
        typer.Option(
            "--table-version",
            metavar="8|9",
            min=min(VERSIONS),
            max=max(VERSIONS),
            help="Table version in cases that hold for each version. Without it, it is drawn for new tables, and golden tables "
            "keep theirs.",
        ),
    ] = None,
) -> None:
    """Run the suite on engines and print the matrix."""
    names = list(dict.fromkeys(engine or ["reference"]))
    console = make_console()
    try:
        check_usage(RunUsage(names, expected_failures, update, known_flaky))
        only, skip = read_patterns(only or [], skip or [])
    except WrongUsage as error:
        raise _stop(console, str(error), USAGE) from None
    if scale is not None:
        raise typer.Exit(_run_scale(console, names, scale, seed, report, only, skip))
    jobs = (os.cpu_count() or 1 if not only else 1) if jobs is None else jobs
    chosen = _chosen(console, only, skip, jobs, tier)
    for name in names:
        if (complaint := _prepare(console, name)) is not None:
            raise _stop(console, complaint, BROKEN)
    traced = _traced(trace, trace_to, report)
    options = {
        "expected-failures": expected_failures,
        "known-flaky": known_flaky,
        "message-timeout": message_timeout,
        "max-timeouts": max_timeouts,
        "programs": programs,
        "table-version": table_version,
        "trace-messages": traced,
    }
    arguments = [*_settings(report.resolve(), seed, jobs), *chosen, *(f"--engine={name}" for name in names)]
    arguments += [f"--{name}={value}" for name, value in options.items() if value is not None]
    arguments += ["--update-expected-failures"] if update else []
    display, catcher = ProgressDisplay(make_console(errors=True), console, names), _Catcher()
    os.environ.pop("PYTEST_ADDOPTS", None)  # options for the user's own tests; processes of this run inherit the environment
    with files_in_memory():
        code = pytest.main(arguments, plugins=[display, catcher])
    if traced is not None and traced != "-":
        console.print(f"messages: {traced}", markup=False, soft_wrap=True)
    result = _conclude(console, display, catcher.ending, int(code))
    if format_ == "github" and catcher.ending is not None:
        _annotate(catcher.ending, expected_failures)
    raise typer.Exit(result)


def _run_scale(console: Console, names: list[str], rows: int, seed: int, report: Path, only: list[str], skip: list[str]) -> int:
    """The exit code of a run on large tables, which has no cases to choose."""
    from hudi_conformance.commands.suite.run_scale import run_scale

    if only or skip:
        raise _stop(console, "--scale runs no cases; leave out --only and --skip", USAGE)
    for name in names:
        if (complaint := _prepare(console, name)) is not None:
            raise _stop(console, complaint, BROKEN)
    return run_scale(console, names, rows, seed, report)


def _traced(trace: bool, trace_to: str | None, report: Path) -> str | None:
    """Where messages are written, "-" for the terminal; None if nowhere. A file of an earlier run is replaced."""
    if trace_to == "-":
        return "-"
    if trace_to is None and not trace:
        return None
    path = (report / "trace.txt" if trace_to is None else Path(trace_to)).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")
    return str(path)


def _annotate(ending: FinishedRun, lists: Path | None) -> None:
    """Print annotations for GitHub Actions, and write the summary of the step."""
    from hudi_conformance.report import github

    for line in github.annotations(ending.run, ending.results, lists):
        typer.echo(line)
    github.write_summary(ending.run, ending.results)


def _chosen(console: Console, only: list[str], skip: list[str], jobs: int, tier: str) -> list[str]:
    """What pytest collects: the nodes of the chosen cases, or everything. The plugin compares the items with the patterns."""
    patterns = [*(f"--cases={pattern}" for pattern in only), *(f"--skip-cases={pattern}" for pattern in skip)]
    try:
        found = nodes_to_collect(only, skip)
    except UnknownPattern as error:
        raise _stop(console, str(error), USAGE) from None
    if only and not found:
        raise _stop(console, "every chosen case is skipped", USAGE)
    if not found:
        every = [str(fixtures_root()), *GOLDEN_ONLY] if tier == "golden" else ["--pyargs", "hudi_conformance.suite"]
        return [*patterns, *every]
    if tier == "golden" and not (found := [node for node in found if "::" not in node]):
        raise _stop(console, NO_GOLDEN, USAGE)
    plugins = OUR_PLUGIN if jobs == 1 else ()  # other processes load plugins by themselves
    return [*patterns, *found, *plugins, *(PYTHON if any("::" in node for node in found) else GOLDEN_ONLY)]


def _stop(console: Console, complaint: str, code: int) -> typer.Exit:
    console.print(complaint, style="red", markup=False, soft_wrap=True)
    return typer.Exit(code)


class _Catcher:
    """Keeps the outcome of the run that the plugin of the suite collects."""

    ending: FinishedRun | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Runs after the method of the plugin."""
        results = session.config.pluginmanager.getplugin("hudi-conformance-results")
        self.ending = getattr(results, "ending", None)


def _prepare(console: Console, name: str) -> str | None:
    """Create the environment or the program of an engine that has its own, with progress; the error, or None."""
    info = registry.find(name)
    if not info.installed_on_demand:
        return None
    try:
        with console.status(f"{name}: looking for what it needs") as status:
            info.command(lambda line: status.update(f"{name}: {line}"))
    except Exception as error:
        return f"{name} cannot run here: {error}\nhudi-conformance doctor shows what is missing"
    return None


def _settings(report: Path, seed: int, jobs: int) -> list[str]:
    """The settings of the pytest session; they come from the package, not from the folder where the command is called."""
    found = ["-c", str(PACKAGE / "suite" / "pytest.ini"), "--rootdir", str(fixtures_root().parent)]
    found += ["-p", "no:cacheprovider", "-p", "no:randomly"]
    found += [f"--report={report}", f"--junitxml={report / 'junit.xml'}", f"--seed={seed}"]
    found += [f"--numprocesses={jobs}", "--dist=loadgroup"] if jobs > 1 else []
    return found


def _conclude(console: Console, display: ProgressDisplay, ending: FinishedRun | None, code: int) -> int:
    """Show the results; the exit code of the command."""
    if display.broken:
        console.print("the suite is broken: these files cannot be used\n", *display.broken, sep="\n", markup=False)
        return BROKEN
    if ending is None:
        if code == pytest.ExitCode.NO_TESTS_COLLECTED:
            console.print(NOTHING_LEFT, style="red", markup=False)
            return USAGE
        console.print(display.silenced.getvalue(), markup=False)
        return USAGE if code == pytest.ExitCode.USAGE_ERROR else BROKEN
    print_results(console, ending.run, ending.results)
    failed = [e for e in ending.run.engines if e.failed_start is not None]
    for engine in failed:
        console.print(f"{engine.name} did not start: {engine.failed_start}", style="bold red", markup=False)
    for line in display.lost:
        console.print(f"a case has no result: {line}", style="bold red", markup=False)
    result = BROKEN if failed or display.lost or code not in (0, 1) else code
    if result == BROKEN and not failed:
        console.print(display.silenced.getvalue(), markup=False)
    lists = ", ".join(ending.run.rewritten) + " rewritten" if ending.run.rewritten else "unchanged"
    console.print(f"\nreport: {ending.page}   expected failures: {lists}   exit {result}", markup=False, soft_wrap=True)
    return result
