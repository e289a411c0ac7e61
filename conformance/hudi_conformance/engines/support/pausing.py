"""Paused writes and services by the names of their writers. Each engine implements `Pausable`."""

from typing import Protocol

from hudi_conformance.contract.errors import EngineError
from hudi_conformance.contract.messages import Point


class Pausable(Protocol):
    """A write or service that can pause at given points."""

    #: The requested time of its action, None while it is unknown.
    instant: str | None

    def run(self, until: Point | None) -> bool:
        """Run up to that point, or to the end; whether it paused."""
        ...

    def abandon(self) -> None:
        """Abandon the work, as a crash of its process would: no cleanup is done."""
        ...


class PausedWork:
    """The paused work of an engine, by the names of the writers."""

    def __init__(self) -> None:
        self._processes: dict[str, Pausable] = {}

    def begin(self, writer: str, process: Pausable, until: Point) -> str | None:
        """Run work up to that point, and abandon earlier paused work of this writer."""
        before = self._processes.pop(writer, None)
        if before is not None:
            before.abandon()
        self._processes[writer] = process
        return self.resume(writer, until)

    def resume(self, writer: str, until: Point | None) -> str | None:
        """Resume work. Raises EngineError if no work of that writer is paused."""
        process = self._processes.pop(writer, None)
        if process is None:
            raise EngineError(f"no paused work has the name {writer}")
        if process.run(until):
            self._processes[writer] = process
        return process.instant
