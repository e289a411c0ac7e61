"""Explore every order in which processes may take their steps, or many of them.

`exhaustive` without a bound reduces by partial order (`reduction`); with a bound on preemptions, or unreduced, it follows every
order (`interleavings`). `priorities` chooses random orders (Burckhardt and others 2010). All of them check each state of the
store once, and each run.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hudi_conformance.counters import count
from hudi_conformance.explorer.search.checker import Check, Checker, CheckState, Explored, Failure
from hudi_conformance.explorer.search.interleavings import Interleavings
from hudi_conformance.explorer.search.reduction import Reduction
from hudi_conformance.explorer.simulation.actor import Process
from hudi_conformance.explorer.simulation.faults import Faults
from hudi_conformance.explorer.simulation.runs import Run, Step
from hudi_conformance.explorer.simulation.scheduler import Point, Simulation
from hudi_conformance.explorer.simulation.simulated_store import SimulatedStore

__all__ = ["Check", "CheckState", "Explored", "Failure", "explore_exhaustively", "explore_with_priorities"]

MakeStore = Callable[[], SimulatedStore]
MakeProcesses = Callable[[], Sequence[Process]] | Sequence[Process]
Progress = Callable[[Explored], None]


def explore_exhaustively(
    make_store: MakeStore,
    processes: MakeProcesses,
    *,
    preemptions: int | None = None,
    crashes: int = 0,
    faults: tuple[str, ...] = ("crash-before",),
    check: Check | None = None,
    each: CheckState | None = None,
    reduce: bool = True,
    merge: bool = True,
    most_runs: int | None = None,
    progress: Progress | None = None,
) -> Explored:
    """Explore all orders, up to the first failing run.

    Args:
        make_store: makes the simulated store.
        processes: the processes, or a function that makes them.
        preemptions: how often a process that could continue may be made to wait; None is no bound.
        crashes: how many of the `faults` may happen in a run. They are tried at every step where they make a difference.
        check: checks each run; `each` checks each state.
        reduce: whether orders are reduced by partial order; only without a bound on preemptions.
        merge: whether each point is explored once, if orders are not reduced.
        most_runs: stop after so many runs.
    """
    simulation, checker = make_simulation(make_store, processes), Checker(check, each, Explored(), most_runs, progress)
    wanted = Faults(crashes, faults)
    if preemptions is None and reduce:
        Reduction(simulation, checker, wanted).explore()
    else:
        Interleavings(simulation, checker, wanted, preemptions, merge=merge).explore()
    found = checker.found
    found.starts = simulation.start_count
    count(programs=found.is_complete, orders=found.runs, steps=found.steps, crashes=found.crashes)
    return found


def make_simulation(make_store: MakeStore, processes: MakeProcesses) -> Simulation:
    """The simulation of a store and its processes."""
    return Simulation(make_store(), processes() if callable(processes) else processes)


def explore_with_priorities(
    make_store: MakeStore,
    processes: MakeProcesses,
    *,
    seed: int,
    runs: int,
    depth: int = 3,
    crashes: int = 0,
    faults: tuple[str, ...] = ("crash-before", "crash-after"),
    check: Check | None = None,
    each: CheckState | None = None,
    progress: Progress | None = None,
) -> Explored:
    """Explore random orders: processes have random priorities, and at `depth` - 1 random steps the first one becomes the last.

    A defect that needs `depth` steps in one order is found with a probability of at least 1 / (n k^(depth - 1)) a run, for
    n processes and k steps. Up to `crashes` of the `faults` happen in a run, at random steps.
    """
    simulation, checker = make_simulation(make_store, processes), Checker(check, each, Explored(), runs, progress)
    search = _RandomSearch(simulation, checker, random.Random(seed), depth, Faults(crashes, faults))
    while search.run():
        pass
    found = checker.found
    found.starts = simulation.start_count
    count(orders=found.runs, drawn=found.runs, steps=found.steps, crashes=found.crashes)
    return found


@dataclass
class _RandomSearch:
    """Random orders by priorities."""

    simulation: Simulation
    checker: Checker
    drawn: random.Random
    depth: int
    faults: Faults
    #: Length of the longest run so far: random steps are chosen below it.
    length: int = 1

    def run(self) -> bool:
        """Make one run; whether another one follows."""
        rank = {place: 1 + self.drawn.random() for place in range(len(self.simulation.names))}
        changes = {self.drawn.randrange(self.length): -number for number in range(1, self.depth)}
        due = {self.drawn.randrange(self.length) for _ in range(self.drawn.randint(0, self.faults.most))}
        point, steps = self.simulation.first_point(), list[Step]()
        while ready := self.simulation.runnable_processes(point):
            place = max(ready, key=rank.__getitem__)
            fault = self.drawn.choice(self.faults.kinds) if len(steps) in due else None
            point, step = self.simulation.take_step(point, place, fault)
            rank[place] = changes.get(len(steps), rank[place])
            steps.append(step)
            if violation := self.checker.check_step(step):
                return self.checker.record_failure(violation, self._ended(point, steps))
        return self.checker.check_end(self._ended(point, steps))

    def _ended(self, point: Point, steps: list[Step]) -> Run:
        self.length = max(self.length, len(steps))
        return self.simulation.make_run(point, steps)
