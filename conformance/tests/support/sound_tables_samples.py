"""Sound tables in which a simpler check would find a fault: what services and upgrades leave, and writers beside services."""

import json
from typing import Any
from unittest.mock import patch

import deep_damage_samples as d
import validated_tables_samples as t
from consistent_hashing_samples import RANGES, written
from log_compaction_damages_samples import log_compacted

from hudi_reference import clean, cluster, compact, open_table, rollback, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.services.compaction.log_compaction import schedule_log_compaction
from hudi_reference.storage import Storage
from hudi_reference.write.placement.consistent_buckets import ENDING, FIRST, FOLDER

_CLUSTERING = "hudi_reference.services.clustering"
_DUE = {"hoodie.compact.inline.max.delta.commits": "1"}


def complete_during(storage: Storage, action: str) -> None:
    """The last commit completes between the begin and the completion of the last action that replaced file groups."""
    path, replacing = t.completed(storage, "commit"), split_path(t.completed(storage, action))[1]
    requested, begun = (split_path(one)[1].partition("_")[0] for one in (path, replacing))
    during = str(int(begun) + 1)
    assert during < replacing.partition("_")[2]
    t.move(storage, path, f"{t.TIMELINE}/{requested}_{during}.commit")


def rename_files(record: Any, old: str, new: str) -> None:
    """Change the instant in the names of the files of a write, in its metadata."""
    for stat in t.stats_of(record):
        stat["path"] = stat["path"].replace(old, new)
        stat["logFiles"] = [name.replace(old, new) for name in stat.get("logFiles") or ()]


def _rename_planned(plan: Any, old: str, new: str) -> None:
    for operation in plan["operations"]:
        operation["deltaFilePaths"] = [path.replace(old, new) for path in operation["deltaFilePaths"]]


def compacted_twice() -> Storage:
    """A table whose first log file has the instant of its base file, whose write completed after the plan of the compaction.

    So it is in the metadata table of version 6, where the compaction of one write ends when the next one has begun.
    """
    storage = t.compacted()
    t.reopened(storage).upsert(t.rows(*range(1, 7), fare=7))
    compact(t.reopened(storage), _DUE)
    first, second, *_ = [one.requested for one in t.stored(storage).timeline.completed]
    plan = split_path(t.completed(storage, "commit", 0))[1].partition("_")[0]
    for path in t.log_files(storage):
        parsed = parse_data_file_name(split_path(path)[1])
        if parsed is not None and parsed.instant == second:
            t.move(storage, path, path.replace(second, first))
    for number in (1, 2):
        t.change_record(
            storage, t.completed(storage, "deltacommit", number), lambda record: rename_files(record, second, first)
        )
    t.change_record(
        storage, t.paths(storage, ".compaction.requested")[0], lambda record: _rename_planned(record, second, first)
    )
    t.move(storage, t.completed(storage, "deltacommit", 0), f"{t.TIMELINE}/{first}_{int(plan) + 1:017}.deltacommit")
    return storage


def upgraded() -> Storage:
    """The same table, of which the first version was 6."""
    storage = compacted_twice()
    t.change_properties(storage, {"hoodie.table.initial.version": "6"})
    return storage


def _written_during_an_overwrite() -> Storage:
    """An overwrite replaces all rows before its completion, those of this write too."""
    complete_during(storage := t.overwritten(), "replacecommit")
    return storage


def _compacted_after_an_overwrite() -> Storage:
    """A compaction of groups that an overwrite replaced meanwhile stored rows that were replaced, too."""
    storage = t.with_plan("compaction")
    compact(t.reopened(storage))
    t.reopened(storage).insert_overwrite(t.rows(2, 6, fare=7))
    path, overwrite = t.completed(storage, "commit"), t.completed(storage, "replacecommit")
    later = int(overwrite.rpartition("_")[2].partition(".")[0]) + 1
    t.move(storage, path, f"{path.rpartition('_')[0]}_{later:017}.commit")
    return storage


def _planned_over_a_log_compaction() -> Storage:
    """A compaction may be planned for groups that a pending log compaction has: the later log compaction is dropped."""
    storage = t.merge_on_read()
    table = t.reopened(storage)
    assert schedule_log_compaction(table, {"hoodie.log.compaction.blocks.threshold": "1"})
    assert schedule_compaction(table, _DUE)
    return storage


