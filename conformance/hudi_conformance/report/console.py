"""The results of a run in the terminal: the matrix and the results that are not right."""

import os
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hudi_conformance.cases.verdict import Result
from hudi_conformance.console import SafeConsole
from hudi_conformance.report.failure_text import failure_facts
from hudi_conformance.report.folding import Fault, fold_by_fault, fold_by_reason
from hudi_conformance.report.matrix import STYLES, matrix_table, sort_worst_first
from hudi_conformance.report.next_features import find_next_features
from hudi_conformance.report.run import Run


def make_console(*, errors: bool = False) -> Console:
    """A console on the real standard output or error, also while pytest captures what tests print."""
    stream = sys.stderr if errors else sys.stdout
    return SafeConsole(file=os.fdopen(os.dup(stream.fileno()), "w", encoding="utf-8"), highlight=False, soft_wrap=False)


def print_results(console: Console, run: Run, results: Sequence[Result]) -> None:
    """Print the matrix, then every result that is not right."""
    number = len({r.case for r in results})
    seed = "" if run.seed is None else f" · seed {run.seed}"
    cases = "1 case" if number == 1 else f"{number} cases"
    console.print(f"hudi-conformance {run.suite} · table {run.format_versions}{seed} · {cases}\n")
    console.print(matrix_table(run, results))
    console.print()
    _show_next(console, run, results)
    shown = sort_worst_first(results)
    surprises = [r for r in shown if r.surprise is not None]
    known = [r for r in shown if r.surprise is None and r.flaky is None]
    if surprises:
        console.rule(Text("not as expected, wrong answers first"), align="left", style="dim")
        for fault in fold_by_fault(surprises):
            _show_fault(console, fault)
    if known:
        console.rule(Text("known failures, with the reasons in the list"), align="left", style="dim")
        for fault in fold_by_reason(known):
            _show_known(console, fault, fault.first.listed or "")
    flaky = [r for r in results if r.flaky is not None and r.outcome.is_asked]
    if flaky:
        console.rule(Text("flaky cases, which may pass or fail"), align="left", style="dim")
        for fault in fold_by_reason(flaky):
            _show_known(console, fault, fault.first.flaky or "")
    for complaint in (*(f"stale entry  {stale}" for stale in run.stale), *run.stopped):
        console.print(Text(complaint, style="bold red"))


#: So many ids of cases with one fault are printed; the report has all.
SHOWN_CASES = 30


def _show_next(console: Console, run: Run, results: Sequence[Result]) -> None:
    """Print which features each engine may declare next."""
    for engine in run.engines:
        found = find_next_features(results, engine.name)
        if found:
            console.print(Text.assemble(("to declare next", "bold"), f"   {engine.title}"))
            for one in found:
                console.print(Text(f"  {one}"), overflow="fold")
            console.print()


def _show_fault(console: Console, fault: Fault) -> None:
    """Print one fault. Long texts wrap beside their labels; the command to copy does not wrap."""
    result = fault.first
    console.print(_head(fault, result.danger))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", width=10)
    grid.add_column(overflow="fold")
    for name, value in failure_facts(result):
        if name != "repeat":
            grid.add_row(f"  {name}", Text(value, style={"expected": "green", "found": "red"}.get(name, "")))
    console.print(grid)
    _show_same(console, fault)
    console.print(Text.assemble(("  repeat    ", "dim"), result.rerun_command), soft_wrap=True)
    console.print()


def _show_known(console: Console, fault: Fault, reason: str) -> None:
    """Print the reason and the cases of a known failure; both wrap."""
    console.print(_head(fault))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", width=10)
    grid.add_column(overflow="fold")
    grid.add_row("  reason", Text(reason))
    console.print(grid)
    _show_same(console, fault)


def _head(fault: Fault, danger: Sequence[str] = ()) -> Text:
    result, more = fault.first, len(fault.cases) - 1
    head = Text.assemble((result.case, "bold"), f"   {result.engine}   ")
    head.append(result.outcome.label, style=STYLES[result.outcome])
    if danger:
        head.append(f"   {', '.join(danger).upper()}", style="bold red")
    if more:
        head.append(f"   and {more} more {'case' if more == 1 else 'cases'}", style="dim")
    return head


def _show_same(console: Console, fault: Fault) -> None:
    """Print the other cases with this fault; their ids do not wrap."""
    others = fault.cases[1:]
    rest = len(others) - SHOWN_CASES
    lines = [*others[:SHOWN_CASES], *([f"... and {rest} more, in report.jsonl"] if rest > 0 else [])]
    for number, line in enumerate(lines):
        console.print(Text.assemble(("  same in   " if number == 0 else " " * 12, "dim"), line), soft_wrap=True)
