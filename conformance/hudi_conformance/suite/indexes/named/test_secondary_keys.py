"""Keys of secondary indexes, and the file groups that hold them."""

import re
import struct
from collections.abc import Iterator

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.indexes.named_tables import BY_VALUE, NAMED, NamedTable
from hudi_conformance.suite.support.programs.write_programs import Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri
from hudi_conformance.suite.support.tables.metadata_tables import values_where
from hudi_reference import open_table
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.query.file_system_view import load_file_groups

#: Values with the characters that keys escape, one beyond 16 bits, and values that several rows have.
VALUES = ("", "$", "\\", "a$b", "\\$", "é\U0001f600", "shared", "shared", "shared", *(f"v{number}" for number in range(8)))
#: The part of a key up to the separator, which is the first `$` that is not escaped.
PREFIX = re.compile(r"(?:[^$\\]|\\.)*\$", re.DOTALL)


def java_hash(text: str) -> int:
    """Return `String.hashCode`, computed from the 16 bit units of the text."""
    found = 0
    for (unit,) in struct.iter_unpack("<H", text.encode("utf-16-le")):
        found = (31 * found + unit) & 0xFFFFFFFF
    return found - (1 << 32) if found >> 31 else found


def keys_in_groups(table: NamedTable, partition: str) -> Iterator[tuple[str, int, int]]:
    """Yield the key of each entry, the number of its file group, and how many the partition has."""
    opened = open_table(table.uri)
    metadata = MetadataTable.for_table(opened)
    assert metadata is not None, "there is no metadata table"
    slices = load_file_groups(metadata.storage, metadata.properties, metadata.timeline).latest_slices
    of_index = [one for one in slices if one.partition == partition]
    for one in of_index:
        number = int(one.file_id.removesuffix("-0").rpartition("-")[2])
        yield from ((key, number, len(of_index)) for key in metadata.records_of_slice(one))


def write_values(engine: Client, uri: str, version: int) -> NamedTable:
    """Return a table with a secondary index of these values, some of which were written before the index was built."""
    table = NamedTable(engine, uri, "COPY_ON_WRITE", BY_VALUE, version=version)
    rows = [row(f"k{number:02}$", 10, value, ("oslo", "rio")[number % 2]) for number, value in enumerate(VALUES)]
    table.write(Step("upsert", tuple(rows)))
    return table


@NAMED
@pytest.mark.versions(8)
@pytest.mark.requirements("IDX-011", "IDX-024")
def test_the_hash_of_the_whole_key_chooses_the_file_group(engine: Client, new_uri: NewUri) -> None:
    """IDX-011: at version 8 an entry is in the file group whose number follows from the hash of its whole key."""
    table = write_values(engine, new_uri(), 8)
    table.check_values("written")
    found = list(keys_in_groups(table, "secondary_index_by_value"))
    assert all(count > 1 for _, _, count in found)
    assert {key: number for key, number, _ in found} == {key: abs(java_hash(key)) % count for key, _, count in found}


@NAMED
@pytest.mark.versions(9)
@pytest.mark.needs("create.table-version.9", "read.filter", "read.projection")
@pytest.mark.requirements("IDX-045", "IDX-046")
def test_the_hash_of_the_escaped_value_chooses_the_file_group(engine: Client, new_uri: NewUri) -> None:
    """IDX-045: at version 9 an entry is in the file group whose number follows from the hash of the part of its key before the
    record key: the escaped value with the separator. A filter finds each value there.
    """
    table = write_values(engine, new_uri(), 9)
    table.check_values("written")
    found = list(keys_in_groups(table, "secondary_index_by_value"))
    assert all(count > 1 for _, _, count in found)
    expected = {key: abs(java_hash(PREFIX.match(key)[0])) % count for key, _, count in found}  # type: ignore[index]
    assert {key: number for key, number, _ in found} == expected
    for value in {*VALUES, "absent"}:
        wanted = [one["id"] for one in table.model.snapshot() if one["value"] == value]
        assert values_where(engine, table.uri, ("value", "=", value)) == sorted(wanted), repr(value)
