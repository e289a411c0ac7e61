"""A run as a sequence diagram: who asked what, in order, with the state of the table after each step.

`text` is for the terminal, `svg` for pages; `page` is a whole page with the picture and the words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

from hudi_conformance.schedule.scheduler import Run, Step
from hudi_conformance.schedule.table_line import Names, is_quiet

#: So many steps in a row of one process that only look become one line.
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


def lines(run: Run, names: Names, *, whole: bool = False) -> Iterator[Line]:
    """The lines of a run; `whole` shows every step, else many that only look are one line."""
    shown, number = names.table(run.world.state), 0
    for (process, quiet), group in groupby(run.steps, key=lambda step: (step.process, is_quiet(step))):
        steps = list(group)
        parts = [steps] if quiet and len(steps) >= FEW and not whole else [[step] for step in steps]
        for part in parts:
            first, number, step = number + 1, number + len(part), part[-1]
            table = names.table(step.state)
            what = _cut(names.request(step), _effect(step)) if len(part) == 1 else f"… {len(part)} that only look"
            changed, shown = (table if table != shown else None), table
            yield Line(first, number, process, what, _kind(step), step.time - run.world.state.time, changed)


def _effect(step: Step) -> str:
    if step.fault is not None:
        return f"  ✕ {_FAULTS[step.fault]}"
    return f"  → {step.effect}" if step.effect not in ("ok", "changed") else ""


_FAULTS = {
    "crash-before": "dies before it",
    "crash-after": "dies after it",
    "lose-answer": "done, and no answer",
    "lose-request": "not done, and no answer",
    "stall": "stands still",
}


def _kind(step: Step) -> str:
    """How a line is drawn."""
    if step.fault is not None or step.effect not in ("ok", "changed"):
        return "fault"
    if step.request in ("acquire", "release", "check"):
        return "lock"
    return "change" if step.effect == "changed" else "look"


# Words.


def text(run: Run, title: str = "", *, whole: bool = False) -> str:
    """The diagram in words; a column for each process."""
    names, processes = Names.of(run), list(run.results)
    found = list(lines(run, names, whole=whole))
    width = {p: max([len(p), *(len(line.what) for line in found if line.process == p)]) for p in processes}
    head = _row("step", "ms", [p.ljust(width[p]) for p in processes], "table")
    rows = [_row("", "", [" " * width[p] for p in processes], names.table(run.world.state))]
    for line in found:
        cells = [(line.what if p == line.process else "").ljust(width[p]) for p in processes]
        rows.append(_row(line.steps, str(line.time), cells, line.table or ""))
    ends = [f"{name}: {ended}" for name, ended in run.results.items()]
    legend = [f"{name} = {meaning}" for name, meaning in names.legend()]
    return "\n".join([*([title, ""] if title else []), head, "-" * len(head), *rows, "", *ends, *legend]) + "\n"


def _row(step: str, time: str, cells: Sequence[str], table: str) -> str:
    return f"{step:>7} {time:>6}  {'  '.join(cells)}  {table}".rstrip()


def _cut(what: str, effect: str) -> str:
    """What was asked, shortened so that what came of it can be seen."""
    most = _WIDEST - len(effect)
    return (what if len(what) <= most else f"{what[: most - 1]}…") + effect


# Pictures.

_LANE, _LEFT, _TOP, _HEIGHT, _TABLE = 330, 70, 46, 22, 470

_STYLE = """
.run { --ink: #1d2430; --soft: #5b6573; --line: #cfccc3; --held: #ece7fb;
  --change: #24508f; --lock: #6b4fb3; --fault: #c02b2b; }
@media (prefers-color-scheme: dark) {
  .run { --ink: #e6e9ee; --soft: #a2acba; --line: #3c4756; --held: #342e4d;
    --change: #8db8f5; --lock: #b9a3f5; --fault: #ff8a80; }
}
.run text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: var(--ink); }
.run .name { font-weight: 600; font-size: 13px; } .run .soft { fill: var(--soft); }
.run .life { stroke: var(--line); } .run .held { fill: var(--held); }
.run .look { stroke: var(--line); fill: var(--soft); } .run .change { stroke: var(--change); fill: var(--change); }
.run .lock { stroke: var(--lock); fill: var(--lock); } .run .fault { stroke: var(--fault); fill: var(--fault); }
.run text.look, .run text.change, .run text.lock, .run text.fault { stroke: none; }
"""


def svg(run: Run, *, whole: bool = False) -> str:
    """The diagram as a picture: a line down for each process and for the store, an arrow for each request."""
    names, processes = Names.of(run), list(run.results)
    found = list(lines(run, names, whole=whole))
    store = _LEFT + _LANE * len(processes)
    width, height = store + _TABLE, _TOP + _HEIGHT * (len(found) + 2)
    at = {process: _LEFT + _LANE * place for place, process in enumerate(processes)}
    parts = [*_held(run, found, at), *_lives(at | {"store": store}, height)]
    parts.append(_text(store + 14, _TOP - 6, names.table(run.world.state), "soft"))
    for number, line in enumerate(found):
        parts += _arrow(line, at[line.process], store, _TOP + _HEIGHT * (number + 1))
    parts += [
        _text(at[name] + 6, height - 6, str(ended.how), "fault" if ended.how != "returned" else "soft")
        for name, ended in run.results.items()
    ]
    label = escape(f"{len(run.steps)} steps of {', '.join(processes)}")
    return (
        f'<svg class="run" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{label}"><style>{_STYLE}</style>{"".join(parts)}</svg>\n'
    )


def _lives(at: dict[str, int], height: int) -> Iterator[str]:
    for name, x in at.items():
        yield f'<line class="life" x1="{x}" y1="{_TOP - 14}" x2="{x}" y2="{height - 20}"/>'
        yield _text(x - 4, _TOP - 22, name, "name")


def _held(run: Run, found: Sequence[Line], at: dict[str, int]) -> Iterator[str]:
    """Behind the line of a process, a bar for as long as it holds the lock."""
    holders = [run.steps[line.last - 1].state.holder for line in found]
    place = 0
    for holder, group in groupby(holders):
        length = len(list(group))
        if holder in at:
            top = _TOP + _HEIGHT * (place + 1) - 6
            yield f'<rect class="held" x="{at[holder] - 5}" y="{top}" width="10" height="{_HEIGHT * length}"/>'
        place += length


def _arrow(line: Line, x: int, store: int, y: int) -> Iterator[str]:
    end = store - 2
    dashes = ' stroke-dasharray="3 3"' if line.kind == "look" else ""
    yield f'<g class="{line.kind}"><line x1="{x}" y1="{y}" x2="{end}" y2="{y}"{dashes}/>'
    yield f'<path d="M{end} {y} l-6 -3 v6 z"/></g>'
    yield _text(x + 6, y - 4, line.what, line.kind)
    yield _text(8, y + 4, line.steps, "soft")
    if line.table is not None:
        yield _text(store + 14, y + 4, line.table, "")


def _text(x: int, y: int, content: str, kind: str) -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(content)}</text>'


def html(run: Run, title: str, *, whole: bool = False) -> str:
    """The diagram as a part of a page: the picture, and what its names mean."""
    names = Names.of(run)
    meanings = "".join(f"<dt>{escape(name)}</dt><dd>{escape(meaning)}</dd>" for name, meaning in names.legend())
    ends = "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(ended))}</dd>" for name, ended in run.results.items())
    return (
        f'<figure class="run-of-steps"><figcaption>{escape(title)}</figcaption>'
        f'<div style="overflow-x: auto">{svg(run, whole=whole)}</div><dl class="legend">{ends}{meanings}</dl></figure>\n'
    )


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,"><style>
:root {{ color-scheme: light dark; }}
body {{ margin: 2rem; font: 16px/1.5 system-ui, sans-serif;
  background: light-dark(#fbfaf7, #14181f); color: light-dark(#1d2430, #e6e9ee); }}
figure {{ margin: 0; }} figcaption {{ font-weight: 600; margin-bottom: 1rem; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .88rem; }} dd {{ margin: 0; }}
</style></head><body>{body}</body></html>
"""


def page(run: Run, title: str, *, whole: bool = False) -> str:
    """A whole page."""
    return _PAGE.format(title=escape(title), body=html(run, title, whole=whole))


def write_diagram(run: Run, title: str, path: Path) -> None:
    """Write the diagram as the ending of the path says: .svg, .html, else text."""
    written = text(run, title) if path.suffix not in (".svg", ".html") else ""
    path.write_text(written or (svg(run) if path.suffix == ".svg" else page(run, title)), encoding="utf-8")
