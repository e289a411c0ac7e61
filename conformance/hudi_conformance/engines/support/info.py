"""How an engine is started: in this process, or as a process of its own."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hudi_conformance.contract.client import Transport
from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.in_process import InProcessTransport
from hudi_conformance.contract.process import ProcessTransport
from hudi_conformance.engines.support import environments

#: Hears, in one line each, what happens before an engine answers for the first time.
Progress = Callable[[str], None]


class UnknownEngine(ValueError):
    """A name that is neither an engine of the suite nor a command line."""


@dataclass(frozen=True)
class EngineInfo:
    """How to start one engine.

    Where `factory` makes an object in this process, that is how it is started; `argv` is the command of a process. With
    `extra`, the command is run by the Python of that extra's own environment, which is made on first use. Time limits are in
    seconds; `commit_seconds` is about what one small commit takes, None where nobody knows.
    """

    name: str
    summary: str
    factory: Callable[[], Engine] | None = None
    argv: tuple[str, ...] = ()
    extra: str | None = None
    start_timeout: float = 30.0
    message_timeout: float = 120.0
    commit_seconds: float | None = None

    def affordable(self, many: int, few: int) -> int:
        """How many drawn programs of writes a test runs: `many` in this process, `few` where a commit takes seconds or who
        knows how long, a third of the many in between."""
        if self.factory is not None:
            return many
        return few if self.commit_seconds is None or self.commit_seconds >= 1 else max(few, many // 3)

    def starter(self, progress: Progress, variables: Mapping[str, str] | None = None) -> Callable[[], Transport]:
        """A function that starts the engine once more each time it is called.

        With `variables` it is a process, also where it could be an object in this one, and they are in its environment.
        """
        factory = self.factory
        if factory is None or variables is not None:
            environment = None if variables is None else {**os.environ, **variables}
            return lambda: ProcessTransport(self.command(progress), environment)
        return lambda: InProcessTransport(factory)

    def command(self, progress: Progress) -> tuple[str, ...]:
        """The command line of the engine's process; makes its environment if there is none yet."""
        if self.factory is not None:
            return (sys.executable, *self.argv)
        if self.extra is None:
            return self.argv
        return (str(environments.python_for(self.extra, progress=progress)), *self.argv)
