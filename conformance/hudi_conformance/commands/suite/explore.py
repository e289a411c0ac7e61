"""`hudi-conformance explore`: run writers, services and readers of one table in every order of their requests."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from hudi_conformance.commands.exit_codes import USAGE, exit_code
from hudi_conformance.console import SafeConsole, print_table
from hudi_conformance.explorer.drawing.diagram import draw_text, write_diagram
from hudi_conformance.explorer.scenarios.parallel import Task, TaskResult, combine_results, parallel_runner
from hudi_conformance.explorer.scenarios.scenario import Scenario
from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS, current_name
from hudi_conformance.explorer.scenarios.store_conformance import find_broken_promises
from hudi_conformance.explorer.simulation.program_tree import NotPossible
from hudi_conformance.explorer.simulation.runs import Run
from hudi_conformance.explorer.simulation.schedule_file import SavedSchedule, ScheduleError, read_schedule, schedule_of_run
from hudi_conformance.explorer.simulation.schedule_file import write_into_folder as keep_schedule
from hudi_conformance.explorer.simulation.stores import STORES

console = SafeConsole(highlight=False)


def explore(
    scenarios: Annotated[
        list[str] | None, typer.Argument(metavar="[SCENARIO]...", help="Scenarios to explore; all by default.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show the scenarios and the kinds of stores, and exit.")] = False,
    preemptions: Annotated[
        str | None, typer.Option(metavar="N|all", help="Limit of preemptions in a run; all: no limit.")
    ] = None,
    crashes: Annotated[int | None, typer.Option(min=0, metavar="N", help="Limit of crashes in a run.")] = None,
    random: Annotated[int | None, typer.Option(min=1, metavar="N", help="Explore N random runs instead of all orders.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random runs.")] = 0,
    store: Annotated[str, typer.Option(metavar="NAME", help="Kind of store; see --list.")] = "atomic",
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Processes that explore; one per core by default. The result is the same."),
    ] = None,
    mutant: Annotated[str | None, typer.Option(metavar="NAME", help="Run with this mutant; a violation is expected.")] = None,
    replay: Annotated[Path | None, typer.Option(metavar="FILE", help="Replay the run of a schedule file.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save the failing or replayed run as a case in this folder.")
    ] = None,
    diagram: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the failing or replayed run: .svg, .html or .txt.")
    ] = None,
) -> None:
    """Run processes request by request, in every order, and check every invariant.

    A failing run is reduced to a short one and shown as a diagram.
    """
    if list_:
        _show_list()
        raise typer.Exit
    with _applied(mutant):
        if replay is not None:
            failed = _replay(replay, _Keep(save, diagram, mutant))
        else:
            bounds, names = _bounds(preemptions, crashes), _named(scenarios or list(SCENARIOS))
            tasks = [Task(name, _store(store), bounds, random, seed) for name in names]
            failed = _Search(tasks, _Keep(save, diagram, mutant), jobs or os.cpu_count() or 1).all()
    raise typer.Exit(exit_code(not failed))


def _usage(message: str) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(USAGE)


def _named(names: Sequence[str]) -> Sequence[str]:
    """The scenarios by the names that they have today."""
    found = [current_name(name) for name in names]
    for name in found:
        if name not in SCENARIOS:
            raise _usage(f"no scenario {name!r}; hudi-conformance explore --list shows them")
    return found


def _store(name: str) -> str:
    if name not in STORES:
        raise _usage(f"no store {name!r}; the stores are {', '.join(STORES)}")
    return name


def _bounds(preemptions: str | None, crashes: int | None) -> dict[str, Any]:
    """The bounds that were given; the scenario defines the others."""
    found: dict[str, Any] = {} if crashes is None else {"crashes": crashes}
    if preemptions is not None:
        if preemptions != "all" and not preemptions.isdigit():
            raise _usage(f"--preemptions {preemptions}: a number, or all")
        found["preemptions"] = None if preemptions == "all" else int(preemptions)
    return found


def _applied(mutant: str | None) -> Any:
    if mutant is None:
        return nullcontext()
    from hudi_conformance.mutants import all_mutants, apply_mutant

    if mutant not in {known.name for known in all_mutants()}:
        raise _usage(f"no mutant {mutant!r}; hudi-conformance explain NAME describes one")
    return apply_mutant(mutant)


def _rules_of(mutant: str | None) -> tuple[str, ...]:
    """The rules that a mutant breaks."""
    from hudi_conformance.mutants import all_mutants

    return next((known.breaks for known in all_mutants() if known.name == mutant), ()) if mutant else ()


def _show_list() -> None:
    shown = Table("scenario", "description", "preemptions", "crashes", box=None, header_style="bold")
    for name, definition in SCENARIOS.items():
        bound = "all" if definition.preemptions is None else str(definition.preemptions)
        shown.add_row(name, definition.description, bound, str(definition.crashes))
    print_table(shown)
    stores = Table("store", "description", "broken promises", box=None, header_style="bold")
    for kind in STORES.values():
        stores.add_row(kind.name, kind.description, ", ".join(find_broken_promises(kind)) or "none")
    typer.echo()
    print_table(stores)


@dataclass(frozen=True)
class _Keep:
    """Where a failing or replayed run is drawn and saved."""

    folder: Path | None
    diagram: Path | None
    mutant: str | None

    def keep(self, scenario: Scenario, run: Run, store: str, violation: str | None, old: SavedSchedule | None = None) -> None:
        """Print the run; draw and save it if requested."""
        title = f"{scenario.name}: {violation or 'no violation'}"
        console.print(draw_text(run, title), soft_wrap=True, markup=False)
        if self.diagram is not None:
            write_diagram(run, title, self.diagram)
            console.print(f"diagram: {self.diagram}", soft_wrap=True)
        if self.folder is None:
            return
        rules = old.requirements if old else _rules_of(self.mutant)
        saved = schedule_of_run(
            scenario.name, run, store=store, violation=violation or (old.violation if old else None),
            mutant=self.mutant or (old.mutant if old else None), requirements=rules,
        )  # fmt: skip
        path = keep_schedule(saved, self.folder)
        console.print(f"saved: {path}; replay it with hudi-conformance explore --replay {path}", soft_wrap=True)


_COLUMNS = ("scenario", "runs", "orders", "pruned", "steps", "states", "programs run", "explored")


@dataclass(frozen=True)
class _Search:
    """Explores scenarios, as many at once as there are jobs."""

    tasks: Sequence[Task]
    keep: _Keep
    jobs: int

    def all(self) -> bool:
        """Explore all; whether one failed."""
        shown, failed, started = Table(*_COLUMNS, box=None, header_style="bold"), False, time.perf_counter()
        parts = [task.split() for task in self.tasks]
        with parallel_runner(min(self.jobs, sum(map(len, parts))), partial(_apply_permanently, self.keep.mutant)) as run_task:
            streams = [run_task(part) for part in parts]
            for task, stream in zip(self.tasks, streams, strict=True):
                result = self._shown(task, stream)
                found, failed = result.found, failed or result.schedule is not None
                row = (found.runs, found.interleavings, found.pruned, found.steps, found.states, found.starts)
                verdict = "[red]failed[/]" if result.schedule is not None else "all" if found.is_complete else "some"
                cells = ["" if value is None else f"{value:,}" if value < 10**15 else f"{value:.1e}" for value in row]
                shown.add_row(task.scenario, *cells, verdict)
        console.print(shown, f"{time.perf_counter() - started:.1f} s")
        return failed

    def _shown(self, task: Task, stream: Iterator[TaskResult]) -> TaskResult:
        """The result of a task; print its failure, shrunk."""
        columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        with Progress(*columns, console=SafeConsole(stderr=True), transient=True) as progress:
            progress.add_task(task.scenario)
            result = combine_results(stream)
            if result.schedule is not None:
                progress.add_task("shrinking")
                small = task.make_scenario().shrink(result.schedule)
        if result.schedule is not None:
            steps = " ".join(map(str, small.schedule)) or "empty: the processes run in order"
            self.keep.keep(task.make_scenario(), small.run, task.store, small.violation)
            console.print(f"found in run {result.found.runs}; the shortest schedule: {steps}\n", soft_wrap=True)
        return result


def _apply_permanently(mutant: str | None) -> None:
    """Apply the mutant in a process that only explores."""
    _applied(mutant).__enter__()


def _replay(path: Path, keep: _Keep) -> bool:
    """Replay a saved run; whether it fails."""
    try:
        saved = read_schedule(path)
        scenario = SCENARIOS[_named([saved.scenario])[0]].make_scenario(saved.scenario).with_store(saved.store)
        run = scenario.replay(saved)
    except (ScheduleError, OSError) as error:
        raise _usage(str(error)) from None
    except NotPossible as error:
        raise _usage(f"{path}: {error}; the processes send other requests than when it was saved") from None
    violation = scenario.find_violation(run)
    keep.keep(scenario, run, saved.store, violation, saved)
    return violation is not None
