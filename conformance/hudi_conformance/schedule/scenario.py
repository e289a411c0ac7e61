"""A scenario: a world, the processes in it, and what must hold whatever they do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hudi_conformance.schedule.explore import Check, CheckState, Explored, exhaustive
from hudi_conformance.schedule.scheduler import Process
from hudi_conformance.schedule.world import World


@dataclass(frozen=True)
class Scenario:
    """What the explorer explores."""

    name: str
    description: str
    make_world: Callable[[], World]
    processes: Callable[[], Sequence[Process]]
    #: Says what is wrong with a run, None if nothing is.
    check: Check
    #: The same of a state after any step; it is asked about once.
    each: CheckState | None = None
    #: Bound on preemptions; None explores all orders, reduced by partial order.
    preemptions: int | None = None
    crashes: int = 0

    def explore(self) -> Explored:
        """Look at all orders within the bounds, up to the first that is wrong."""
        return exhaustive(
            self.make_world, self.processes, preemptions=self.preemptions, crashes=self.crashes, check=self.check,
            each=self.each,
        )  # fmt: skip
