"""The figures of an exploration, and the checks of its runs and states."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hudi_conformance.explorer.simulation.runs import Run, Step
from hudi_conformance.explorer.simulation.simulated_store import State

#: Returns the violation of a run, None if there is none.
Check = Callable[[Run], str | None]
#: Returns the violation of a state, whichever run leads to it.
CheckState = Callable[[State], str | None]


@dataclass(frozen=True)
class Failure:
    """A failing run and its violation."""

    violation: str
    run: Run
    #: Number of this run.
    number: int


@dataclass
class Explored:
    """What was explored."""

    #: Runs that were finished and checked.
    runs: int = 0
    #: Orders that were abandoned because an equivalent one was explored, or their point was known.
    pruned: int = 0
    #: Steps taken.
    steps: int = 0
    #: Steps at which a process crashed.
    crashes: int = 0
    #: How often a program was run; all other steps were known from earlier runs.
    starts: int = 0
    #: All orders of steps, including those from known points. None with reduction, and for random orders.
    interleavings: int | None = None
    failure: Failure | None = None
    #: Whether everything within the bounds was explored.
    is_complete: bool = False
    seen: set[int] = field(default_factory=set, repr=False)

    @property
    def states(self) -> int:
        """Distinct states of the store."""
        return len(self.seen)


@dataclass
class Checker:
    """Counts steps and runs, and checks them; each state is checked once."""

    check: Check | None
    each: CheckState | None
    found: Explored = field(default_factory=Explored)
    most_runs: int | None = None
    progress: Callable[[Explored], None] | None = None

    def check_step(self, step: Step) -> str | None:
        """Count a step; the violation of the state after it, if any."""
        self.found.steps += 1
        if step.fault is not None:
            self.found.crashes += step.fault.startswith("crash")
        digest = step.state.digest
        if digest in self.found.seen:
            return None
        self.found.seen.add(digest)
        return None if self.each is None else self.each(step.state)

    def check_end(self, run: Run) -> bool:
        """Count and check a finished run; whether the exploration continues."""
        self.found.runs += 1
        if self.check is not None and (violation := self.check(run)):
            return self.record_failure(violation, run)
        if self.progress is not None:
            self.progress(self.found)
        return self.most_runs is None or self.found.runs < self.most_runs

    def record_failure(self, violation: str, run: Run) -> bool:
        """Record the failure, which ends the exploration."""
        self.found.failure = Failure(violation, run, self.found.runs)
        return False
