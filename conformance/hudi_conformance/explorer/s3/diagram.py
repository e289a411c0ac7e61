"""A run through the proxy as a sequence diagram: a column for each process, a line for each request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Self

from hudi_conformance.explorer.drawing import svg as picture
from hudi_conformance.explorer.s3.proxy import Exchange
from hudi_conformance.explorer.s3.run import Run

#: At least so many consecutive reads of one process are drawn as one line.
FEW = 3
#: Statuses that are not errors.
_USUAL = (200, 204, 206, 304, 404)
_INSTANT = re.compile(r"(?<!\d)\d{17}(?!\d)")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-\d+)?")
_PROBE = re.compile(r"probe-[0-9a-f]{32}")


class Names:
    """Short names for times and file ids, numbered in the order of their first use."""

    def __init__(self) -> None:
        self.legend: dict[str, str] = {}

    def describe_request(self, exchange: Exchange) -> str:
        """The request in a line: the path within the table, of several the first."""
        first, *others = exchange.request.place.split(" ")
        table, slash, path = first.partition("/")
        more = f" and {len(others)} more" if others else ""
        return f"{exchange.request.kind} {self.shorten_path(path or slash or table)}{more}"

    def shorten_path(self, place: str) -> str:
        """The path, with short names."""
        place = _PROBE.sub("probe", place)
        for pattern, letter in ((_ID, "file"), (_INSTANT, "t")):
            place = pattern.sub(partial(self._name, letter), place)
        return place

    def _name(self, letter: str, match: re.Match[str]) -> str:
        long = match[0]
        if long not in self.legend:
            count = sum(name.rstrip("0123456789") == letter for name in self.legend.values())
            self.legend[long] = f"{letter}{count + 1}"
        return self.legend[long]


@dataclass(frozen=True)
class Line:
    """A request, or several reads; `kind` is look, change or fault."""

    numbers: str
    process: str
    what: str
    kind: str


@dataclass(frozen=True)
class Drawing:
    """The content of a diagram: the processes and how each ended, the lines, and the legend of short names."""

    title: str
    ends: Mapping[str, str]
    lines: tuple[Line, ...]
    legend: Mapping[str, str]
    best_effort: tuple[str, ...] = ()

    @classmethod
    def from_run(cls, run: Run, title: str) -> Self:
        """The diagram of a run."""
        names = Names()
        lines = tuple(_lines(run.exchanges, list(run.results), names))
        legend = {short: long for long, short in names.legend.items()}
        return cls(title, {name: _end(run, name) for name in run.results}, lines, legend, run.best_effort)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """A stored diagram."""
        return cls(**{**raw, "lines": tuple(Line(**line) for line in raw["lines"]), "best_effort": tuple(raw["best_effort"])})

    def to_json(self) -> dict[str, Any]:
        """The diagram as JSON."""
        return asdict(self)

    def text(self) -> str:
        """The diagram as text, for the terminal."""
        width = {name: max(map(len, [name, *(line.what for line in self.lines if line.process == name)])) for name in self.ends}
        head = f"{'request':>9}  " + "  ".join(name.ljust(width[name]) for name in self.ends)
        body = [
            f"{line.numbers:>9}  " + "  ".join((line.what if name == line.process else "").ljust(width[name]) for name in width)
            for line in self.lines
        ]
        meanings = [f"{name}: {end}" for name, end in self.ends.items()]
        meanings += ["", *(f"{short} = {long}" for short, long in self.legend.items())]
        effort = ["", "best effort, for:", *self.best_effort] if self.best_effort else []
        return "\n".join([self.title, "", head, "-" * len(head), *map(str.rstrip, body), "", *meanings, *effort]) + "\n"

    def svg(self) -> str:
        """The diagram as SVG: a vertical line for each process and for the store, an arrow for each request."""
        lane = 30 + 8 * max([40, *(len(line.what) for line in self.lines)])
        at = {name: 80 + lane * place for place, name in enumerate(self.ends)}
        store, height = 80 + lane * len(at), picture.TOP + picture.HEIGHT * (len(self.lines) + 2)
        parts = [*picture.draw_lifelines(at | {"store": store}, height)]
        for number, line in enumerate(self.lines):
            y = picture.TOP + picture.HEIGHT * (number + 1)
            parts += picture.draw_arrow(at[line.process], store - 2, y, line.what, line.kind)
            parts.append(picture.text_element(8, y + 4, line.numbers, "soft"))
        return picture.svg_document(store + 80, height, f"requests of {' and '.join(at)}, in order", parts)

    def html(self) -> str:
        """The diagram as a part of a page, with its legend."""
        effort = {"best effort": "; ".join(self.best_effort)} if self.best_effort else {}
        return picture.html_figure(self.title, self.svg(), {**self.ends, **self.legend, **effort})

    def write(self, path: Path) -> None:
        """Write it in the format of the extension: .svg, .html, else text."""
        if path.suffix == ".html":
            written = picture.html_page(self.title, self.html())
        else:
            written = self.svg() if path.suffix == ".svg" else self.text()
        path.write_text(written, encoding="utf-8")


def _lines(exchanges: Sequence[Exchange], processes: Sequence[str], names: Names) -> Iterator[Line]:
    known = [exchange for exchange in exchanges if exchange.client in processes]
    for (process, is_quiet), group in groupby(known, key=lambda e: (e.client, _is_quiet(e))):
        found = list(group)
        if is_quiet and len(found) >= FEW:
            yield Line(f"{found[0].number}-{found[-1].number}", process, f"… {len(found)} reads", "look")
        else:
            yield from (Line(str(one.number), process, _words(one, names), _kind(one)) for one in found)


def _is_quiet(exchange: Exchange) -> bool:
    return _kind(exchange) == "look"


def _kind(exchange: Exchange) -> str:
    """How a line is drawn."""
    if exchange.fault is not None or exchange.reported not in _USUAL:
        return "fault"
    return "change" if exchange.changed else "look"


def _words(exchange: Exchange, names: Names) -> str:
    reported = "no answer" if exchange.reported is None else str(exchange.reported)
    fault = f"  ✕ {exchange.fault}" if exchange.fault else ""
    return f"{names.describe_request(exchange)} → {reported}{fault}"


def _end(run: Run, name: str) -> str:
    ended = run.results[name]
    if ended.error is None:
        return f"{ended.how} {ended.value}"
    return f"{ended.how} {type(ended.error).__name__}: {str(ended.error).partition(chr(10))[0]}"
