"""Commit metadata and plans, spec "Timeline > Actions": files that a commit wrote or replaced, file groups of plans.

Records are read with the schema in the file. The classes have the fields that readers need; `record` keeps all fields.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from hudi_reference.errors import MalformedMetadata, PathOutsideTable
from hudi_reference.limits import STATS
from hudi_reference.requirement import implements
from hudi_reference.storage import require_inside_table
from hudi_reference.timeline.contents.avro_container import read_record, schema_of, write_record
from hudi_reference.timeline.instants.version_6 import read_json_record

#: The ids of the file groups that an action replaces, by partition.
Replaced = Mapping[str, list[str]]


@dataclass(frozen=True)
class WriteStat:
    """The write of one data file by one action. Paths are relative to the base path; sizes are in bytes."""

    file_id: str
    partition: str
    path: str
    previous_instant: str = "null"
    previous_base_file: str | None = None
    writes: int = 0
    inserts: int = 0
    updates: int = 0
    deletes: int = 0
    size: int = 0
    is_log: bool = False
    #: The version in a log file's name.
    log_version: int = 1
    #: The offset of the bytes of this action in a log file; not 0 only where a release before version 8 appended to the file.
    log_offset: int = 0
    #: For a log file: the base file of its slice, and the earlier log files of the slice.
    base_file: str = ""
    earlier_logs: tuple[str, ...] = ()
    #: Paths and sizes of the CDC files of a base file.
    changes: Mapping[str, int] = field(default_factory=dict, hash=False)

    def to_record(self) -> dict[str, Any]:
        """The record `HoodieWriteStat`, with the fields that deployed writers set."""
        name = self.path.rpartition("/")[2]
        place = {"logVersion": self.log_version, "logOffset": self.log_offset}
        log = {**place, "baseFile": self.base_file, "logFiles": [*self.earlier_logs, name]} if self.is_log else {}
        counters = dict.fromkeys(_COUNTERS, 0)
        return {
            **counters,
            "fileId": self.file_id,
            "path": self.path,
            "prevCommit": self.previous_instant,
            "prevBaseFile": self.previous_base_file,
            "partitionPath": self.partition,
            "numWrites": self.writes,
            "numDeletes": self.deletes,
            "numUpdateWrites": self.updates,
            "numInserts": self.inserts,
            "totalWriteBytes": self.size,
            "fileSizeInBytes": self.size,
            "cdcStats": dict(self.changes) or None,
            **log,
        }


#: Operations of table services, which move rows and do not change them.
SERVICES = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER"})
#: Operations of writes that replace file groups; on the timeline they are replacecommits.
INSERT_OVERWRITE, INSERT_OVERWRITE_TABLE, DELETE_PARTITION = "INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE", "DELETE_PARTITION"
REPLACING = frozenset({INSERT_OVERWRITE, INSERT_OVERWRITE_TABLE, DELETE_PARTITION})


@implements("TL-005", "TL-007", "TL-009")
@dataclass(frozen=True)
class CommitMetadata:
    """Completion metadata of a commit, deltacommit or replacecommit.

    `replaced` are the file ids that a replacecommit replaces, by partition; `schema` is the table schema as Avro JSON text
    without meta fields, None if the metadata has none.
    """

    operation: str
    stats: tuple[WriteStat, ...] = ()
    schema: str | None = None
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    compacted: bool = False
    record: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    @implements("TYP-011")
    def is_service(self) -> bool:
        """Whether the action only moved rows, as compactions and clusterings do."""
        return self.operation in SERVICES

    @property
    def is_compaction(self) -> bool:
        """Whether the action rewrote file groups in place: each has the rows that it had."""
        return self.operation in ("COMPACT", "LOG_COMPACT")

    @property
    def paths(self) -> frozenset[str]:
        """The paths of all data files that the action wrote, including CDC files."""
        partitions = (self.record.get("partitionToWriteStats") or {}).values()
        changes = (path for stats in partitions for stat in stats or () for path in stat.get("cdcStats") or ())
        return frozenset((*(stat.path for stat in self.stats if stat.path), *changes))


@implements("TL-007", "TL-009", "TL-012")
def read_commit_metadata(data: bytes, path: str, *, legacy: bool = False) -> CommitMetadata:
    """Decode a completed commit, deltacommit or replacecommit; those of tables of version 6 (`legacy`) are JSON.

    Raises MalformedMetadata for other records, PathOutsideTable for a path outside the table.
    """
    return (_decode_small if len(data) <= _SMALL else _decode)(data, path, legacy=legacy)


def _decode(data: bytes, path: str, *, legacy: bool) -> CommitMetadata:
    return commit_metadata_of((read_json_record if legacy else read_record)(data, path), path)


#: Bytes of commit metadata that is kept after decoding: a process reads the files of the active timeline again and again.
_SMALL = 32 << 10
_decode_small = lru_cache(maxsize=256)(_decode)


def commit_metadata_of(record: Mapping[str, Any], path: str) -> CommitMetadata:
    """The same from a decoded record."""
    if "partitionToWriteStats" not in record:
        raise MalformedMetadata(
            "the record is not commit metadata", rule="TL-007", path=path,
            expected="a field partitionToWriteStats", found=", ".join(record),
        )  # fmt: skip
    try:
        partitions = record["partitionToWriteStats"] or {}
        STATS.check(sum(len(stats or ()) for stats in partitions.values()), path)
        stats = tuple(_stat(partition, stat) for partition, stats in partitions.items() for stat in stats or ())
        replaced = record.get("partitionToReplaceFileIds") or {}
        return CommitMetadata(
            operation=_text(record.get("operationType")) or "UNKNOWN",
            stats=stats,
            schema=_text((record.get("extraMetadata") or {}).get("schema")) or None,
            replaced={partition: tuple(ids) for partition, ids in replaced.items()},
            compacted=bool(record.get("compacted")),
            record=record,
        )
    except PathOutsideTable as error:
        error.path = path
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise MalformedMetadata(
            "the commit metadata has unexpected fields or types",
            rule="TL-007",
            path=path,
            found=f"{type(error).__name__}: {error}",
        ) from error


def _stat(partition: str, stat: Mapping[str, Any]) -> WriteStat:
    file_id, path = stat["fileId"] or "", require_inside_table(stat["path"] or "")
    require_inside_table(partition)
    if "/" in file_id:
        raise PathOutsideTable("the file id is a path", rule="LAY-020", expected="a name without /", found=repr(file_id))
    return WriteStat(
        file_id=file_id,
        partition=partition,
        path=path,
        previous_instant=_text(stat.get("prevCommit")) or "null",
        previous_base_file=_text(stat.get("prevBaseFile")),
        writes=int(stat.get("numWrites") or 0),
        inserts=int(stat.get("numInserts") or 0),
        updates=int(stat.get("numUpdateWrites") or 0),
        deletes=int(stat.get("numDeletes") or 0),
        size=int(stat.get("fileSizeInBytes") or 0),
        is_log=bool(stat.get("logFiles")),
        log_version=stat.get("logVersion") or 1,
        log_offset=stat.get("logOffset") or 0,
        changes={require_inside_table(name): int(size) for name, size in (stat.get("cdcStats") or {}).items()},
    )


def _text(value: object) -> str | None:
    """A text or null, whatever type the schema of the file gives the field. Raises TypeError for other values."""
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{value!r} is no text")


@implements("TL-007", "TL-009", "OCC-023")
def write_commit_metadata(
    operation: str,
    stats: Iterable[WriteStat],
    schema: Mapping[str, Any] | None,
    sync_marker: bytes,
    replaced: Replaced | None = None,
    extra: Mapping[str, str] | None = None,
) -> bytes:
    """Completion metadata of a commit or deltacommit, with `replaced` that of a replacecommit; with `schema` None the workload
    profile of an inflight file. `extra` is stored beside the schema.
    """
    record = commit_record(operation, stats, schema, replaced)
    record["extraMetadata"].update(extra or {})
    return write_record(COMMIT_METADATA_SCHEMA if replaced is None else REPLACE_METADATA_SCHEMA, record, sync_marker)


@implements("TL-039")
def commit_record(
    operation: str, stats: Iterable[WriteStat], schema: Mapping[str, Any] | None, replaced: Replaced | None = None
) -> dict[str, Any]:
    """The record of the completed file of a write: HoodieCommitMetadata, with `replaced` HoodieReplaceCommitMetadata."""
    partitions: dict[str, list[dict[str, Any]]] = {}
    for stat in stats:
        partitions.setdefault(stat.partition, []).append(stat.to_record())
    extra = {} if schema is None else {"schema": json.dumps(schema, separators=(",", ":"))}
    record = {
        "partitionToWriteStats": partitions,
        "compacted": False,
        "extraMetadata": extra,
        # ER-029: null instead of the default 1.
        "version": None,
        # ER-031: the name of the enumeration, such as CLUSTER.
        "operationType": operation,
    }
    return record if replaced is None else {**record, "partitionToReplaceFileIds": replaced}


def ids_by_partition(groups: Iterable[tuple[str, str]]) -> Replaced:
    """The ids of file groups, each given as (partition, file id), by partition."""
    found: dict[str, list[str]] = {}
    for partition, file_id in groups:
        found.setdefault(partition, []).append(file_id)
    return found


@implements("TL-012")
def write_no_plan(sync_marker: bytes) -> bytes:
    """The requested record of a replacecommit that is not a clustering: HoodieRequestedReplaceMetadata with null fields."""
    schema = schema_of("HoodieRequestedReplaceMetadata")
    return write_record(schema, dict.fromkeys(field["name"] for field in schema["fields"]), sync_marker)


@implements("TL-015", "TL-017")
def groups_of_compaction(record: Mapping[str, Any], path: str) -> tuple[tuple[str, str], ...]:
    """The file groups that a compaction plan, found at `path`, compacts, as (partition, file id). Raises MalformedMetadata."""
    try:
        found = tuple((one["partitionPath"] or "", one["fileId"]) for one in record["operations"] or ())
    except (KeyError, TypeError) as error:
        raise MalformedMetadata("the record is not a compaction plan", rule="TL-015", path=path, found=str(error)) from error
    if not all(isinstance(name, str) for group in found for name in group):
        raise MalformedMetadata(
            "the record is not a compaction plan", rule="TL-015", path=path, expected="texts", found=f"groups {found}"[:200]
        )
    return found


@implements("TL-012")
def groups_of_clustering(record: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The file groups that a clustering plan rewrites, as (partition, file id)."""
    groups = (record.get("clusteringPlan") or {}).get("inputGroups") or ()
    return tuple((found["partitionPath"] or "", found["fileId"]) for group in groups for found in group["slices"] or ())


#: The record of a completed commit or deltacommit.
COMMIT_METADATA_SCHEMA = schema_of("HoodieCommitMetadata")
REPLACE_METADATA_SCHEMA = schema_of("HoodieReplaceCommitMetadata")
#: Counters that deployed writers set to 0.
_COUNTERS = (
    "totalWriteErrors",
    "totalLogRecords",
    "totalUpdatedRecordsCompacted",
    "totalLogBlocks",
    "totalCorruptLogBlock",
    "totalRollbackBlocks",
    "totalLogFilesCompacted",
    "totalLogReadTimeMs",
    "totalLogSizeCompacted",
    "numUpdates",
)
