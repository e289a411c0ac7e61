"""Messages and answers of protocol version 1, features and functions.

The JSON Schemas in `schemas/` are normative; the classes here have the same fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import pyarrow as pa

PROTOCOL = 1

#: The pure functions of the format that `compute` may name: names, keys, hashes, filters, bitmaps.
FUNCTIONS: dict[str, str] = {
    "log-file-name.parse": "the parts of a log file's name",
    "log-file-names.sort": "log files of one slice in merge order",
    "base-file-name.parse": "the parts of a base file's name",
    "instant.milliseconds": "an instant as milliseconds since the epoch, in UTC",
    "partition.escape": "a partition value escaped for a folder name",
    "partition.unescape": "the value of an escaped folder name",
    "key.complex": "the record key of several fields",
    "key.generate": "record key and partition path of a row, by the key generator of a table",
    "hash.file-group": "the file group of a key in the metadata table",
    "hash.bucket": "the bucket of a record",
    "hash.column-stats-key": "the key of a column's statistics in one file",
    "hash.partition-stats-key": "the key of a column's statistics in one partition",
    "hash.bloom-filters-key": "the key of a file's bloom filter",
    "secondary-key.encode": "the key of a secondary index entry",
    "secondary-key.decode": "the two parts of a secondary index key",
    "record-index.location": "a file id in the form of a record index entry",
    "metadata-record.decode": "the decoded value of an entry of the metadata table",
    "metadata-partition.name": "the partition of the metadata table that holds an index",
    "bloom.make": "a bloom filter over keys, as Base64 text",
    "bloom.may-hold": "which keys a bloom filter may hold",
    "positions.encode": "row positions as the Base64 text of a header",
    "positions.decode": "row positions from a header's text",
    "time.format": "a time as an instant time in a time zone",
    "true-time.draw": "the times that processes with different clocks get",
    "metadata-partitions.after": "the lists of usable and unfinished partitions after a step",
    "properties.parse": "the entries of a properties file",
    "properties.checksum": "the checksum of a properties file",
    "timeline.build": "the instants of the names in a timeline folder: completed ones by completion time, pending ones",
    "history.files-in-range": "the files of the history that may have actions in a range of requested times, by their names",
    "history-file-name.parse": "the parts of the name of a file of the timeline history",
    "merge.fold": "the merged record of several versions: base row, then log entries",
    "merge.settings": "the merge settings of a writer",
    "merger.choose": "the merger of a table with a strategy id, out of several",
    "properties.infer": "merge mode, strategy and payload class of a table",
    "clustering.groups": "the groups of a clustering plan for the eligible files of a partition",
    "clustering.partitions": "the partitions that a clustering plan considers",
}

#: The features that a case may need and an engine may declare. If the engine does not declare a feature of a case, the case is
#: "not offered"; if it declares the feature and refuses it, the case is "refused".
FEATURES: dict[str, str] = {
    "read.snapshot": "the latest rows of a table",
    "read.read-optimized": "rows of the base files of the latest slices only",
    "read.as-of": "rows as they were at an instant",
    "read.incremental": "rows written in a range of completion times",
    "read.cdc": "changes with their images before and after",
    "read.projection": "a chosen list of columns",
    "read.filter": "rows chosen by comparisons joined with and",
    "read.meta-columns": "the five _hoodie_ columns in the result if the query names them",
    "read.by-id": "columns matched by the ids of the table's schema history, so that a renamed one keeps its values",
    "inspect.table": "timeline and file slices of a table",
    "inspect.log-file": "the blocks of one log file: offset, length, type, version, headers",
    "inspect.log-content": "the contents of the blocks of one log file: rows, deletes, record positions",
    "inspect.hfile": "entries, meta blocks and file info of one HFile",
    "inspect.base-file": "rows and footer of one base file",
    "inspect.bloom-filter": "which keys the bloom filter of one base file may hold",
    "inspect.instant": "the record in the file of an action in one state",
    "inspect.history-file": "the actions in one file of the timeline history",
    "inspect.manifest": "the live files of the timeline history",
    "inspect.metadata-table": "the usable partitions of a metadata table, their files, and the definitions of indexes",
    "inspect.properties": "the entries of one properties file, and whether its checksum is right",
    "create": "create an empty table",
    "write.insert": "append rows without an index lookup",
    "write.upsert": "insert new keys, update existing ones",
    "write.delete": "remove keys",
    "write.bulk-insert": "append many rows to new base files",
    "write.insert-overwrite": "replace the partitions of the rows",
    "write.delete-partition": "drop whole partitions",
    "write.partial-update": "change some columns of existing keys",
    "service.compaction": "schedule and run compaction",
    "service.log-compaction": "schedule and run log compaction",
    "service.clustering": "schedule and run clustering",
    "clustering.plan-strategies": "plans by overlap of values, key ranges, commit time or at random, largest gain first",
    "service.clean": "schedule and run cleaning",
    "service.rollback": "roll back an instant",
    "service.savepoint": "protect the files of an instant",
    "service.restore": "restore the table to an instant",
    "service.index": "build an index while writers run",
    "service.archive": "move old instants to the history",
    "archive.flink-settings": "archive limits with the names and defaults of Flink jobs",
    "halt.write": "a write that pauses after its request, or with its files stored, while other messages are answered",
    "halt.drawn": "a write that pauses between taking its begin time and publishing its request, if these are two steps",
    "halt.service": "services that pause with the files of a rewrite stored, or with the plan of a rollback published",
    "halt.planned": "a clean that pauses between making and publishing its plan, if these are two steps",
    "write.bucket-index": "writers that assign keys to file groups by a hash",
    "write.metadata-table": "writers that create and maintain a metadata table if it is enabled",
    "write.compares-keys": "a write that aborts if a concurrent write has inserted the same key in another file group",
    "copy-on-write": "tables of type COPY_ON_WRITE",
    "merge-on-read": "tables of type MERGE_ON_READ",
    "log.avro": "Avro data blocks",
    "log.parquet": "Parquet data blocks",
    "log.hfile": "HFile data blocks",
    "log.delete": "delete blocks",
    "log.command": "rollback command blocks",
    "log.only-slices": "file slices without a base file",
    "merge.commit-time": "the change of the later commit counts",
    "merge.event-time": "the change with the greater ordering value counts",
    "merge.custom": "a merger found by its strategy id",
    "merge.samples": "the two sample mergers of the specification, found by their ids",
    "merge.multiple-ordering-fields": "ordering by several fields",
    "merge.partial-updates": "log blocks with some columns of their records",
    "delete.flag": "rows whose _hoodie_is_deleted is true are deletes",
    "partition.none": "tables without partitions",
    "partition.plain": "partition folders named by the value",
    "partition.hive": "partition folders named field=value",
    "partition.url-encoded": "partition values escaped in folder names",
    "partition.several-levels": "partition paths of several folders",
    "partition.dropped-columns": "partition columns that are stored only in folder names, not in data files",
    "key.complex": "record keys of several fields",
    "meta-fields.absent": "tables with hoodie.populate.meta.fields=false",
    "table-version.6": "tables of version 6, with their older timeline",
    "timeline.history": "archived instants in the LSM timeline",
    "timeline.pending-compaction": "file slices of a requested compaction",
    "timeline.replaced-groups": "file groups replaced by a replacecommit",
    "schema.evolution": "columns added and types widened between commits",
    "types.nested": "structs, arrays and maps as data columns",
    "types.decimal": "decimal columns",
    "types.temporal": "date and timestamp columns",
    "types.avro": "columns of types that SQL lacks: time of day, local timestamps, enumerations, fixed bytes",
    "storage.file": "tables under file:// URIs",
    "storage.s3": "tables under s3:// URIs",
    **{f"compute.{name}": says for name, says in FUNCTIONS.items()},
}

QueryKind = Literal["snapshot", "read-optimized", "as-of", "incremental", "cdc"]
Operation = Literal["insert", "upsert", "delete", "bulk_insert", "partial_update", "insert_overwrite", "delete_partition"]
Service = Literal["compaction", "log-compaction", "clustering", "clean", "rollback", "savepoint", "restore", "index", "archive"]
#: A service publishes its plan (schedule), executes an existing plan (execute), or does both (run).
Phase = Literal["run", "schedule", "execute"]
#: The points at which work can pause: begin time taken (drawn) or plan made (planned) and nothing published; request published;
#: files stored and action not completed.
Point = Literal["drawn", "planned", "requested", "stored"]


@dataclass(frozen=True)
class Hello:
    """The identity and the features of an engine. `features` are keys of `FEATURES`."""

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
    """A query.

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
    """A write that can pause; see the operation `write`."""

    table: str
    operation: Operation
    rows: pa.Table
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A service that can pause; see the operation `service`."""

    table: str
    service: Service
    phase: Phase = "run"
    instant: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


Work = Write | Call


@dataclass(frozen=True)
class TableSpec:
    """The description of a new table of version 8.

    `schema` is an Avro record schema of the data columns (no meta columns), as a JSON value. With `merge_mode` None the
    mode is inferred (event time if there is an ordering field). `properties` are further entries of
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
