"""The matrix: chapters of the specification by engines, with the outcomes of their cases."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from hudi_conformance.cases.verdict import WORST_FIRST, Outcome, Result
from hudi_conformance.report.run import EngineRun, Run
from hudi_conformance.requirements import chapters

#: Colours of outcomes in a terminal.
STYLES = {
    Outcome.PASS: "green",
    Outcome.FAIL: "bold red",
    Outcome.CRASH: "bold red",
    Outcome.TIMEOUT: "bold red",
    Outcome.ERROR: "yellow",
    Outcome.REFUSED: "cyan",
    Outcome.UNSUPPORTED: "dim",
    Outcome.NOT_RUN: "bold yellow",
    Outcome.OPEN: "magenta",
}


@dataclass(frozen=True)
class Cell:
    """Outcomes of the cases of one chapter on one engine."""

    counts: Mapping[Outcome, int]

    @property
    def passed(self) -> int:
        """Cases with the right answer."""
        return self.counts.get(Outcome.PASS, 0)

    @property
    def asked(self) -> int:
        """Cases with a right answer that the engine was asked: it declares the features that they need."""
        return sum(number for outcome, number in self.counts.items() if outcome.is_asked)

    @property
    def all_right(self) -> bool:
        """Whether each case that the engine answered is right; refusals are no answers."""
        return bool(self.passed) and self.passed + self.counts.get(Outcome.REFUSED, 0) == self.asked

    @property
    def others(self) -> list[tuple[Outcome, int]]:
        """The other outcomes and how many cases had them, worst first."""
        return [(o, self.counts[o]) for o in WORST_FIRST if o is not Outcome.PASS and self.counts.get(o)]

    def __str__(self) -> str:
        """As in `59 of 61  2 wrong`."""
        return "  ".join([self.score, *(f"{n} {o.label}" for o, n in self.others)])

    @property
    def score(self) -> str:
        """Right answers of the cases that the engine was asked."""
        return f"{self.passed} of {self.asked}" if self.asked else "-"


@dataclass(frozen=True)
class Line:
    """One chapter of the matrix, or the total (`chapter` is None); `cells` are in the order of the engines."""

    chapter: str | None
    cells: tuple[Cell, ...]

    @property
    def title(self) -> str:
        """The title of the row."""
        return "all" if self.chapter is None else chapters.title(self.chapter)


def build_matrix(results: Sequence[Result], engines: Sequence[EngineRun]) -> list[Line]:
    """One line for each chapter that has results, in the order of the chapters, and the total."""
    present = chapters.in_order(r.chapter for r in results)
    lines = [_line(chapter, [r for r in results if r.chapter == chapter], engines) for chapter in present]
    return [*lines, _line(None, results, engines)]


def _line(chapter: str | None, results: Iterable[Result], engines: Sequence[EngineRun]) -> Line:
    counts = {e.name: Counter[Outcome]() for e in engines}
    for result in results:
        counts[result.engine][result.outcome] += 1
    return Line(chapter, tuple(Cell(counts[e.name]) for e in engines))


def sort_worst_first(results: Iterable[Result]) -> list[Result]:
    """Failures and unexpected results: unexpected ones before listed ones, wrong answers first."""
    shown = [r for r in results if r.outcome.is_failure or r.surprise is not None]
    return sorted(shown, key=lambda r: (r.surprise is None, WORST_FIRST.index(r.outcome), r.case, r.engine))


def matrix_table(run: Run, results: Sequence[Result]) -> Table:
    """The matrix for a terminal: engines side by side, or a column for each outcome if there is one engine."""
    found = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    found.add_column("", no_wrap=True)
    lines = build_matrix(results, run.engines)
    if len(run.engines) == 1:
        outcomes = [outcome for outcome, _ in lines[-1].cells[0].others]
        found.add_column("passed of asked")
        for outcome in outcomes:
            found.add_column(outcome.label, justify="right")
        for line in lines:
            found.add_row(*_columns(line, outcomes), style="bold" if line.chapter is None else "")
        return found
    for engine in run.engines:
        found.add_column(engine.title)
    for line in lines:
        style = "bold" if line.chapter is None else ""
        found.add_row(Text(line.title, style=style), *map(_cell, line.cells), style=style)
    return found


def _columns(line: Line, outcomes: Sequence[Outcome]) -> list[Text]:
    (cell,) = line.cells
    numbers = ((outcome, cell.counts.get(outcome, 0)) for outcome in outcomes)
    return [Text(line.title), _score(cell), *(Text(str(n), STYLES[o]) if n else Text("") for o, n in numbers)]


def _score(cell: Cell) -> Text:
    return Text(cell.score, style="dim" if not cell.asked else "green" if cell.all_right else "")


def _cell(cell: Cell) -> Text:
    if not cell.counts:
        return Text("-", style="dim")
    text = _score(cell)
    for outcome, number in cell.others:
        text.append("  ")
        text.append(f"{number} {outcome.label}", style=STYLES[outcome])
    return text
