"""A picture of a timeline: each action as a bar from its requested to its completion time, with a summary."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hudi_conformance.render.action_summary import summarize_action
from hudi_conformance.render.parts.axis import AT_WORK, DONE, PLANNED, Axis, format_duration, time_between
from hudi_conformance.render.parts.layout import DIM, WARNING, WRONG, format_count, readable_instant
from hudi_reference import Table
from hudi_reference.errors import HudiError
from hudi_reference.timeline.contents.actions import load_action
from hudi_reference.timeline.history.archived import metadata_of
from hudi_reference.timeline.history.history import ArchivedAction
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

#: Actions of the active timeline that are shown one by one unless all are asked for.
MOST = 40
#: The width of a line without bar and summary, and the least, preferred and greatest width of a bar.
_OTHER_COLUMNS = 2 + 17 + 2 + 13 + 2 + 2 + 9
_NARROWEST_BAR, _NARROW_BAR, _WIDEST_BAR = 8, 16, 48

_COLOURS = {
    "commit": "green", "deltacommit": "green", "replacecommit": "blue", "clean": "cyan", "indexing": "cyan",
    "savepoint": "magenta", "rollback": "red", "restore": "red",
}  # fmt: skip
_SIGNS = {State.REQUESTED: PLANNED, State.INFLIGHT: AT_WORK, State.COMPLETED: DONE}


@dataclass(frozen=True)
class Line:
    """One action of the picture: `summary` is what it did; `wrong` is whether its file cannot be read."""

    instant: Instant
    archived: bool = False
    summary: str = ""
    wrong: bool = False

    @property
    def is_done(self) -> bool:
        """Whether the action is completed."""
        return self.instant.state is State.COMPLETED


def show_timeline(console: Console, table: Table, *, everything: bool = False) -> None:
    """The picture of the timeline of `table`; with `everything` without abbreviations."""
    timeline = table.timeline
    instants = timeline.instants
    active = {instant.identity for instant in timeline.completed}
    archived = [Line(instant, archived=True) for instant in timeline.history if instant.identity not in active]
    console.print(Text.assemble(("timeline", "bold"), (f"  {_summary(instants, archived)}", DIM)))
    if everything:
        said = {action.instant.identity: action for action in timeline.archived.actions(plan=False)}
        lines = [_of_history(line, said) for line in archived] + [_of_file(table, i) for i in instants]
    else:
        shown = [i for n, i in enumerate(instants) if n >= len(instants) - MOST or i.state is not State.COMPLETED]
        folded = [Line(instant) for instant in instants if instant not in shown]
        _fold(console, "history", archived)
        _fold(console, "older", folded)
        lines = [_of_file(table, instant) for instant in shown]
    if lines:
        _picture(console, lines)


def _summary(instants: Sequence[Instant], archived: Sequence[Line]) -> str:
    pending = sum(1 for instant in instants if instant.state is not State.COMPLETED)
    parts = [format_count(len(instants) - pending, "action"), f"{pending} pending" if pending else ""]
    return ", ".join(part for part in (*parts, f"{len(archived):,} in the history" if archived else "") if part)


def _fold(console: Console, what: str, lines: Sequence[Line]) -> None:
    """Many actions in two lines: which, how many, from when to when."""
    if not lines:
        return
    kinds = Counter(line.instant.action for line in lines)
    counts = ", ".join(f"{number:,} {action}" for action, number in kinds.most_common())
    times = f"{lines[0].instant.requested} to {lines[-1].instant.requested}"
    console.print(Text(f"  {what}: {counts}\n           {times}  (--all shows them)", style=DIM))


def _of_file(table: Table, instant: Instant) -> Line:
    """An action of the active timeline with its summary; for a pending action, that of its plan."""
    line = Line(instant)
    try:
        record = load_action(table.storage, table.properties, instant)
        if record is None and instant.state is State.INFLIGHT:
            instant = replace(instant, state=State.REQUESTED)
            record = load_action(table.storage, table.properties, instant)
    except FileNotFoundError:
        return line
    except HudiError as error:
        return replace(line, summary=error.message, wrong=True)
    return replace(line, summary=summarize_action(instant.action, instant.state, record))


def _of_history(line: Line, said: Mapping[tuple[str, str], ArchivedAction]) -> Line:
    action = said.get(line.instant.identity)
    if action is None:
        return line
    try:
        return replace(line, summary=summarize_action(line.instant.action, State.COMPLETED, metadata_of(action, "the history")))
    except HudiError as error:
        return replace(line, summary=error.message, wrong=True)


def _picture(console: Console, lines: Sequence[Line]) -> None:
    """One line for each action. The summaries are at the end of the lines if all fit, otherwise below."""
    times = {time for line in lines for time in (line.instant.requested, line.instant.completion) if time is not None}
    room = console.width - _OTHER_COLUMNS
    longest = max(len(line.summary) for line in lines)
    behind = room - longest - 2 >= _NARROW_BAR
    width = max(_NARROWEST_BAR, min(_WIDEST_BAR, room - longest - 2 if behind else room))
    axis = Axis(times, width, goes_on=not all(line.is_done for line in lines))
    first, last = (readable_instant(time).strip() or time for time in (min(times), max(times)))
    console.print(Text(f"  {first} to {last}, gaps shortened", style=DIM))
    console.print()
    for line in lines:
        parts = Text.assemble(
            f"  {line.instant.requested:<17}  ", (f"{line.instant.action:<13}", _style(line)), "  ",
            (_bar(line, axis).ljust(axis.width), _style(line)), "  ", _took(line),
        )  # fmt: skip
        summary = Text(line.summary, style=WRONG if line.wrong else "")
        if behind:
            parts.append("  ").append_text(summary)
        console.print(parts, no_wrap=True, overflow="ignore", crop=False)
        if line.summary and not behind:
            console.print(Padding(summary, (0, 0, 0, 6)))


def _bar(line: Line, axis: Axis) -> str:
    """A savepoint has the requested time of the commit that it keeps, so only its completion is shown."""
    instant = line.instant
    if instant.action == "savepoint" and instant.completion is not None:
        return axis.draw_point(instant.completion)
    return axis.draw_bar(instant.requested, instant.completion, _SIGNS[instant.state])


def _style(line: Line) -> str:
    if not line.is_done:
        return WARNING
    return DIM if line.archived else _COLOURS.get(line.instant.action, "")


def _took(line: Line) -> tuple[str, str]:
    """The duration, or the state of a pending action."""
    instant = line.instant
    if instant.completion is None:
        return f"{instant.state.name.lower():>9}", WARNING
    has_duration = instant.action != "savepoint" and instant.completion != instant.requested  # version 6 stores no completion
    took = format_duration(time_between(instant.requested, instant.completion)) if has_duration else ""
    return f"{took:>9}", DIM
