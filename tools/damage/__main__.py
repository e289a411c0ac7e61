"""Damage tables: `python -m tools.damage [--folder DIR] [--tables PATTERN] [--count N] [--seed S] [--only SEED]`."""

import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from tools.damage.experiment import Result, run_all
from tools.damage.kinds import class_of
from tools.damage.silent import reason_of
from tools.damage.tables import golden_tables, tables_below


def main(
    folder: Annotated[Path | None, typer.Option(help="folder of tables; the golden tables without one")] = None,
    tables: Annotated[str, typer.Option(help="names of tables, such as log/*")] = "*",
    count: Annotated[int, typer.Option(help="how many damages")] = 1000,
    seed: Annotated[int, typer.Option(help="of chance")] = 1,
    only: Annotated[str | None, typer.Option(help="the seed of one damage, to repeat it")] = None,
    log: Annotated[Path | None, typer.Option(help="file for all results")] = None,
) -> None:
    """Damage tables; exit status 1 if one gave other rows without an error and docs/damage.md does not list why."""
    console, started = Console(), time.monotonic()
    samples = list(golden_tables(tables) if folder is None else tables_below(folder, tables))
    by_name = {sample.name: sample for sample in samples}
    seeds = [only] if only else [f"{seed}:{number}" for number in range(count)]
    found: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    wrong = 0
    with log.open("w") if log else Path("/dev/null").open("w") as out:
        for result in run_all(seeds, samples):
            reason = reason_of(result, by_name) if result.outcome == "silent" else None
            print(result, *(f"; listed: {reason}" for _ in [reason] if reason), file=out, flush=True)
            column = "listed" if reason else result.outcome
            found[class_of(result.damage.path), column] += 1
            reasons[reason or ""] += bool(reason)
            if only or column in ("silent", "untyped", "ended"):
                console.print(str(result), highlight=False, markup=False, soft_wrap=True)
            wrong += column in ("silent", "untyped", "ended")
    _show(console, found, f"{len(seeds)} damages to {len(samples)} tables, {time.monotonic() - started:.0f} s")
    for reason, number in reasons.most_common():
        if number:
            console.print(f"listed, {reason}: {number}", highlight=False)
    raise typer.Exit(int(bool(wrong)))


def _show(console: Console, found: Counter[tuple[str, str]], title: str) -> None:
    columns = ("same", "error", "listed", "silent", "untyped", "ended")
    shown = Table("damaged", *columns, title=title)
    for row in sorted({row for row, _ in found}):
        shown.add_row(row, *(str(found[row, column]) for column in columns))
    shown.add_row("together", *(str(sum(count for (_, one), count in found.items() if one == column)) for column in columns))
    console.print(shown)


__all__ = ["Result", "main"]

if __name__ == "__main__":
    typer.run(main)
