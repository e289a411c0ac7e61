"""`hudi-conformance object-store`: test the emulated object store, and run engines concurrently on it, request by request."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from hudi_conformance.commands.exit_codes import BROKEN, USAGE, exit_code
from hudi_conformance.console import SafeConsole
from hudi_conformance.engines import registry
from hudi_conformance.engines.support.info import UnknownEngine
from hudi_conformance.explorer.s3.diagram import Drawing
from hudi_conformance.explorer.s3.engines import Finding, replay_schedule, run_scenarios, start_trial
from hudi_conformance.explorer.s3.proxy import Proxy
from hudi_conformance.explorer.s3.saved_schedules import find_departure, schedule_of_run
from hudi_conformance.explorer.s3.scenarios import SCENARIOS
from hudi_conformance.explorer.s3.store_conformance import Verdict, examine_store
from hudi_conformance.explorer.simulation.schedule_file import (
    OBJECT_STORE,
    SavedSchedule,
    ScheduleError,
    read_schedule,
    write_into_folder,
)
from hudi_conformance.processes.object_store import RACING, NoStore, Store
from hudi_conformance.report.evidence import figures

console = SafeConsole(highlight=False)
_BUCKET = "fitness"
#: The scenario of the diagram: the partner completes before the engine.
DRAWN = "is overtaken"


def object_store(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[ENGINE]...", help="Engines to run; default: reference.")
    ] = None,
    partner: Annotated[str, typer.Option(metavar="ENGINE", help="Engine that runs concurrently.")] = "reference",
    seeds: Annotated[int, typer.Option(metavar="N", min=0, help="Number of random schedules for each random scenario.")] = 2,
    rounds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Concurrent attempts for each guarantee, in the test of the store.")
    ] = 40,
    store: Annotated[bool, typer.Option(help="Test the store first, directly and behind the proxy.")] = True,
    diagram: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a diagram of the conflict: .svg, .html or .txt.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the schedules of diagrams and of wrong runs.")
    ] = None,
    again: Annotated[Path | None, typer.Option("--replay", metavar="FILE", help="Repeat the run of a schedule file.")] = None,
    record: Annotated[bool, typer.Option("--record", help="Store verdicts and figures for reports; needs a checkout.")] = False,
) -> None:
    """Test the emulated object store, then run each engine concurrently with a partner on it, and write a diagram of a
    conflict.
    """
    try:
        for name in (*(names or []), partner):
            registry.find(name)
    except UnknownEngine as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(USAGE) from None
    keeping = _Keep(diagram, save, figures.read_figures("s3") if record else None, seeds)
    try:
        if again is not None:
            found = [_replay(again, names or [], keeping)]
            is_fit = True
        else:
            is_fit = _show_store(rounds, keeping) if store else True
            found = _show_engines(names or ["reference"], partner, seeds, keeping)
    except NoStore as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(BROKEN) from None
    if keeping.figures is not None:
        figures.record_figures("s3", keeping.figures)
    raise typer.Exit(exit_code(is_fit and all(one.is_expected for one in found)))


@dataclass
class _Keep:
    """Stores verdicts and schedules; `figures` are those of the file, None if none are recorded."""

    diagram: Path | None
    folder: Path | None
    figures: dict[str, Any] | None
    seeds: int
    _drawn: list[Drawing] = field(default_factory=list)

    def store(self, alone: tuple[Verdict, ...], behind: tuple[Verdict, ...]) -> None:
        """The verdicts on the store."""
        promises = [
            {"name": a.name, "says": a.promise, "alone": a.found, "behind": b.found, "is_kept": [a.kept, b.kept]}
            for a, b in zip(alone, behind, strict=True)
        ]
        if self.figures is not None:
            self.figures["store"] = figures.measurement_details("hudi-conformance object-store") | {"promises": promises}

    def run(self, finding: Finding, engines: tuple[str, str]) -> None:
        """Store a run that is in the diagram, or wrong, or replayed."""
        if finding.run is None:
            return
        drawing = Drawing.from_run(finding.run, f"{engines[0]} {finding.scenario} ({engines[1]}): {finding.says}")
        self._drawn.append(drawing)
        if self.diagram is not None:
            drawing.write(self.diagram)
        if self.folder is not None:
            name, wrong = finding.scenario.partition(", seed")[0], finding.says if finding.outcome == "fail" else None
            path = write_into_folder(schedule_of_run(name, finding.run, engines, violation=wrong), self.folder)
            console.print(f"saved: {path}; repeat with hudi-conformance object-store --replay {path}", soft_wrap=True)

    def engines(self, engines: tuple[str, str], found: list[Finding]) -> Drawing | None:
        """Store the findings of an engine and its partner, and return their diagram."""
        drawn, self._drawn = self._drawn, []
        if self.figures is not None:
            name = engines[0] if engines[1] == "reference" else " beside ".join(engines)
            reported = {"findings": [one.to_json() for one in found], "diagrams": [one.to_json() for one in drawn[:2]]}
            beside = "" if engines[1] == "reference" else f" --partner {engines[1]}"
            command = f"hudi-conformance object-store {engines[0]}{beside} --seeds {self.seeds}"
            self.figures.setdefault("engines", {})[name] = figures.measurement_details(command) | reported
        return drawn[0] if drawn else None


def _show_store(rounds: int, keeping: _Keep) -> bool:
    """Whether the store behind the proxy keeps all promises; also show the store without the proxy."""
    with Store(RACING) as racing:
        racing.create_bucket(_BUCKET)
        alone = examine_store(racing.endpoint, _BUCKET, rounds=rounds)
        with Proxy(racing.host, racing.port) as proxy:
            behind = examine_store(proxy.endpoint, _BUCKET, rounds=rounds)
    table = Table("promise", "moto, concurrent threads", "behind the proxy", title="promises of the object store")
    for one, other in zip(alone, behind, strict=True):
        table.add_row(f"{one.name}: {escape(one.promise)}", _colour(one), _colour(other))
    console.print(table)
    keeping.store(alone, behind)
    return all(verdict.kept for verdict in behind)


def _colour(verdict: Verdict) -> str:
    return f"[green]{verdict.found}[/green]" if verdict.kept else f"[red]{escape(verdict.found)}[/red]"


def _show_engines(names: list[str], partner: str, seeds: int, keeping: _Keep) -> list[Finding]:
    every: list[Finding] = []
    with Store() as store, Proxy(store.host, store.port) as proxy:
        for name in names:
            console.print(f"[bold]{name}[/bold], concurrently with {partner}")
            found = []
            for finding in _tried(name, partner, store, proxy, seeds):
                console.print(f"  {escape(str(finding))}", soft_wrap=True)
                found.append(finding)
                if finding.outcome == "fail" or finding.scenario.startswith(DRAWN):
                    keeping.run(finding, (name, partner))
            drawn = keeping.engines((name, partner), found)
            if drawn is not None:
                console.print(escape(drawn.text()), soft_wrap=True)
            every += found
    return every


def _tried(name: str, partner: str, store: Store, proxy: Proxy, seeds: int) -> list[Finding]:
    """All findings; a single one if one of the engines cannot be started."""
    found: list[Finding] = []
    try:
        with start_trial(name, partner, store, proxy) as given:
            found += run_scenarios(given, seeds)
    except Exception as error:  # an engine that does not start
        found.append(Finding("all", "error", f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"))
    return found


def _replay(path: Path, names: list[str], keeping: _Keep) -> Finding:
    """Repeat the run of a schedule file, with its engines or with others."""
    saved = _read(path)
    engine, partner = (*names, *saved.engines[len(names) :])[:2]
    with Store() as store, Proxy(store.host, store.port) as proxy, start_trial(engine, partner, store, proxy) as given:
        finding = replay_schedule(given, saved)
    keeping.run(finding, (engine, partner))
    drawn = keeping.engines((engine, partner), [finding])
    console.print(escape(drawn.text() if drawn else ""), escape(str(finding)), sep="\n", soft_wrap=True)
    if finding.run is not None:
        console.print(find_departure(saved, finding.run) or "the requests are the same", soft_wrap=True, markup=False)
    return finding


def _read(path: Path) -> SavedSchedule:
    try:
        saved = read_schedule(path)
    except (ScheduleError, OSError) as error:
        raise _usage(str(error)) from None
    if saved.store != OBJECT_STORE or saved.scenario not in SCENARIOS:
        raise _usage(f"{path} is not a schedule of this command; try hudi-conformance explore --replay {path}")
    return saved


def _usage(message: str) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(USAGE)
