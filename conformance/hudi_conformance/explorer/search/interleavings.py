"""All orders of steps, with or without a bound on preemptions. Each point is explored once."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hudi_conformance.explorer.search.checker import Checker
from hudi_conformance.explorer.simulation.faults import Faults
from hudi_conformance.explorer.simulation.runs import Step
from hudi_conformance.explorer.simulation.scheduler import Point, Simulation


class Budget(NamedTuple):
    """How many preemptions (None: any number) and faults may still happen."""

    preemptions: int | None
    faults: int


class Interleavings:
    """Follows every order. Orders that reach the same point have the same continuations, so the second one is only counted."""

    def __init__(
        self, simulation: Simulation, checker: Checker, faults: Faults, preemptions: int | None, *, merge: bool
    ) -> None:
        self.simulation, self.checker, self.faults, self.merge = simulation, checker, faults, merge
        self.budget = Budget(preemptions, faults.most)
        self.steps: list[Step] = []
        #: Point -> number of orders from there to the end.
        self.known: dict[object, int] = {}

    def explore(self) -> None:
        """Explore from the first point."""
        found = self._follow(self.simulation.first_point(), None, self.budget)
        self.checker.found.is_complete = found is not None
        self.checker.found.interleavings = found

    def _follow(self, point: Point, last: int | None, budget: Budget) -> int | None:
        """Number of orders from here to the end; None if the exploration has stopped."""
        key: object = None
        if self.merge:
            key = (point.program_states, point.stalled, point.state[1:], None if budget.preemptions is None else last, budget)
            if (known := self.known.get(key)) is not None:
                self.checker.found.pruned += 1
                return known
        ready = self.simulation.runnable_processes(point)
        if not ready:
            return 1 if self.checker.check_end(self.simulation.make_run(point, self.steps)) else None
        total = 0
        for place, fault, left in self._choices(point, ready, last, budget):
            follows, step = self.simulation.take_step(point, place, fault)
            self.steps.append(step)
            if violation := self.checker.check_step(step):
                self.checker.record_failure(violation, self.simulation.make_run(follows, self.steps))
                return None
            found = self._follow(follows, place, left)
            self.steps.pop()
            if found is None:
                return None
            total += found
        if self.merge:
            self.known[key] = total
        return total

    def _choices(
        self, point: Point, ready: Sequence[int], last: int | None, budget: Budget
    ) -> Iterator[tuple[int, str | None, Budget]]:
        """Process, fault, and the budget after it; the process of the last step first."""
        to_end = last in ready
        for place in (last, *(p for p in ready if p != last)) if to_end else ready:
            assert place is not None
            left = budget
            if budget.preemptions is not None and to_end and place != last:
                if budget.preemptions == 0:
                    return
                left = Budget(budget.preemptions - 1, budget.faults)
            yield place, None, left
            if budget.faults:
                for fault in self.faults.possible_faults(point.program_states[place].request):
                    yield place, fault, Budget(left.preemptions, budget.faults - 1)
