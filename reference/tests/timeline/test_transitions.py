"""Steps of actions: every legal step creates the right files, every other step is refused and changes nothing."""

import itertools

import pytest

from hudi_reference.clock import ManualClock
from hudi_reference.errors import IllegalTransition, InstantExists, Misuse, UnsupportedTableFeature, WriteConflict
from hudi_reference.layout.properties import TableProperties
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.active import load_timeline
from hudi_reference.timeline.instant_generator import times_of
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State, moves_of
from hudi_reference.timeline.transitions import Transitions

HERE = sorted(name for name, action in ACTIONS.items() if not action.in_schema_folder)
CONTENT = b"content"


@pytest.fixture
def storage() -> MemoryStorage:
    """An empty storage."""
    return MemoryStorage()


@pytest.fixture
def transitions(storage: MemoryStorage) -> Transitions:
    """The steps of a table without any instant."""
    properties = TableProperties({"hoodie.table.timeline.timezone": "UTC"})
    return Transitions(storage, properties, times_of(storage, properties, ManualClock(1_767_225_600_000), {}))


def names(transitions: Transitions) -> list[str]:
    """Names of the files of the timeline."""
    return list(transitions.storage.names(transitions.properties.timeline_folder))


def in_state(transitions: Transitions, action: str, state: State) -> Instant:
    """An action in that state."""
    if ACTIONS[action].has_requested:
        instant = transitions.request(action, CONTENT)
    else:
        instant = Instant("20260101000000000", action, State.REQUESTED)
    if state is State.REQUESTED:
        return instant
    instant = transitions.start(instant, CONTENT)
    return instant if state is State.INFLIGHT else transitions.complete(instant, CONTENT)


@pytest.mark.parametrize("action", HERE)
def test_an_action_leaves_a_file_for_each_of_its_states(transitions: Transitions, action: str) -> None:
    """TL-025, TL-031: the states of an action are the files that the table of states names, and no others."""
    done = in_state(transitions, action, State.COMPLETED)
    known = ACTIONS[action]
    expected = {f"{done.requested}.{known.inflight}", f"{done.requested}_{done.completion}.{known.completes_as}"}
    expected |= {f"{done.requested}.{action}.requested"} if known.has_requested else set()
    assert set(names(transitions)) == expected
    timeline = load_timeline(transitions.storage, transitions.properties)
    assert [(i.requested, i.completion, i.action) for i in timeline.completed] == [
        (done.requested, done.completion, known.completes_as)
    ]


@pytest.mark.parametrize("action", [name for name in HERE if ACTIONS[name].has_requested])
def test_a_completion_comes_from_inflight_only(transitions: Transitions, action: str) -> None:
    """TL-051: an action that is merely requested is not completed, and nothing appears."""
    requested = in_state(transitions, action, State.REQUESTED)
    before = names(transitions)
    with pytest.raises(IllegalTransition, match="TL-051"):
        transitions.complete(requested, CONTENT)
    with pytest.raises(WriteConflict, match="TL-051"):
        transitions.complete(Instant(requested.requested, action, State.INFLIGHT), CONTENT)
    assert names(transitions) == before


@pytest.mark.parametrize("action", HERE)
def test_an_action_completes_once(transitions: Transitions, action: str) -> None:
    """TL-052: a second executor of an action that is completed is refused, whatever name the completion has."""
    inflight = in_state(transitions, action, State.INFLIGHT)
    transitions.complete(inflight, CONTENT)
    before = names(transitions)
    with pytest.raises(WriteConflict, match="TL-051"):
        transitions.complete(inflight, b"other")
    assert names(transitions) == before


@pytest.mark.parametrize("action", HERE)
def test_only_services_are_reverted_to_requested(transitions: Transitions, action: str) -> None:
    """TL-050: services with a plan return to requested, keep the plan, and complete later; others do not return."""
    inflight = in_state(transitions, action, State.INFLIGHT)
    if action not in ("compaction", "logcompaction", "clustering", "indexing"):
        with pytest.raises(IllegalTransition):
            transitions.revert(inflight)
        return
    again = transitions.revert(inflight)
    assert names(transitions) == [again.file_name]
    assert transitions.storage.get(transitions.path(again)) == CONTENT
    transitions.complete(transitions.start(again), CONTENT)
    assert len(names(transitions)) == 3


