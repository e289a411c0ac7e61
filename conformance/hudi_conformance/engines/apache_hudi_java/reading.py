"""Queries, through the reader of file slices that each release has for Avro records.

1.2.0 has its file group reader. 1.0.2 has that for Spark and Hive only; its own Java code reads a merged slice through the
handle that looks records up for its indexes.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import Query
from hudi_conformance.engines.apache_hudi.functions.inspection import items, view_of
from hudi_conformance.engines.apache_hudi.functions.records import from_records
from hudi_conformance.engines.apache_hudi.settings import settings_of
from hudi_conformance.engines.apache_hudi_java.jvm import Machine
from hudi_conformance.engines.support.columns import requested


def read(machine: Machine, table: str, query: Query) -> pa.Table:
    """The rows of a snapshot, a read-optimized query or one as of an instant."""
    client = machine.meta_client(table)
    if query.as_of:
        machine.hudi.common.table.timeline.TimelineUtils.validateTimestampAsOf(client, query.as_of)
    reader = (_Merged if machine.version.startswith("1.0.") else _FileGroups)(machine, table, client)
    view = view_of(machine, client)
    try:
        newest = query.as_of or _newest(view)
        slices = iter(()) if newest is None else _slices(machine, view, query.kind == "read-optimized", newest)
        rows = from_records(machine, (r for found in slices for r in reader.records(found, newest or "")), str(reader.schema))
    finally:
        view.close()
    return rows.select(requested(query, rows.column_names))


def _newest(view: Any) -> str | None:
    found = view.getTimeline().lastInstant()
    return str(found.get().requestedTime()) if found.isPresent() else None


def _slices(machine: Machine, view: Any, base_files_only: bool, newest: str) -> Iterator[Any]:
    """The slices to read in every partition: the latest ones, or only their base files."""
    view.loadAllPartitions()
    for partition in sorted({str(group.getPartitionPath()) for group in items(view.fetchAllStoredFileGroups())}):
        if base_files_only:
            for base in items(view.getLatestBaseFilesBeforeOrOn(partition, newest)):
                found = machine.hudi.common.model.FileSlice(partition, base.getCommitTime(), base.getFileId())
                found.setBaseFile(base)
                yield found
        else:
            yield from items(view.getLatestMergedFileSlicesBeforeOrOn(partition, newest))


class _FileGroups:
    """The file group reader of 1.2.0, with its context for Avro records."""

    def __init__(self, machine: Machine, table: str, client: Any) -> None:
        self._hudi, self._client = machine.hudi, client
        self.schema = self._hudi.common.table.TableSchemaResolver(client).getTableSchema()
        self._settings = self._hudi.common.config.TypedProperties()
        self._settings.putAll(client.getTableConfig().getProps())  # as in the datasource, because delete records are among them
        self._contexts = self._hudi.common.engine.AvroReaderContextFactory(client, self._settings)

    def records(self, found: Any, newest: str) -> Iterator[Any]:
        """The records of a slice."""
        builder = self._hudi.common.table.read.HoodieFileGroupReader.newBuilder()
        builder = builder.withReaderContext(self._contexts.getContext()).withHoodieTableMetaClient(self._client)
        builder = builder.withLatestCommitTime(newest).withFileSlice(found).withProps(self._settings)
        reader = builder.withDataSchema(self.schema).withRequestedSchema(self.schema).build()
        try:
            records = reader.getClosableIterator()
            while records.hasNext():
                yield records.next()
        finally:
            reader.close()


class _Merged:
    """The handle of 1.0.2 that reads a merged slice."""

    def __init__(self, machine: Machine, table: str, client: Any) -> None:
        self._hudi = machine.hudi
        config = client.getTableConfig()
        properties = {str(key): str(value) for key, value in dict(config.getProps()).items()}
        self.schema = self._hudi.common.table.TableSchemaResolver(client).getTableAvroSchema()
        plain = self._hudi.avro.HoodieAvroUtils.removeMetadataFields(self.schema)
        # All of them, as in the datasource: the marker of deletes and the merger are among them.
        settings = properties | settings_of(properties) | {"hoodie.metadata.enable": "false"}
        self._config = machine.write_config(table, str(config.getTableName()), str(plain), settings)
        self._table = self._hudi.table.HoodieJavaTable.create(self._config, machine.engine_context(), client)

    def records(self, found: Any, newest: str) -> Iterator[Any]:
        """The records of a slice."""
        some = self._hudi.common.util.Option.of
        where = self._hudi.common.util.collection.Pair.of(found.getPartitionPath(), found.getFileId())
        handle = self._hudi.io.HoodieMergedReadHandle(self._config, some(newest), self._table, where, some(found))
        properties = self._config.getProps()
        for record in handle.getMergedRecords():
            content = record.toIndexedRecord(self.schema, properties)
            if content.isPresent():  # a delete has no record
                yield content.get().getData()
