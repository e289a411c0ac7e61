"""Checksums of Hadoop's local file system: a file `.NAME.crc` beside each file that Hadoop stored.

Hadoop, and so each engine on it, refuses a file whose checksums are those of other content. It reads a file without checksums.
A process that changes a file has to change its checksums, or to remove them.
"""

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.tables.metadata_tables import FILTERS, LISTED
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    create_updated_table,
    keep_commits,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import table_folder

#: The bytes to which one checksum belongs.
CHUNK = 512


def checksums_of(content: bytes) -> bytes:
    """Return what Hadoop stores beside a file with this content."""
    parts = (content[start : start + CHUNK] for start in range(0, len(content), CHUNK))
    return b"crc\0" + CHUNK.to_bytes(4, "big") + b"".join(zlib.crc32(part).to_bytes(4, "big") for part in parts)


def add_checksums(folder: Path) -> None:
    """Store the checksums of all files, as Hadoop does by default."""
    for file in [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".crc"]:
        file.with_name(f".{file.name}.crc").write_bytes(checksums_of(file.read_bytes()))


def wrong_checksums(folder: Path) -> list[str]:
    """Return the names of files whose checksums are those of other content, and of deleted files that still have some."""
    files = {path: path.with_name(path.name[1:-4]) for path in folder.rglob(".*.crc")}
    return [
        file.name for path, file in files.items() if not file.exists() or path.read_bytes() != checksums_of(file.read_bytes())
    ]


@pytest.mark.needs(*WRITES, "copy-on-write", "service.clean")
@pytest.mark.requirements("S3-001")
def test_a_clean_deletes_checksums_too(engine: Client, new_uri: Callable[[], str]) -> None:
    """S3-001: the engine cleans a table whose files have checksums. A deleted file leaves none: they would be those of other
    content if a file got its name again.
    """
    table = create_updated_table(engine, new_uri(), 4)
    add_checksums(table_folder(table.uri))
    engine.service(table.uri, "clean", options=keep_commits(1))
    assert wrong_checksums(table_folder(table.uri)) == []
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@pytest.mark.needs(*WRITES, "copy-on-write", "service.index", "write.metadata-table")
@pytest.mark.requirements("S3-001", "PROP-001")
def test_changed_properties_have_no_earlier_checksums(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-001: an index is built in a table whose files have checksums, which changes the properties. Their checksums are new
    or removed, so that every later reader can open the table.
    """
    table = create_updated_table(engine, new_uri(), 1)
    add_checksums(table_folder(table.uri))
    properties = table_folder(table.uri) / ".hoodie" / "hoodie.properties"
    before = properties.read_bytes()
    engine.service(table.uri, "index", options={**LISTED, **FILTERS})
    assert properties.read_bytes() != before
    assert wrong_checksums(table_folder(table.uri)) == []
    assert read_snapshot(engine, table.uri) == table.rows[-1]
