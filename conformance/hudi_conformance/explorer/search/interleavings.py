"""All orders of steps, one after the other, with a bound on preemptions or none. What follows on a point is looked at once."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hudi_conformance.explorer.search.checker import Checker
from hudi_conformance.explorer.simulation.faults import Faults
from hudi_conformance.explorer.simulation.scheduler import Point, Simulation, Step


class Budget(NamedTuple):
    """What may still happen: preemptions (None: as many as there are), and faults."""

    preemptions: int | None
    faults: int


class Interleavings:
    """Follows every order. Two that come to the same point go on alike, so the second one is only counted."""

    def __init__(
        self, simulation: Simulation, checker: Checker, faults: Faults, preemptions: int | None, *, merge: bool
    ) -> None:
        self.simulation, self.checker, self.faults, self.merge = simulation, checker, faults, merge
        self.budget = Budget(preemptions, faults.most)
        self.steps: list[Step] = []
        #: Orders that lead from a point to the end.
        self.known: dict[object, int] = {}

    def explore(self) -> None:
        """From the beginning."""
        found = self._follow(self.simulation.start(), None, self.budget)
        self.checker.found.is_complete = found is not None
        self.checker.found.interleavings = found

    def _follow(self, point: Point, last: int | None, budget: Budget) -> int | None:
        """How many orders lead from here to the end; None if exploring has stopped."""
        key: object = None
        if self.merge:
            key = (point.program_states, point.stalled, point.state[1:], None if budget.preemptions is None else last, budget)
            if (known := self.known.get(key)) is not None:
                self.checker.found.pruned += 1
                return known
        ready = self.simulation.runnable(point)
        if not ready:
            return 1 if self.checker.end(self.simulation.ended(point, self.steps)) else None
        total = 0
        for place, fault, left in self._choices(point, ready, last, budget):
            follows, step = self.simulation.step(point, place, fault)
            self.steps.append(step)
            if violation := self.checker.step(step):
                self.checker.fail(violation, self.simulation.ended(follows, self.steps))
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
        """Process, fault, and what may still happen after it; whoever went last first."""
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
                for fault in self.faults.at(point.program_states[place].request):
                    yield place, fault, Budget(left.preemptions, budget.faults - 1)
