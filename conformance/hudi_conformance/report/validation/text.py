"""A validation as a page of text: summary, pending actions, findings by severity with equal ones folded."""

from datetime import timedelta

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hudi_conformance.render.parts.axis import format_duration
from hudi_conformance.render.parts.layout import DIM, OK, WARNING, WRONG, format_count, print_title
from hudi_conformance.report.validation.folded import TITLES, Folded, counts, fold
from hudi_conformance.validator.checks.finding import SEVERITIES, UNSOUND, Finding
from hudi_conformance.validator.validation import Validation

#: Findings of a fold that are shown.
SHOWN = 3


def show_validation(console: Console, validation: Validation) -> None:
    """Print the page."""
    console.print(Text(validation.table, style="bold"), overflow="fold")
    version = "unknown version" if validation.version is None else f"version {validation.version}"
    verdict = ("sound", OK) if validation.is_sound else ("not sound", WRONG)
    examined = sum(1 for count in validation.checked.values() if count)
    console.print(Text.assemble(verdict, f" · {version} · {counts(validation.findings)}"))
    looked = f"{format_count(examined, 'rule')} examined on {sum(validation.checked.values()):,} objects, "
    console.print(Text(f"{looked}{len(validation.checked) - examined:,} without anything to examine", style=DIM))
    _show_pending(console, validation)
    folded = fold(validation.findings)
    for severity in SEVERITIES:
        mine = [one for one in folded if one.first.severity == severity]
        if mine:
            style = WRONG if severity in UNSOUND else WARNING
            print_title(console, TITLES[severity])
            for one in mine:
                _show(console, one, style)
    for text in validation.broken:
        console.print(Text(f"\na check failed; what it examines is unknown: {text}", style=WRONG))


def _show_pending(console: Console, validation: Validation) -> None:
    if not validation.pending:
        return
    print_title(console, "pending actions", f"{len(validation.pending):,}")
    for action in validation.pending:
        age = format_duration(timedelta(milliseconds=max(action.age, 0)))
        line = f"  {action.requested}  {action.action:<13} {action.state:<9}  {age} old"
        if action.heartbeat != "none":
            line += f", heartbeat {action.heartbeat}"
        waiting = f"  blocks {', '.join(action.blocks)}" if action.blocks else ""
        console.print(Text.assemble(line, (waiting, DIM)), overflow="fold")


def _show(console: Console, folded: Folded, style: str) -> None:
    number = len(folded.findings)
    many = f"  {format_count(number, 'time')}" if number > 1 else ""
    head = Text.assemble("  ", (folded.first.rule, style), (many, DIM), f"  {folded.first.meaning}")
    console.print(head, overflow="fold")
    for finding in folded.findings[:SHOWN]:
        _show_finding(console, finding)
    if number > SHOWN:
        console.print(Text(f"      ... {number - SHOWN:,} more  (--format json has them all)", style=DIM))
    console.print(Padding(Text.assemble(("remedy    ", DIM), folded.first.remedy), (0, 0, 0, 6)))
    console.print()


def _show_finding(console: Console, finding: Finding) -> None:
    key = f"  {finding.key}" if finding.key and finding.key not in finding.path else ""
    place = "" if finding.offset is None else f"  byte {finding.offset:,}"
    console.print(Padding(Text.assemble((finding.path, "cyan"), place, key), (0, 0, 0, 4)), overflow="fold")
    for label, text in (("expected", finding.expected), ("found", finding.found)):
        console.print(Padding(Text.assemble((f"{label:<10}", DIM), text), (0, 0, 0, 6)))
