"""The matrix: areas by engines, what passed and what else came of the rest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from hudi_conformance.cases.case import AREAS
from hudi_conformance.cases.verdict import WORST_FIRST, Outcome, Result
from hudi_conformance.report.run import EngineRun, Run

#: Colours of outcomes in a terminal.
STYLES = {
    Outcome.PASS: "green",
    Outcome.FAIL: "bold red",
    Outcome.CRASH: "bold red",
    Outcome.TIMEOUT: "bold red",
    Outcome.ERROR: "yellow",
    Outcome.REFUSED: "cyan",
    Outcome.UNSUPPORTED: "dim",
    Outcome.OPEN: "magenta",
}


@dataclass(frozen=True)
class Cell:
    """What came of the cases of one area on one engine."""

    counts: Mapping[Outcome, int]

    @property
    def passed(self) -> int:
        """Cases with the right answer."""
        return self.counts.get(Outcome.PASS, 0)

    @property
    def total(self) -> int:
        """Cases that have a right answer: all but the open ones."""
        return sum(self.counts.values()) - self.counts.get(Outcome.OPEN, 0)

    @property
    def others(self) -> list[tuple[Outcome, int]]:
        """How many cases ended in which other way, worst first."""
        return [(o, self.counts[o]) for o in WORST_FIRST if o is not Outcome.PASS and self.counts.get(o)]

    def __str__(self) -> str:
        """As in `59/61  2 wrong`."""
        return "  ".join([f"{self.passed}/{self.total}", *(f"{n} {o.words}" for o, n in self.others)])


@dataclass(frozen=True)
class Line:
    """One area of the matrix, or the total (`area` is None); `cells` are in the order of the engines."""

    area: str | None
    cells: tuple[Cell, ...]

    @property
    def title(self) -> str:
        """The area's name for people."""
        return "all" if self.area is None else AREAS.get(self.area, self.area)


def matrix(results: Sequence[Result], engines: Sequence[EngineRun]) -> list[Line]:
    """One line per area that has results, in the order of `AREAS`, and the total."""
    order = [*AREAS, *sorted({r.area for r in results} - AREAS.keys())]
    lines = [_line(area, [r for r in results if r.area == area], engines) for area in order]
    return [line for line in lines if any(c.counts for c in line.cells)] + [_line(None, results, engines)]


def _line(area: str | None, results: Iterable[Result], engines: Sequence[EngineRun]) -> Line:
    counts = {e.name: Counter[Outcome]() for e in engines}
    for result in results:
        counts[result.engine][result.outcome] += 1
    return Line(area, tuple(Cell(counts[e.name]) for e in engines))


def worst_first(results: Iterable[Result]) -> list[Result]:
    """What is not as it should be: surprises before what is known, wrong answers first."""
    shown = [r for r in results if r.outcome.is_failure or r.surprise is not None]
    return sorted(shown, key=lambda r: (r.surprise is None, WORST_FIRST.index(r.outcome), r.case, r.engine))


def table(run: Run, results: Sequence[Result]) -> Table:
    """The matrix for a terminal."""
    found = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    found.add_column("", no_wrap=True)
    for engine in run.engines:
        found.add_column(engine.title)
    for line in matrix(results, run.engines):
        style = "bold" if line.area is None else ""
        found.add_row(Text(line.title, style=style), *map(_cell, line.cells), style=style)
    return found


def _cell(cell: Cell) -> Text:
    if not cell.counts:
        return Text("-", style="dim")
    text = Text(f"{cell.passed}/{cell.total}", style="green" if cell.passed == cell.total else "")
    for outcome, number in cell.others:
        text.append("  ")
        text.append(f"{number} {outcome.words}", style=STYLES[outcome])
    return text
