"""A run as annotations of GitHub Actions, and as the Markdown summary of a step."""

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.report.failure_text import failure_facts
from hudi_conformance.report.folding import fold_by_fault
from hudi_conformance.report.matrix import build_matrix, sort_worst_first
from hudi_conformance.report.run import Run

#: So many ids of cases with one fault are named in an annotation.
SHOWN = 10


def annotations(run: Run, results: Sequence[Result], lists: Path | None = None) -> Iterator[str]:
    """One workflow command for each fault that is not expected, stale entry, and flaky case that failed.

    Args:
        run: the run.
        results: its results.
        lists: the list of expected failures that was given; annotations of its entries are shown on it.
    """
    for fault in fold_by_fault(r for r in sort_worst_first(results) if r.surprise is not None):
        more = f" and {len(fault.cases) - 1} more" if len(fault.cases) > 1 else ""
        danger = f" ({', '.join(fault.first.danger)})" if fault.first.danger else ""
        title = f"{fault.first.case}{more}: {fault.first.outcome.label}{danger}"
        yield _command("error", _place(fault.first, lists), title, "\n".join(_lines(fault.first, fault.cases)))
    for complaint in run.stale:
        yield _command("error", _below(lists), "stale entry in the list of expected failures", complaint)
    for complaint in run.stopped:
        yield _command("error", None, "stopped after too many time-outs", complaint)
    for result in results:
        if result.flaky is not None and result.outcome.is_failure:
            title = f"{result.case}: {result.outcome.label}, flaky"
            yield _command("warning", _place(result, lists), title, f"{result.message}\n{result.flaky}")


def _lines(result: Result, cases: Sequence[str]) -> Iterator[str]:
    yield result.engine
    yield from (f"{name}: {value}" if name else value for name, value in failure_facts(result) if name != "repeat")
    if len(cases) > 1:
        yield f"same in: {', '.join(cases[1 : SHOWN + 1])}{', ...' if len(cases) > SHOWN + 1 else ''}"
    yield f"repeat: {result.rerun_command}"


def _place(result: Result, lists: Path | None) -> str | None:
    """The file of the repository to annotate: the list, the program of the adapter, or the case."""
    words = shlex.split(result.engine)
    found = [_below(lists), *(_below(Path(word)) for word in reversed(words)), _below(Path(result.node.partition("::")[0]))]
    return next((place for place in found if place is not None), None)


def _below(path: Path | None) -> str | None:
    """The path relative to the checkout, if it is a file in it."""
    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    if path is None or not path.is_file() or not path.resolve().is_relative_to(root):
        return None
    return path.resolve().relative_to(root).as_posix()


def _command(kind: str, file: str | None, title: str, message: str) -> str:
    where = f"file={_property(file)},line=1," if file is not None else ""
    return f"::{kind} {where}title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(run: Run, results: Sequence[Result]) -> str:
    """The matrix as a Markdown table, one column for each engine."""
    head = ["| chapter |", *(f" {engine.title} |" for engine in run.engines)]
    lines = ["".join(head), "|---|" + "---|" * len(run.engines)]
    lines += [f"| {line.title} |" + "".join(f" {cell} |" for cell in line.cells) for line in build_matrix(results, run.engines)]
    wrong = sum(r.surprise is not None for r in results)
    verdict = f"{wrong} results are not as expected." if wrong else "All results are as expected."
    refused = sum(r.outcome is Outcome.REFUSED for r in results)
    counts = f"{verdict} Scores are passed of asked; {refused} refusals do not count as failures."
    return "\n".join(["## hudi-conformance", "", *lines, "", counts, ""])


def write_summary(run: Run, results: Sequence[Result]) -> None:
    """Append the summary to the file that GitHub Actions names, if there is one."""
    if place := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(summary(run, results))
