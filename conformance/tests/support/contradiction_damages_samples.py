"""Damages that a part of a table contradicts: two values, two files, an action that its plan or its own files deny."""

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import timeline_damages_samples as timeline
import validated_tables_samples as t
from damages_samples import Damage

from hudi_reference import restore, rollback, savepoint
from hudi_reference.layout.names import join_path, split_path
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.metadata.writer import first_log_file
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

#: After the time of the validation by more than a day.
FUTURE = "20991231000000000"


def rolled_back() -> Storage:
    """Three writes, of which the last one was rolled back."""
    storage = t.copy_on_write()
    table = t.reopened(storage)
    rollback(table, table.timeline.completed[-1].requested)
    return storage


def restored() -> Storage:
    """Three writes, of which a restore rolled the last one back."""
    storage = t.copy_on_write()
    table = t.reopened(storage)
    savepoint(table, table.timeline.completed[-2].requested)
    restore(t.reopened(storage), table.timeline.completed[-2].requested)
    return storage


def _other_target_of_restore(record: Any) -> None:
    for found in record["hoodieRestoreMetadata"].values():
        _other_target(found[0])


def _delete_more(record: Any) -> None:
    """The result of a rollback has one more file."""
    done = next(iter(record["partitionMetadata"].values()))
    done["successDeleteFiles"] = [*(done["successDeleteFiles"] or ()), "f-0_0-0-0_20200101000000000.parquet"]


def _complete_in_month(month: str) -> Callable[[Storage], None]:
    """The last write completed in that month of its year."""

    def edit(storage: Storage) -> None:
        path = t.completed(storage, "commit")
        before, _, after = path.rpartition("_")
        t.move(storage, path, f"{before}_{after[:4]}{month}{after[6:]}")

    return edit


def _append(line: bytes) -> Callable[[Storage], None]:
    return lambda storage: storage.put(PROPERTIES_PATH, storage.get(PROPERTIES_PATH) + line)


def _in_last(action: str, change: Callable[[Any], object]) -> Callable[[Storage], None]:
    return lambda storage: t.change_record(storage, t.completed(storage, action), change)


def _complete_late(storage: Storage) -> None:
    path = t.completed(storage, "commit")
    t.move(storage, path, f"{path.partition('_')[0]}_{FUTURE}.commit")


def _value(column: str, value: str | None) -> Callable[[pa.Table], pa.Table]:
    def change(rows: pa.Table) -> pa.Table:
        at = rows.schema.get_field_index(column)
        values = [value, *rows.column(column).to_pylist()[1:]]
        return rows.set_column(at, rows.schema.field(at), pa.array(values, rows.schema.field(at).type))

    return change


def _list_twice(storage: Storage) -> None:
    path, manifest = t.manifest_of(storage)
    storage.put(path, json.dumps({"files": manifest["files"] * 2}).encode())


def _forget_metadata(storage: Storage) -> None:
    """The last archived write, whose files are on storage, has no metadata."""
    at = pa.array([None], pa.binary())
    timeline.edit_history(lambda rows: rows.set_column(
        rows.schema.get_field_index("metadata"), "metadata",
        pa.concat_arrays([rows.column("metadata").combine_chunks()[:-1], at])))(storage)  # fmt: skip


def _second_attempt(storage: Storage) -> None:
    """The last write names two base files of a group."""
    path = t.base_files(storage)[-1]
    folder, name = split_path(path)
    file_id, _, rest = name.split("_")
    copy = join_path(folder, f"{file_id}_9-9-9_{rest}")
    storage.put(copy, storage.get(path))

    def change(record: Any) -> None:
        for stats in record["partitionToWriteStats"].values():
            stats += [{**one, "path": copy} for one in stats if one["path"] == path]

    t.change_record(storage, t.completed(storage, "commit"), change)


def _replace_own_group(record: Any) -> None:
    partition, (stat, *_) = next((key, stats) for key, stats in record["partitionToWriteStats"].items() if stats)
    record["partitionToReplaceFileIds"][partition].append(stat["fileId"])


def _replace_elsewhere(record: Any) -> None:
    groups = record["partitionToReplaceFileIds"]
    groups["west"] = groups.pop("north")


