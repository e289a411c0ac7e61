"""`hudi-conformance coverage`: coverage of the specification, rule by rule."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hudi_conformance.commands.exit_codes import USAGE, exit_code
from hudi_conformance.console import print_table
from hudi_conformance.report.evidence import coverage as report
from hudi_conformance.report.evidence import gaps
from hudi_conformance.report.evidence.coverage_page import render_page
from hudi_conformance.report.evidence.evidence import ROOT, gather_evidence
from hudi_conformance.report.evidence.unjudged import find_wrong_reasons, load_unjudged
from hudi_conformance.report.stored_verdicts import store_verdicts
from hudi_conformance.requirements.chapters import chapters

#: The columns of the table in the terminal, and the total in each.
COLUMNS = {
    "rules": "requirements",
    "code": "implemented",
    "cases": "with_cases",
    "mutation-tested": "level_mutation_tested",
    "judged": "level_judged",
    "proven": "level_proven",
    "uncovered": "uncovered",
    "mutants": "mutants",
    "killed": "mutants_killed",
}


def coverage(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if the page is stale or evidence is missing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the coverage as JSON; write nothing.")] = False,
    accept_gaps: Annotated[
        bool, typer.Option("--accept-gaps", help="Accept new gaps in the evidence: they are added to gaps.toml.")
    ] = False,
    record_from: Annotated[
        list[Path] | None,
        typer.Option("--record", metavar="DIR", help="First store the verdicts of a report folder (run --report)."),
    ] = None,
) -> None:
    """Write spec_coverage.md: for each rule its code, cases and mutants, and the verdicts of the engines."""
    if not (ROOT / "pyproject.toml").is_file():
        typer.echo("coverage needs a source checkout with sources, cases and results", err=True)
        raise typer.Exit(USAGE)
    for folder in record_from or ():
        if not all((folder / name).is_file() for name in ("run.json", "report.jsonl")):
            typer.echo(f"{folder} is no report folder; hudi-conformance run --report {folder} writes one", err=True)
            raise typer.Exit(USAGE)
        for path in store_verdicts(folder):
            typer.echo(f"recorded {path.relative_to(ROOT)}", err=True)
    evidence = gather_evidence()
    entries = report.list_entries(evidence)
    if as_json:
        typer.echo(json.dumps(report.entries_as_json(entries), indent=1))
        return
    if not check:
        found = gaps.find_gaps(evidence)
        gaps.save_gaps(found if accept_gaps else gaps.shrink(gaps.load_gaps(), found))
    fresh = render_page(entries, evidence.verdicts, evidence.counts)
    wrong = [*report.find_problems(evidence), *report.find_old_evidence(evidence)]
    wrong += find_wrong_reasons(entries, load_unjudged())
    if check:
        wrong += filter(None, [report.describe_page_difference(fresh)])
    else:
        report.FILE.write_text(fresh, encoding="utf-8")
    _show(entries)
    for line in wrong:
        typer.echo(line, err=True)
    raise typer.Exit(exit_code(not wrong))


def _show(entries: tuple[report.CoverageEntry, ...]) -> None:
    """The totals of each chapter, in the terminal."""
    table = Table("chapter", "areas", *COLUMNS, box=None, header_style="bold")
    for column in table.columns[2:]:
        column.justify = "right"
    for chapter in chapters().values():
        found = report.count_evidence(e for e in entries if e.requirement.area in chapter.areas)
        table.add_row(chapter.title, ", ".join(chapter.areas), *(str(found[c]) for c in COLUMNS.values()))
    table.add_section()
    table.add_row("all", "", *(str(report.count_evidence(entries)[c]) for c in COLUMNS.values()), style="bold")
    print_table(table)
