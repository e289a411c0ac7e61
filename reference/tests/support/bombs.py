"""Small inputs that declare or expand to very much, a child process with little memory, and counts of calls."""

import faulthandler
import json
import os
import resource
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import fastavro

from hudi_reference.errors import HudiError

#: The memory that a child may take in addition to what its parent has, in bytes.
MEMORY = 1 << 30
SYNC = bytes(16)


def error_of(action: Callable[[], object]) -> str:
    """The text of the HudiError that `action` raises in a child with little memory; "" if it raises none.

    Another exception, or the end of the child, fails the test that asks.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        _report(action, theirs)
    os.close(theirs)
    with os.fdopen(ours) as told:
        text = told.read()
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"the child ended with {status}: {text}"
    return text


def _report(action: Callable[[], object], out: int) -> None:
    """Run `action` in this child process, which then ends; without the stack that pytest prints when a signal ends it."""
    faulthandler.disable()
    status, text = 1, ""
    try:
        with Path("/proc/self/statm").open() as sizes:
            most = int(sizes.read().split()[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        action()
        status = 0
    except HudiError as error:
        status, text = 0, str(error)
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"[:2000]
    finally:
        os.write(out, text.encode()[:60_000])
        os._exit(status)


def calls(action: Callable[[], object]) -> int:
    """The number of calls of functions, also of those in C, while `action` runs."""
    count = 0

    def profile(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def doubling(levels: int) -> str:
    """A record whose types name each other twice at each level."""
    inner: Any = "int"
    for level in range(levels):
        first = {"type": "record", "name": f"r{level}", "fields": [{"name": "a", "type": inner}]}
        inner = {
            "type": "record",
            "name": f"p{level}",
            "fields": [{"name": "x", "type": first}, {"name": "y", "type": f"r{level}"}],
        }
    return json.dumps({"type": "record", "name": "row", "fields": [{"name": "c", "type": inner}]})


def wide(columns: int) -> str:
    """A schema of many columns."""
    fields = ",".join(f'{{"name":"c{number}","type":"int"}}' for number in range(columns))
    return f'{{"type":"record","name":"row","fields":[{fields}]}}'


def nested(levels: int) -> str:
    """A schema of lists in lists."""
    return f'{{"type":"record","name":"row","fields":[{{"name":"c","type":{_lists(levels)}}}]}}'


def _lists(levels: int) -> str:
    return '{"type":"array","items":' * levels + '"int"' + "}" * levels


def chained(levels: int) -> str:
    """A schema of many levels, each of which names the one before it, so that its text has few."""
    fields: list[Any] = [{"name": "c", "type": "int"}]
    for level in range(levels):
        inner = "int" if level == 0 else f"r{level - 1}"
        record = {"type": "record", "name": f"r{level}", "fields": [{"name": "a", "type": inner}]}
        fields.append({"name": f"c{level}", "type": record})
    return json.dumps({"type": "record", "name": "row", "fields": fields})


def container(schema: Any, datum: bytes, codec: str = "null") -> bytes:
    """An Avro container of one record with these bytes, which need not fit the schema."""
    if codec == "deflate":
        deflater = zlib.compressobj(wbits=-15)
        datum = deflater.compress(datum) + deflater.flush()
    entries = {b"avro.schema": json.dumps(schema).encode(), b"avro.codec": codec.encode()}
    head = b"".join(long(len(part)) + part for entry in entries.items() for part in entry)
    return b"Obj\x01" + long(len(entries)) + head + long(0) + SYNC + long(1) + long(len(datum)) + datum + SYNC


def long(value: int) -> bytes:
    """An Avro long."""
    rest, out = value << 1, bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes((*out, rest))


def commit_schema(*more: Any) -> dict[str, Any]:
    """The schema of commit metadata with few fields, and `more` fields of each file."""
    texts = [{"name": name, "type": ["null", "string"]} for name in ("fileId", "path")]
    stat = {"type": "record", "name": "HoodieWriteStat", "fields": [*texts, *more]}
    stats = {"type": "map", "values": {"type": "array", "items": stat}}
    return {"type": "record", "name": "HoodieCommitMetadata", "fields": [{"name": "partitionToWriteStats", "type": stats}]}


def stats(count: int, stat: bytes = b"\x00\x00") -> bytes:
    """The datum of commit metadata of one partition with a number of equal files."""
    return long(1) + long(1) + b"p" + long(count) + stat * count + long(0) + long(0)


assert fastavro.schemaless_reader  # the library is loaded before a child is
