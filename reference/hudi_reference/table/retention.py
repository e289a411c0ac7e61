"""How far back a table can be read: as far as cleans have retained, and to savepoints, spec "Table Management > Cleaning"."""

from collections.abc import Mapping
from typing import Any

from hudi_reference.errors import InvalidQuery
from hudi_reference.layout.properties import TableProperties
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.actions import load_action
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.history import END_OF_TIME
from hudi_reference.timeline.instant import Instant


@implements("CLN-003", "TL-041", "TYP-008")
def check_retained(storage: Storage, properties: TableProperties, timeline: Timeline, time: str) -> None:
    """Raises InvalidQuery if a clean may have deleted files that a read as of `time` needs: what is left is not the answer."""
    first = _first_retained(storage, properties, timeline, time)
    if time >= first:
        return
    newest = max((commit.requested for commit in timeline.commits if commit.requested <= time), default="")
    if any((i.requested, i.action) == (newest, "savepoint") for i in timeline.completed):
        return
    raise InvalidQuery(
        "the files of this time were cleaned", rule="CLN-003", expected=f"a time from {first} on, or a savepointed instant",
        found=time,
    )  # fmt: skip


def _first_retained(storage: Storage, properties: TableProperties, timeline: Timeline, time: str) -> str:
    """The first instant whose files are sure to be there; "" where no clean has ever been."""
    cleans = [found for found in timeline.completed if found.action == "clean"]
    if cleans and (earliest := _earliest_to_retain(storage, properties, cleans[-1])):
        return earliest
    start = timeline.start or ""
    if time >= start:  # nothing older is asked for than the active timeline knows: a missing file would be noticed
        return ""
    return start if cleans or any(found.action == "clean" for found in timeline.history) else ""


def _earliest_to_retain(storage: Storage, properties: TableProperties, clean: Instant) -> str:
    """What the completed clean says; "" where its policy knows no such instant."""
    record: Mapping[str, Any] = load_action(storage, properties, clean) or {}
    return str(record.get("earliestCommitToRetain") or "")


@implements("CLN-003", "CLN-005")
def check_state_retained(storage: Storage, properties: TableProperties, timeline: Timeline, time: str) -> None:
    """The same for the state at `time` where archived writes made part of it: nothing tells which of their files are gone.

    Only a clean that names the earliest instant it retained leaves a known state behind.
    """
    active = [found for found in timeline.completed if found.action == "clean"]
    first = (_earliest_to_retain(storage, properties, active[-1]) if active else "") or END_OF_TIME
    if time < first and was_cleaned(timeline):
        raise cleaned_away(time, None if first == END_OF_TIME else first)


def cleaned_away(time: str, first: str | None, path: str | None = None) -> InvalidQuery:
    """The error for a state or change whose files are gone; `first` is the earliest time that can still be asked for."""
    return InvalidQuery(
        "the files of this time were cleaned", rule="CLN-003", path=path, found=time,
        expected="the present state" if first is None else f"a time from {first} on",
        cure="leave the end out: what has changed since the beginning can still be told, in its present state",
    )  # fmt: skip


def was_cleaned(timeline: Timeline) -> bool:
    """Whether a clean has ever been."""
    return any(found.action == "clean" for found in (*timeline.completed, *timeline.history))