def written_to_both_buckets() -> Storage:
    """A write during a clustering stored its row in the old bucket and in the new one, there under the instant of the plan (ER-163)."""
    storage = written(())
    table = open_table("memory:///sample", storage=storage, clock=ManualClock(t.START + 10**8), options=RANGES)
    with patch(f"{_CLUSTERING}.plan.check_not_bucketed"), patch(f"{_CLUSTERING}.clustering.check_not_bucketed"):
        clustering = cluster(table, {"hoodie.clustering.inline.max.commits": "1"})
    assert clustering
    (before, *_), (base,) = t.log_files(storage), t.base_files(storage)
    old, new = (split_path(path)[1].strip(".").partition("_")[0] for path in (before, base))
    with patch("hudi_reference.write.write.check_placement"):
        write = t.reopened(storage).upsert(t.rows(1, fare=9))
    folder, name = split_path(t.log_files(storage)[-1])
    names = {old: name.replace(new, old), new: name.replace(write, clustering)}
    for group, other in names.items():
        storage.put(f"{folder}/{other}", storage.get(f"{folder}/{name}"))
        rename = d.with_rows(d.with_value("_hoodie_file_name", 0, group))
        d.rewrite_log(storage, rename, folder, d.log_files(storage, folder).index(f"{folder}/{other}"))
    storage.delete(f"{folder}/{name}")

    def change(record: Any) -> None:
        (stats,) = record["partitionToWriteStats"].values()
        (stat,) = stats
        stats[:] = [
            {**stat, "fileId": group, "path": f"{folder}/{other}", "logFiles": [other], "prevCommit": other.split("_")[1][:17]}
            for group, other in names.items()
        ]

    path = t.completed(storage, "deltacommit")
    t.change_record(storage, path, change)
    later = int(path.rpartition("_")[2].partition(".")[0]) + 1
    t.move(storage, t.completed(storage, "replacecommit"), f"{t.TIMELINE}/{clustering}_{later:017}.replacecommit")
    ranges: Any = json.loads(storage.get(f"{FOLDER}/{folder}/{FIRST}{ENDING}"))
    (node,) = ranges["nodes"]
    ranges |= {"instant": clustering, "nodes": [{**node, "fileIdPrefix": new.rpartition("-")[0]}]}
    storage.put(f"{FOLDER}/{folder}/{clustering}{ENDING}", json.dumps(ranges).encode())
    return storage


def _savepoint_of_a_later_log_file() -> Storage:
    """Savepoints of Apache Hudi name log files of later writes, too, which a rollback of those deletes."""
    storage = t.merge_on_read()
    *_, kept, later = [one.requested for one in t.reopened(storage).timeline.commits]
    savepoint(t.reopened(storage), kept)
    folder, name = split_path(t.log_files(storage)[-1])
    t.change_record(
        storage, t.completed(storage, "savepoint"),
        lambda record: record["partitionMetadata"][folder]["savepointDataFile"].append(name),
    )  # fmt: skip
    rollback(t.reopened(storage), later)
    return storage


def _capturing(table_type: str) -> Storage:
    """Captured changes are in log files with columns of their own."""
    cdc = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER"}
    return t.changed(table_type, **cdc)


def _with_other_files() -> Storage:
    """Files of other programs are beside the partitions, and hidden ones are in them."""
    storage = t.copy_on_write()
    for path in ("docs/notes.txt", "notes.txt", "north/_SUCCESS", "north/.notes"):
        storage.put(path, b"notes")
    return storage


def _log_compacted_without_inputs() -> Storage:
    """A clean deleted the log files that a log compaction merged, while its metadata is on the timeline."""
    storage = log_compacted()
    table = t.reopened(storage)
    for fare in (7, 8):
        assert compact(table, _DUE)
        table.upsert(t.rows(1, 2, 3, 4, fare=fare))
    assert clean(table, t.CLEANING)
    assert not [path for path in t.log_files(storage) if "_20260921141321" in path]
    return storage


def _deletion_of_no_partition() -> Storage:
    """A deletion of partitions whose pattern matched none, in a table with a metadata table: nothing is replaced."""
    storage = t.with_metadata_table()
    t.reopened(storage).delete_partitions(["nowhere"])
    t.change_record(storage, t.completed(storage, "replacecommit"),
                    lambda record: record.update(partitionToReplaceFileIds={}))  # fmt: skip
    return storage


SOUND_TABLES = {
    "a log compaction without its inputs": _log_compacted_without_inputs,
    "a deletion of no partition": _deletion_of_no_partition,
    "files of other programs": _with_other_files,
    "captured changes": lambda: _capturing("COPY_ON_WRITE"),
    "captured changes in log files": lambda: _capturing("MERGE_ON_READ"),
    "a savepoint of a log file that was rolled back": _savepoint_of_a_later_log_file,
    "a write to the buckets of a clustering": written_to_both_buckets,
    "a write that completed during an overwrite": _written_during_an_overwrite,
    "a compaction that completed after an overwrite": _compacted_after_an_overwrite,
    "a compaction planned over a log compaction": _planned_over_a_log_compaction,
    "upgraded from version 6": upgraded,
}
