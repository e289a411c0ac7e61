"""`hudi-conformance smoke`: a first look at an adapter."""

import shlex
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from hudi_conformance.contract.smoke import Finding, Smoke
from hudi_conformance.engines import registry
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.engines.support.info import UnknownEngine


def smoke(
    engine: Annotated[str, typer.Argument(help="Name of an engine, or the command line of an adapter in quotes.")],
    start_timeout: Annotated[float | None, typer.Option(help="Seconds until hello is answered.")] = None,
    message_timeout: Annotated[float | None, typer.Option(help="Seconds until any other message is answered.")] = None,
) -> None:
    """Check an adapter step by step: what works, and whose fault it is where something does not."""
    console = Console(highlight=False)
    try:
        info = registry.find(engine)
    except UnknownEngine as e:
        typer.echo(str(e), err=True)
        raise typer.Exit(2) from None
    limits = (start_timeout or info.start_timeout, message_timeout or info.message_timeout)
    start = info.starter(lambda line: console.print(f"  [dim]{escape(line)}[/dim]"))
    found: list[Finding] = []
    for finding in Smoke(info.name, start, limits, Reference()).findings():
        known = any((finding.remedy, finding.blame) == (before.remedy, before.blame) for before in found)
        found.append(finding)
        _show(console, finding, again=known)
    raise typer.Exit(_conclude(console, engine, found))


def _show(console: Console, finding: Finding, *, again: bool) -> None:
    """One line; under the first fault of its kind what else was said, and the remedy."""
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
    """The last line, and the exit code: 0 all is well, 1 the engine is wrong, 3 the adapter is."""
    blamed = [finding.blame for finding in found if finding.blame is not None]
    if not blamed:
        console.print(f"\nThe adapter keeps the contract. Next: hudi-conformance run {shlex.quote(engine)}", soft_wrap=True)
        return 0
    if "adapter" in blamed:
        console.print(f"\nThe adapter is at fault in {_steps(blamed.count('adapter'))}. Mend that first.")
        return 3
    console.print(f"\nThe adapter keeps the contract; its engine is at fault in {_steps(len(blamed))}.")
    return 1


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"
