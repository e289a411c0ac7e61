"""Traces of lost updates, and of faults of services that were deployed."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import validated_tables_samples as t
from clause_places_samples import (
    LOST,
    WRONG,
    Clause,
    NotPossible,
    change_record,
    first,
    in_base,
    last,
    stored,
    writes,
)

from hudi_reference.layout.names import split_path
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State

# Traces of lost updates and of faults of services.


def _new_instant(storage: Storage, after: Instant, plus: int = 1) -> Instant:
    return replace(after, requested=f"{int(after.requested) + plus:017}",
                   completion=f"{int(after.completion or after.requested) + plus:017}")  # fmt: skip


def publish(storage: Storage, instant: Instant, record: Any) -> str:
    """Store the three files of an action; the path of the completed one."""
    table = stored(storage)
    path = table.path_of(instant)
    storage.put(path, json.dumps(record).encode() if table.properties.is_legacy else write_action(instant, record, bytes(16)))
    for state in (State.REQUESTED, State.INFLIGHT):
        if state is State.INFLIGHT or ACTIONS[instant.action].has_requested:
            storage.put(table.path_of(replace(instant, state=state, completion=None)), b"")
    return path


def _same_parent(storage: Storage) -> None:
    """Another write that was based on the same base file as the last one stored its file a moment later."""
    table = stored(storage)
    write, stat = first(
        (instant, stat) for instant in writes(storage) for stat in table.commits[instant].stats
        if table.commits[instant].operation in ("UPSERT", "INSERT", "DELETE") and stat.previous_base_file and not stat.is_log
        and stat.path in table.listing.files
    )  # fmt: skip
    path = stat.path
    record = read_action(storage.get(table.path_of(write)), table.path_of(write), write)
    stat = first(one for one in t.stats_of(record) if one["path"] == path)
    other = _new_instant(storage, write)
    new = path.replace(write.requested, other.requested)
    storage.put(new, storage.get(path))
    record["partitionToWriteStats"] = {stat["partitionPath"]: [{**stat, "path": new}]}
    publish(storage, other, record)


def _write_after_replacement(storage: Storage) -> None:
    """A write to a file group that completed after the group was replaced."""
    table = stored(storage)
    for replacing, commit in table.commits.items():
        for partition, ids in commit.replaced.items():
            for path, file in table.data_files.items():
                if file.partition == partition and file.name.file_id in ids and path.endswith(".parquet"):
                    owner = next((i for i, c in table.commits.items() if path in c.paths), None)
                    if owner is None or owner.requested >= replacing.requested:
                        continue
                    record = read_action(storage.get(table.path_of(owner)), table.path_of(owner), owner)
                    stat = first(one for one in t.stats_of(record) if one["path"] == path)
                    other = replace(_new_instant(storage, replacing), action=owner.action)
                    new = path.replace(owner.requested, other.requested)
                    storage.put(new, storage.get(path))
                    record["partitionToWriteStats"] = {partition: [{**stat, "path": new, "prevCommit": owner.requested,
                                                                    "prevBaseFile": split_path(path)[1]}]}  # fmt: skip
                    record["operationType"] = "UPSERT"
                    publish(storage, other, record)
                    return
    raise NotPossible


def _rollback_that_ate_a_commit(storage: Storage) -> None:
    """A completed rollback names the last completed write and its files, which are gone."""
    table = stored(storage)
    write = last(writes(storage))
    removed: dict[str, list[str]] = {}
    for path in table.commits[write].paths:
        removed.setdefault(split_path(path)[0], []).append(split_path(path)[1])
        storage.delete(path)
    later = _new_instant(storage, write, 1000)
    record = {
        "startRollbackTime": later.requested, "timeTakenInMillis": 1, "totalFilesDeleted": len(removed),
        "commitsRollback": [write.requested], "version": 1,
        "partitionMetadata": {p: {"partitionPath": p, "successDeleteFiles": names, "failedDeleteFiles": [],
                                  "rollbackLogFiles": {}, "logFilesFromFailedCommit": {}} for p, names in removed.items()},
        "instantsRollback": [{"commitTime": write.requested, "action": write.action}],
    }  # fmt: skip
    publish(storage, replace(later, action="rollback"), record)


def _savepoint_without_files(storage: Storage) -> None:
    """A savepoint of the first write; then its files are gone."""
    table = stored(storage)
    write = first(writes(storage))
    files: dict[str, list[str]] = {}
    for path in sorted(table.commits[write].paths):
        files.setdefault(split_path(path)[0], []).append(split_path(path)[1])
    record = {
        "savepointedBy": "me", "savepointedAt": 1, "comments": "", "version": 1,
        "partitionMetadata": {p: {"partitionPath": p, "savepointDataFile": names} for p, names in files.items()},
    }  # fmt: skip
    publish(storage, replace(_new_instant(storage, write, 0), action="savepoint"), record)
    storage.delete(first(p for p in sorted(table.commits[write].paths) if p in table.listing.files))


def _wedged_index(storage: Storage) -> None:
    """The metadata table ends at the write before the last one: its update never completed."""
    inside = stored(storage).metadata_table
    write = last(writes(storage))
    if inside is None:
        raise NotPossible
    mine = [instant for instant in inside.commits if instant.requested == write.requested]
    for path in [*(p for i in mine for p in inside.commits[i].paths), *(inside.path_of(i) for i in mine)]:
        storage.delete(f"{METADATA_FOLDER}/{path}")
    if not mine:
        raise NotPossible


def _nulled_arrays(storage: Storage) -> None:
    """The newest base file of a group has nulls where the one before has arrays."""

    def change(table: pa.Table) -> pa.Table:
        name = first(f.name for f in table.schema if pa.types.is_list(f.type))
        return table.set_column(table.column_names.index(name), name, pa.nulls(table.num_rows, table.schema.field(name).type))

    in_base(change)(storage)


def _result(operation: str) -> Callable[[Storage], tuple[Instant, Any]]:
    """A completed service whose plan is on the timeline, and its metadata."""

    def find(storage: Storage) -> tuple[Instant, Any]:
        table = stored(storage)
        requested = {f.instant.requested for f in table.state_files if f.instant.state is State.REQUESTED and f.size}
        return last(
            (i, commit) for i, commit in table.commits.items() if commit.operation == operation and i.requested in requested
        )

    return find


def _unreplaced(storage: Storage) -> None:
    instant, _ = _result("CLUSTER")(storage)
    change_record(storage, instant, lambda record: record["partitionToReplaceFileIds"].popitem())


def _uncompacted(storage: Storage) -> None:
    instant, _ = _result("COMPACT")(storage)

    def change(record: Any) -> None:
        stats = record["partitionToWriteStats"]
        name = first(sorted(one for one, found in stats.items() if found))
        storage.delete(stats[name].pop()["path"])

    change_record(storage, instant, change)


TRACES = (
    Clause("a clustering that did not replace a group of its plan", ("CLU-001",), WRONG, _unreplaced),
    Clause("a compaction without a base file of its plan", ("CMP-001",), LOST, _uncompacted),
    Clause("two writes on one base file", ("OCC-013",), LOST, _same_parent),
    Clause("a write to a replaced group", ("OCC-016", "OCC-013"), LOST, _write_after_replacement),
    Clause("a rollback that removed a completed write", ("TL-019",), LOST, _rollback_that_ate_a_commit),
    Clause("a savepoint without its files", ("TL-021",), LOST, _savepoint_without_files),
    Clause("a metadata table that stays behind", ("MDT-008",), WRONG, _wedged_index),
    Clause("arrays turned null", ("META-004", "CMP-002"), LOST, _nulled_arrays),
)
