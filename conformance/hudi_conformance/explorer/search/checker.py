"""What an exploration counts, and whom it asks whether something is wrong."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hudi_conformance.explorer.simulation.scheduler import Run, Step
from hudi_conformance.explorer.simulation.simulated_store import State

#: Says what is wrong with a run, None if nothing is.
Check = Callable[[Run], str | None]
#: The same of a state, whichever run leads to it.
CheckState = Callable[[State], str | None]


@dataclass(frozen=True)
class Failure:
    """A run that is wrong, and what is wrong with it."""

    violation: str
    run: Run
    #: Runs up to this one.
    number: int


@dataclass
class Explored:
    """What was looked at."""

    #: Runs that came to their end, and were checked.
    runs: int = 0
    #: Orders that were given up because an equivalent one had been taken, or a point was known already.
    pruned: int = 0
    #: Steps that were taken.
    steps: int = 0
    #: Steps at which a process died.
    crashes: int = 0
    #: How often a program was really run; all other steps were known from an earlier run.
    starts: int = 0
    #: Orders of steps altogether, those that a known point leads to as well. None with reduction, and for drawn orders.
    interleavings: int | None = None
    failure: Failure | None = None
    #: Whether nothing is left to look at.
    is_complete: bool = False
    seen: set[int] = field(default_factory=set, repr=False)

    @property
    def states(self) -> int:
        """Distinct states of the store."""
        return len(self.seen)


@dataclass
class Checker:
    """Counts, and asks the checks; a state is asked about once."""

    check: Check | None
    each: CheckState | None
    found: Explored = field(default_factory=Explored)
    most_runs: int | None = None
    progress: Callable[[Explored], None] | None = None

    def step(self, step: Step) -> str | None:
        """What is wrong with the state after a step."""
        self.found.steps += 1
        if step.fault is not None:
            self.found.crashes += step.fault.startswith("crash")
        digest = step.state.digest
        if digest in self.found.seen:
            return None
        self.found.seen.add(digest)
        return None if self.each is None else self.each(step.state)

    def end(self, run: Run) -> bool:
        """A run has ended; whether exploring goes on."""
        self.found.runs += 1
        if self.check is not None and (violation := self.check(run)):
            return self.fail(violation, run)
        if self.progress is not None:
            self.progress(self.found)
        return self.most_runs is None or self.found.runs < self.most_runs

    def fail(self, violation: str, run: Run) -> bool:
        """Something is wrong: exploring ends."""
        self.found.failure = Failure(violation, run, self.found.runs)
        return False
