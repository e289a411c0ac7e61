"""The engines shipped with the suite, by name, and how each is started.

`find` maps a name or a command line to an `EngineInfo`. The libraries of an engine are imported only when it is started.
"""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from shutil import which

from hudi_conformance.contract.client import Client, Trace
from hudi_conformance.contract.engine import Engine
from hudi_conformance.engines.support.info import EngineInfo, UnknownEngine


def _on_a_jvm(name: str, summary: str, extra: str, *argv: str) -> EngineInfo:
    """An engine on a JVM. Its time limits are long, because a JVM and the first write of a Spark session are slow."""
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
    from hudi_conformance.engines.reference.engine import Reference

    return Reference()


_SHIPPED = (
    EngineInfo(
        "reference",
        "the reference implementation, in process",
        factory=_reference,
        argv=("-m", "hudi_conformance.engines.reference.engine"),
        validation="deep",
    ),
    _on_a_jvm("spark", "the reference's format modules on Spark 4", "spark", "hudi_conformance.engines.spark"),
    _apache_hudi("1.0.2"),
    _apache_hudi("1.1.1"),
    _apache_hudi("1.2.0"),
    _apache_hudi_java("1.0.2"),
    _apache_hudi_java("1.2.0"),
    EngineInfo("hudi-rs", "hudi-rs 0.5.0", argv=("-m", "hudi_conformance.engines.hudi_rs"), extra="hudi-rs"),
    EngineInfo("hudi-rs@0.6", "hudi-rs 0.6.0-rc.1, which also writes", package="hudi_rs_native", commit_seconds=0.05),
    EngineInfo("chdb", "chDB 4.4.0, ClickHouse in process", argv=("-m", "hudi_conformance.engines.chdb"), extra="chdb"),
)

#: Engines that have no adapter here, and why: what `doctor`, `engines` and an attempt to run them print.
_WITHOUT_ADAPTER = {
    "trino": "its server has 800 MB and needs Java 24 or newer with the module jdk.incubator.vector, which no package has, "
    "and a metastore whose files are edited by hand; it ignores the log files of merge-on-read tables",
}


def shipped() -> tuple[EngineInfo, ...]:
    """The engines shipped with the suite, without the faulty engines."""
    return _SHIPPED


def without_adapter() -> Mapping[str, str]:
    """Engines for which the suite has no adapter, by name, and the reason for each."""
    return _WITHOUT_ADAPTER


def find(name: str) -> EngineInfo:
    """The engine of that name; any other text is the command line of an adapter.

    Args:
        name: a name of `shipped()`, `faulty:<fault>` (or its old spelling `double:<fault>`), or a command line.

    Raises:
        UnknownEngine: there is no such fault, the engine has no adapter, or the text is not a command line.
    """
    by_name = {info.name: info for info in _SHIPPED}
    if name in by_name:
        return by_name[name]
    if name in _WITHOUT_ADAPTER:
        raise UnknownEngine(f"{name} has no adapter here: {_WITHOUT_ADAPTER[name]}")
    kind, colon, fault = name.partition(":")
    if colon and kind in ("faulty", "double"):
        return _faulty(fault)
    return _command(name, by_name)


def _faulty(fault: str) -> EngineInfo:
    from hudi_conformance.engines.faulty.faulty_engines import FAULTS

    if fault not in FAULTS:
        raise UnknownEngine(f"there is no faulty engine {fault!r}; the faults are {', '.join(FAULTS)}")
    return FAULTS[fault].info


def _command(text: str, by_name: dict[str, EngineInfo]) -> EngineInfo:
    try:
        argv = tuple(shlex.split(text))
    except ValueError as e:
        raise UnknownEngine(f"{text!r} is neither an engine nor a command line: {e}") from None
    if not argv:
        raise UnknownEngine(
            f"the name of the engine is empty; give one of {', '.join(by_name)}, faulty:<fault>, or a command line"
        )
    if which(argv[0]) is None:
        if (hint := _how_to_start(argv)) is not None:
            raise UnknownEngine(f"{argv[0]} is a file and cannot be started by this name; give {hint}")
        near = get_close_matches(text, by_name, n=1)
        raise UnknownEngine(
            f"{text!r} is neither an engine of the suite nor an executable program"
            + (f"; did you mean {near[0]}?" if near else f"; engines are {', '.join(by_name)} and faulty:<fault>")
        )
    return EngineInfo(text, "an adapter given as a command line", argv=argv)


#: How a file is started, by its suffix.
_INTERPRETERS = {".mjs": "node", ".cjs": "node", ".js": "node", ".ts": "npx tsx", ".py": "python3", ".jar": "java -jar",
                 ".sh": "sh", ".rb": "ruby", ".lua": "lua", ".go": "go run"}  # fmt: skip


def _how_to_start(argv: Sequence[str]) -> str | None:
    """The command lines that may be meant by the name of an existing file; None if there is no such file."""
    path = Path(argv[0])
    if not path.is_file():
        return None
    direct = argv[0] if path.is_absolute() or argv[0].startswith(".") else f"./{argv[0]}"
    started = shlex.quote(shlex.join([direct, *argv[1:]]))
    by_name = started if os.access(path, os.X_OK) else f"{started} after: chmod +x {shlex.quote(argv[0])}"
    interpreter = _INTERPRETERS.get(path.suffix)
    return by_name if interpreter is None else f"{shlex.quote(f'{interpreter} {shlex.join(argv)}')}, or {by_name}"


def connect(
    name_or_command: str,
    *,
    start_timeout: float | None = None,
    message_timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
    variables: Mapping[str, str] | None = None,
    trace: Trace | None = None,
) -> Client:
    """Start an engine.

    Args:
        name_or_command: the name of an engine, or the command line of an adapter.
        start_timeout: seconds; None is the engine's own limit.
        message_timeout: seconds; None is the engine's own limit.
        progress: receives one line for each step while the environment of the engine is created.
        variables: environment variables, such as endpoint and keys of an object store. With them the engine is a process.
        trace: receives each message and each answer.

    Raises:
        UnknownEngine: the name is neither an engine nor a command line.
        EngineCrash, SlowStart, ProtocolFault, EngineError: the engine does not start.
    """
    info = find(name_or_command)
    return Client(
        info.name,
        info.starter(progress or (lambda _: None), variables),
        start_timeout=info.start_timeout if start_timeout is None else start_timeout,
        message_timeout=info.message_timeout if message_timeout is None else message_timeout,
        trace=trace,
    )
