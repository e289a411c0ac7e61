"""Two processes that change one file at once, in every order of their requests: the table's properties, the counter of times.

Only an engine in this process can be made to take turns.
"""

from collections.abc import Callable

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.scenarios.programs import prepared
from hudi_conformance.explorer.scenarios.scenarios import PLAIN
from hudi_conformance.explorer.search.explore import exhaustive
from hudi_conformance.explorer.simulation.scheduler import Actor, Process, Run
from hudi_conformance.explorer.simulation.simulated_store import State, World
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_reference.errors import HudiError
from hudi_reference.layout.properties import read_properties
from hudi_reference.layout.properties_update import update_properties
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.shared_counter import SharedCounter

#: What programs put on record when they have got something.
GOT = "got"


def sets(key: str) -> Callable[[Actor], object]:
    """A program that gives the table one more property."""
    return lambda actor: update_properties(actor.storage, actor.lock, {key: "set"}, comment="in turns")


def readable(state: State) -> str | None:
    """The properties that the table had in the beginning are read in every state, whoever died."""
    try:
        found = read_properties(state.storage)
    except HudiError as error:
        return str(error)
    return None if found.get("hoodie.table.name") == "explored" else "the table has lost its name"


def all_set(run: Run) -> str | None:
    """Who was told of success finds his property."""
    found = read_properties(run.storage)
    for process, ended in run.results.items():
        if ended.how == "returned" and found.get(f"hoodie.{process}") != "set":
            return f"the property of {process} is lost"
        if ended.error is not None and not isinstance(ended.error, HudiError):
            return f"{process} {ended}"
    return None


@pytest.mark.requirements("S3-005", "PROP-011", "OCC-002")
@pytest.mark.parametrize("faults", [(), ("crash-before",), ("lose-answer", "lose-request")], ids=["", "deaths", "no answers"])
def test_changes_of_the_properties_do_not_undo_each_other(engine: Client, faults: tuple[str, ...]) -> None:
    """Two processes set a property each; in between, and wherever one dies or hears nothing, the properties can be read."""
    only_in_process(engine)
    storage, _ = prepared(PLAIN)
    found = exhaustive(
        lambda: World.of(storage), [Process(name, sets(f"hoodie.{name}")) for name in ("a", "b")],
        check=all_set, each=readable, preemptions=2, crashes=bool(faults), faults=faults or ("crash-before",),
    )  # fmt: skip
    assert found.failure is None, found.failure.violation
    assert found.is_complete
    assert found.runs > 1


def asks(actor: Actor) -> object:
    """A program that draws two times from the counter."""
    counter = SharedCounter(actor.storage, actor.lock)
    for _ in range(2):
        actor.note(GOT, counter.requested())
    return None


def given_out_once(run: Run) -> str | None:
    """No time is given out twice, and each process gets later ones."""
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
@pytest.mark.parametrize("fault", [None, "crash-before"], ids=["", "deaths"])
def test_the_counter_gives_each_time_once(engine: Client, fault: str | None) -> None:
    """Two processes ask the counter twice each, from its first time on, and one may die: no time comes twice."""
    only_in_process(engine)
    found = exhaustive(
        lambda: World.of(MemoryStorage()), [Process(name, asks) for name in ("a", "b")], check=given_out_once,
        preemptions=2, crashes=int(fault is not None), faults=(fault or "crash-before",),
    )  # fmt: skip
    assert found.failure is None, found.failure.violation
    assert found.is_complete
    assert found.runs > 1
