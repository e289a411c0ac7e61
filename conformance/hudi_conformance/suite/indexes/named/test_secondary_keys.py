"""Keys of secondary indexes, and the file groups that hold them."""

import json
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.indexes.named_tables import NAMED, SETTINGS, NamedTable
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import BY_VALUE, values_where
from hudi_conformance.suite.support.tables.metadata_tables import PREFIX as METADATA
from hudi_conformance.suite.support.tables.renamed_columns import GROWING
from hudi_reference import open_table
from hudi_reference.metadata import secondary_keys
from hudi_reference.metadata.definitions import V1, V2
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


def forget_version(table: NamedTable, definition: dict[str, Any]) -> None:
    """Remove the version of an index: so does 1.0.2, which loses the entries of records that move to another partition."""
    assert definition.pop("version", None)


def create_with_number(table: NamedTable, definition: dict[str, Any]) -> None:
    """Let the table have been created with numbers in the column: entries of rows of that time have texts of numbers."""
    path = table.folder / ".hoodie" / "hoodie.properties"
    text, count = re.subn(r'("name"\\?:"value","type"\\?:\["null",)"string"', r'\1"double"', path.read_text("utf-8"))
    assert count == 1
    path.write_text(text, "utf-8")
    (path.parent / f".{path.name}.crc").unlink(missing_ok=True)


@NAMED
@pytest.mark.versions(8)
@pytest.mark.needs("read.filter", "read.projection")
@pytest.mark.requirements("IDX-024")
@pytest.mark.leaves_damage("its index lacks entries")
@BOTH_TYPES
@pytest.mark.parametrize("change", [forget_version, create_with_number])
def test_an_index_that_may_lack_entries_is_not_used(
    engine: Client, new_uri: NewUri, type: Type, change: Callable[[NamedTable, dict[str, Any]], None]
) -> None:
    """IDX-024: an index may lack entries (ER-168), or have entries with the texts of another type. A filter does not use it.
    Here it has no entry at all for the values of its column: it was built for another one.
    """
    only_engines_of_this_project(engine, "how a reader knows that an index lacks entries")
    table = NamedTable(engine, new_uri(), type, {**BY_VALUE, f"{METADATA}index.secondary.column": "city"}, version=8)
    path = table.folder / ".hoodie" / ".index_defs" / "index.json"
    found = json.loads(path.read_text("utf-8"))
    (definition,) = (one for name, one in found["indexDefinitions"].items() if name.startswith("secondary_index_"))
    definition["sourceFields"] = ["value"]
    change(table, definition)
    path.write_text(json.dumps(found), "utf-8")
    (path.parent / f".{path.name}.crc").unlink(missing_ok=True)
    for value in {one["value"] for one in table.model.snapshot()} - {None}:
        wanted = sorted(one["id"] for one in table.model.snapshot() if one["value"] == value)
        assert values_where(engine, table.uri, ("value", "=", value)) == wanted, value


BY_NUMBER = {"hoodie.index.name": "by_number", f"{METADATA}index.secondary.column": "number"}


def write_numbers(engine: Client, uri: str, rows: list[dict[str, Any]]) -> None:
    """Upsert rows, with the column `number` if one of them has it."""
    columns = {"id": pa.string(), "ts": pa.int64(), "city": pa.string(), "number": pa.int64()}
    given = [pa.field(name, columns[name]) for name in columns if name in rows[-1]]
    engine.write(uri, "upsert", pa.Table.from_pylist(rows, schema=pa.schema(given)), options={**SETTINGS, **GROWING})


@NAMED
@BOTH_TYPES
@pytest.mark.needs("schema.evolution", "read.filter", "read.projection")
@pytest.mark.requirements("IDX-021", "IDX-024", "IDX-030", "IDX-046")
def test_a_secondary_index_of_a_column_that_older_files_lack(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-021: the rows of files that were written before the column was added have a null in it: no entry at version 8, that
    of a null at version 9. A write that gives one of them a value adds its entry.
    """
    uri = new_uri()
    fields = [{"name": name, "type": "long" if name == "ts" else "string"} for name in ("id", "ts", "city")]
    schema = {"type": "record", "name": "row", "fields": fields}
    version = engine.table_version
    engine.create(uri, TableSpec("rows", type, schema, ("id",), partition=("city",), ordering=("ts",), version=version))
    write_numbers(engine, uri, [{"id": key, "ts": 1, "city": "oslo"} for key in "ab"])
    write_numbers(engine, uri, [{"id": "c", "ts": 1, "city": "rio", "number": 7}])
    assert engine.service(uri, "index", options={**SETTINGS, **BY_NUMBER}) is not None
    check_numbers(engine, uri, {"a": None, "b": None, "c": 7})
    write_numbers(engine, uri, [{"id": "a", "ts": 2, "city": "oslo", "number": 9}])
    check_numbers(engine, uri, {"a": 9, "b": None, "c": 7})


def check_numbers(engine: Client, uri: str, numbers: dict[str, int | None]) -> None:
    """Check the entries of the index, and filters on the column. At version 8 a null may have an entry (ER-199)."""
    opened = open_table(uri)
    metadata = MetadataTable.for_table(opened)
    assert metadata is not None, "there is no metadata table"
    found = set(metadata.records("secondary_index_by_number", opened.timeline))
    nulls = {f"\0${key}" for key, number in numbers.items() if number is None}
    entries = {f"{number}${key}" for key, number in numbers.items() if number is not None}
    assert found - nulls == entries
    assert engine.table_version == 8 or found >= nulls
    for number in (7, 9, 0):
        wanted = sorted(key for key, one in numbers.items() if one == number)
        assert values_where(engine, uri, ("number", "=", number)) == wanted, number


@NAMED
@pytest.mark.versions(8)
@pytest.mark.needs("read.filter", "read.projection")
@pytest.mark.leaves_damage("its secondary index escapes a NUL")
@pytest.mark.requirements("IDX-024", "IDX-026")
@pytest.mark.parametrize("escapes", [False, True])
def test_a_text_with_a_nul_is_found_at_version_8(
    engine: Client, new_uri: NewUri, monkeypatch: pytest.MonkeyPatch, escapes: bool
) -> None:
    """IDX-026: keys of version 8 escape the separator and the backslash. Some writers escape a NUL too: a filter finds
    the rows of a text with a NUL, whichever of them wrote the index.
    """
    with connect("reference") as writer, monkeypatch.context() as patch:
        if escapes:
            patch.setitem(secondary_keys._RESERVED, V1, secondary_keys._RESERVED[V2])
        table = NamedTable(writer, new_uri(), "COPY_ON_WRITE", BY_VALUE, version=8)
        table.write(Step("upsert", (row("n", 1, "a\0b", "lima"), row("m", 1, "\0", "rio"))))
    found = [key for key, _, _ in keys_in_groups(table, "secondary_index_by_value") if "\0" in key]
    assert len(found) == 2 and all(("\\\0" in key) == escapes for key in found)
    for value, keys in (("a\0b", ["n"]), ("\0", ["m"]), ("ab", [])):
        assert values_where(engine, table.uri, ("value", "=", value)) == keys, repr(value)
