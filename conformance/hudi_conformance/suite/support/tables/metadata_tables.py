"""Tables with a metadata table, and its expected content, derived from storage and from plain queries alone."""

import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import fastavro
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import QueryKind
from hudi_conformance.suite.support.programs.write_programs import Step, row
from hudi_conformance.suite.support.tables.clustered_tables import SORT, ClusteredTable, Type
from hudi_conformance.suite.support.tables.tables_under_services import instant_files, keep_commits
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import open_table
from hudi_reference.files.base_file import read_footer
from hudi_reference.layout.names import BaseFileName, join_path, parse_data_file_name
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.keys import ALL_PARTITIONS, bloom_filters_key
from hudi_reference.metadata.records import BloomFilter, FileList, MetadataRecord, PartitionList, RecordLocation
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import first_log_file
from hudi_reference.storage import LocalStorage

WRITES = ("create", "write.insert", "write.upsert", "write.delete", "partition.plain", "read.snapshot", "read.meta-columns",
          "merge.event-time", "write.metadata-table")  # fmt: skip
KEEPS = pytest.mark.needs(*WRITES)
INDEXES = pytest.mark.needs(*WRITES, "service.index")

PREFIX = "hoodie.metadata."
#: The number of writes after which the metadata table is compacted.
COMPACTED_AFTER = f"{PREFIX}compact.max.delta.commits"
#: Settings of a writer that creates a metadata table, and of one that also creates these indexes.
LISTED: Mapping[str, str] = {f"{PREFIX}enable": "true", f"{PREFIX}index.column.stats.enable": "false"}
RECORDS: Mapping[str, str] = {f"{PREFIX}record.index.enable": "true"}
FILTERS: Mapping[str, str] = {f"{PREFIX}index.bloom.filter.enable": "true"}
INDEXED: Mapping[str, str] = {**LISTED, **RECORDS, **FILTERS}
#: Settings of a writer that maintains statistics of columns and partitions, the record index and bloom filters.
EVERY_INDEX: Mapping[str, str] = {
    **INDEXED,
    f"{PREFIX}index.column.stats.enable": "true",
    f"{PREFIX}index.partition.stats.enable": "true",
}
#: Settings of two writers, one with all indexes and one without a metadata table: filters have the same rows with both.
EVERY_AND_NONE: Mapping[str, Mapping[str, str]] = {"every": EVERY_INDEX, "none": {f"{PREFIX}enable": "false"}}
#: The secondary index of the column `value`.
BY_VALUE: Mapping[str, str] = {"hoodie.index.name": "by_value", f"{PREFIX}index.secondary.column": "value"}
USABLE, INFLIGHT = "hoodie.table.metadata.partitions", "hoodie.table.metadata.partitions.inflight"

INSERTS = (
    Step("upsert", (row("a", 30, "x"), row("b", 10, "y"), row("c", 20, "x", "rio"))),
    Step("insert", (row("d", 20, "y"), row("e", 5, "x"))),
)
#: An update, an insert into a new partition, and a delete.
CHANGES = (
    Step("upsert", (row("a", 31, "changed"), row("n", 1, "new", "lima"))),
    Step("delete", (row("b", 0, ""),)),
)


def values_where(
    engine: Client, uri: str, *where: tuple[str, str, Any], column: str = "id", kind: QueryKind = "snapshot"
) -> list[Any]:
    """Return the sorted values of a column in the rows for which these comparisons hold."""
    found = engine.read(uri, Query(kind=kind, columns=(column,), where=where))
    return sorted(found.column(column).to_pylist())


