"""HFiles without checksums: a deployed writer names a kind of checksum and stores zeros in its place (ER-222).

The reference writes; the engine under test reads.
"""

import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.clustered_tables import Type
from hudi_conformance.suite.support.tables.metadata_tables import CHANGES, EVERY_INDEX, INSERTS, IndexedTable, values_where

#: The first bytes of the blocks of an HFile.
BLOCK = re.compile(rb"DATABLK\*|IDXROOT2|IDXLEAF2|IDXINTE2|FILEINF2|METABLKc|BLMFBLK2")


def clear_checksums(file: Path) -> int:
    """Overwrite the checksums of each block of an HFile, also in a log file, with zeros; how many blocks had others."""
    data, cleared = bytearray(file.read_bytes()), 0
    for found in BLOCK.finditer(bytes(data)):
        at = found.start()
        (on_disk,), (stored,) = struct.unpack_from(">i", data, at + 8), struct.unpack_from(">i", data, at + 29)
        sums = slice(at + stored, at + 33 + on_disk)
        cleared += any(data[sums])
        data[sums] = bytes(sums.stop - sums.start)
    file.write_bytes(data)
    return cleared


@pytest.mark.needs("read.snapshot", "read.filter", "read.projection", "merge-on-read", "merge.event-time", "partition.plain")
@BOTH_TYPES
@pytest.mark.requirements("BF-002", "BLK-024")
def test_hfiles_without_checksums_are_read(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """BF-002: all checksums of the HFiles of a metadata table are zero, as a deployed writer stores them. The rows are read,
    also those that a filter finds by an index.
    """
    with connect("reference") as writer:
        table = IndexedTable(writer, new_uri(), type).write(*INSERTS, *CHANGES, options=EVERY_INDEX)
    metadata = table.folder / ".hoodie" / "metadata"
    files = [path for path in metadata.rglob("*") if ".log." in path.name or path.suffix == ".hfile"]
    assert sum(map(clear_checksums, files)) > 20
    assert values_where(engine, table.uri) == ["a", "c", "d", "e", "n"]
    assert values_where(engine, table.uri, ("id", "=", "a")) == ["a"]
    assert values_where(engine, table.uri, ("ts", ">", 20)) == ["a"]
