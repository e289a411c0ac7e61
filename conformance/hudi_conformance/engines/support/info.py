"""How an engine is started: in this process, or as a separate process."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from hudi_conformance.contract.client import Transport
from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.in_process import InProcessTransport
from hudi_conformance.contract.process import ProcessTransport
from hudi_conformance.engines.support import environments, rust_programs

#: Receives one line for each step before an engine answers for the first time.
Progress = Callable[[str], None]


class UnknownEngine(ValueError):
    """A name that is neither an engine of the suite nor a command line."""


@dataclass(frozen=True)
class EngineInfo:
    """How to start one engine.

    Attributes:
        name: its name in the registry, or a command line.
        summary: its description.
        factory: creates the engine in this process; takes precedence over `argv`.
        argv: the command of a process.
        extra: the extra whose environment runs the command; it is created on first use.
        package: the Cargo package whose program is the command; it is compiled on first use.
        start_timeout: time limit of `hello`, in seconds.
        message_timeout: time limit of other messages, in seconds.
        commit_seconds: the approximate time of one small commit, None if unknown.
        validation: the checks of the tables that it leaves after a case. The deep ones read all rows and index entries.
    """

    name: str
    summary: str
    factory: Callable[[], Engine] | None = None
    argv: tuple[str, ...] = ()
    extra: str | None = None
    package: str | None = None
    start_timeout: float = 30.0
    message_timeout: float = 120.0
    commit_seconds: float | None = None
    validation: Literal["cheap", "deep"] = "cheap"

    @property
    def installed_on_demand(self) -> bool:
        """Whether the engine has an environment or a program that `doctor --make` creates."""
        return self.extra is not None or self.package is not None

    def affordable(self, many: int, few: int) -> int:
        """How many random programs of writes a test runs with this engine.

        It is `many` for an engine in this process, `few` if a commit takes a second or longer or an unknown time, and otherwise
        a third of `many`, but at least `few`.
        """
        if self.factory is not None:
            return many
        return few if self.commit_seconds is None or self.commit_seconds >= 1 else max(few, many // 3)

    def starter(self, progress: Progress, variables: Mapping[str, str] | None = None) -> Callable[[], Transport]:
        """A function that starts a new instance of the engine at each call.

        With `variables` the engine is always a process, which has them in its environment.
        """
        factory = self.factory
        if factory is None or variables is not None:
            environment = None if variables is None else {**os.environ, **variables}
            return lambda: ProcessTransport(self.command(progress), environment)
        return lambda: InProcessTransport(factory)

    def command(self, progress: Progress) -> tuple[str, ...]:
        """The command line of the engine's process; creates its environment or program if it does not exist."""
        if self.factory is not None:
            return (sys.executable, *self.argv)
        if self.package is not None:
            return (str(rust_programs.program_for(self.package, progress=progress)), *self.argv)
        if self.extra is None:
            return self.argv
        return (str(environments.python_for(self.extra, progress=progress)), *self.argv)
