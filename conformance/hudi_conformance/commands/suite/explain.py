"""`hudi-conformance explain`: what is known of a rule, case, mutant, erratum, feature, area or chapter."""

import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import Annotated

import typer

from hudi_conformance.commands.exit_codes import USAGE
from hudi_conformance.contract.text import make_printable
from hudi_conformance.report.evidence.evidence import gather_evidence
from hudi_conformance.report.explain.explanation import UnknownName
from hudi_conformance.report.explain.explanation import explain as explanation_of
from hudi_conformance.report.explain.lines import Explanation
from hudi_conformance.terminal import unguarded


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
    """Show what is known about a rule, case, mutant, erratum, feature, area or chapter."""
    try:
        found = explanation_of(name, gather_evidence(), everything)
    except UnknownName as error:
        near = f"; did you mean {', '.join(error.near)}?" if error.near else ""
        typer.echo(f"{error}{near}", err=True)
        raise typer.Exit(USAGE) from None
    width = max(60, min(shutil.get_terminal_size((120, 24)).columns, 160))
    typer.echo("\n".join(format_lines(found, width)), file=unguarded(sys.stdout))


def format_lines(found: Explanation, width: int) -> Iterator[str]:
    """Heading and lines, labels on the left, each of them once; addresses, paths, ids and commands are not broken."""
    for line in textwrap.wrap(make_printable(found.heading), width, break_long_words=False, break_on_hyphens=False):
        yield typer.style(line, bold=True)
    column = max((len(label) for label, _ in found.lines), default=0) + 2
    above = ""
    for label, text in ((make_printable(one), make_printable(other)) for one, other in found.lines):
        shown = "" if label == above else label
        for line in _wrapped(text, width - column):
            yield f"{typer.style(shown.ljust(column), dim=True)}{line}".rstrip()
            shown = ""
        above = label


def _wrapped(text: str, width: int) -> Iterator[str]:
    """The lines of a text, wrapped; those that begin with blanks stay indented, and a command to copy is one line."""
    if text.startswith("hudi-conformance "):
        yield text
        return
    for line in text.splitlines() or [""]:
        indent = " " * (len(line) - len(line.lstrip()))
        yield from textwrap.wrap(
            line.strip(), width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