def _planned_twice(storage: Storage) -> None:
    (plan,) = t.paths(storage, ".compaction.requested")
    t.change_record(storage, plan, lambda record: record["operations"].append(record["operations"][0]))


def _other_target(record: Any) -> None:
    record["commitsRollback"] = ["20200101000000000"]


def _name_another_log_file(record: Any) -> None:
    """A log file of the same task, as a stat names it beside the last one."""
    stats = next(iter(record["partitionToWriteStats"].values()))
    stats[0]["logFiles"].append(stats[0]["path"].rpartition("/")[2].replace(".log.1_", ".log.2_"))


def _clustered_twice(storage: Storage) -> None:
    (plan,) = t.paths(storage, ".clustering.requested")

    def add(record: Any) -> None:
        groups = record["clusteringPlan"]["inputGroups"]
        groups.append(groups[0])

    t.change_record(storage, plan, add)


def _forget_planned_files(storage: Storage) -> None:
    """The plan of the clean has no file, in both of its files."""
    requested = split_path(t.completed(storage, "clean"))[1].partition("_")[0]
    for state in (State.REQUESTED, State.INFLIGHT):
        path = f"{t.TIMELINE}/{Instant(requested, 'clean', state).file_name}"
        if storage.get(path):
            t.change_record(storage, path, lambda record: record.update(filePathsToBeDeletedPerPartition={}))


def _empty_folder(storage: Storage) -> None:
    """An index in use has a folder without data files."""
    storage.put(".hoodie/metadata/column_stats/.hoodie_partition_metadata", b"commitTime=1\npartitionDepth=1\n")
    t.change_properties(storage, {"hoodie.table.metadata.partitions": "files,column_stats"})


def _another_group(record: Any) -> None:
    t.stats_of(record)[0]["fileId"] = "another"


def _compact_again(storage: Storage) -> None:
    """A second compaction completed with the plan of the first one, in files of its own."""
    (plan,) = t.paths(storage, ".compaction.requested")
    path, again = t.completed(storage, "commit"), f"{int(split_path(t.completed(storage, 'commit'))[1][:17]) + 1:017}"
    first = split_path(path)[1][:17]
    storage.put(plan.replace(first, again), storage.get(plan))
    storage.put(plan.replace(first, again).replace("requested", "inflight"), b"")
    copy = f"{t.TIMELINE}/{again}_{int(path[-24:-7]) + 1:017}.commit"
    storage.put(copy, storage.get(path))

    def change(record: Any) -> None:
        for stat in t.stats_of(record):
            target = stat["path"].replace(first, again)
            storage.put(target, storage.get(stat["path"]))
            stat["path"] = target

    t.change_record(storage, copy, change)


def _log_file(storage: Storage) -> None:
    """The last write of a copy-on-write table stored a log file, too."""
    path = t.base_files(storage)[-1]
    folder, name = split_path(path)
    file_id, _, rest = name.split("_")
    requested = rest.partition(".")[0]
    log, data = join_path(folder, f".{file_id}_{requested}.log.1_1-0-1"), first_log_file(requested)
    storage.put(log, data)
    counts = dict.fromkeys(("numWrites", "numInserts", "numUpdateWrites", "numDeletes"), 0)

    def change(record: Any) -> None:
        stats = record["partitionToWriteStats"][folder]
        stats.append({**stats[0], **counts, "path": log, "fileSizeInBytes": len(data)})

    t.change_record(storage, t.completed(storage, "commit"), change)


def _count_more_updates(record: Any) -> None:
    t.stats_of(record)[0]["numUpdateWrites"] += 9