class IndexedTable(ClusteredTable):
    """A table whose writers maintain a metadata table."""

    def __init__(self, engine: Client, uri: str, type: Type, settings: Mapping[str, str] = LISTED, version: int = 8) -> None:
        super().__init__(engine, uri, type, version=version)
        self.type, self.settings = type, settings

    def write(self, *steps: Step, options: Mapping[str, str] | None = None) -> "IndexedTable":
        """Write the steps, with the settings of the table unless `options` replace them."""
        super().write(*steps, options={**self.settings, **(options or {})})
        return self

    def check_after_services(self) -> None:
        """Run compaction, clustering, a clean and replacing writes, and check the table after each."""
        services: list[tuple[Any, dict[str, str]]] = [("clustering", {SORT: "ts"}), ("clean", keep_commits(1))]
        if self.type == "MERGE_ON_READ" and "service.compaction" in self.engine.hello.features:
            services.insert(0, ("compaction", {"hoodie.compact.inline.max.delta.commits": "1"}))
        for service, options in services:
            assert self.engine.service(self.uri, service, options=options) is not None
            self.check(f"after the {service}")
        self.write(Step("insert_overwrite", (row("z", 1, "all"),))).check("overwritten")
        self.write(Step("delete_partition", (row("any", 0, "", "rio"),))).check("a partition is deleted")

    def write_with_index_of_lower_case(self) -> None:
        """Write values in both cases, build the expression index `low` of lower(value), and change a row."""
        self.write(*INSERTS, Step("upsert", (row("u", 1, "UPPER"), row("v", 2, "x", "lima"))))
        settings = {
            "hoodie.index.name": "low", f"{PREFIX}index.expression.enable": "true",
            f"{PREFIX}index.expression.column": "value", f"{PREFIX}index.expression.options": "expr=lower",
        }  # fmt: skip
        assert self.engine.service(self.uri, "index", options=settings) is not None
        self.write(Step("upsert", (row("c", 60, "Mixed", "rio"),)))

    def index_values(self) -> None:
        """Build the secondary index of the column `value`."""
        assert self.engine.service(self.uri, "index", options=dict(BY_VALUE)) is not None

    def write_with_secondary_index(self, *moves: Step) -> None:
        """Write values with the characters that secondary keys escape, build an index of the column, and change rows."""
        self.write(*INSERTS, Step("upsert", (row("u", 1, "$"), row("v", 2, "x$y\\", "lima"), row("w", 3, "x"))))
        self.index_values()
        self.write(*CHANGES, *moves, Step("upsert", (row("b", 60, "$", "oslo"), row("w", 9, "y"))))

    def build_indexes(self, **more: Any) -> str | None:
        """Request the record-level index and the bloom filters, or one phase of building them."""
        return self.engine.service(self.uri, "index", options={**RECORDS, **FILTERS}, **more)

    @property
    def folder(self) -> Path:
        """The base path."""
        return table_folder(self.uri)

    def listed_partitions(self, key: str = USABLE) -> tuple[str, ...]:
        """Return the metadata partitions in the table properties."""
        return read_properties(LocalStorage(self.folder)).fields(key)

    def records(self, partition: str) -> Mapping[str, MetadataRecord]:
        """Return the records of a partition of the metadata table by key."""
        table = open_table(self.uri)
        metadata = MetadataTable.for_table(table)
        assert metadata is not None, "there is no metadata table"
        return metadata.records(partition, table.timeline)

    def metadata_files(self, pattern: str) -> list[str]:
        """Return the paths, below the folder of the metadata table, of files that match."""
        home = self.folder / ".hoodie" / "metadata"
        return sorted(path.relative_to(home).as_posix() for path in home.glob(pattern))

    def check(self, when: str) -> None:
        """Check that the rows are those of the model, and that every usable index matches the table."""
        self.check_rows(when)
        usable = self.listed_partitions()
        assert self.files_listed() == self.files_stored(), when
        if "record_index" in usable:
            assert self.keys_indexed() == self.keys_of_rows(), when
        if "bloom_filters" in usable:
            assert self.filters_indexed() == self.filters_of_files(), when

    def files_listed(self) -> dict[str, dict[str, int]]:
        """Return the names and sizes of the files in the listing, by partition, without empty partitions."""
        records = self.records("files")
        partitions = records.pop(ALL_PARTITIONS).payload  # type: ignore[attr-defined]
        assert isinstance(partitions, PartitionList)
        found = {key: one.payload.files for key, one in records.items() if isinstance(one.payload, FileList)}
        existing = {
            key: {name: info.size for name, info in files.items() if not info.is_deleted} for key, files in found.items()
        }
        existing = {key: files for key, files in existing.items() if files}
        assert existing.keys() <= partitions.partitions.keys()
        return existing

    def files_stored(self) -> dict[str, dict[str, int]]:
        """Return the same for the committed files in storage, without those of pending actions."""
        names = instant_files(self.uri)
        pending = {name[:17] for name in names} - {name[:17] for name in names if name[17] == "_"}
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for path in self.folder.rglob("*"):
            parsed = parse_data_file_name(path.name)
            partition = path.relative_to(self.folder).parent.as_posix()
            if parsed is not None and parsed.instant not in pending and not partition.startswith(".hoodie"):
                found[partition][path.name] = path.stat().st_size
        return dict(found)

    def keys_indexed(self) -> dict[str, tuple[str, str]]:
        """Return partition and file group of each key in the record-level index."""
        found = {key: record.payload for key, record in self.records("record_index").items()}
        return {k: (one.partition, one.location.file_id) for k, one in found.items() if isinstance(one, RecordLocation)}

    def keys_of_rows(self) -> dict[str, tuple[str, str]]:
        """Return the same for the rows of a snapshot, by their file names; in logs these are file groups."""
        columns = ("_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")
        rows = self.engine.read(self.uri, Query(columns=columns)).to_pylist()
        return {key: (partition, _group(name)) for key, partition, name in (tuple(found.values()) for found in rows)}

    def filters_indexed(self) -> dict[str, str]:
        """Return the bloom filters in the index, by key."""
        found = {key: record.payload for key, record in self.records("bloom_filters").items()}
        return {key: one.text for key, one in found.items() if isinstance(one, BloomFilter)}

    def instants_of_filters(self) -> dict[str, str]:
        """Return the instant in each entry of the bloom filters, by key."""
        found = {key: record.payload for key, record in self.records("bloom_filters").items()}
        return {key: one.instant for key, one in found.items() if isinstance(one, BloomFilter)}

    def instants_of_files(self) -> dict[str, str]:
        """Return the instant in the name of each base file, by the key of its bloom filter."""
        return {bloom_filters_key(*one): found.instant for one, found in self._base_files()}

    def filters_of_files(self) -> dict[str, str | None]:
        """Return the same from the footers of all base files."""
        storage = LocalStorage(self.folder)
        return {bloom_filters_key(*one): read_footer(storage, join_path(*one)).filter_text for one, _ in self._base_files()}

    def _base_files(self) -> Iterator[tuple[tuple[str, str], BaseFileName]]:
        """Partition and name of each committed base file, with the parts of the name."""
        for partition, files in self.files_stored().items():
            for name in files:
                parsed = parse_data_file_name(name)
                if isinstance(parsed, BaseFileName):
                    yield (partition, name), parsed


