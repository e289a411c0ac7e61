"""A scenario: a simulated store, processes on it, and the check of their runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hudi_conformance.explorer.search.explore import Check, CheckState, Explored, explore_exhaustively, explore_with_priorities
from hudi_conformance.explorer.search.shrink import Shrunk, shrink
from hudi_conformance.explorer.simulation.actor import Process
from hudi_conformance.explorer.simulation.runs import Run, Schedule
from hudi_conformance.explorer.simulation.schedule_file import SavedSchedule
from hudi_conformance.explorer.simulation.scheduler import Simulation, run_simulation
from hudi_conformance.explorer.simulation.simulated_store import SimulatedStore
from hudi_conformance.explorer.simulation.stores import STORES


@dataclass(frozen=True)
class Scenario:
    """A scenario with its bounds."""

    name: str
    description: str
    make_store: Callable[[], SimulatedStore]
    processes: Callable[[], Sequence[Process]]
    #: Returns the violation of a run, None if there is none.
    check: Check
    #: Returns the violation of a state; each state is checked once.
    each: CheckState | None = None
    #: Bound on preemptions; None explores all orders, reduced by partial order.
    preemptions: int | None = None
    crashes: int = 0

    def with_store(self, store: str) -> "Scenario":
        """The same scenario on another kind of store, given by name."""
        return replace(self, make_store=lambda: self.make_store().with_settings(store=STORES[store]))

    def explore_exhaustively(self, **more: Any) -> Explored:
        """Explore all orders within the bounds, up to the first failure. `more` are arguments of `exhaustive`."""
        bounds: dict[str, Any] = {
            "preemptions": self.preemptions,
            "crashes": self.crashes,
            "check": self.check,
            "each": self.each,
        }
        return explore_exhaustively(self.make_store, self.processes, **(bounds | more))

    def explore_randomly(self, runs: int, seed: int, **more: Any) -> Explored:
        """Explore random orders, up to the first failure. `more` are arguments of `priorities`."""
        given: dict[str, Any] = {"crashes": self.crashes, "check": self.check, "each": self.each, **more}
        return explore_with_priorities(self.make_store, self.processes, seed=seed, runs=runs, **given)

    def shrink(self, schedule: Schedule) -> Shrunk:
        """Shrink the failing run of this schedule."""
        return shrink(self.make_store, self.processes, schedule, self.check, self.each)

    def replay(self, saved: SavedSchedule, *, strict: bool = True) -> Run:
        """Replay a saved run with its processes.

        If not `strict`, choices that cannot be taken are skipped.

        Raises:
            NotPossible: a choice cannot be taken.
            Diverged: a process sent another request than in the saved run.
        """
        known = {process.name: process for process in self.processes()}
        processes = [replace(known[name], after=_among(known[name], saved)) for name in saved.processes]
        run = run_simulation(Simulation(self.make_store(), processes), saved.schedule, strict=strict)
        if strict:
            saved.check_run(run)
        return run

    def find_violation(self, run: Run) -> str | None:
        """The violation of a run, or of any state in it."""
        if self.each is not None:
            for step in run.steps:
                if wrong := self.each(step.state):
                    return wrong
        return self.check(run)


def _among(process: Process, saved: SavedSchedule) -> tuple[str, ...]:
    return tuple(name for name in process.after if name in saved.processes)
