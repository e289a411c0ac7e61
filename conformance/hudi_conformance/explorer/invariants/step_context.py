"""One step of a run as invariants see it: the observed states before and after it, and the kind of event."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_conformance.explorer.invariants.observed_state import (
    HISTORY,
    TIMELINE,
    CompletedAction,
    CurrentOperation,
    ObservedState,
)
from hudi_conformance.explorer.invariants.snapshot_view import SnapshotView, SnapshotViews
from hudi_conformance.explorer.simulation.runs import Step
from hudi_reference.caching import cached_property
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import State

#: Kinds of events that may change what a reader sees.
VISIBLE = frozenset({"pending", "completed", "unpublished", "archived", "removed", "stored", "deleted", "history"})


@dataclass(frozen=True)
class StepContext:
    """A step with the observed states before and after it.

    event         what happened
    pending       a requested or inflight file was created          removed       such a file was deleted
    completed     a completed file was created                      unpublished   such a file was deleted: rolled back
    archived      such a file was deleted after archiving         history       a file of the history changed
    stored        a data file was created                           deleted       a data file was deleted
    acquire       the lock was requested                            release       the lock was released
    begin, end    a note of a program                               other         nothing that readers see
    """

    before: ObservedState
    now: ObservedState
    step: Step
    event: str
    views: SnapshotViews = field(repr=False)
    instant: Instant | None = None

    @cached_property
    def snapshot(self) -> SnapshotView:
        """The table after the step."""
        return self.views(self.now.state)

    @cached_property
    def snapshot_before(self) -> SnapshotView:
        """The table before the step."""
        return self.views(self.before.state)

    @property
    def doing(self) -> CurrentOperation:
        """What the process is doing."""
        return self.now.doing.get(self.step.process, CurrentOperation("unknown"))

    @property
    def plan(self) -> Mapping[str, Any] | None:
        """The content of the requested file of the action of the step, None if there is none."""
        time = None if self.instant is None else self.instant.requested
        found = next((i for i in self.now.files if i.requested == time and i.state is State.REQUESTED), None)
        return None if found is None else self.now.read_record(found)

    @cached_property
    def done(self) -> CompletedAction:
        """The action that has just completed."""
        return self.now.done[-1]


InvariantCheck = Callable[[StepContext], str | None]


def make_context(before: ObservedState, step: Step, views: SnapshotViews) -> StepContext:
    """The context of a step."""
    now, path = before.next_state(step), step.path
    if step.state.digest == before.state.digest:
        if step.request == "delete" and path.startswith(TIMELINE) and (gone := parse_instant_name(path.removeprefix(TIMELINE))):
            now = now.without_pending_file(gone)
        event = step.request if step.request in ("acquire", "release", "note") else "other"
        return StepContext(before, now, step, path if event == "note" else event, views)
    is_there = path in step.state.objects
    if path.startswith(HISTORY):
        return StepContext(before, now, step, "history", views)
    if path.startswith(TIMELINE) and (instant := parse_instant_name(path.removeprefix(TIMELINE))):
        return _of_an_instant(StepContext(before, now, step, "other", views, instant), is_there=is_there)
    if path.startswith(META_FOLDER):
        return StepContext(before, now, step, "other", views)
    return StepContext(before, now, step, "stored" if is_there else "deleted", views)


def _of_an_instant(context: StepContext, *, is_there: bool) -> StepContext:
    now, instant = context.now, context.instant
    assert instant is not None
    is_completed = instant.state is State.COMPLETED
    if is_there:
        now, event = now.with_file(context.step, instant), "completed" if is_completed else "pending"
    elif not is_completed:
        now, event = now.without_pending_file(instant), "removed"
    elif any(known.identity == instant.identity for known in context.snapshot.history):
        event = "archived"
    else:
        now, event = now.without_completed_action(instant), "unpublished"
    return StepContext(context.before, now, context.step, event, context.views, instant)