CONTRADICTION_DAMAGES = (
    Damage("a key with two values", "properties.one-value", "PROP-001", t.copy_on_write,
           _append(b"hoodie.table.base.file.format=ORC\nhoodie.table.base.file.format=PARQUET\n")),
    Damage("a control character", "properties.characters", "PROP-011", t.copy_on_write, _append(b"hoodie.x=a\x01b\n")),
    Damage("a partition field of an unknown kind", "properties.partition-kinds", "PROP-008", t.copy_on_write,
           lambda s: t.change_properties(s, {"hoodie.table.partition.fields": "city:MOON"})),
    Damage("an index without data files", "properties.metadata-lists", "PROP-012", t.with_metadata_table, _empty_folder),
    Damage("no operation", "actions.known-operations", "TL-045", t.copy_on_write,
           _in_last("commit", lambda record: record.update(operationType=None)), severity="cosmetic"),
    Damage("an unknown operation", "actions.known-operations", "TL-045", t.copy_on_write,
           _in_last("commit", lambda record: record.update(operationType="MOON"))),
    Damage("a write that says that it compacted", "actions.known-operations", "TYP-011", t.copy_on_write,
           _in_last("commit", lambda record: record.update(compacted=True))),
    Damage("a group that its file does not belong to", "actions.own-files", "LAY-020", t.copy_on_write,
           _in_last("commit", _another_group), ("TL-007", "TL-005")),
    Damage("completed in the future", "timeline.future", "TT-005", t.copy_on_write, _complete_late, says=FUTURE),
    Damage("a log file of a copy-on-write table", "timeline.table-type", "TYP-002", t.copy_on_write, _log_file,
           ("TL-007",)),
    Damage("more updates than rows", "results.row-counts", "TL-005", t.copy_on_write, _in_last("commit", _count_more_updates), severity="cosmetic"),
    Damage("archived without a completion", "history.rows", "LSM-018", t.archived,
           timeline.edit_history(_value("completionTime", None)), severity="wrong-answers"),
    Damage("archived before it was requested", "history.rows", "TL-004", t.archived,
           timeline.edit_history(_value("completionTime", "20200101000000000"))),
    Damage("an archived action that is none", "history.rows", "LSM-019", t.archived,
           timeline.edit_history(_value("action", "moon")), ("OCC-008", "RDR-008", "LSM-014", "LSM-015")),
    Damage("archived without metadata", "history.rows", "LSM-020", t.archived, _forget_metadata, severity="cosmetic"),
    Damage("a level file twice", "history.listed-once", "LSM-010", t.archived, _list_twice, ("ARC-002",)),
    Damage("a savepoint without its files", "presence.unprotected", "TL-021", t.cleaned,
           _in_last("savepoint", lambda record: record.update(partitionMetadata={}))),
    Damage("a log file of a task without its stat", "presence.named-files", "TL-036", t.merge_on_read,
           _in_last("deltacommit", _name_another_log_file)),
    Damage("two base files of a slice", "presence.one-base-file", "LAY-023", t.copy_on_write, _second_attempt),
    Damage("an overwrite that replaced its own group", "replacements.own-groups", "TL-010", t.overwritten,
           _in_last("replacecommit", _replace_own_group)),
    Damage("an overwrite that replaced nothing", "results.replaced-groups", "TL-039", t.overwritten,
           _in_last("replacecommit", lambda record: record.update(partitionToReplaceFileIds={}))),
    Damage("replaced in another partition", "replacements.places", "TL-039", t.deleted_partition,
           _in_last("replacecommit", _replace_elsewhere)),
    Damage("a group twice in a plan", "replacements.planned-once", "TL-015", lambda: t.with_plan("compaction"), _planned_twice),
    Damage("a group in two parts of a clustering", "replacements.planned-once", "TL-012", lambda: t.with_plan("clustering"),
           _clustered_twice),
    Damage("two compactions of the same log files", "replacements.merged-once", "SVC-004", t.compacted, _compact_again,
           ("CMP-003", "TT-005")),
    Damage("a rollback of another write", "removal-records.entries", "TL-020", rolled_back, _in_last("rollback", _other_target)),
    Damage("a restore of another write", "removal-records.entries", "TL-024", restored,
           _in_last("restore", _other_target_of_restore)),
    Damage("a rollback that deleted more", "removal-plans.rolled-back", "TL-035", rolled_back, _in_last("rollback", _delete_more),
           ("TL-020",)),
    Damage("the month 13", "timeline.calendar", "TL-027", t.copy_on_write, _complete_in_month("13"), ("TT-005",), says="as in the other times\n202613"),
    Damage("cleaned files that no plan has", "removal-plans.cleaned", "TL-035", t.cleaned, _forget_planned_files),
)  # fmt: skip
