"""A picture of the parts of a file."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text


@dataclass(frozen=True)
class Span:
    """The bytes from `start` to `end`, exclusive, their label, and whether they are damaged. `style` is a rich style."""

    start: int
    end: int
    label: str
    style: str
    wrong: bool = False


#: The widest picture, and the least room for one span.
_WIDEST, _LEAST = 100, 3


def print_bar(console: Console, spans: Sequence[Span]) -> None:
    """A line of boxes as wide as their share of the file, offsets below; nothing if they do not fit into a line."""
    spans = _joined(spans) if len(spans) * (_LEAST + 1) >= _room(console) else spans
    widths = _widths([span.end - span.start for span in spans], _room(console) - len(spans) - 1)
    if not spans or min(widths) < 1:
        return
    boxes, places, at = Text("  |"), [], 2
    for span, width in zip(spans, widths, strict=True):
        boxes.append(_label(span, width), style=span.style).append("|")
        places.append((at, f"{span.start:,}"))
        at += width + 1
    console.print()
    console.print(boxes, no_wrap=True)
    console.print(Text(_offsets(places, at, f"{spans[-1].end:,}"), style="dim"), no_wrap=True)


def _offsets(places: Sequence[tuple[int, str]], end: int, last: str) -> str:
    """Each offset below the start of its span if it fits, the last one at the end."""
    line = ""
    for at, text in places:
        if len(line) < at or not line:
            fits = not line or at + len(text) < end - len(last)
            line = line.ljust(at) + text if fits else line
    return line.ljust(end + 1 - len(last)) + last


def _room(console: Console) -> int:
    return min(console.width, _WIDEST) - 4


def _label(span: Span, width: int) -> str:
    label = span.label if len(span.label) + 2 <= width else span.label[:width] if width >= _LEAST else ""
    if span.wrong and len(label) + 2 > width:
        return "x" * width
    padded = f" {label} " if len(label) + 2 <= width and label else label
    return padded.center(width, "x" if span.wrong else " ")


def _widths(sizes: Sequence[int], room: int) -> list[int]:
    """Shares of `room`, none below the least."""
    total = sum(sizes) or 1
    free = room - _LEAST * len(sizes)
    if free < 0:
        return [0] * len(sizes)
    widths = [_LEAST + free * size // total for size in sizes]
    if widths:
        widths[sizes.index(max(sizes))] += room - sum(widths)
    return widths


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Neighbours of one kind as one span."""
    joined: list[tuple[Span, int]] = []
    for span in spans:
        last, count = joined[-1] if joined else (None, 0)
        if last is not None and (last.label, last.wrong) == (span.label, span.wrong):
            joined[-1] = Span(last.start, span.end, last.label, last.style, last.wrong), count + 1
        else:
            joined.append((span, 1))
    return [Span(s.start, s.end, s.label if n == 1 else f"{n} {s.label}", s.style, s.wrong) for s, n in joined]
