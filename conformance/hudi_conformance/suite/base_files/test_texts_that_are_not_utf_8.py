"""Texts that are not UTF-8, in files that are otherwise whole: the formats of files store texts as UTF-8 only.

The bytes of a text are replaced in the stored file, whose length stays the same. An error is right. An answer is right if it is
a valid one, and if all values but the damaged text are those that were written.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import EngineError, Refused
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.stored_blocks import log_files
from hudi_conformance.suite.support.tables.written_tables import base_files
from hudi_reference import open_table

pytestmark = [
    pytest.mark.needs("read.snapshot", "read.projection", "partition.plain", "merge.event-time"),
    pytest.mark.leaves_damage("it replaces bytes of a text"),
    pytest.mark.each_version,
]

#: Base files are not compressed, so that the bytes of their texts can be replaced.
PLAIN = {"hoodie.parquet.compression.codec": "uncompressed"}
TEXT = "a text of its own"
#: Beginnings of the damaged text: a byte that no character has, the last byte of a character, the first bytes of another one,
#: half of a surrogate pair, and a slash that is longer than it may be.
DAMAGED = {
    "no character": b"\xff",
    "end of a character": b"\xa9",
    "begin of a character": b"\xe2\x82",
    "surrogate": b"\xed\xa0\x80",
    "overlong": b"\xc0\xaf",
}
EVERY_DAMAGE = pytest.mark.parametrize("damage", DAMAGED)


def write_text(uri: str, type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"], version: int) -> None:
    """Write a table with three rows in base files, one of which has the text."""
    Reference().create(uri, Program(type, "EVENT_TIME_ORDERING", True, version=version).spec())
    table = open_table(uri, options=PLAIN)
    table.insert(as_arrow((row("a", 1, "x"), row("b", 1, TEXT), row("c", 1, "z", "rio"))))


def check_damaged_text(engine: Client, uri: str, path: Path, damage: str) -> None:
    """Replace the beginning of the text in a file. A query is then an error, or has the other values from before."""
    query, whole = Query(columns=("id", "ts", "value")), TEXT.encode()
    before = {one["id"]: one for one in engine.read(uri, query).to_pylist()}
    assert TEXT in {one["value"] for one in before.values()}
    path.write_bytes(path.read_bytes().replace(whole, DAMAGED[damage] + whole[len(DAMAGED[damage]) :]))
    try:
        found = engine.read(uri, query).to_pylist()
    except (EngineError, Refused):
        return
    assert sorted(one["id"] for one in found) == sorted(before)
    for one in found:
        # The texts of some engines are bytes of any kind, and their column is one of bytes then.
        value = one["value"].decode(errors="replace") if isinstance(one["value"], bytes) else one["value"]
        is_damaged = before[one["id"]]["value"] == TEXT
        assert one | {"value": value} == before[one["id"]] | ({"value": value} if is_damaged else {})


@BOTH_TYPES
@EVERY_DAMAGE
@pytest.mark.requirements("BF-002")
def test_a_text_of_a_base_file(
    engine: Client, new_uri: Callable[[], str], type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"], damage: str
) -> None:
    """BF-002: base files are ordinary Parquet files, whose texts are UTF-8. Another text is an error, or is replaced by a text;
    the other values stay.
    """
    uri = new_uri()
    write_text(uri, type, engine.table_version)
    (damaged,) = (path for path in base_files(uri) if TEXT.encode() in path.read_bytes())
    check_damaged_text(engine, uri, damaged, damage)


@pytest.mark.needs("merge-on-read", "log.avro")
@EVERY_DAMAGE
@pytest.mark.requirements("BLK-022")
def test_a_text_of_a_log_block(engine: Client, new_uri: Callable[[], str], damage: str) -> None:
    """BLK-022: records of Avro blocks are Avro binary data, whose texts are UTF-8. Another text is an error, or is replaced by
    a text; the other values stay.
    """
    uri = new_uri()
    write_text(uri, "MERGE_ON_READ", engine.table_version)
    open_table(uri).upsert(as_arrow((row("a", 2, TEXT), row("b", 2, "changed"))))
    (log,) = log_files(uri)
    assert TEXT.encode() in log.read_bytes()
    check_damaged_text(engine, uri, log, damage)
