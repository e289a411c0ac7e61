"""Whether a kind of store keeps its promises, checked with two processes in every order.

broken_promises(STORES["check-then-put"])       # create once: …, replace once: …
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hudi_conformance.explorer.search.checker import Failure
from hudi_conformance.explorer.search.explore import explore_exhaustively
from hudi_conformance.explorer.simulation.actor import Actor, Process
from hudi_conformance.explorer.simulation.runs import Run
from hudi_conformance.explorer.simulation.simulated_store import SimulatedStore
from hudi_conformance.explorer.simulation.stores import Store
from hudi_reference.storage import MemoryStorage, ObjectChanged, ObjectExists


@dataclass(frozen=True)
class StoreProperty:
    """A property that a store of tables needs: concurrent programs, and the check of their runs."""

    name: str
    programs: Sequence[Callable[[Actor], object]]
    check: Callable[[Run], str | None]

    def find_violation(self, store: Store) -> Failure | None:
        """The first run that violates the property on such a store."""
        storage = MemoryStorage()
        storage.put("known", b"")
        simulated = SimulatedStore.from_storage(storage, store=store)
        processes = [Process(name, program) for name, program in zip("ab", self.programs, strict=False)]
        return explore_exhaustively(lambda: simulated, processes, check=self.check).failure


def _create(actor: Actor) -> bool:
    try:
        actor.storage.create("new", actor.name.encode())
    except ObjectExists:
        return False
    return True


def _replace(actor: Actor) -> bool:
    known = actor.storage.head("known")
    assert known is not None
    try:
        actor.storage.replace("known", actor.name.encode(), known.version)
    except ObjectChanged:
        return False
    return True


def _create_and_list(actor: Actor) -> bool:
    actor.storage.create("folder/new", b"")
    return "new" in actor.storage.names("folder") and bool(actor.storage.list("folder"))


def _once(path: str) -> Callable[[Run], str | None]:
    def check(run: Run) -> str | None:
        """Exactly one process gets a success, and its object is stored."""
        winners = [name for name, ended in run.results.items() if ended.value is True]
        stored = run.storage.get(path).decode() if run.storage.head(path) else "no process"
        if winners == [stored] or (len(winners) > 1 and path == "known" and _one_after_the_other(run)):
            return None
        return f"{' and '.join(winners) or 'no process'} got a success, and {path} is of {stored}"

    return check


def _one_after_the_other(run: Run) -> bool:
    """Whether the second process started after the first had finished: then both may succeed."""
    order = [step.process for step in run.steps]
    return order == sorted(order) or order == sorted(order, reverse=True)


def _all_listed(run: Run) -> str | None:
    missed = [name for name, ended in run.results.items() if ended.value is not True]
    return f"{missed[0]} does not find its object in a listing" if missed else None


STORE_PROPERTIES = {
    store_property.name: store_property
    for store_property in (
        StoreProperty("create once", (_create, _create), _once("new")),
        StoreProperty("replace once", (_replace, _replace), _once("known")),
        StoreProperty("list at once", (_create_and_list,), _all_listed),
    )
}


def find_broken_promises(store: Store) -> dict[str, Failure]:
    """The promises that the store breaks, each with a failing run."""
    found = {name: STORE_PROPERTIES[name].find_violation(store) for name in store.promises}
    return {name: failure for name, failure in found.items() if failure is not None}
