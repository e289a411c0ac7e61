"""`hudi-conformance run`: the suite on one or several engines, as one pytest session with its own face."""

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
from hudi_conformance.report.console import Progressing, own_console, show
from hudi_conformance.requirements.requirement import requirements
from hudi_conformance.runner.run_report import Ending

AS_EXPECTED, DIFFERENT, USAGE, BROKEN = 0, 1, 2, 3


def run(
    engine: Annotated[
        list[str] | None, typer.Argument(help="Engines by name, or command lines of adapters in quotes; the reference if none.")
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="PATTERN", help="Cases by id, area or requirement; * for anything.")
    ] = None,
    expected_failures: Annotated[
        Path | None, typer.Option("--expected-failures", metavar="FILE", help="List of known failures, or a folder of lists.")
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Rewrite the list; reasons are kept.")] = False,
    report: Annotated[Path, typer.Option("--report", metavar="DIR", help="Where the reports go.")] = Path("report"),
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Seed of drawn data; the date if none.")] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="Processes that run cases; a core each if none, 1 with --only."),
    ] = None,
    programs: Annotated[
        int | None, typer.Option("--programs", metavar="N", min=1, help="Programs that each model-based test draws.")
    ] = None,
) -> None:
    """Run the suite on engines and print the matrix."""
    names = list(dict.fromkeys(engine or ["reference"]))
    console = own_console()
    if (complaint := _wrong_usage(names, expected_failures)) is not None:
        raise _stop(console, complaint, USAGE)
    for name in names:
        if (complaint := _prepare(console, name)) is not None:
            raise _stop(console, complaint, BROKEN)
    seed = int(time.strftime("%Y%m%d")) if seed is None else seed
    jobs = (os.cpu_count() or 1 if only is None else 1) if jobs is None else jobs
    face, catcher = Progressing(own_console(errors=True)), _Catcher()
    arguments = _arguments(names, only, expected_failures, update, report.resolve(), seed, jobs)
    arguments += [f"--programs={programs}"] if programs is not None else []
    code = pytest.main(arguments, plugins=[face, catcher])
    raise typer.Exit(_conclude(console, face, catcher.ending, int(code), only))


def _stop(console: Console, complaint: str, code: int) -> typer.Exit:
    console.print(complaint, style="red", markup=False)
    return typer.Exit(code)


class _Catcher:
    """Keeps what the suite's plugin made of the run."""

    ending: Ending | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """After the plugin's own."""
        results = session.config.pluginmanager.getplugin("hudi-conformance-results")
        self.ending = getattr(results, "ending", None)


def _wrong_usage(names: list[str], expected_failures: Path | None) -> str | None:
    """What is wrong with the arguments, in one line; None if nothing is."""
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
            return f"{name!r} is no engine, and there is no program {program!r}; {hint}"
    return None


def _prepare(console: Console, name: str) -> str | None:
    """Make the engine's own environment if it needs one, with progress; why that failed, None if it did not."""
    info = registry.find(name)
    if info.extra is None:
        return None
    try:
        with console.status(f"{name}: looking for its environment") as status:
            info.command(lambda line: status.update(f"{name}: {line}"))
    except Exception as error:
        return f"{name} cannot run here: {error}\nhudi-conformance doctor says what would bring it"
    return None


def _arguments(
    names: list[str], only: str | None, lists: Path | None, update: bool, report: Path, seed: int, jobs: int
) -> list[str]:
    """The pytest session; its settings come from the package, not from the folder where the command is called."""
    found = ["-c", str(PACKAGE / "suite" / "pytest.ini"), "--rootdir", str(fixtures_root().parent)]
    found += ["-p", "no:cacheprovider", "-p", "no:randomly", "--pyargs", "hudi_conformance.suite"]
    found += [f"--engine={name}" for name in names]
    found += [f"--report={report}", f"--junitxml={report / 'junit.xml'}", f"--seed={seed}"]
    found += [f"--cases={only}"] if only is not None else []
    found += [f"--expected-failures={lists}"] if lists is not None else []
    found += ["--update-expected-failures"] if update else []
    found += [f"--numprocesses={jobs}", "--dist=loadgroup"] if jobs > 1 else []
    return found


def _conclude(console: Console, face: Progressing, ending: Ending | None, code: int, only: str | None) -> int:
    """Show what there is; the exit code by the meaning that this command gives it."""
    if face.broken:
        console.print("the suite is broken: these files cannot be used\n", *face.broken, sep="\n", markup=False)
        return BROKEN
    if ending is None:
        if code == pytest.ExitCode.NO_TESTS_COLLECTED:
            console.print(_nothing_matches(only), style="red", markup=False)
            return USAGE
        console.print(face.silenced.getvalue(), markup=False)
        return USAGE if code == pytest.ExitCode.USAGE_ERROR else BROKEN
    show(console, ending.run, ending.results)
    dead = [e for e in ending.run.engines if e.failed_start is not None]
    for engine in dead:
        console.print(f"{engine.name} did not start: {engine.failed_start}", style="bold red", markup=False)
    result = BROKEN if dead or code not in (0, 1) else code
    if result == BROKEN and not dead:
        console.print(face.silenced.getvalue(), markup=False)
    lists = ", ".join(ending.run.rewritten) + " rewritten" if ending.run.rewritten else "unchanged"
    console.print(f"\nreport: {ending.page}   expected failures: {lists}   exit {result}", markup=False)
    return result


def _nothing_matches(only: str | None) -> str:
    if only in requirements():
        return f"no case cites {only} yet"
    return f"no case has the id, area or requirement {only!r}; * and ? stand for anything (hudi-conformance fixtures list)"
