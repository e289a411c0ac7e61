"""`hudi-conformance mutants`: the strength of the suite, measured with mutants."""

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from hudi_conformance.cases.renames import current_mutant
from hudi_conformance.commands.exit_codes import BROKEN, USAGE, exit_code
from hudi_conformance.console import SafeConsole, print_table
from hudi_conformance.mutants import Mutant, all_mutants
from hudi_conformance.mutants.harness.mutant import changed_places
from hudi_conformance.mutants.harness.score import Kill, save_kills
from hudi_conformance.processes.session import files_in_memory
from hudi_conformance.report.evidence.evidence import ROOT, CitedCase, Evidence, gather_evidence
from hudi_conformance.report.evidence.freshness import Record, find_stale_kills, load_records, make_record, save_records
from hudi_conformance.requirements.chapters import chapter_of_rule
from hudi_conformance.runner.mutation.missing import extend_kills, find_missing
from hudi_conformance.runner.mutation.named import SuiteError, run_mutants
from hudi_conformance.runner.mutation.stale import confirm_kills

#: The outcomes of a mutant, best first, and how each is shown.
OUTCOMES = {
    "own": "[green]killed[/]",
    "other": "[yellow]killed by other rules' cases only[/]",
    "survived": "[red]survived[/]",
}


def mutants(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="PATTERN", help="Mutants by name, rule, area or chapter; repeatable."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Mutants that run at the same time.")] = 1,
    stale: Annotated[
        bool,
        typer.Option(
            "--stale",
            help="Only mutants that changed since their record, or whose code or cases did; run the recorded cases again.",
        ),
    ] = False,
    missing: Annotated[
        bool,
        typer.Option(
            "--missing",
            help="Only mutants with a rule, a role or a version for which no kill is recorded; run the cases of that rule.",
        ),
    ] = False,
    drawn: Annotated[
        int | None,
        typer.Option(
            "--random", metavar="N", min=1, help="Run N random small changes of the code instead of the named mutants."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the random changes.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="With --random: write the outcome of each change as JSON; outcomes that the file has are kept.",
        ),
    ] = None,
) -> None:
    """Apply one mutant after the other to the reference and record which cases fail. Each outcome is stored at once."""
    if not (ROOT / "pyproject.toml").is_file():
        typer.echo("mutants needs a source checkout: its outcome is a file of the sources", err=True)
        raise typer.Exit(USAGE)
    if drawn is not None:
        with files_in_memory():
            _judge_drawn(drawn, seed, jobs, output)
        return
    if output is not None:
        typer.echo("--output goes with --random: outcomes of named mutants are stored in the sources", err=True)
        raise typer.Exit(USAGE)
    patterns = [current_mutant(pattern) for pattern in only or ()]
    chosen = [m for m in all_mutants() if not patterns or any(_matches(m, pattern) for pattern in patterns)]
    if not chosen:
        typer.echo(f"no mutant matches {', '.join(patterns)}; hudi-conformance explain NAME describes one", err=True)
        raise typer.Exit(USAGE)
    evidence = gather_evidence()
    cases = evidence.cases
    try:
        with files_in_memory():
            kills = (
                _extend(chosen, evidence) if missing else _confirm(chosen, evidence) if stale else _run(chosen, evidence, jobs)
            )
    except SuiteError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(BROKEN) from None
    outcomes = {k.name: classify_kill(k, cases) for k in kills}
    print_table(_table(kills, outcomes))
    raise typer.Exit(exit_code(all(outcome == "own" for outcome in outcomes.values())))


def _judge_drawn(count: int, seed: int, jobs: int, output: Path | None) -> None:
    """Judge `count` drawn mutants and print each as soon as it is judged; exit 1 if one survives."""
    from hudi_conformance.mutants.drawn.draw import draw_mutants
    from hudi_conformance.runner.mutation import drawn

    console = SafeConsole()
    chosen = draw_mutants(count, seed)
    run = drawn.DrawnRun(seed) if output is None else drawn.load_run(output, seed, {mutant.name for mutant in chosen})
    with Progress(transient=True, console=SafeConsole(stderr=True)) as progress:
        task = progress.add_task("which cases execute which lines", total=count, completed=len(run.judged))

        def done(found: drawn.Judgement | None) -> None:
            if output is not None:
                drawn.save_run(output, run)
            if found is not None:
                progress.update(task, advance=1, description=found.name)
                colour = "green" if found.outcome == "killed" else "red"
                console.print(f"[{colour}]{found.outcome}[/]  {escape(str(found.change))}  [dim]{escape(found.killed_by)}[/]")

        try:
            lines = drawn.load_lines(drawn.folder_of_lines())
            drawn.judge_mutants(chosen, lines, run, jobs=jobs, done=done)
        except SuiteError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(BROKEN) from None
    outcomes = [j.outcome for j in run.judged]
    counted = ", ".join(f"{outcomes.count(o)} {o}" for o in ("killed", "survived", "not executed"))
    console.print(f"{len(outcomes)} drawn mutants, seed {seed}: {counted}")
    raise typer.Exit(exit_code(outcomes.count("killed") == len(outcomes)))


