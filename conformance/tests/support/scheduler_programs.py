"""Small programs for the tests of the explorer, whose results are known."""

from hudi_conformance.explorer.simulation.actor import Process
from hudi_conformance.explorer.simulation.simulated_store import SimulatedStore
from hudi_reference.storage import MemoryStorage, ObjectExists


def simulated(**settings):
    """A simulated store with one object, `s`."""
    storage = MemoryStorage()
    storage.put("s", b"0")
    return SimulatedStore.from_storage(storage, **settings)


def three_turns(name):
    """Six steps: read `s` and write it, three times; all of them conflict with those of another process."""

    def program(actor):
        seen = []
        for turn in range(3):
            seen.append(actor.storage.get("s"))
            actor.storage.put("s", f"{name}{turn}".encode())
        return tuple(seen)

    return program


def without_conflicts(name):
    """Six steps without conflicts with other processes."""

    def program(actor):
        for turn in range(3):
            actor.storage.put(f"{name}/{turn}", b"")
            actor.storage.get(f"{name}/{turn}")

    return program


def claims(actor):
    """Create `claimed`; return whether this process succeeded."""
    try:
        actor.storage.create("claimed", actor.name.encode())
    except ObjectExists:
        return False
    return True


def adds_one(actor):
    """Read a number and write the next one."""
    actor.storage.put("s", str(int(actor.storage.get("s")) + 1).encode())


def adds_one_under_the_lock(actor):
    """Read a number and write the next one, under the lock."""
    actor.lock.acquire(actor.name)
    adds_one(actor)
    actor.lock.release(actor.name)


def of(program, names="ab"):
    """One process of the same program for each letter."""
    return [Process(name, program) for name in names]


def one_claim(run):
    """Exactly the process whose object is stored got a success."""
    told = [name for name, ended in run.results.items() if ended.value is True]
    return None if told == [run.storage.get("claimed").decode()] else f"{' and '.join(told)} were told"


def outcome(run):
    """The observable outcome of a run: results, and the objects at the end."""
    values = tuple((name, ended.how, ended.value) for name, ended in run.results.items())
    return values, tuple((info.path, run.storage.get(info.path)) for info in run.storage.list())
