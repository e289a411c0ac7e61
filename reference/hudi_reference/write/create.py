"""Making a table, and opening one."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import pyarrow as pa

from hudi_reference.clock import Clock, SystemClock
from hudi_reference.errors import Misuse, TableExists
from hudi_reference.ids import Ids, RandomIds
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.layout.merge_settings import MergeSettings, check_unchanged, configured
from hudi_reference.layout.properties import (
    META_FOLDER,
    PROPERTIES_PATH,
    TABLE_VERSION,
    TIMELINE_LAYOUT,
    TableProperties,
    read_properties,
    write_properties,
)
from hudi_reference.locks import PROVIDER_KEY, Lock, lock_for
from hudi_reference.query.table import Table
from hudi_reference.records.mergers.merger import RecordMerger
from hudi_reference.records.payloads.merger_resolution import merging_of
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, arrow_schema, field_names, parse_schema, without_meta_columns
from hudi_reference.storage import ObjectExists, Storage, storage_of
from hudi_reference.timeline.contents.metadata import INSERT_OVERWRITE
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.write.insert_overwrite import delete_partitions
from hudi_reference.write.orphan_files import leftover_files, remove_leftover_files
from hudi_reference.write.write import DEFAULTS, LogOptions, write
from hudi_reference.write.write_context import PARTIAL_UPDATE


class WritableTable(Table):
    """A table with the operations that change it. Each is one action on the timeline and returns its requested time."""

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
        """Remove records by key and partition columns, whatever their ordering value. Unknown keys are passed over."""
        return write(self, "DELETE", keys, logs=logs)

    def partial_update(self, rows: pa.Table, *, logs: LogOptions = DEFAULTS) -> str:
        """Change some columns of known records: the rows hold key, partition and ordering columns, and those that change.

        A null is a value. The other columns stay as they are; rows of unknown or deleted keys are passed over. Whether a row
        counts is decided as for whole rows.
        """
        return write(self, PARTIAL_UPDATE, rows, logs=logs)

    def insert_overwrite(self, rows: pa.Table) -> str:
        """Put the rows in the place of all that is in the partitions which they lie in. Keys are not looked up."""
        return write(self, INSERT_OVERWRITE, rows)

    def delete_partitions(self, paths: Iterable[str]) -> str:
        """Remove all rows of partitions by their paths, as `city=oslo`. Partitions that are not there are passed over."""
        return delete_partitions(self, paths)

    def leftover_files(self) -> tuple[str, ...]:
        """The paths of data files that attempts of completed actions left behind which lost; no query reads them."""
        return leftover_files(self.storage, self.file_groups())

    def remove_leftover_files(self, *, dry_run: bool = True) -> tuple[str, ...]:
        """Delete the left-over files; their paths. With `dry_run` they are only told."""
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
) -> WritableTable:
    """The table at `uri`, given nothing else. `options` are settings of its writers by Hudi's names.

    With `schema_on_read` columns are matched by the ids of the table's schema history where it has one: a renamed column keeps
    its values, one that was dropped and added again has none of the old ones. Else they are matched by name.

    `lock` keeps its writers and services apart; None is that of the provider that `hoodie.write.lock.provider` names, or else
    one that is good for this process.

    `mergers` are those among which a table with a merge strategy of its own finds its merger: the first with its id counts.
    Raises TableNotFound, MalformedProperties, UnsupportedTableVersion and their kin; a query or write raises UnknownMerger.
    """
    store, given = storage_of(uri) if storage is None else storage, options or {}
    properties = read_properties(store)
    if given:
        check_unchanged(properties.merging, given)
    time = clock or SystemClock()
    known = lock or _named_lock(store, properties, given, time)
    table = WritableTable(store, time, ids or RandomIds(), properties, uri, options=given, lock=known)
    return replace(table, mergers=tuple(mergers), schema_on_read=schema_on_read)


@implements("PROP-002", "PROP-005", "PROP-006", "PROP-015", "MRG-020", "MRG-033", "MRG-034", "COMPAT-005")
def create_table(
    uri: str,
    *,
    name: str,
    schema: AvroSchema | str,
    record_key: Sequence[str],
    partition: Sequence[str] = (),
    table_type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"] = "COPY_ON_WRITE",
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
) -> WritableTable:
    """An empty table at version 8. `schema` is an Avro record of the data columns; `properties` are further properties.

    `options` are settings of its writers by Hudi's names; those on merging decide how the table merges. For mode CUSTOM they
    name a strategy id that one of `mergers` has, or a payload class; so may the properties.
    Raises TableExists, UnknownMerger, and Misuse for fields that the schema lacks or a merge mode that does not fit.
    """
    store, time = storage_of(uri) if storage is None else storage, clock or SystemClock()
    avro = without_meta_columns(parse_schema(schema, "schema"))
    arrow_schema(avro)
    _check_fields(avro, [*record_key, *partition, *(field.partition(".")[0] for field in ordering)])
    _check_mode(merge_mode)
    merging = configured(merge_mode, MergeSettings.of({**(options or {}), **(properties or {})}), ordering)
    entries = {
        "hoodie.table.name": name,
        "hoodie.database.name": database,
        "hoodie.table.type": table_type,
        "hoodie.table.version": str(TABLE_VERSION),
        "hoodie.table.initial.version": str(TABLE_VERSION),
        "hoodie.timeline.layout.version": str(TIMELINE_LAYOUT),
        "hoodie.timeline.path": "timeline",
        "hoodie.timeline.history.path": "history",
        "hoodie.archivelog.folder": "archived",
        "hoodie.table.timeline.timezone": "UTC",
        "hoodie.table.recordkey.fields": ",".join(record_key),
        **({"hoodie.table.partition.fields": ",".join(partition)} if partition else {}),
        **_ordering_entry(ordering),
        "hoodie.table.keygenerator.type": _key_generator(record_key, partition),
        "hoodie.record.merge.mode": merging.mode,
        "hoodie.record.merge.strategy.id": merging.strategy,
        "hoodie.compaction.payload.class": merging.payload,
        "hoodie.table.create.schema": json.dumps(avro, separators=(",", ":")),
        "hoodie.datasource.write.hive_style_partitioning": str(hive_style).lower(),
        "hoodie.datasource.write.partitionpath.urlencode": str(url_encode).lower(),
        "hoodie.datasource.write.drop.partition.columns": "false",
        **(properties or {}),
    }
    merging_of(TableProperties(entries), mergers)  # refused before anything is stored
    created = _create(store, entries, time)
    known = lock or _named_lock(store, created, options or {}, time)
    table = WritableTable(store, time, ids or RandomIds(), created, uri, options=options or {}, lock=known)
    return replace(table, mergers=tuple(mergers))


def _named_lock(store: Storage, properties: TableProperties, options: Mapping[str, str], clock: Clock) -> Lock | None:
    """The lock of the provider that the options name: one for the table as long as it is open, as sessions are dear."""
    name = properties.get("hoodie.table.name") or ""
    return lock_for(store, name, options, clock) if PROVIDER_KEY in options else None


def _create(store: Storage, entries: Mapping[str, str], clock: Clock) -> TableProperties:
    exists = TableExists(
        "there is a table already", rule="LAY-013", path=PROPERTIES_PATH, remedy="open it, or choose another path"
    )
    if store.list(META_FOLDER):
        raise exists
    try:
        return write_properties(store, entries, f"Properties saved on {format_time(clock.now())} UTC")
    except ObjectExists as error:
        raise exists from error


def _ordering_entry(ordering: Sequence[str]) -> dict[str, str]:
    """One field goes under the name that every release of version 8 reads; several fit only under the newer one (ER-030)."""
    if not ordering:
        return {}
    return {"hoodie.table.precombine.field" if len(ordering) == 1 else "hoodie.table.ordering.fields": ",".join(ordering)}


def _key_generator(record_key: Sequence[str], partition: Sequence[str]) -> str:
    if not partition:
        return "NON_PARTITION"
    return "SIMPLE" if len(partition) == 1 and len(record_key) == 1 else "COMPLEX"


def _check_fields(schema: AvroSchema, wanted: Sequence[str]) -> None:
    for field in wanted:
        if field not in field_names(schema):
            raise Misuse(
                "a key, partition or ordering field is not in the schema", rule="PROP-007",
                expected=f"one of {', '.join(field_names(schema))}", found=field,
            )  # fmt: skip


def _check_mode(mode: Any) -> None:
    known = get_args(MergeMode)
    if mode is not None and mode not in known:
        raise Misuse("there is no such merge mode", rule="MRG-016", expected=" or ".join(known), found=str(mode))