@pytest.mark.parametrize("action", [name for name in HERE if ACTIONS[name].planned])
def test_a_restart_keeps_the_plan(transitions: Transitions, action: str) -> None:
    """TL-035, TL-050: an action that is started again has the plan that was requested; no other plan is written."""
    requested = in_state(transitions, action, State.REQUESTED)
    inflight = transitions.start(requested, b"first")
    assert transitions.start(inflight, b"second") == inflight
    assert transitions.storage.get(transitions.path(requested)) == CONTENT
    assert transitions.storage.get(transitions.path(inflight)) == b"first"
    with pytest.raises(InstantExists):
        transitions.start(requested, b"second")
    with pytest.raises(InstantExists):
        transitions.request(action, b"another plan", requested=requested.requested)


@pytest.mark.parametrize("action", HERE)
def test_a_write_is_rolled_back_in_two_steps(transitions: Transitions, action: str) -> None:
    """A completed write is withdrawn to inflight, then its pending files are removed; no file remains."""
    done = in_state(transitions, action, State.COMPLETED)
    if not ACTIONS[done.action].can_be_rolled_back:
        with pytest.raises(IllegalTransition, match="TL-052"):
            transitions.withdraw(done)
        return
    inflight = transitions.withdraw(done)
    assert load_timeline(transitions.storage, transitions.properties).pending == (inflight,)
    transitions.remove(inflight)
    assert names(transitions) == []


def test_withdrawing_removes_every_completion_and_keeps_the_action(transitions: Transitions) -> None:
    """A write with two completed files and no other file is inflight after it was withdrawn."""
    done = in_state(transitions, "commit", State.COMPLETED)
    twin = Instant(done.requested, "commit", State.COMPLETED, "20270101000000000")
    transitions.storage.put(transitions.path(twin), CONTENT)
    for state in (State.REQUESTED, State.INFLIGHT):
        transitions.storage.delete(transitions.path(Instant(done.requested, "commit", state)))
    transitions.withdraw(done)
    assert names(transitions) == [f"{done.requested}.commit.requested", f"{done.requested}.inflight"]


@pytest.mark.parametrize("action", HERE)
def test_required_contents_are_not_empty(transitions: Transitions, action: str) -> None:
    """TL-026: a requested action has a plan, a completed action has a result."""
    if ACTIONS[action].planned or action == "replacecommit":
        with pytest.raises(Misuse, match="TL-026"):
            transitions.request(action)
    inflight = in_state(transitions, action, State.INFLIGHT)
    with pytest.raises(Misuse, match="TL-026"):
        transitions.complete(inflight, b"")
    assert inflight in load_timeline(transitions.storage, transitions.properties).pending


def test_the_completion_time_is_drawn_at_the_end(transitions: Transitions) -> None:
    """TL-032: the action that begins first and completes last has the later completion time."""
    first = transitions.start(transitions.request("commit"))
    second = transitions.complete(transitions.start(transitions.request("commit")), CONTENT)
    assert (transitions.complete(first, CONTENT).completion or "") > (second.completion or "z")


def test_a_schema_commit_is_refused(transitions: Transitions) -> None:
    """The history of schemas is not written here."""
    with pytest.raises(UnsupportedTableFeature):
        transitions.request("schemacommit")
    with pytest.raises(UnsupportedTableFeature):
        transitions.request("vacuum")


def test_the_table_of_states_has_these_steps() -> None:
    """The legal steps of each action, written out by hand."""
    steps = {name: [(move.named, move.start, move.end) for move in moves_of(action)] for name, action in ACTIONS.items()}
    kinds = {name: " ".join(dict.fromkeys(named for named, *_ in found)) for name, found in steps.items()}
    assert kinds == {
        "commit": "request start complete withdraw remove archive",
        "deltacommit": "request start complete withdraw remove archive",
        "replacecommit": "request start complete withdraw remove archive",
        "clustering": "request start start again complete revert remove",
        "compaction": "request start start again complete revert remove",
        "logcompaction": "request start start again complete revert remove",
        "clean": "request start start again complete archive",
        "rollback": "request start start again complete archive",
        "restore": "request start start again complete",
        "savepoint": "begin complete withdraw remove",
        "indexing": "request start start again complete revert withdraw remove",
        "schemacommit": "request start complete",
    }
    for found in steps.values():
        for (_, _, end), (_, start, _) in itertools.pairwise(found[:2]):
            assert end == start
