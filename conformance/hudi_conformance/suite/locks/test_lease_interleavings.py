"""Leases of the table's lock in every order of their requests: two contenders, a crashed holder, a stalled holder.

Only leases in storage are explored; `test_lock_providers` and `test_lock_services` check the properties of all.
"""

from collections.abc import Callable
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.search.explore import explore_exhaustively
from hudi_conformance.explorer.simulation.actor import Actor, Process
from hudi_conformance.explorer.simulation.runs import Run
from hudi_conformance.explorer.simulation.simulated_store import START, SimulatedStore
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_reference.errors import HudiError
from hudi_reference.locks.file_system import ExpiringFileLease, FileLease
from hudi_reference.locks.lease import Lease
from hudi_reference.locks.storage_based import DRIFT, LeaseRecord, StoredLease
from hudi_reference.storage import MemoryStorage

#: Where the leases are stored, and how long they last, in milliseconds.
PATH, VALIDITY = ".hoodie/.locks/lease", 60_000
#: What programs record.
INSIDE, PUBLISHES, OUTSIDE = "inside", "publishes", "outside"


def _file(actor: Actor) -> Lease:
    return FileLease(actor.storage, actor.name, path=PATH)


def _expiring_file(actor: Actor) -> Lease:
    return ExpiringFileLease(actor.storage, actor.clock, actor.name, path=PATH, validity=VALIDITY)


def _stored(actor: Actor) -> Lease:
    return StoredLease(actor.storage, actor.clock, actor.name, path=PATH, validity=VALIDITY)


LEASES = pytest.mark.parametrize("lease", [_file, _expiring_file, _stored])
ENDING = pytest.mark.parametrize("lease", [_expiring_file, _stored])
Make = Callable[[Actor], Lease]


def enter_twice(lease: Make) -> Callable[[Actor], object]:
    """Return a program that enters twice, if it can: it acquires the lease, renews it before it publishes, and releases it."""

    def program(actor: Actor) -> object:
        mine = lease(actor)
        for _ in range(2):
            if mine.take():
                actor.record_note(INSIDE)
                mine.renew()
                actor.record_note(PUBLISHES)
                actor.record_note(OUTSIDE)
                mine.give_back()
        return None

    return program


def find_lease_violation(run: Run) -> str | None:
    """Return a violation if a process publishes while another one holds the lease that entered after it, or before it and has
    not stalled.
    """
    inside: list[str] = []
    stalled = {step.process for step in run.steps if step.fault == "stall"}
    for number, step in enumerate(run.steps, 1):
        others = [process for process in inside if process != step.process]
        if step.path == INSIDE:
            if set(others) - stalled:
                return f"{step.process} goes in beside {others[0]} (step {number})"
            inside = [*others, step.process]
        elif step.path == PUBLISHES and inside.index(step.process) < len(inside) - 1:
            return f"{step.process} publishes, and {inside[-1]} has the lease (step {number})"
        elif step.path == OUTSIDE:
            inside = others
    wrong = [ended for ended in run.results.values() if ended.error is not None and not isinstance(ended.error, HudiError)]
    return str(wrong[0]) if wrong else None


def explore_leases(engine: Client, lease: Make, found_there: bytes | None = None, **bounds: Any) -> None:
    """Explore two processes in every order within these bounds; `found_there` is the stored lease at the beginning."""
    only_in_process(engine)
    storage = MemoryStorage()
    if found_there is not None:
        storage.put(PATH, found_there)
    found = explore_exhaustively(
        lambda: SimulatedStore.from_storage(storage),
        [Process(name, enter_twice(lease)) for name in ("a", "b")],
        check=find_lease_violation,
        **bounds,
    )
    assert found.failure is None, found.failure.violation
    assert found.is_complete
    assert found.runs > 3


@LEASES
@pytest.mark.requirements("LOCK-001", "LOCK-002")
@pytest.mark.long
def test_at_most_one_is_inside_in_every_order(engine: Client, lease: Make) -> None:
    """LOCK-001: two processes ask for a free lease, renew it and give it back, twice each."""
    explore_leases(engine, lease)


@ENDING
@pytest.mark.requirements("LOCK-001")
@pytest.mark.parametrize("left", [True, False], ids=["given back", "run out"])
@pytest.mark.long
def test_a_released_or_expired_lease_is_acquired_once(engine: Client, lease: Make, left: bool) -> None:
    """LOCK-001: two processes find a lease that was released, or that has expired after its holder crashed: one of them
    acquires it.
    """
    over = LeaseRecord(left, START + VALIDITY if left else START - DRIFT - 1, "gone").dump()
    explore_leases(engine, lease, over)


@LEASES
@pytest.mark.requirements("LOCK-001", "S3-002")
@pytest.mark.parametrize("fault", ["lose-answer", "lose-request", "crash-before"])
@pytest.mark.long
def test_lost_answers_and_crashes_never_share_a_lease(engine: Client, lease: Make, fault: str) -> None:
    """LOCK-001: any change by one of two processes is carried out, or not, and its answer is lost, or the process crashes
    there: at most one of them holds the lease.
    """
    explore_leases(engine, lease, preemptions=1, crashes=1, faults=(fault,))


@ENDING
@pytest.mark.requirements("LOCK-001", "OCC-010")
@pytest.mark.long
def test_a_stalled_process_does_not_publish(engine: Client, lease: Make) -> None:
    """LOCK-001: one of two processes stalls before any of its changes for longer than the lease lasts, while the other one
    continues: it publishes nothing.
    """
    explore_leases(engine, lease, preemptions=1, crashes=1, faults=("stall",))
