"""The small Java classes beside this file, compiled in memory, in the session's JVM, by the compiler that Spark brings."""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hudi_conformance.engines.apache_hudi.session import Session

_FOLDER = Path(__file__).parent


class Drains:
    """`plain` drains what every release has; `hbase` what the releases 1.0 have besides, None for the others."""

    def __init__(self, session: Session) -> None:
        loader = session.jvm.Thread.currentThread().getContextClassLoader()
        loader = _compiled(session, "Drain", loader)
        self.plain = _new(session, loader, "Drain")
        self.hbase: Any = None
        if session.version.startswith("1.0."):
            self.hbase = _new(session, _compiled(session, "HBaseDrain", loader), "HBaseDrain")


def frames(data: bytes) -> Iterator[bytes]:
    """The byte strings of one array: each behind its length."""
    position = 0
    while position < len(data):
        (length,) = struct.unpack_from(">i", data, position)
        position += 4 + length
        yield data[position - length : position]


def pairs(data: bytes) -> list[tuple[bytes, bytes]]:
    """The same, two and two."""
    found: Sequence[bytes] = list(frames(data))
    return list(zip(found[::2], found[1::2], strict=True))


def _compiled(session: Session, name: str, parent: Any) -> Any:
    compiler = session.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(parent)
    compiler.cook((_FOLDER / f"{name}.java").read_text("utf-8"))
    return compiler.getClassLoader()


def _new(session: Session, loader: Any, name: str) -> Any:
    java, gateway = session.jvm.java.lang, session.spark.sparkContext._gateway
    made = loader.loadClass(f"hudi_conformance.{name}")
    constructor = made.getDeclaredConstructor(gateway.new_array(java.Class, 0))
    return constructor.newInstance(gateway.new_array(java.Object, 0))
