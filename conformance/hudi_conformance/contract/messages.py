"""What is said between suite and engine: the shapes of protocol version 1.

The JSON Schemas under `schemas/` are the normative form; the classes here are the same shapes for Python.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import pyarrow as pa

PROTOCOL = 1

#: Pure functions of the format, by the name that `compute` is asked for: names, keys, hashes, filters, bitmaps.
FUNCTIONS: dict[str, str] = {
    "log-file-name.parse": "the parts of a log file's name",
    "log-file-names.sort": "log files of one slice in merge order",
    "base-file-name.parse": "the parts of a base file's name",
    "instant.milliseconds": "an instant as milliseconds since the epoch, in UTC",
    "partition.escape": "a partition value as it stands in a folder name",
    "partition.unescape": "the value of an escaped folder name",
    "key.complex": "the record key of several fields",
    "key.generate": "record key and partition path that a table's key generator makes of a row",
    "hash.file-group": "the file group of a key in the metadata table",
    "hash.bucket": "the bucket of a record",
    "hash.column-stats-key": "the key of a column's statistics in one file",
    "hash.partition-stats-key": "the key of a column's statistics in one partition",
    "hash.bloom-filters-key": "the key of a file's bloom filter",
    "secondary-key.encode": "the key of a secondary index entry",
    "secondary-key.decode": "the two parts of a secondary index key",
    "record-index.location": "a file id as a record index entry stores it",
    "metadata-record.decode": "what a value of the metadata table says",
    "metadata-partition.name": "the partition of the metadata table that holds an index",
    "bloom.make": "a bloom filter over keys, as Base64 text",
    "bloom.may-hold": "which keys a bloom filter may hold",
    "positions.encode": "row positions as the Base64 text of a header",
    "positions.decode": "row positions from a header's text",
    "time.format": "a moment as an instant time in a time zone",
    "true-time.draw": "the times that processes draw on clocks that are set apart",
    "metadata-partitions.after": "the lists of usable and unfinished partitions after a step",
    "properties.parse": "the entries of a properties file",
    "properties.checksum": "the checksum of a properties file",
    "timeline.build": "the instants that names of a timeline folder stand for: completed ones by completion time, pending ones",
    "history.files-in-range": "which files of the history a range of requested times touches, by their names",
    "history-file-name.parse": "the parts of the name of a file of the timeline history",
    "merge.fold": "what is left of the versions of one record: base row, then log entries",
    "merge.settings": "what the settings of a writer say of merging",
    "merger.choose": "which of several mergers a table with a strategy id has",
    "properties.infer": "merge mode, strategy and payload class of a table",
    "clustering.groups": "how the eligible files of a partition are put together in a clustering plan",
    "clustering.partitions": "which partitions a clustering plan looks at",
}

#: Everything a case may need and an engine may offer. A case that needs what an engine does not declare is
#: "unsupported" for it; an engine that declares a feature and then refuses it is "refused".
FEATURES: dict[str, str] = {
    "read.snapshot": "the latest rows of a table",
    "read.read-optimized": "rows of the base files of the latest slices only",
    "read.as-of": "rows as they were at an instant",
    "read.incremental": "rows written in a range of completion times",
    "read.cdc": "changes with their images before and after",
    "read.projection": "a chosen list of columns",
    "read.filter": "rows chosen by comparisons joined with and",
    "read.meta-columns": "the five _hoodie_ columns in the result when they are asked for by name",
    "read.by-id": "columns matched by the ids of the table's schema history, so that a renamed one keeps its values",
    "inspect.table": "timeline and file slices of a table",
    "inspect.log-file": "the blocks of one log file: offset, length, type, version, headers",
    "inspect.log-content": "what the blocks of one log file hold: rows, deletes, record positions",
    "inspect.hfile": "entries, meta blocks and file info of one HFile",
    "inspect.base-file": "rows and footer of one base file",
    "inspect.bloom-filter": "which keys the bloom filter of one base file may hold",
    "inspect.instant": "what the file of an action in one state says",
    "inspect.history-file": "the actions in one file of the timeline history",
    "inspect.manifest": "the live files of the timeline history",
    "inspect.metadata-table": "the usable partitions of a metadata table, their files, and the definitions of indexes",
    "inspect.properties": "the entries of one properties file, and whether its checksum is right",
    "create": "make an empty table",
    "write.insert": "append rows without looking keys up",
    "write.upsert": "insert new keys, merge known ones",
    "write.delete": "remove keys",
    "write.bulk-insert": "append many rows to new base files",
    "write.insert-overwrite": "replace the partitions that the rows lie in",
    "write.delete-partition": "drop whole partitions",
    "write.partial-update": "change some columns of known keys",
    "service.compaction": "schedule and run compaction",
    "service.log-compaction": "schedule and run log compaction",
    "service.clustering": "schedule and run clustering",
    "clustering.plan-strategies": "plans by overlap of values, key ranges, commit time or at random, largest gain first",
    "service.clean": "schedule and run cleaning",
    "service.rollback": "undo an instant",
    "service.savepoint": "protect the files of an instant",
    "service.restore": "take the table back to an instant",
    "service.index": "build an index while writers run",
    "service.archive": "move old instants to the history",
    "archive.flink-settings": "limits of archiving by the names and defaults of Flink jobs",
    "halt.write": "a write that halts after its request, or with its files stored, while others go on",
    "halt.drawn": "a write that halts with its begin time drawn and nothing published, where these are two steps",
    "halt.service": "services that halt: with the files of a rewrite stored, with the plan of a rollback published",
    "halt.planned": "a clean that halts with its plan made and not published, where these are two steps",
    "write.bucket-index": "writers that find the file group of a key by its hash",
    "write.metadata-table": "writers that make and keep a metadata table when they are told to",
    "write.compares-keys": "a write gives way to a concurrent one that has inserted the same key elsewhere, as it may",
    "copy-on-write": "tables of type COPY_ON_WRITE",
    "merge-on-read": "tables of type MERGE_ON_READ",
    "log.avro": "Avro data blocks",
    "log.parquet": "Parquet data blocks",
    "log.hfile": "HFile data blocks",
    "log.delete": "delete blocks",
    "log.command": "rollback command blocks",
    "log.only-slices": "file slices without a base file",
    "merge.commit-time": "the later commit wins",
    "merge.event-time": "the greater ordering value wins",
    "merge.custom": "a merger found by its strategy id",
    "merge.samples": "the two sample mergers of the specification, found by their ids",
    "merge.multiple-ordering-fields": "ordering by several fields in turn",
    "merge.partial-updates": "log blocks that hold only some columns of their records",
    "delete.flag": "rows whose _hoodie_is_deleted is true are deletes",
    "partition.none": "tables without partitions",
    "partition.plain": "partition folders named by the value",
    "partition.hive": "partition folders named field=value",
    "partition.url-encoded": "partition values escaped in folder names",
    "partition.several-levels": "partition paths of several folders",
    "partition.dropped-columns": "partition columns that are in no data file, only in folder names",
    "key.complex": "record keys of several fields",
    "meta-fields.absent": "tables with hoodie.populate.meta.fields=false",
    "table-version.6": "tables of version 6, with their older timeline",
    "timeline.history": "instants that were moved to the LSM history",
    "timeline.pending-compaction": "slices of a requested compaction",
    "timeline.replaced-groups": "file groups hidden by a replacecommit",
    "schema.evolution": "columns added and types widened between commits",
    "types.nested": "structs, arrays and maps as data columns",
    "types.decimal": "decimal columns",
    "types.temporal": "date and timestamp columns",
    "types.avro": "columns of types that SQL has not: times of day or without a zone, enumerations, fixed bytes",
    "storage.file": "tables under file:// URIs",
    "storage.s3": "tables under s3:// URIs",
    **{f"compute.{name}": says for name, says in FUNCTIONS.items()},
}

QueryKind = Literal["snapshot", "read-optimized", "as-of", "incremental", "cdc"]
Operation = Literal["insert", "upsert", "delete", "bulk_insert", "partial_update", "insert_overwrite", "delete_partition"]
Service = Literal["compaction", "log-compaction", "clustering", "clean", "rollback", "savepoint", "restore", "index", "archive"]
#: A service publishes its plan, carries out a plan that is there, or does both.
Phase = Literal["run", "schedule", "execute"]
#: Where work can halt: its begin time is drawn, or its plan made, and nothing is published; its request is published; its
#: files are stored, and it is not completed.
Point = Literal["drawn", "planned", "requested", "stored"]


@dataclass(frozen=True)
class Hello:
    """Who an engine is and what it offers. `features` are keys of `FEATURES`."""

    engine: str
    version: str
    language: str
    features: frozenset[str]

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> Self:
        """The identity in an answer to `hello`."""
        return cls(message["engine"], message["version"], message["language"], frozenset(message["features"]))

    def to_json(self) -> dict[str, Any]:
        """The answer to `hello`."""
        return {
            "protocol": PROTOCOL,
            "engine": self.engine,
            "version": self.version,
            "language": self.language,
            "features": sorted(self.features),
        }


@dataclass(frozen=True)
class Query:
    """What to read.

    `as_of`, `begin` and `end` are instants as the query type defines them; `columns` are the columns of the result in
    order (all data columns, without meta columns, if None); `where` are comparisons `(column, op, value)` joined with
    and, `op` one of `= != < <= > >=`. With `by_id` columns are matched by the ids of the table's schema history.
    """

    kind: QueryKind = "snapshot"
    as_of: str | None = None
    begin: str | None = None
    end: str | None = None
    columns: tuple[str, ...] | None = None
    where: tuple[tuple[str, str, Any], ...] = ()
    by_id: bool = False

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> Self:
        """The query in a `read` message or a case file."""
        columns = message.get("columns")
        return cls(
            kind=message.get("kind", "snapshot"),
            as_of=message.get("as_of"),
            begin=message.get("begin"),
            end=message.get("end"),
            columns=None if columns is None else tuple(columns),
            where=tuple((c, op, v) for c, op, v in message.get("where", ())),
            by_id=message.get("by_id", False),
        )

    def to_json(self) -> dict[str, Any]:
        """The same as a JSON object, absent options left out."""
        found: dict[str, Any] = {"kind": self.kind}
        found |= {k: v for k in ("as_of", "begin", "end") if (v := getattr(self, k)) is not None}
        if self.columns is not None:
            found["columns"] = list(self.columns)
        if self.where:
            found["where"] = [list(w) for w in self.where]
        if self.by_id:
            found["by_id"] = True
        return found


@dataclass(frozen=True)
class Write:
    """A write that halts on its way; see the contract's `write`."""

    table: str
    operation: Operation
    rows: pa.Table
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A service that halts on its way; see the contract's `service`."""

    table: str
    service: Service
    phase: Phase = "run"
    instant: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


Work = Write | Call


@dataclass(frozen=True)
class TableSpec:
    """A table to be created, at table version 8.

    `schema` is an Avro record schema of the data columns (no meta columns), as a JSON value. `merge_mode` None leaves
    the mode to the rule of inference (event time if there is an ordering field). `properties` are further entries of
    `hoodie.properties`.
    """

    name: str
    type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
    schema: Mapping[str, Any]
    record_key: tuple[str, ...]
    partition: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ()
    merge_mode: Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM"] | None = None
    hive_style: bool = False
    url_encode: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> Self:
        """The table description in a `create` message or a case file."""
        known = dict(message)
        for name in ("record_key", "partition", "ordering"):
            known[name] = tuple(known.get(name, ()))
        return cls(**known)

    def to_json(self) -> dict[str, Any]:
        """The same as a JSON object."""
        return {
            "name": self.name,
            "type": self.type,
            "schema": self.schema,
            "record_key": list(self.record_key),
            "partition": list(self.partition),
            "ordering": list(self.ordering),
            "merge_mode": self.merge_mode,
            "hive_style": self.hive_style,
            "url_encode": self.url_encode,
            "properties": dict(self.properties),
        }
