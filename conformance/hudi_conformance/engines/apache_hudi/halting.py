"""Work of Apache Hudi that halts on its way, each with a write client of its own; several in one Java virtual machine."""

from dataclasses import dataclass

from hudi_conformance.contract.messages import Point
from hudi_conformance.engines.apache_hudi.maintenance import Steps


@dataclass
class HaltingSteps:
    """One process, as its steps."""

    steps: Steps
    #: The requested time of its action, as far as it is known.
    instant: str | None = None

    def go_on(self, until: Point | None) -> bool:
        """Up to that point or to the end; whether it halts."""
        while True:
            try:
                point, self.instant = next(self.steps)
            except StopIteration as end:
                self.instant = end.value
                return False
            if point == until:
                return True

    def give_up(self) -> None:
        """The process has died: its client is closed."""
        self.steps.close()
