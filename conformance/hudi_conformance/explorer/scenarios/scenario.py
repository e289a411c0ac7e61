"""A scenario: a world, the processes in it, and what must hold whatever they do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hudi_conformance.explorer.search.explore import Check, CheckState, Explored, exhaustive, priorities
from hudi_conformance.explorer.search.shrink import Shrunk, shrink
from hudi_conformance.explorer.simulation.schedule_file import Saved
from hudi_conformance.explorer.simulation.scheduler import Process, Run, Schedule, Simulation, run_simulation
from hudi_conformance.explorer.simulation.simulated_store import SimulatedStore
from hudi_conformance.explorer.simulation.stores import STORES


@dataclass(frozen=True)
class Scenario:
    """What the explorer explores."""

    name: str
    description: str
    make_store: Callable[[], SimulatedStore]
    processes: Callable[[], Sequence[Process]]
    #: Says what is wrong with a run, None if nothing is.
    check: Check
    #: The same of a state after any step; it is asked about once.
    each: CheckState | None = None
    #: Bound on preemptions; None explores all orders, reduced by partial order.
    preemptions: int | None = None
    crashes: int = 0

    def on(self, store: str) -> "Scenario":
        """The same on another kind of store; its name is that of a profile."""
        return replace(self, make_store=lambda: self.make_store().with_(store=STORES[store]))

    def explore(self, **more: Any) -> Explored:
        """Look at all orders within the bounds, up to the first that is wrong. `more` is as for `exhaustive`."""
        bounds: dict[str, Any] = {
            "preemptions": self.preemptions,
            "crashes": self.crashes,
            "check": self.check,
            "each": self.each,
        }
        return exhaustive(self.make_store, self.processes, **(bounds | more))

    def draw(self, runs: int, seed: int, **more: Any) -> Explored:
        """Draw orders, up to the first that is wrong. `more` is as for `priorities`."""
        given: dict[str, Any] = {"crashes": self.crashes, "check": self.check, "each": self.each, **more}
        return priorities(self.make_store, self.processes, seed=seed, runs=runs, **given)

    def shrink(self, schedule: Schedule) -> Shrunk:
        """The smallest failure that the one of this schedule leads to."""
        return shrink(self.make_store, self.processes, schedule, self.check, self.each)

    def replay(self, saved: Saved, *, strict: bool = True) -> Run:
        """Make a saved run again, with the processes that took part.

        When `strict`, raises NotPossible or Diverged as soon as it does not go as it did; else choices that cannot be taken
        are passed over.
        """
        taking_part = {process.name: process for process in self.processes()}
        processes = [replace(taking_part[name], after=_among(taking_part[name], saved)) for name in saved.processes]
        run = run_simulation(Simulation(self.make_store(), processes), saved.schedule, strict=strict)
        if strict:
            saved.compare(run)
        return run

    def violation(self, run: Run) -> str | None:
        """What is wrong with a run, or with any state in it."""
        if self.each is not None:
            for step in run.steps:
                if wrong := self.each(step.state):
                    return wrong
        return self.check(run)


def _among(process: Process, saved: Saved) -> tuple[str, ...]:
    return tuple(name for name in process.after if name in saved.processes)
