"""The entry points: create a table, open a table, and the operations that write to it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import pyarrow as pa

from hudi_reference.clock import Clock, SystemClock
from hudi_reference.errors import TableNotFound
from hudi_reference.ids import Ids, RandomIds
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.layout.merge_settings import check_unchanged
from hudi_reference.layout.properties import TABLE_VERSION, TableProperties, read_properties
from hudi_reference.locks import PROVIDER_KEY, Lock, lock_for
from hudi_reference.metadata.lookup.query_indexes import open_indexes
from hudi_reference.query.table import Table
from hudi_reference.query.write_hooks import WriteHooks
from hudi_reference.records.mergers.merger import RecordMerger
from hudi_reference.records.payloads.merger_resolution import merging_of
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, parse_schema, without_meta_columns
from hudi_reference.services.default_hooks import STANDARD_HOOKS
from hudi_reference.storage import Storage, storage_of
from hudi_reference.storage.uris import canonical_uri, no_table
from hudi_reference.timeline.contents.metadata import INSERT_OVERWRITE, INSERT_OVERWRITE_TABLE
from hudi_reference.write.create import (
    check_fields,
    further_entries,
    identity_entries,
    key_entries,
    merging_entries,
    store_new_table,
)
from hudi_reference.write.insert_overwrite import delete_partitions
from hudi_reference.write.orphan_files import leftover_files, remove_leftover_files
from hudi_reference.write.write import write
from hudi_reference.write.write_context import DEFAULTS, PARTIAL_UPDATE, LogOptions


class WritableTable(Table):
    """A table with the operations that change it. Each is one action on the timeline and returns its requested time.

    Each write triggers, in this order, what the table's `hooks` name (see `services/default_hooks.py` for the standard ones):
    the settings of inline services are checked; failed writes are rolled back (policy EAGER); plans of clusterings that
    conflict with the write are withdrawn (if the settings say so); the metadata table is brought up to date, under the lock;
    after the completion a compaction, a clustering and archiving run, if they are set to run inline and are due.
    Services trigger the update of the metadata table alone.
    """

    def insert(self, rows: pa.Table, *, new_keys_in_logs: bool = False, logs: LogOptions = DEFAULTS) -> str:
        """Append rows without looking their keys up; duplicates stay."""
        return write(self, "INSERT", rows, new_keys_in_logs=new_keys_in_logs, logs=logs)

    def bulk_insert(self, rows: pa.Table) -> str:
        """Append many rows to new base files."""
        return write(self, "BULK_INSERT", rows)

    def upsert(self, rows: pa.Table, *, new_keys_in_logs: bool = False, logs: LogOptions = DEFAULTS) -> str:
        """Merge rows into the table: known keys by the merge mode, new keys as inserts, flagged rows as deletes."""
        return write(self, "UPSERT", rows, new_keys_in_logs=new_keys_in_logs, logs=logs)

    def delete(self, keys: pa.Table, *, logs: LogOptions = DEFAULTS) -> str:
        """Remove records by key and partition columns, whatever their ordering value. Unknown keys are ignored."""
        return write(self, "DELETE", keys, logs=logs)

    def partial_update(self, rows: pa.Table, *, logs: LogOptions = DEFAULTS) -> str:
        """Change some columns of known records: the rows hold key, partition and ordering columns, and the changed columns.

        A null is a value. The other columns stay as they are; rows of unknown or deleted keys are ignored. Whether a row
        counts is decided as for whole rows.
        """
        return write(self, PARTIAL_UPDATE, rows, logs=logs)

    def insert_overwrite(self, rows: pa.Table) -> str:
        """Replace the content of the partitions of these rows by the rows. Keys are not looked up."""
        return write(self, INSERT_OVERWRITE, rows)

    def insert_overwrite_table(self, rows: pa.Table) -> str:
        """Replace the content of all partitions by the rows. Keys are not looked up."""
        return write(self, INSERT_OVERWRITE_TABLE, rows)

    def delete_partitions(self, paths: Iterable[str]) -> str:
        """Remove all rows of partitions by their paths, as `city=oslo`. Partitions that do not exist are ignored."""
        return delete_partitions(self, paths)

    def leftover_files(self) -> tuple[str, ...]:
        """The paths of data files that failed attempts of completed actions left behind; no query reads them."""
        return leftover_files(self.storage, self.file_groups())

    def remove_leftover_files(self, *, dry_run: bool = True) -> tuple[str, ...]:
        """Delete the left-over files; their paths. With `dry_run` they are only listed."""
        act = leftover_files if dry_run else remove_leftover_files
        return act(self.storage, self.file_groups())


@implements("LAY-001", "LAY-011", "COMPAT-002")
def open_table(
    uri: str,
    *,
    storage: Storage | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    options: Mapping[str, str] | None = None,
    mergers: Sequence[RecordMerger] = (),
    schema_on_read: bool = False,
    lock: Lock | None = None,
    hooks: WriteHooks[Table] = STANDARD_HOOKS,
) -> WritableTable:
    """The table at `uri`.

    Args:
        uri: the base path; nothing else has to be known of the table. A relative path is resolved here.
        storage: None is the storage that the URI names.
        clock: None is the clock of this machine.
        ids: the source of file ids; None draws random ones.
        options: settings of the table's writers by Hudi's names.
        mergers: a table with a merge strategy of its own uses the first of these that has the strategy's id.
        schema_on_read: match columns by the ids of the table's schema history, where it has one: a renamed column keeps its
            values, a column that was dropped and added again has none of the old values. Otherwise columns are matched by name.
        lock: the lock that writers and services share. None is that of the provider that `hoodie.write.lock.provider` names,
            or else a lock that works within this process.
        hooks: what the writes of the table trigger.

    Raises:
        TableNotFound: there is no table.
        MalformedProperties: the properties file is damaged.
        UnsupportedTableVersion: the table has another version than 6, 8 or 9.
    """
    store, settings = storage_of(uri) if storage is None else storage, options or {}
    base = canonical_uri(uri) if storage is None else uri
    try:
        properties = read_properties(store)
    except TableNotFound as error:
        raise (error if storage is not None else no_table(uri)) from None
    if settings:
        check_unchanged(properties, settings)
    time = clock or SystemClock()
    if lock is None and PROVIDER_KEY in settings:  # a table keeps one lock, because sessions of lock services are expensive
        lock = lock_for(store, properties.require("hoodie.table.name"), settings, time)
    return WritableTable(
        store, time, ids or RandomIds(), properties, base, options=settings, schema_on_read=schema_on_read,
        mergers=tuple(mergers), lock=lock, hooks=hooks, open_indexes=open_indexes,
    )  # fmt: skip


@implements("PROP-002", "PROP-005", "PROP-006", "PROP-015", "MRG-020", "MRG-033", "MRG-034", "COMPAT-005")
def create_table(
    uri: str,
    *,
    name: str,
    schema: AvroSchema | str,
    record_key: Sequence[str],
    partition: Sequence[str] = (),
    table_type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"] = "COPY_ON_WRITE",
    version: int = TABLE_VERSION,
    ordering: Sequence[str] = (),
    merge_mode: MergeMode | None = None,
    hive_style: bool = False,
    url_encode: bool = False,
    database: str = "default",
    properties: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    mergers: Sequence[RecordMerger] = (),
    storage: Storage | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    lock: Lock | None = None,
    hooks: WriteHooks[Table] = STANDARD_HOOKS,
) -> WritableTable:
    """Create an empty table.

    Args:
        uri: the base path of the table.
        name: its name.
        schema: an Avro record of the data columns.
        record_key: the fields of the record key; without any, writers generate a key for each row.
        partition: the partition fields.
        table_type: copy-on-write or merge-on-read.
        version: the table version.
        ordering: the ordering fields; a payload class that version 9 replaces may name others.
        merge_mode: None is the mode that the settings on merging imply. For mode CUSTOM the options or properties name a
            strategy id that one of `mergers` has, or a payload class.
        hive_style: whether partition paths are of the form `field=value`.
        url_encode: whether partition paths are URL-encoded.
        database: the name of its database.
        properties: further properties of the table.
        options: settings of its writers by Hudi's names.
        mergers, storage, clock, ids, lock, hooks: as for `open_table`.

    Raises:
        TableExists: there is a table already.
        UnknownMerger: no merger has the strategy id that the table names.
        Misuse: the schema lacks a field, or the merge mode does not fit.
    """
    store, time, settings = storage_of(uri) if storage is None else storage, clock or SystemClock(), options or {}
    base = canonical_uri(uri) if storage is None else uri
    avro = without_meta_columns(parse_schema(schema, "schema"))
    entries = {
        **identity_entries(name, database, table_type, avro, version),
        **key_entries(record_key, partition, hive_style=hive_style, url_encode=url_encode),
        **merging_entries(merge_mode, {**settings, **(properties or {})}, ordering, version),
        **further_entries(properties or {}, version),
    }
    known = TableProperties(entries)
    check_fields(avro, [*record_key, *partition, *known.ordering_fields])
    merging_of(known, mergers)  # refused before anything is stored
    created = store_new_table(store, entries, time)
    if lock is None and PROVIDER_KEY in settings:
        lock = lock_for(store, name, settings, time)
    return WritableTable(
        store, time, ids or RandomIds(), created, base, options=settings, mergers=tuple(mergers),
        lock=lock, hooks=hooks, open_indexes=open_indexes,
    )  # fmt: skip
