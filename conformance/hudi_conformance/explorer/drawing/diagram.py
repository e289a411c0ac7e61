"""A run as a sequence diagram: the requests of each process in order, with the state of the table after each step.

`text` is for the terminal, `svg` and `html` are for pages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from hudi_conformance.explorer.drawing import svg as picture
from hudi_conformance.explorer.drawing.table_summary import Names, is_read
from hudi_conformance.explorer.simulation.runs import Run, Step

#: At least so many consecutive reads of one process are drawn as one line.
FEW = 3
_WIDEST = 46


@dataclass(frozen=True)
class Line:
    """One line of a diagram: the steps `first` to `last` of one process. `table` is None where nothing has changed."""

    first: int
    last: int
    process: str
    what: str
    kind: str
    time: int
    table: str | None

    @property
    def steps(self) -> str:
        """The numbers of the steps."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def diagram_lines(run: Run, names: Names, *, whole: bool = False) -> Iterator[Line]:
    """The lines of a run. With `whole` every step is a line, else consecutive reads share one."""
    shown, number = names.describe_table(run.simulated.state), 0
    for (process, without_errors), group in groupby(run.steps, key=lambda step: (step.process, is_read(step))):
        steps = list(group)
        parts = [steps] if without_errors and len(steps) >= FEW and not whole else [[step] for step in steps]
        for part in parts:
            first, number, step = number + 1, number + len(part), part[-1]
            table = names.describe_table(step.state)
            what = _cut(names.describe_request(step), _effect(step)) if len(part) == 1 else f"… {len(part)} reads"
            changed, shown = (table if table != shown else None), table
            yield Line(first, number, process, what, _kind(step), step.time - run.simulated.state.time, changed)


def _effect(step: Step) -> str:
    if step.fault is not None:
        return f"  ✕ {_FAULTS[step.fault]}"
    return f"  → {step.effect}" if step.effect not in ("ok", "changed") else ""


_FAULTS = {
    "crash-before": "crashes before it",
    "crash-after": "crashes after it",
    "lose-answer": "executed, answer lost",
    "lose-request": "not executed, no answer",
    "stall": "stalls for an hour",
}


def _kind(step: Step) -> str:
    """How a line is drawn."""
    if step.fault is not None or step.effect not in ("ok", "changed"):
        return "fault"
    if step.request in ("acquire", "release", "check"):
        return "lock"
    return "change" if step.effect == "changed" else "look"


# Text.


def draw_text(run: Run, title: str = "", *, whole: bool = False) -> str:
    """The diagram as text; a column for each process."""
    names, processes = Names.from_run(run), list(run.results)
    found = list(diagram_lines(run, names, whole=whole))
    width = {p: max([len(p), *(len(line.what) for line in found if line.process == p)]) for p in processes}
    head = _row("step", "ms", [p.ljust(width[p]) for p in processes], "table")
    rows = [_row("", "", [" " * width[p] for p in processes], names.describe_table(run.simulated.state))]
    for line in found:
        cells = [(line.what if p == line.process else "").ljust(width[p]) for p in processes]
        rows.append(_row(line.steps, str(line.time), cells, line.table or ""))
    ends = [f"{name}: {ended}" for name, ended in run.results.items()]
    legend = [f"{name} = {meaning}" for name, meaning in names.legend()]
    return "\n".join([*([title, ""] if title else []), head, "-" * len(head), *rows, "", *ends, *legend]) + "\n"


def _row(step: str, time: str, cells: Sequence[str], table: str) -> str:
    return f"{step:>7} {time:>6}  {'  '.join(cells)}  {table}".rstrip()


def _cut(what: str, effect: str) -> str:
    """The request, shortened so that its effect fits."""
    most = _WIDEST - len(effect)
    return (what if len(what) <= most else f"{what[: most - 1]}…") + effect


# SVG.

_LANE, _LEFT, _TABLE = 330, 70, 470


def draw_svg(run: Run, *, whole: bool = False) -> str:
    """The diagram as SVG: a vertical line for each process and for the store, an arrow for each request."""
    names, processes = Names.from_run(run), list(run.results)
    found = list(diagram_lines(run, names, whole=whole))
    store = _LEFT + _LANE * len(processes)
    height = picture.TOP + picture.HEIGHT * (len(found) + 2)
    at = {process: _LEFT + _LANE * place for place, process in enumerate(processes)}
    parts = [*_held(run, found, at), *picture.draw_lifelines(at | {"store": store}, height)]
    parts.append(picture.text_element(store + 14, picture.TOP - 6, names.describe_table(run.simulated.state), "soft"))
    for number, line in enumerate(found):
        parts += _step(line, at[line.process], store, picture.TOP + picture.HEIGHT * (number + 1))
    parts += [
        picture.text_element(at[name] + 6, height - 6, str(ended.how), "fault" if ended.how != "returned" else "soft")
        for name, ended in run.results.items()
    ]
    return picture.svg_document(store + _TABLE, height, f"{len(run.steps)} steps of {', '.join(processes)}", parts)


def _held(run: Run, found: Sequence[Line], at: dict[str, int]) -> Iterator[str]:
    """A bar behind the line of a process while it holds the lock."""
    holders = [run.steps[line.last - 1].state.holder for line in found]
    place = 0
    for holder, group in groupby(holders):
        length = len(list(group))
        if holder in at:
            top = picture.TOP + picture.HEIGHT * (place + 1) - 6
            yield f'<rect class="held" x="{at[holder] - 5}" y="{top}" width="10" height="{picture.HEIGHT * length}"/>'
        place += length


def _step(line: Line, x: int, store: int, y: int) -> Iterator[str]:
    yield from picture.draw_arrow(x, store - 2, y, line.what, line.kind)
    yield picture.text_element(8, y + 4, line.steps, "soft")
    if line.table is not None:
        yield picture.text_element(store + 14, y + 4, line.table, "")


def draw_html(run: Run, title: str, *, whole: bool = False) -> str:
    """The diagram as a part of a page: the SVG, and a legend of its names."""
    ends = {name: str(ended) for name, ended in run.results.items()}
    return picture.html_figure(title, draw_svg(run, whole=whole), ends | dict(Names.from_run(run).legend()))


def write_diagram(run: Run, title: str, path: Path) -> None:
    """Write the diagram in the format of the extension: .svg, .html, else text."""
    written = draw_text(run, title) if path.suffix not in (".svg", ".html") else ""
    path.write_text(
        written or (draw_svg(run) if path.suffix == ".svg" else picture.html_page(title, draw_html(run, title))),
        encoding="utf-8",
    )
