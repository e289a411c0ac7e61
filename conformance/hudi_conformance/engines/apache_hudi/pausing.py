"""Pausable writes and services of Apache Hudi, each with its own write client in one Java virtual machine."""

from dataclasses import dataclass

from hudi_conformance.contract import Call, Refused
from hudi_conformance.contract.messages import Point, Work
from hudi_conformance.engines.apache_hudi import maintenance, writing
from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_conformance.engines.apache_hudi.orders import Order, Steps


def steps_of(bridge: JavaBridge, table: str, work: Work, until: Point) -> "PausableSteps":
    """The steps of a write or service on a table. Raises Refused for a point that it does not have."""
    if until == "drawn" and bridge.version != "1.0.2":
        raise Refused("pause.drawn", "this release takes a begin time and publishes it in one call")
    if isinstance(work, Call):
        order = Order(bridge, table, work.phase, work.instant, work.options)
        return PausableSteps(maintenance.steps(order, work.service))
    return PausableSteps(writing.steps(bridge, table, work.operation, work.rows, work.options))


@dataclass
class PausableSteps:
    """A write or service as a generator of its steps."""

    steps: Steps
    #: The requested time of its action, None while it is unknown.
    instant: str | None = None

    def run(self, until: Point | None) -> bool:
        """Run up to that point, or to the end; whether it paused."""
        while True:
            try:
                point, self.instant = next(self.steps)
            except StopIteration as end:
                self.instant = end.value
                return False
            if point == until:
                return True

    def abandon(self) -> None:
        """Abandon the work and close its client."""
        self.steps.close()
