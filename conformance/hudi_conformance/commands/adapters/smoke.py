"""`hudi-conformance smoke`: check an adapter step by step."""

import shlex
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from hudi_conformance.commands.exit_codes import AS_EXPECTED, BROKEN, DIFFERENT, USAGE
from hudi_conformance.console import SafeConsole
from hudi_conformance.engines import registry
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.engines.smoke import Finding, Smoke
from hudi_conformance.engines.support.info import UnknownEngine


def smoke(
    engine: Annotated[str, typer.Argument(help="Name of an engine, or the command line of an adapter in quotes.")],
    start_timeout: Annotated[
        float | None, typer.Option(metavar="S", help="Time limit for the answer to hello, in seconds.")
    ] = None,
    message_timeout: Annotated[
        float | None, typer.Option(metavar="S", help="Time limit for the answer to any other message, in seconds.")
    ] = None,
) -> None:
    """Check an adapter step by step, and separate its faults from those of its engine."""
    console = SafeConsole(highlight=False)
    try:
        info = registry.find(engine)
    except UnknownEngine as e:
        typer.echo(str(e), err=True)
        raise typer.Exit(USAGE) from None
    limits = (start_timeout or info.start_timeout, message_timeout or info.message_timeout)
    start = info.starter(lambda line: console.print(f"  [dim]{escape(line)}[/dim]"))
    found: list[Finding] = []
    for finding in Smoke(info.name, start, limits, Reference()).run():
        known = any((finding.remedy, finding.blame) == (before.remedy, before.blame) for before in found)
        found.append(finding)
        _show(console, finding, again=known)
    raise typer.Exit(_conclude(console, engine, found))


def _show(console: Console, finding: Finding, *, again: bool) -> None:
    """One line for a finding; for the first fault of its kind also further output and the remedy."""
    word, style = ("not offered", "dim") if finding.skipped else ("ok", "green")
    if finding.blame is not None:
        word, style = f"{finding.blame}!", "bold red"
    first, *rest = finding.said.splitlines() or [""]
    said = f"  [dim]{escape(first)}[/dim]" if first else ""
    console.print(f"  [{style}]{word:<12}[/{style}]{escape(finding.step)}{said}", soft_wrap=True)
    if finding.blame is not None and not again:
        for line in rest:
            console.print(f"{'':14}[dim]{escape(line)}[/dim]", soft_wrap=True)
        console.print(f"{'':14}[bold]remedy[/bold]  {escape(finding.remedy)}", soft_wrap=True)


def _conclude(console: Console, engine: str, found: list[Finding]) -> int:
    """Print the last line. Returns the exit code: 0 no fault, 1 the engine is at fault, 3 the adapter is at fault."""
    blamed = [finding.blame for finding in found if finding.blame is not None]
    if not blamed:
        console.print(f"\nThe adapter keeps the contract. Next: hudi-conformance run {shlex.quote(engine)}", soft_wrap=True)
        return AS_EXPECTED
    if "adapter" in blamed:
        console.print(f"\nThe adapter is at fault in {_steps(blamed.count('adapter'))}. Correct this first.")
        return BROKEN
    console.print(f"\nThe adapter keeps the contract; its engine is at fault in {_steps(len(blamed))}.")
    return DIFFERENT


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"
