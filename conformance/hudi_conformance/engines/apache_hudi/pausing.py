"""Work of Apache Hudi that halts on its way, each with a write client of its own; several in one Java virtual machine."""

from dataclasses import dataclass

from hudi_conformance.contract import Call, Refused
from hudi_conformance.contract.messages import Point, Work
from hudi_conformance.engines.apache_hudi import maintenance, writing
from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_conformance.engines.apache_hudi.maintenance import Steps


def steps_of(bridge: JavaBridge, table: str, work: Work, until: Point) -> "PausableSteps":
    """What there is to do on the table of that URI. Raises Refused for a point that it does not come by."""
    if until == "drawn" and bridge.version != "1.0.2":
        raise Refused("halt.drawn", "this release draws a begin time and publishes it in one call")
    if isinstance(work, Call):
        order = maintenance.Order(bridge, table, work.phase, work.instant, work.options)
        return PausableSteps(maintenance.steps(order, work.service))
    return PausableSteps(writing.steps(bridge, table, work.operation, work.rows, work.options))


@dataclass
class PausableSteps:
    """One process, as its steps."""

    steps: Steps
    #: The requested time of its action, as far as it is known.
    instant: str | None = None

    def run(self, until: Point | None) -> bool:
        """Up to that point or to the end; whether it halts."""
        while True:
            try:
                point, self.instant = next(self.steps)
            except StopIteration as end:
                self.instant = end.value
                return False
            if point == until:
                return True

    def abandon(self) -> None:
        """The process has died: its client is closed."""
        self.steps.close()