def _group(name: str) -> str:
    parsed = parse_data_file_name(name.rpartition("/")[2])
    return name if parsed is None else parsed.file_id


def completion_times(folder: Path) -> dict[str, str]:
    """Return completion times of the writes on a timeline, by requested time."""
    names = (path.name for path in (folder / ".hoodie" / "timeline").glob("*_*.*commit"))
    return {name[:17]: name[18:35] for name in names}


def rename_builds(folder: Path, write: str) -> None:
    """Give the builds of indexes the times that a writer of version 6 gave them: that of a write, and three digits.

    An upgrade of Apache Hudi keeps them. The build of the listing of files keeps its time, as in a table that had it from the
    first write on.
    """
    home = folder / ".hoodie" / "metadata"
    for number in (1, 2, 3, 4):
        old, new = f"{number:017}", f"{write}{9 + number:03}"
        for file in (*home.glob(f".hoodie/timeline/{old}*"), *home.glob(f"*/*_{old}.*")):
            renamed = file.rename(file.with_name(file.name.replace(old, new)))
            if ".log." in renamed.name:  # without records: it makes the file group
                renamed.write_bytes(first_log_file(new))
        (completed,) = home.glob(f".hoodie/timeline/{new}_*")
        reader, changed = fastavro.reader(io.BytesIO(completed.read_bytes())), io.BytesIO()
        assert reader.writer_schema is not None
        (commit,) = (json.loads(json.dumps(one).replace(old, new)) for one in reader)
        for stat in (one for stats in commit["partitionToWriteStats"].values() for one in stats):
            stat["totalWriteBytes"] = stat["fileSizeInBytes"] = (home / stat["path"]).stat().st_size
        fastavro.writer(changed, reader.writer_schema, [commit])
        completed.write_bytes(changed.getvalue())
