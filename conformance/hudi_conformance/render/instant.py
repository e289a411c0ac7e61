"""The page of the file of an action in one state: action, state, times, record."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text
from rich.tree import Tree

from hudi_conformance.engines.reference.instants import content_of, instant_record
from hudi_conformance.render.hfile import show_error
from hudi_conformance.render.parts.layout import (
    DIM,
    OK,
    WARNING,
    Fact,
    format_count,
    print_facts,
    print_title,
    readable_instant,
    shorten_line,
)
from hudi_reference.errors import HudiError
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State, moves_of

_COLOURS = {State.REQUESTED: WARNING, State.INFLIGHT: WARNING, State.COMPLETED: OK}
#: Elements of a list, fields of a map that are shown.
_MOST = 20


def show_instant(console: Console, storage: Storage, path: str, instant: Instant) -> HudiError | None:
    """Print the file of an action. Returns the error for which a reader must refuse it, or None."""
    data = storage.get(path)
    console.print(Text(path, style="bold"), overflow="fold")
    console.print(
        Text.assemble(
            (instant.action, "cyan"),
            " · ",
            (instant.state.name, _COLOURS[instant.state]),
            f" · {format_count(len(data), 'byte')}",
        )
    )
    console.print()
    print_facts(console, _times(instant))
    try:
        record = instant_record(storage, path, instant)
        content = None if record is None else content_of(record, path)
    except HudiError as error:
        show_error(console, error)
        return error
    print_title(console, "content", "" if record is None else record.name)
    if content is None:
        console.print(Text("  empty, which is allowed in this state", style=DIM))
    else:
        _show_content(console, content)
    return None


def _times(instant: Instant) -> Iterator[Fact]:
    """The times, the duration, and the possible next steps."""
    yield "requested", Text.assemble(instant.requested, (readable_instant(instant.requested), DIM))
    if instant.completion is not None:
        yield "completion", Text.assemble(instant.completion, (readable_instant(instant.completion), DIM))
        if (took := _between(instant.requested, instant.completion)) is not None:
            yield "took", str(took)
    moves = dict.fromkeys(move.named for move in moves_of(ACTIONS[instant.action]) if move.start is instant.state)
    yield "next", Text(", ".join(moves) or "nothing: it stays", style=DIM)


def _between(requested: str, completion: str) -> timedelta | None:
    """The time between two instants; None if one of them is not a date and time."""
    try:
        first, last = (datetime.strptime(time.ljust(17, "9")[:17], "%Y%m%d%H%M%S%f") for time in (requested, completion))
    except ValueError:
        return None
    return last - first


def _show_content(console: Console, content: Mapping[str, Any]) -> None:
    tree = Tree("", hide_root=True, guide_style=DIM)
    _add(tree, content)
    console.print(Padding(tree, (0, 0, 0, 2)))


def _add(tree: Tree, value: Mapping[str, Any] | list[Any]) -> None:
    """The entries of an object or list below their node; fields without a value together in one line."""
    named = list(value.items()) if isinstance(value, Mapping) else [(f"[{n}]", item) for n, item in enumerate(value)]
    there = [(name, item) for name, item in named if item is not None]
    for name, item in there[:_MOST]:
        label = name or '""'
        if isinstance(item, Mapping | list) and item:
            _add(tree.add(Text.assemble((label, "cyan"), (f"  {_extent(item)}", DIM))), item)
        else:
            tree.add(Text.assemble((label, "cyan"), "  ", _leaf(item)))
    if len(there) > _MOST:
        tree.add(Text(f"... {len(there) - _MOST:,} more", style=DIM))
    if nulls := [name for name, item in named if item is None]:
        tree.add(Text(f"null: {', '.join(nulls)}", style=DIM))


def _extent(item: Mapping[str, Any] | list[Any]) -> str:
    return f"({len(item)})" if isinstance(item, list) else ""


def _leaf(item: Any) -> Text:
    if isinstance(item, Mapping | list):
        return Text("none", style=DIM)
    text = str(item).lower() if isinstance(item, bool) else str(item)
    return Text(shorten_line(text, 160)) if text else Text('""', style=DIM)
