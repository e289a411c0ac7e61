"""Random programs of steps of actions with a crash after any request: the timeline is that before or after the step."""

from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hudi_conformance.explorer.crash_points import crash_states
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.layout.properties import TableProperties
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.active import load_timeline
from hudi_reference.timeline.instant_generator import times_of
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State
from hudi_reference.timeline.transitions import Transitions

PROPERTIES = TableProperties({"hoodie.table.timeline.timezone": "UTC"})
HERE = sorted(name for name, action in ACTIONS.items() if not action.in_schema_folder)
STEPS = ("begin", "start", "complete", "revert", "withdraw", "remove")
CONTENT = b"content"
#: What a timeline shows: requested time, action, state, completion time of each action.
Shown = frozenset[tuple[str, str, int, str | None]]


def shown(storage: Storage) -> Shown:
    """The actions in their highest states."""
    timeline = load_timeline(storage, PROPERTIES)
    return frozenset((i.requested, i.action, int(i.state), i.completion) for i in timeline.instants)


@dataclass
class Model:
    """A model of the timeline without files, as a plain mapping: (requested, action) -> state and completion."""

    actions: dict[tuple[str, str], tuple[int, str | None]] = field(default_factory=dict)

    def shown(self) -> Shown:
        """As a timeline shows it."""
        return frozenset((requested, action, *state) for (requested, action), state in self.actions.items())


def take(storage: Storage, now: int, step: str, action: str, instant: Instant | None) -> Instant | None:
    """One step by a new process whose clock shows `now`."""
    transitions = Transitions(storage, PROPERTIES, times_of(storage, PROPERTIES, ManualClock(now), {}))
    if instant is None:
        begun = Instant("20260101000000000", action, State.REQUESTED)
        return transitions.request(action, CONTENT) if ACTIONS[action].has_requested else transitions.start(begun)
    if step in ("start", "complete"):
        return getattr(transitions, step)(instant, CONTENT)  # type: ignore[no-any-return]
    return getattr(transitions, step)(instant)  # type: ignore[no-any-return]


def follow(model: Model, step: str, before: Instant | None, after: Instant | None) -> None:
    """What a legal step does to the model."""
    if before is not None:
        del model.actions[before.requested, before.action]
    if after is not None:
        model.actions[after.requested, after.action] = (int(after.state), after.completion)


#: Which step is legal from which state, and for which actions, written down without the table of the reference.
WRITES = ("commit", "deltacommit", "replacecommit")
AGAIN = ("compaction", "logcompaction", "clustering", "indexing")
PLANNED = (*AGAIN, "clean", "rollback", "restore")
ROLLED_BACK = (*WRITES, *AGAIN, "savepoint")


def legal(step: str, instant: Instant) -> bool:
    """Whether the action may take the step."""
    allowed = {
        ("start", State.REQUESTED): HERE,
        ("start", State.INFLIGHT): PLANNED,
        ("complete", State.INFLIGHT): HERE,
        ("revert", State.INFLIGHT): AGAIN,
        ("withdraw", State.COMPLETED): (*WRITES, "savepoint", "indexing"),
        ("remove", State.REQUESTED): ROLLED_BACK,
        ("remove", State.INFLIGHT): ROLLED_BACK,
    }
    return instant.action in allowed.get((step, instant.state), ())


def between(step: str, old: Shown, before: Instant | None) -> set[Shown]:
    """What a timeline may show in the middle of a step: an inflight action that is removed is requested for a moment."""
    if step != "remove" or before is None:
        return set()
    mine = (before.requested, before.action)
    return {frozenset((r, a, 0 if (r, a) == mine else s, c) for r, a, s, c in old)}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from(HERE), st.integers(0, 5)), max_size=14))
def test_every_step_is_atomic(program: list[tuple[str, str, int]]) -> None:
    """TL-003, TL-051, TL-052: legal steps do what the model says, others are refused and leave every file as it was; wherever
    the process crashes, the timeline is the one before or the one after."""
    storage, model, active, now = MemoryStorage(), Model(), list[Instant](), 1_767_225_600_000
    for step, action, which in program:
        now += 10_000
        before = active[which % len(active)] if active and step != "begin" else None
        if step == "begin" and any(i.action == action == "savepoint" for i in active):
            continue
        if step != "begin" and before is None:
            continue
        old = shown(storage)
        if before is not None and not legal(step, before):
            files = {info.path: storage.get(info.path) for info in storage.list()}
            try:
                take(storage, now, step, action, before)
            except HudiError:
                assert {info.path: storage.get(info.path) for info in storage.list()} == files, (step, before)
                continue
            raise AssertionError(f"{step} of {before} is not refused")
        states = list(crash_states(storage, lambda s, a=(now, step, action, before): take(s, *a)))  # type: ignore[misc]
        after = take(storage, now, step, action, before)
        follow(model, step, before, after)
        assert shown(storage) == model.shown()
        assert {shown(state.storage) for state in states} <= {old, shown(storage)} | between(step, old, before), step
        active = [i for i in active if i is not before] + ([after] if after is not None else [])


def test_an_interrupted_removal_is_continued() -> None:
    """Removing a pending action deletes its inflight file first: after a crash it is requested, and a second removal completes
    it.
    """
    storage = MemoryStorage()
    transitions = Transitions(storage, PROPERTIES, times_of(storage, PROPERTIES, ManualClock(1_767_225_600_000), {}))
    inflight = transitions.start(transitions.request("commit"))
    states = [shown(state.storage) for state in crash_states(storage, lambda s: take(s, 1, "remove", "commit", inflight))]
    assert [[state for _, _, state, _ in found] for found in states] == [[1], [0], []]
    transitions.remove(inflight)
    transitions.remove(inflight)
    assert shown(storage) == frozenset()
