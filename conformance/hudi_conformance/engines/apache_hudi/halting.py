"""Work of Apache Hudi that halts on its way, each with a write client of its own; several in one Java virtual machine."""

from dataclasses import dataclass, field

from hudi_conformance.contract import EngineError
from hudi_conformance.contract.messages import Point
from hudi_conformance.engines.apache_hudi.maintenance import Steps, to_the_end


@dataclass
class Halted:
    """What halts, by the name of its writer."""

    _steps: dict[str, Steps] = field(default_factory=dict)

    def begin(self, writer: str, steps: Steps, until: Point) -> str | None:
        """Run it up to that point."""
        before = self._steps.pop(writer, None)
        if before is not None:
            before.close()
        self._steps[writer] = steps
        return self.resume(writer, until)

    def resume(self, writer: str, until: Point | None) -> str | None:
        """Let it go on. Raises EngineError if nobody halts under that name."""
        steps = self._steps.pop(writer, None)
        if steps is None:
            raise EngineError(f"nobody halts under the name {writer}")
        if until is None:
            return to_the_end(steps)
        while True:
            try:
                point, instant = next(steps)
            except StopIteration as end:
                found: str | None = end.value
                return found
            if point == until:
                self._steps[writer] = steps
                return instant
