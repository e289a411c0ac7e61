"""Two processes that change one file concurrently, in every order of their requests: the table's properties, the shared counter
of times.

Only an engine in this process can be scheduled request by request.
"""

from collections.abc import Callable

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.scenarios.scenarios import PLAIN
from hudi_conformance.explorer.scenarios.setting import prepare_table
from hudi_conformance.explorer.search.explore import explore_exhaustively
from hudi_conformance.explorer.simulation.actor import Actor, Process
from hudi_conformance.explorer.simulation.runs import Run
from hudi_conformance.explorer.simulation.simulated_store import SimulatedStore, State
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_reference.errors import HudiError
from hudi_reference.layout.properties import read_properties
from hudi_reference.layout.properties_writer import update_properties
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.shared_counter import SharedCounter

#: What programs record when they get a result.
GOT = "got"


def property_setter(key: str) -> Callable[[Actor], object]:
    """Return a program that adds a property to the table."""
    return lambda actor: update_properties(actor.storage, actor.lock, {key: "set"}, comment="in turns")


def find_unreadable_properties(state: State) -> str | None:
    """Return a violation if the initial properties of the table cannot be read in this state, also after a crash."""
    try:
        found = read_properties(state.storage)
    except HudiError as error:
        return str(error)
    return None if found.get("hoodie.table.name") == "explored" else "the table has lost its name"


def all_set(run: Run) -> str | None:
    """Return a violation if the property of a successful process is missing."""
    found = read_properties(run.storage)
    for process, ended in run.results.items():
        if ended.how == "returned" and found.get(f"hoodie.{process}") != "set":
            return f"the property of {process} is lost"
        if ended.error is not None and not isinstance(ended.error, HudiError):
            return f"{process} {ended}"
    return None


@pytest.mark.requirements("S3-005", "PROP-011", "OCC-002")
@pytest.mark.parametrize("faults", [(), ("crash-before",), ("lose-answer", "lose-request")], ids=["", "crashes", "no answers"])
def test_concurrent_changes_of_the_properties_are_all_kept(engine: Client, faults: tuple[str, ...]) -> None:
    """S3-005: two processes set a property each; at any time, also after a crash or a lost answer, the properties can
    be read.
    """
    only_in_process(engine)
    storage, _ = prepare_table(PLAIN)
    found = explore_exhaustively(
        lambda: SimulatedStore.from_storage(storage), [Process(name, property_setter(f"hoodie.{name}")) for name in ("a", "b")],
        check=all_set, each=find_unreadable_properties, preemptions=2, crashes=bool(faults), faults=faults or ("crash-before",),
    )  # fmt: skip
    assert found.failure is None, found.failure.violation
    assert found.is_complete
    assert found.runs > 1


def draw_two_times(actor: Actor) -> object:
    """Draw two times from the counter."""
    counter = SharedCounter(actor.storage, actor.lock)
    for _ in range(2):
        actor.record_note(GOT, counter.requested())
    return None


def given_out_once(run: Run) -> str | None:
    """Return a violation if a time is drawn twice, or a process draws times that do not increase."""
    got = [(step.process, step.asked.detail) for step in run.steps if step.path == GOT]
    times = [time for _, time in got]
    if len(set(times)) < len(times):
        return f"a time was given out twice: {times}"
    for process in run.results:
        mine = [time for name, time in got if name == process]
        if mine != sorted(mine):
            return f"{process} got {mine}"
    return None


@pytest.mark.requirements("TT-003", "TT-005", "TT-006")
@pytest.mark.parametrize("fault", [None, "crash-before"], ids=["", "crashes"])
def test_the_counter_gives_each_time_once(engine: Client, fault: str | None) -> None:
    """TT-003: two processes draw from the counter twice each, from its first time on, and one may crash: no time
    occurs twice.
    """
    only_in_process(engine)
    found = explore_exhaustively(
        lambda: SimulatedStore.from_storage(MemoryStorage()), [Process(name, draw_two_times) for name in ("a", "b")],
        check=given_out_once, preemptions=2, crashes=int(fault is not None), faults=(fault or "crash-before",),
    )  # fmt: skip
    assert found.failure is None, found.failure.violation
    assert found.is_complete
    assert found.runs > 1
