"""The engines shipped with the suite, by name, and how each is started.

`find` turns a name or a command line into an `EngineInfo`; nothing heavy is imported until the engine is started.
"""

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from shutil import which

from hudi_conformance.contract.client import Transport
from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.in_process import InProcessTransport
from hudi_conformance.contract.process import ProcessTransport

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
        from hudi_conformance.engines import environments

        return (str(environments.python_for(self.extra, progress=progress)), *self.argv)


def _on_a_jvm(name: str, summary: str, extra: str, *argv: str) -> EngineInfo:
    """A JVM starts in its own time, and the first write of a Spark session is slow."""
    return EngineInfo(name, summary, argv=("-m", *argv), extra=extra, start_timeout=240.0, message_timeout=300.0)


def _apache_hudi(version: str) -> EngineInfo:
    module = "hudi_conformance.engines.apache_hudi"
    return _on_a_jvm(
        f"apache-hudi@{version}", f"Apache Hudi {version} on Spark 3.5", "apache-hudi", module, "--version", version
    )


def _apache_hudi_java(version: str) -> EngineInfo:
    module = "hudi_conformance.engines.apache_hudi_java"
    name, summary = f"apache-hudi-java@{version}", f"Java client of Apache Hudi {version}, without Spark"
    return replace(_on_a_jvm(name, summary, "apache-hudi", module, "--version", version), commit_seconds=0.3)


def _reference() -> Engine:
    from hudi_conformance.engines.reference import Reference

    return Reference()


_SHIPPED = (
    EngineInfo(
        "reference",
        "the reference implementation, in process",
        factory=_reference,
        argv=("-m", "hudi_conformance.engines.reference"),
    ),
    _on_a_jvm("spark", "the reference's format modules on Spark 4", "spark", "hudi_conformance.engines.spark"),
    _apache_hudi("1.0.2"),
    _apache_hudi("1.2.0"),
    _apache_hudi_java("1.0.2"),
    _apache_hudi_java("1.2.0"),
    EngineInfo("hudi-rs", "hudi-rs 0.5.0", argv=("-m", "hudi_conformance.engines.hudi_rs"), extra="hudi-rs"),
)


def shipped() -> tuple[EngineInfo, ...]:
    """The engines that a run can be compared with, without the doubles."""
    return _SHIPPED


def find(name: str) -> EngineInfo:
    """The engine of that name; any other text is the command line of an adapter.

    Names: those of `shipped()`, and `double:<sin>`. Raises UnknownEngine for a sin nobody commits, and for text that
    is no command line.
    """
    by_name = {info.name: info for info in _SHIPPED}
    if name in by_name:
        return by_name[name]
    if name.startswith("double:"):
        return _double(name.removeprefix("double:"))
    return _command(name, by_name)


def _double(sin: str) -> EngineInfo:
    from hudi_conformance.engines.doubles import SINS

    if sin not in SINS:
        raise UnknownEngine(f"no double commits the sin {sin!r}; the sins are {', '.join(SINS)}")
    return SINS[sin].info


def _command(text: str, by_name: dict[str, EngineInfo]) -> EngineInfo:
    try:
        argv = tuple(shlex.split(text))
    except ValueError as e:
        raise UnknownEngine(f"{text!r} is no engine and no command line: {e}") from None
    if not argv:
        raise UnknownEngine(f"an engine has a name; known are {', '.join(by_name)}, double:<sin>, or a command line")
    if which(argv[0]) is None:
        near = get_close_matches(text, by_name, n=1)
        raise UnknownEngine(
            f"{text!r} is neither an engine of the suite nor a program that can be run"
            + (f"; did you mean {near[0]}?" if near else f"; engines are {', '.join(by_name)} and double:<sin>")
        )
    return EngineInfo(text, "an adapter given as a command line", argv=argv)
