"""`hudi-conformance explain`: what is known of a rule, case, mutant, erratum, feature, area or chapter."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hudi_conformance.report.evidence import gather
from hudi_conformance.report.explanation import Explanation, Unknown
from hudi_conformance.report.explanation import explain as explanation_of


def explain(
    name: Annotated[
        str,
        typer.Argument(
            help="Id of a rule (MRG-029), erratum (ER-030) or case; name of a mutant, of a feature of the contract "
            "(read.snapshot), or of an area (MRG) or chapter (merging) of the specification."
        ),
    ],
    everything: Annotated[bool, typer.Option("--all", help="Show long lists as a whole.")] = False,
) -> None:
    """What is known of a rule, case, mutant, erratum, feature, area or chapter."""
    try:
        found = explanation_of(name, gather(), everything)
    except Unknown as error:
        near = f"; did you mean {', '.join(error.near)}?" if error.near else ""
        typer.echo(f"{error}{near}", err=True)
        raise typer.Exit(2) from None
    show(found, Console())


def show(found: Explanation, console: Console) -> None:
    """Print heading and lines, labels on the left, each of them once."""
    console.print(Text(found.heading, style="bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    above = ""
    for label, text in found.lines:
        table.add_row("" if label == above else label, Text(text))
        above = label
    console.print(table)
