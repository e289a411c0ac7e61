"""The small Java classes beside this file, compiled in memory in the JVM of the session by the compiler of Spark."""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hudi_conformance.engines.apache_hudi.jvm.session import Session

_FOLDER = Path(__file__).parent


class Drains:
    """`plain` reads the classes of every release; `hbase` those of the releases 1.0, None for others."""

    def __init__(self, session: Session) -> None:
        self.plain = java_object(session, _FOLDER / "Drain.java")
        self.hbase: Any = None
        if session.version.startswith("1.0."):
            self.hbase = java_object(session, _FOLDER / "HBaseDrain.java", beside=self.plain)


def java_object(session: Session, source: Path, beside: Any = None) -> Any:
    """An object of the class in that file of Java, which can use the class of the object `beside`."""
    java, gateway = session.jvm.java.lang, session.spark.sparkContext._gateway
    parent = java.Thread.currentThread().getContextClassLoader() if beside is None else beside.getClass().getClassLoader()
    compiler = session.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(parent)
    compiler.cook(source.read_text("utf-8"))
    made = compiler.getClassLoader().loadClass(f"hudi_conformance.{source.stem}")
    return made.getDeclaredConstructor(gateway.new_array(java.Class, 0)).newInstance(gateway.new_array(java.Object, 0))


def frames(data: bytes) -> Iterator[bytes]:
    """The byte strings of one array, each with its length before it."""
    position = 0
    while position < len(data):
        (length,) = struct.unpack_from(">i", data, position)
        position += 4 + length
        yield data[position - length : position]


def pairs(data: bytes) -> list[tuple[bytes, bytes]]:
    """The byte strings of `frames` as pairs."""
    found: Sequence[bytes] = list(frames(data))
    return list(zip(found[::2], found[1::2], strict=True))
