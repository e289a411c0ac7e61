"""Repeat the review of hostile input: `python -m tools.hostile [--quick] [--only TEXT] [--seed N]`."""

import signal
import time
from typing import Annotated

import typer
from rich.console import Console
from tools.hostile.areas import areas

_ROW = "{:<38}{:>8}{:>8}{:>8}{:>9}"


def main(
    only: Annotated[list[str] | None, typer.Option(help="areas whose names contain the text; repeatable")] = None,
    seed: Annotated[int, typer.Option(help="of chance")] = 1,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="fewer drawn attempts")] = False,
) -> None:
    """Print for each area, when it is done, what was tried, held and broke; exit status 1 if anything broke."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background, and tests send it
    console, wrong = Console(highlight=False, markup=False, soft_wrap=True), 0
    console.print(_ROW.format("area", "tried", "held", "broken", "seconds"))
    for name, run in areas(quick=quick, seed=seed).items():
        if only and not any(text in name for text in only):
            continue
        started = time.monotonic()
        found = run()
        wrong += found.broken
        seconds = f"{time.monotonic() - started:.0f}"
        console.print(_ROW.format(name, found.tried, found.tried - found.broken, found.broken, seconds))
        for line in found.says if found.broken else ():
            console.print(f"    {line}")
    raise typer.Exit(int(bool(wrong)))


if __name__ == "__main__":
    typer.run(main)
