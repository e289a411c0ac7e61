"""Invariants 1 to 5 and 33 to 35: times, states, the lock and heartbeats."""

from hudi_conformance.explorer.invariants.observed_state import CompletedAction
from hudi_conformance.explorer.invariants.step_context import StepContext
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State


def is_new_time(m: StepContext) -> bool:
    """Whether the file has a newly generated time: requested and completed files. A savepoint has the time of its commit."""
    assert m.instant is not None
    if m.instant.action == "savepoint":
        return m.instant.state is State.COMPLETED
    return m.instant.state is not State.INFLIGHT


def _time(instant: Instant) -> str:
    return instant.completion or instant.requested


def times_are_unique(m: StepContext) -> str | None:
    """1."""
    assert m.instant is not None
    taken = {time for i in m.before.files for time in (i.requested, i.completion) if i.identity != m.instant.identity}
    return f"the time {_time(m.instant)} was generated twice" if is_new_time(m) and _time(m.instant) in taken else None


def completions_are_published_in_order(m: StepContext) -> str | None:
    """2."""
    assert m.instant is not None
    if (m.instant.completion or "") > m.before.latest:
        return None
    return f"a completion time of {m.instant.completion} appears after {m.before.latest} had been published"


def requests_are_published_in_order(m: StepContext) -> str | None:
    """3."""
    assert m.instant is not None
    if m.instant.state is not State.REQUESTED or m.instant.requested > m.before.latest or m.instant.requested in m.before.begun:
        return None
    return f"a requested time of {m.instant.requested} appears after {m.before.latest} had been published"


def actions_complete_once(m: StepContext) -> str | None:
    """4. A write that was called once and retried also completes under one instant only."""
    assert m.instant is not None
    found = [i for i in m.now.files if i.identity == m.instant.identity and i.state is State.COMPLETED]
    if len(found) > 1:
        return f"{len(found)} completed files: {', '.join(i.file_name for i in found)}"
    mine = m.done
    for other in m.now.visible:
        if other is not mine and other.doing is mine.doing is not None and _writes(mine) and _writes(other):
            return f"{mine.instant.file_name} completes the write that {other.instant.file_name} has completed"
    return None


def _writes(done: CompletedAction) -> bool:
    """Whether it added the changes of a write; a service only reorganizes them."""
    return done.doing is not None and done.doing.is_write and done.is_write and not done.metadata.is_service


def states_follow_each_other(m: StepContext) -> str | None:
    """5. A writer that was rolled back between two states may still publish its inflight state, but must not complete."""
    instant = m.instant
    assert instant is not None
    states = {i.state: i for i in m.now.files if i.identity == instant.identity}
    if m.event == "archived":
        return None if not states else f"{instant.file_name} is archived, and {states.popitem()[1].file_name} appears pending"
    if m.event == "removed":
        is_left = State.INFLIGHT in states and State.COMPLETED not in states and instant.requested not in m.before.rolled_back
        if instant.state is State.REQUESTED and is_left:
            return f"{instant.file_name} is deleted before {states[State.INFLIGHT].file_name}"
        return None
    if m.event == "pending" and instant.state is State.REQUESTED:
        return None
    before = m.now.begun.get(instant.requested)
    name = instant.action if State.INFLIGHT not in states else states[State.INFLIGHT].action
    needed = [s for s in ACTIONS[name].contents if s < instant.state]
    missing = [s.name for s in needed if s not in states]
    if not missing or (m.event == "completed" and before is None) or (m.event == "pending" and before is not None):
        return None
    return f"{instant.file_name} appears without {' and '.join(missing)}"


def lock_has_one_holder(m: StepContext) -> str | None:
    """33."""
    before, process = m.before.state, m.step.process
    is_held = before.holder not in (None, process) and (before.expires is None or m.now.state.time < before.expires)
    if m.event == "acquire" and m.now.state.holder == process and is_held:
        return f"{process} has the lock while {before.holder} holds it"
    if m.event == "release" and before.holder != process and not m.now.start.leased and m.step.fault is None:
        return f"{process} releases a lock that it does not hold"
    return None


def publishers_hold_the_lock(m: StepContext) -> str | None:
    """34."""
    assert m.instant is not None
    if not is_new_time(m):
        return None
    before = m.before.state
    if before.holder != m.step.process:
        return f"{m.step.process} publishes {m.instant.file_name} without the lock, held by {before.holder or 'no process'}"
    if before.expires is not None and before.expires <= before.time:
        return f"{m.step.process} publishes {m.instant.file_name} after its lease has expired"
    return None


def heartbeat_precedes_request(m: StepContext) -> str | None:
    """35."""
    assert m.instant is not None
    if not m.now.start.heartbeats or m.instant.state is not State.REQUESTED or not m.doing.is_write:
        return None
    if ACTIONS[m.instant.action].planned or f"{META_FOLDER}/.heartbeat/{m.instant.requested}" in m.before.state.objects:
        return None
    return f"{m.instant.file_name} appears without a heartbeat"
