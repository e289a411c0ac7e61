"""Tables with indexes that users name, and the entries that their rows and files should have."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Row, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import Type
from hudi_conformance.suite.support.tables.metadata_tables import LISTED, PREFIX, RECORDS, WRITES, IndexedTable
from hudi_reference import open_table
from hudi_reference.files.base_file import read_base_file
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.records import ColumnStats, PartitionStats, SecondaryEntry
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.storage import LocalStorage

NAMED = pytest.mark.needs(*WRITES, "service.index", "service.index.named")
SETTINGS = {**LISTED, **RECORDS}
INSERTS = (
    Step("upsert", (row("a", 30, "x"), row("b$", 10, "Y$\\"), row("c", 20, "x", "rio"))),
    Step("insert", (row("d", 20, ""), {**row("e", 5, ""), "value": None})),
)
CHANGES = (
    Step("upsert", (row("a", 31, "changed"), row("c", 40, "x", "rio"), row("n", 1, "new", "lima"))),
    Step("delete", (row("b$", 0, ""),)),
    Step("upsert", ({**row("n", 2, "", "lima"), "value": None}, row("e", 9, "x"))),
)


def expression_index(name: str, column: str, function: str, **options: str) -> dict[str, str]:
    """Return the settings of an index of statistics over a function of a column."""
    given = {"expr": function, **options}
    return {
        "hoodie.index.name": name,
        f"{PREFIX}index.expression.enable": "true",
        f"{PREFIX}index.expression.column": column,
        f"{PREFIX}index.expression.options": ",".join(f"{key}={value}" for key, value in given.items()),
    }


class NamedTable(IndexedTable):
    """A table with a record index and indexes that a user named."""

    def __init__(self, engine: Client, uri: str, type: Type, *indexes: Mapping[str, str], version: int | None = None) -> None:
        super().__init__(engine, uri, type, SETTINGS, version or engine.table_version)
        self.write(*INSERTS)
        for options in indexes:
            assert self.request_index(options) is not None

    def request_index(self, options: Mapping[str, str], **more: Any) -> str | None:
        """Request an index that the options describe, or one phase of building it."""
        return self.engine.service(self.uri, "index", options=options, **more)

    def check_values(self, when: str) -> None:
        """Check that the secondary index has exactly the pairs of the rows, each under its escaped key.

        ER-199: at version 8 a null may have the entry that it has at version 9, which no look-up needs.
        """
        self.check(when)
        records = self.records("secondary_index_by_value")
        columns = ("_hoodie_record_key", "value")
        rows = self.engine.read(self.uri, Query(columns=columns)).to_pylist()
        pairs = [(found["value"], found["_hoodie_record_key"]) for found in rows]
        keys = {entry_key(*pair, self.version) for pair in pairs}
        optional = {entry_key(*pair, self.version) for pair in pairs if self.version == 8 and pair[0] is None}
        assert sorted({*records, *optional}) == sorted(keys), when
        assert {record.payload for record in records.values()} <= {SecondaryEntry(is_deleted=False)}, when

    def values_by_group(self) -> list[set[str]]:
        """Return the part of each entry before the record key, for each file group of the secondary index."""
        table = open_table(self.uri)
        metadata = MetadataTable.for_table(table)
        assert metadata is not None, "there is no metadata table"
        slices = load_file_groups(metadata.storage, metadata.properties, metadata.timeline).latest_slices
        stored = (metadata.records_of_slice(one) for one in slices if one.partition == "secondary_index_by_value")
        return [{re.sub(r"(?<!\\)\$.*", "", key, flags=re.DOTALL) for key in found} for found in stored]

    def definitions(self) -> dict[str, Any]:
        """Return the definitions of indexes by partition, from the file that the properties name."""
        path = read_properties(LocalStorage(self.folder)).get("hoodie.table.index.defs.path")
        if path is None:
            return {}
        found: dict[str, Any] = json.loads((self.folder / path).read_text())["indexDefinitions"]
        return found

    def base_files_of_table(self) -> Iterable[tuple[str, list[Row]]]:
        """Return name and rows of each base file."""
        for partition, files in self.files_stored().items():
            for name in files:
                if name.endswith(".parquet"):
                    path = Path(partition, name).as_posix()
                    yield name, read_base_file(LocalStorage(self.folder), path).to_pylist()


#: Table version -> the characters that are escaped in keys of its secondary indexes.
ESCAPED = {8: "$\\", 9: "$\\\0"}


def entry_key(value: str | None, key: str, version: int) -> str:
    """Return the key of an entry of a secondary index; a null is a NUL that is not escaped."""
    parts = ["".join(f"\\{one}" if one in ESCAPED[version] else one for one in part) for part in (value or "", key)]
    return "$".join(("\0" if value is None else parts[0], parts[1]))


def check_statistics(
    table: NamedTable, partition: str, column: str, function: Callable[[Any], Any], older: Collection[str] = ()
) -> None:
    """Check the entry of each base file against its rows, and that of each partition against those of its files.

    Files that are `older` than the index may have no entry.
    """
    records = {key: record.payload for key, record in table.records(partition).items()}
    files = {one.file_name: one for one in records.values() if isinstance(one, ColumnStats)}
    partitions = {one.partition: one for one in records.values() if isinstance(one, PartitionStats)}
    for name, rows in table.base_files_of_table():
        values = [function(found[column]) for found in rows if found[column] is not None]
        one = files.get(name)
        if one is None and (not rows or name in older):
            continue
        assert one is not None, f"{name} has no entry in {partition}"
        assert (one.least and one.least.value, one.greatest and one.greatest.value) == (
            min(values, default=None), max(values, default=None),
        ), name  # fmt: skip
        assert (one.value_count, one.null_count) == (len(values), len(rows) - len(values)), name
    for found in table.engine.read(table.uri, Query(columns=("city", column))).to_pylist():
        bounds = partitions[found["city"]]
        if found[column] is not None:
            assert bounds.least is not None and bounds.greatest is not None
            assert bounds.least.value <= function(found[column]) <= bounds.greatest.value
