"""`hudi-conformance site`: a static site from the published results."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hudi_conformance.commands.exit_codes import USAGE

if TYPE_CHECKING:
    from hudi_conformance.report.site.content import Content


def site(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the site; an earlier site is replaced.")
    ],
    results: Annotated[
        list[Path] | None, typer.Option("--add", metavar="REPORT", help="Add the results of a report folder (run --report).")
    ] = None,
) -> None:
    """Write a static site from the published results: matrix, trend, rules, cases, known failures and badges."""
    from hudi_conformance.report.site import folder
    from hudi_conformance.report.site.build import render_pages

    content = _content(results or [])
    begin = time.process_time()
    try:
        number, size = folder.write_site(output, render_pages(content, _progress))
    except (folder.NotASite, OSError) as error:
        raise _stop(str(error)) from None
    seconds = time.process_time() - begin
    typer.echo(f"{output / 'index.html'}: {number} files, {size / 1e6:.1f} MB, {seconds:.0f} s of CPU")


def _content(added: list[Path]) -> "Content":
    from dataclasses import replace

    from hudi_conformance.report.evidence.evidence import RESULTS, gather_evidence
    from hudi_conformance.report.site.content import Content
    from hudi_conformance.runner import expected_failures

    try:
        evidence = gather_evidence()
    except (ValueError, KeyError, TypeError) as error:
        raise _stop(f"the results in {RESULTS} cannot be read: {error}") from None
    verdicts = {**evidence.verdicts, **{engine: found for path in added for engine, found in _added(path).items()}}
    if not verdicts:
        raise _stop(f"there are no results in {RESULTS}; hudi-conformance coverage --record REPORT stores them")
    lists = {
        path.stem: expected_failures.load_list(path.stem, path)
        for path in sorted(expected_failures.lists_folder().glob("*.toml"))
    }
    failures = {name: tuple(known.entries.values()) for name, known in lists.items() if known.entries}
    return Content(replace(evidence, verdicts=verdicts), failures)


def _added(report: Path) -> dict[str, dict[str, str]]:
    from hudi_conformance.report.published import outcomes_by_case
    from hudi_conformance.report.saved_run import read_report

    try:
        return outcomes_by_case(read_report(report)[1])
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else error
        raise _stop(f"{report} is no report folder ({reason}); hudi-conformance run --report {report} writes one") from None


def _progress(kind: str, number: int, total: int) -> None:
    """A line for each fifth of the pages of a kind."""
    if number == total or number % max(1, total // 5) == 0:
        typer.echo(f"{kind} {number} of {total}", err=True)


def _stop(message: str) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(USAGE)