def _run(chosen: list[Mutant], evidence: Evidence, jobs: int) -> list[Kill]:
    by_name = {mutant.name: mutant for mutant in chosen}
    with Progress(transient=True, console=SafeConsole(stderr=True)) as progress:
        task = progress.add_task("mutants", total=len(chosen))

        def done(kill: Kill) -> None:
            fingerprint = next(known.fingerprint for known in evidence.kills if known.name == kill.name)
            record = make_record(replace(kill, fingerprint=fingerprint), changed_places(by_name[kill.name]), evidence)
            _store(kill, record)
            progress.update(task, advance=1, description=kill.name)

        return run_mutants(chosen, evidence.cases, jobs=jobs, done=done)


def _confirm(chosen: list[Mutant], evidence: Evidence) -> list[Kill]:
    """Confirm the records of those of the mutants that have an old one."""
    old = dict(find_stale_kills(evidence, load_records()))
    chosen, kills = [mutant for mutant in chosen if mutant.name in old], list[Kill]()
    with Progress(transient=True, console=SafeConsole(stderr=True)) as progress:
        task = progress.add_task("mutants", total=len(chosen))

        def done(kill: Kill, record: Record) -> None:
            kills.append(kill)
            _store(kill, record)
            progress.update(task, advance=1, description=kill.name)

        confirm_kills(chosen, evidence, done)
    return kills


def _extend(chosen: list[Mutant], evidence: Evidence) -> list[Kill]:
    """Look for kills that cover rules, roles and table versions that no recorded kill covers."""
    known, kills = {kill.name: kill for kill in evidence.kills}, list[Kill]()
    chosen = [mutant for mutant in chosen if any(find_missing(known[mutant.name], evidence))]
    with Progress(transient=True, console=SafeConsole(stderr=True)) as progress:
        task = progress.add_task("mutants", total=len(chosen))

        def done(kill: Kill, record: Record) -> None:
            kills.append(kill)
            _store(kill, record)

        for mutant in chosen:
            extend_kills([mutant], evidence, done)
            progress.update(task, advance=1, description=mutant.name)
    return kills


def _store(kill: Kill, record: Record) -> None:
    known = all_mutants()
    save_kills({kill.name: list(kill.killed_by or ())}, known)
    save_records({kill.name: record}, [mutant.name for mutant in known])


def _matches(mutant: Mutant, pattern: str) -> bool:
    areas = [rule.rpartition("-")[0] for rule in mutant.breaks]
    names = (mutant.name, *mutant.breaks, *areas, chapter_of_rule(mutant.breaks[0]))
    return any(fnmatch(name, pattern) for name in names) or pattern in mutant.name


def classify_kill(kill: Kill, cases: Iterable[CitedCase]) -> str:
    """`own`, `other` or `survived`."""
    if not kill.killed_by:
        return "survived"
    citing = {c.id for c in cases if set(c.requirements) & set(kill.breaks)}
    return "own" if citing & set(kill.killed_by) else "other"


def _table(kills: list[Kill], outcomes: dict[str, str]) -> Table:
    table = Table("mutant", "breaks", "", "killed by", box=None, header_style="bold")
    table.columns[0].overflow = table.columns[3].overflow = "fold"
    order = list(OUTCOMES)
    for kill in sorted(kills, key=lambda k: (order.index(outcomes[k.name]), k.name)):
        killers = kill.killed_by or ()
        more = f" and {len(killers) - 2} more" if len(killers) > 2 else ""
        table.add_row(kill.name, ", ".join(kill.breaks), OUTCOMES[outcomes[kill.name]], ", ".join(killers[:2]) + more)
    counted = [f"{list(outcomes.values()).count(outcome)} {outcome}" for outcome in OUTCOMES]
    table.caption = f"{len(kills)} mutants: {', '.join(counted)}"
    return table
