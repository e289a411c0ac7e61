"""`hudi-conformance validate`: whether a table is sound."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hudi_conformance.commands.error_handling import exit_on_errors
from hudi_conformance.commands.exit_codes import BROKEN, exit_code
from hudi_conformance.commands.optional_master import CommandWithMaster, start_session
from hudi_conformance.commands.tables.bounded_memory import bounded_memory
from hudi_conformance.terminal import unguarded

if TYPE_CHECKING:
    from hudi_conformance.validator.checks.finding import Check
    from hudi_conformance.validator.stored.table import StoredTable
    from hudi_conformance.validator.validation import Validation

Format = Literal["text", "json", "sarif", "html"]
#: Seconds between two lines of progress.
_EVERY = 1.0


def validate(
    table: Annotated[str, typer.Argument(help="Folder or URI of the table.")],
    deep: Annotated[bool, typer.Option("--deep", help="Read every row and recompute the metadata table.")] = False,
    only: Annotated[list[str] | None, typer.Option(metavar="RULE", help="Check only this rule; repeatable.")] = None,
    partition: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="Examine the data files of this partition; repeatable.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Open at most N files or file slices for each check.")
    ] = None,
    spark: Annotated[
        str | None, typer.Option(metavar="[MASTER]", help="Examine the parts on Spark; default: on all cores of this machine.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    format: Annotated[Format | None, typer.Option("--format", help="Output format; default: text.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to a file.")] = None,
) -> None:
    """Check a table against every rule that a table at rest must satisfy. Nothing is changed.

    Exit code 0: no finding of wrong answers or lost data; 1: such a finding; 3: a check ended with an error.
    """
    if as_json and format not in (None, "json"):
        raise typer.BadParameter(f"--json contradicts --format {format}")
    rules = _known_rules(only or [])
    with exit_on_errors():
        found, result = _examine(table, deep=deep, rules=rules, partitions=partition or [], sample=sample, spark=spark)
    _write(result, found, "json" if as_json else format or "text", output)
    if result.broken:
        raise typer.Exit(BROKEN)
    raise typer.Exit(exit_code(result.is_sound))


def _known_rules(only: list[str]) -> list[str]:
    from hudi_conformance.validator.all_checks import ALL

    known = {rule for check in ALL for rule in check.rules}
    for rule in only:
        if rule not in known:
            raise typer.BadParameter(f"--only {rule}: no check examines this rule; {len(known)} rules are examined")
    return only


def _examine(
    uri: str, *, deep: bool, rules: list[str], partitions: list[str], sample: int | None, spark: str | None
) -> "tuple[StoredTable, Validation]":
    from hudi_conformance.validator.all_checks import ALL
    from hudi_conformance.validator.stored.scope import Scope
    from hudi_conformance.validator.stored.table import load_table
    from hudi_conformance.validator.validation import chosen, validate

    scope = Scope(tuple(path.strip("/") for path in partitions), sample, frozenset(rules))
    table, checks = load_table(uri, scope=scope), chosen(ALL, deep=deep, rules=rules)
    for path in scope.partitions:
        if table.listing.knows(path) and not table.has_partition(path):
            raise typer.BadParameter(f"--partition {path}: neither a file nor a write of the table is in such a partition")
    if spark is not None:
        return table, _examine_on_spark(table, checks, spark)
    with _Progress() as progress, bounded_memory():
        return table, validate(table, checks, progress)


def _examine_on_spark(table: "StoredTable", checks: "Sequence[Check]", master: str) -> "Validation":
    from hudi_conformance.validator.on_spark import validate_on_spark

    session = start_session(master)
    try:
        return validate_on_spark(session, table, checks)
    finally:
        session.stop()


class _Progress:
    """One line on standard error, which is replaced while the command runs; nothing for a fast validation."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._shown = False

    def __enter__(self) -> "_Progress":
        return self

    def __call__(self, check: str, done: int, total: int) -> None:
        """Show the check at work."""
        if time.monotonic() - self._last < _EVERY:
            return
        self._last = time.monotonic()
        line = f"{check}  {done:,} of {total:,}" if total > 1 else check
        is_terminal = sys.stderr.isatty()
        self._shown = self._shown or is_terminal
        if is_terminal:
            _clear_line()
        print(line, end="" if is_terminal else "\n", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            _clear_line()


def _clear_line() -> None:
    print("\r\x1b[K", end="", file=unguarded(sys.stderr), flush=True)


def _write(result: "Validation", table: "StoredTable", format: Format, output: Path | None) -> None:
    text = _formatted(result, table, format)
    if text is None:
        from hudi_conformance.render.parts.layout import open_page
        from hudi_conformance.report.validation.text import show_validation

        if output is None:
            with open_page() as console:
                show_validation(console, result)
            return
        text = _plain_text(result)
    if output is None or str(output) == "-":
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")


def _formatted(result: "Validation", table: "StoredTable", format: Format) -> str | None:
    if format == "json":
        from hudi_conformance.report.validation.as_json import to_json

        return to_json(result)
    if format == "sarif":
        from hudi_conformance.report.validation.sarif import to_sarif

        return to_sarif(result)
    if format == "html":
        from hudi_conformance.report.validation.page import to_page

        return to_page(result, table)
    return None


def _plain_text(result: "Validation") -> str:
    from hudi_conformance.console import SafeConsole
    from hudi_conformance.render.parts.layout import WIDTH
    from hudi_conformance.report.validation.text import show_validation

    console = SafeConsole(highlight=False, emoji=False, width=WIDTH, force_terminal=False)
    with console.capture() as captured:
        show_validation(console, result)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


command = typer.Typer(add_completion=False)
command.command("validate", cls=CommandWithMaster)(validate)
