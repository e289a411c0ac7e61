"""`hudi-conformance s3`: what an object store promises, and what engines make of it, one request at a time."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hudi_conformance.schedule.s3.diagram import text
from hudi_conformance.schedule.s3.engines import Finding, try_engine
from hudi_conformance.schedule.s3.fitness import Verdict, examine_store
from hudi_conformance.schedule.s3.gate import Gate
from hudi_conformance.schedule.s3.store import RACING, NoStore, Store

console = Console(highlight=False)
_BUCKET = "fitness"
#: The scenario whose run is drawn: the engine's write is overtaken by the partner's.
DRAWN = "is overtaken"


def s3(
    names: Annotated[list[str] | None, typer.Argument(metavar="[ENGINE]...", help="Engines to drive; the reference.")] = None,
    seeds: Annotated[int, typer.Option(min=0, help="How many schedules are drawn for each scenario that is drawn.")] = 2,
    rounds: Annotated[int, typer.Option(min=1, help="Races for each condition, in the test of the store.")] = 40,
    store: Annotated[bool, typer.Option(help="Test the store itself first, alone and behind the gate.")] = True,
    diagram: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the diagram of the conflict there.")] = None,
) -> None:
    """Test the emulated object store, then drive engines through it against a second writer, and draw one conflict."""
    try:
        is_fit = _show_store(rounds) if store else True
        found = _show_engines(names or ["reference"], seeds, diagram)
    except NoStore as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(3) from None
    raise typer.Exit(0 if is_fit and all(one.outcome in ("pass", "refused") for one in found) else 1)


def _show_store(rounds: int) -> bool:
    """Whether the store behind the gate keeps all promises; what it does alone is shown beside."""
    with Store(RACING) as racing:
        racing.create_bucket(_BUCKET)
        alone = examine_store(racing.endpoint, _BUCKET, rounds=rounds)
        with Gate(racing.host, racing.port) as gate:
            behind = examine_store(gate.endpoint, _BUCKET, rounds=rounds)
    table = Table("promise", "moto alone, threads racing", "behind the gate", title="what the object store promises")
    for one, other in zip(alone, behind, strict=True):
        table.add_row(f"{one.name}: {escape(one.promise)}", _colour(one), _colour(other))
    console.print(table)
    return all(verdict.kept for verdict in behind)


def _colour(verdict: Verdict) -> str:
    return f"[green]{verdict.found}[/green]" if verdict.kept else f"[red]{escape(verdict.found)}[/red]"


def _show_engines(names: list[str], seeds: int, diagram: Path | None) -> list[Finding]:
    found: list[Finding] = []
    with Store() as store, Gate(store.host, store.port) as gate:
        for name in names:
            console.print(f"[bold]{name}[/bold], with the reference as its partner")
            for finding in try_engine(name, store, gate, seeds):
                console.print(f"  {escape(str(finding))}", soft_wrap=True)
                found.append(finding)
            drawn = next((one for one in found if one.run and one.scenario.startswith(DRAWN)), None)
            if drawn is not None and drawn.run is not None:
                words = text(drawn.run, f"{name} {drawn.scenario}")
                console.print(escape(words), soft_wrap=True)
                if diagram is not None:
                    diagram.write_text(words, encoding="utf-8")
    return found
