"""Work that halts on its way, kept by the name of its writer; what halts, and how, is the engine's affair."""

from typing import Protocol

from hudi_conformance.contract.errors import EngineError
from hudi_conformance.contract.messages import Point


class Pausable(Protocol):
    """One process that can be made to wait."""

    #: The requested time of its action, as far as it is known.
    instant: str | None

    def go_on(self, until: Point | None) -> bool:
        """Up to that point or to the end; whether it halts."""
        ...

    def give_up(self) -> None:
        """The process has died: nothing of what it would do at its end happens."""
        ...


class PausedWork:
    """What halts, by the name of its writer."""

    def __init__(self) -> None:
        self._processes: dict[str, Pausable] = {}

    def begin(self, writer: str, process: Pausable, until: Point) -> str | None:
        """Run it up to that point; what halts under this name has died."""
        before = self._processes.pop(writer, None)
        if before is not None:
            before.give_up()
        self._processes[writer] = process
        return self.resume(writer, until)

    def resume(self, writer: str, until: Point | None) -> str | None:
        """Let it go on. Raises EngineError if nobody halts under that name."""
        process = self._processes.pop(writer, None)
        if process is None:
            raise EngineError(f"nobody halts under the name {writer}")
        if process.go_on(until):
            self._processes[writer] = process
        return process.instant
