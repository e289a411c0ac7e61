"""`hudi-conformance run`: the suite on one or several engines, as one pytest session with its own output."""

import difflib
import os
import shlex
import shutil
import time
from pathlib import Path
from typing import Annotated

import pytest
import typer
from rich.console import Console

from hudi_conformance.cases.schema import PACKAGE, fixtures_root
from hudi_conformance.engines import registry
from hudi_conformance.report.console import ProgressDisplay, own_console, show
from hudi_conformance.runner.run_report import Ending
from hudi_conformance.runner.selection import UnknownPattern, nodes

#: Plugins of a run of chosen cases. Looking for all plugins of the environment takes longer than most cases.
OUR_PLUGIN = ("--disable-plugin-autoload", "-p", "hudi_conformance")

#: What chosen cases need if they are golden cases only, and if there are Python cases among them.
GOLDEN_ONLY, PYTHON = ("--assert=plain",), ("-p", "hypothesispytest")

NOTHING_LEFT = (
    "no case of an engine is left: parameters do not match, or the chosen tests use no engine (run these with pytest)"
)

AS_EXPECTED, DIFFERENT, USAGE, BROKEN = 0, 1, 2, 3


def run(
    engine: Annotated[
        list[str] | None,
        typer.Argument(help="Names of engines, or command lines of adapters in quotes; the reference if none is given."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="PATTERN", help="Run cases by id, chapter, area, rule or erratum; * matches any text; repeatable."
        ),
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option("--skip", metavar="PATTERN", help="Leave out cases, chosen in the same way; repeatable.")
    ] = None,
    expected_failures: Annotated[
        Path | None, typer.Option("--expected-failures", metavar="FILE", help="List of known failures, or a folder of lists.")
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Rewrite the list; reasons are kept.")] = False,
    report: Annotated[Path, typer.Option("--report", metavar="DIR", help="Folder of the reports.")] = Path("report"),
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Seed of random data; default: the date.")] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="Processes that run cases; default: one for each core, 1 with --only."),
    ] = None,
    programs: Annotated[
        int | None, typer.Option("--programs", metavar="N", min=1, help="Random programs of each model-based test.")
    ] = None,
) -> None:
    """Run the suite on engines and print the matrix."""
    names = list(dict.fromkeys(engine or ["reference"]))
    console = own_console()
    if (complaint := _wrong_usage(names, expected_failures)) is not None:
        raise _stop(console, complaint, USAGE)
    seed = int(time.strftime("%Y%m%d")) if seed is None else seed
    jobs = (os.cpu_count() or 1 if not only else 1) if jobs is None else jobs
    chosen = _chosen(console, only or [], skip or [], jobs)
    for name in names:
        if (complaint := _prepare(console, name)) is not None:
            raise _stop(console, complaint, BROKEN)
    display, catcher = ProgressDisplay(own_console(errors=True)), _Catcher()
    arguments = [*_settings(report.resolve(), seed, jobs), *chosen, *(f"--engine={name}" for name in names)]
    arguments += [f"--expected-failures={expected_failures}"] if expected_failures is not None else []
    arguments += ["--update-expected-failures"] if update else []
    arguments += [f"--programs={programs}"] if programs is not None else []
    code = pytest.main(arguments, plugins=[display, catcher])
    raise typer.Exit(_conclude(console, display, catcher.ending, int(code)))


def _chosen(console: Console, only: list[str], skip: list[str], jobs: int) -> list[str]:
    """What pytest collects: the nodes of the chosen cases, or everything. The plugin compares the items with the patterns."""
    patterns = [*(f"--cases={pattern}" for pattern in only), *(f"--skip-cases={pattern}" for pattern in skip)]
    try:
        found = nodes(only, skip)
    except UnknownPattern as error:
        raise _stop(console, str(error), USAGE) from None
    if only and not found:
        raise _stop(console, "every chosen case is skipped", USAGE)
    if not found:
        return [*patterns, "--pyargs", "hudi_conformance.suite"]
    plugins = OUR_PLUGIN if jobs == 1 else ()  # other processes load plugins by themselves
    return [*patterns, *found, *plugins, *(PYTHON if any("::" in node for node in found) else GOLDEN_ONLY)]


def _stop(console: Console, complaint: str, code: int) -> typer.Exit:
    console.print(complaint, style="red", markup=False)
    return typer.Exit(code)


class _Catcher:
    """Keeps the outcome of the run that the plugin of the suite collects."""

    ending: Ending | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """After the plugin's own."""
        results = session.config.pluginmanager.getplugin("hudi-conformance-results")
        self.ending = getattr(results, "ending", None)


def _wrong_usage(names: list[str], expected_failures: Path | None) -> str | None:
    """The first mistake in the arguments, in one line; None if there is none."""
    if expected_failures is not None and expected_failures.is_file() and len(names) > 1:
        return f"{expected_failures} is the list of one engine; with several engines give a folder of <engine>.toml"
    for name in names:
        try:
            info = registry.find(name)
        except ValueError as error:
            return str(error)
        program = shlex.split(name)[0]
        if info.summary.startswith("an adapter") and shutil.which(program) is None:
            known = [i.name for i in registry.shipped()]
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"engines are {', '.join(known)}, or a command line"
            return f"{name!r} is not an engine, and there is no program {program!r}; {hint}"
    return None


def _prepare(console: Console, name: str) -> str | None:
    """Create the environment of an engine that has its own, with progress; the error, or None."""
    info = registry.find(name)
    if info.extra is None:
        return None
    try:
        with console.status(f"{name}: looking for its environment") as status:
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


def _conclude(console: Console, display: ProgressDisplay, ending: Ending | None, code: int) -> int:
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
    show(console, ending.run, ending.results)
    failed = [e for e in ending.run.engines if e.failed_start is not None]
    for engine in failed:
        console.print(f"{engine.name} did not start: {engine.failed_start}", style="bold red", markup=False)
    result = BROKEN if failed or code not in (0, 1) else code
    if result == BROKEN and not failed:
        console.print(display.silenced.getvalue(), markup=False)
    lists = ", ".join(ending.run.rewritten) + " rewritten" if ending.run.rewritten else "unchanged"
    console.print(f"\nreport: {ending.page}   expected failures: {lists}   exit {result}", markup=False)
    return result
