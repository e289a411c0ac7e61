"""Traces of lost updates: writes that hid those of others, plans that lack their files, and cleans of files in need."""

from collections.abc import Callable

import validated_tables_samples as t
from damages_samples import Damage
from sound_tables_samples import complete_during, upgraded, written_to_both_buckets

from hudi_reference import archive, savepoint
from hudi_reference.layout.names import split_path
from hudi_reference.services.clean.clean import schedule_clean
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.contents.actions import write_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State


def _same_parent(storage: Storage) -> None:
    parents = {}

    def remember(record):
        parents.update({stat["fileId"]: (stat["prevBaseFile"], stat["prevCommit"]) for stat in t.stats_of(record)})

    def change(record):
        for stat in t.stats_of(record):
            stat["prevBaseFile"], stat["prevCommit"] = parents[stat["fileId"]]

    t.change_record(storage, t.completed(storage, "commit", 1), remember)
    t.change_record(storage, t.completed(storage, "commit", 2), change)


def _newer_parent(storage: Storage) -> None:
    """The second write completed last, and is based on the file of the third one."""
    second, third = t.completed(storage, "commit", 1), t.completed(storage, "commit", 2)
    files, parents = {}, {}

    def remember(record):
        files.update({stat["fileId"]: split_path(stat["path"])[1] for stat in t.stats_of(record)})

    def change(record):
        for stat in t.stats_of(record):
            parents[stat["fileId"]] = stat["prevBaseFile"], stat["prevCommit"]
            stat["prevBaseFile"], stat["prevCommit"] = files[stat["fileId"]], split_path(third)[1].partition("_")[0]

    def change_last(record):
        for stat in t.stats_of(record):
            stat["prevBaseFile"], stat["prevCommit"] = parents[stat["fileId"]]

    t.change_record(storage, third, remember)
    t.change_record(storage, second, change)
    t.change_record(storage, third, change_last)
    requested = split_path(second)[1].partition("_")[0]
    t.move(storage, second, f"{t.TIMELINE}/{requested}_20991231000000000.commit")


def _complete_after_the_clustering(storage: Storage) -> None:
    path = t.completed(storage, "commit")
    requested = split_path(path)[1].partition("_")[0]
    t.move(storage, path, f"{t.TIMELINE}/{requested}_20991231000000000.commit")


def _leave_out_log_files(storage: Storage) -> None:
    *_, plan = t.paths(storage, ".compaction.requested")

    def change(record):
        for operation in record["operations"]:
            operation["deltaFilePaths"] = operation["deltaFilePaths"][1:]

    t.change_record(storage, plan, change)


def _clean(number: int) -> Callable[[Storage], None]:
    """The pending clean is about to delete a base file, by its place in the order of their instants."""

    def edit(storage: Storage) -> None:
        (plan,) = t.paths(storage, ".clean.requested")
        partition, name = split_path(t.base_files(storage)[number])
        planned = {partition: [{"filePath": name, "isBootstrapBaseFile": False}]}
        t.change_record(storage, plan, lambda record: record.update(filePathsToBeDeletedPerPartition=planned))

    return edit


def _plan_again(service: str) -> Callable[[Storage], None]:
    """The groups of a pending plan are planned again."""

    def edit(storage: Storage) -> None:
        (plan,) = t.paths(storage, f".{service}.requested")
        storage.put(f"{t.TIMELINE}/20991231000000000.{service}.requested", storage.get(plan))

    return edit


def _plan_both(storage: Storage) -> None:
    """The plan of a clustering is made in a copy, and the plan of a compaction in the table."""
    copy = MemoryStorage()
    for path in t.paths(storage, ""):
        copy.put(path, storage.get(path))
    assert schedule_clustering(t.reopened(copy), t.CLUSTERING)
    assert schedule_compaction(t.reopened(storage), {"hoodie.compact.inline.max.delta.commits": "1"})
    (plan,) = t.paths(copy, ".clustering.requested")
    storage.put(f"{t.TIMELINE}/20991231000000000.clustering.requested", copy.get(plan))


def _lose_write(action: str, number: int) -> Callable[[Storage], None]:
    """Lose the files of a completed action."""
    return lambda storage: t.lose_action(storage, split_path(t.completed(storage, action, number))[1].partition("_")[0])


def _cluster_what_is_cleaned(storage: Storage) -> None:
    """A pending clustering was planned after the first write, whose files a pending clean is about to delete."""
    first = {split_path(path)[1].partition("_")[0]: path for path in t.base_files(storage)[:2]}
    written = split_path(t.completed(storage, "commit", 0))[1].partition("_")[2].partition(".")[0]
    assert schedule_clustering(t.reopened(storage), t.CLUSTERING)
    (plan,) = t.paths(storage, ".clustering.requested")

    def change(record):
        for group in record["clusteringPlan"]["inputGroups"]:
            for one in group["slices"]:
                one["dataFilePath"] = first[one["fileId"]]

    t.change_record(storage, plan, change)
    t.move(storage, plan, f"{t.TIMELINE}/{int(written) + 1:017}.clustering.requested")


def _cleanable_with_a_savepoint() -> Storage:
    """A savepoint of the first write, and a pending clean that spares its files."""
    storage = t.copy_on_write()
    table = t.reopened(storage)
    savepoint(table, table.timeline.completed[0].requested)
    table.upsert(t.rows(1, 2, fare=7))
    assert schedule_clean(table, t.CLEANING)
    return storage


def _name_unknown_file(storage: Storage) -> None:
    (plan,) = t.paths(storage, ".compaction.requested")
    t.change_record(storage, plan, lambda record: record["operations"][0]["deltaFilePaths"].append("no data file"))


def _base_logs_on_one_file(storage: Storage) -> None:
    """The entries of two log files name the base file of their slice as the earlier one, as those of base files do."""
    names = {split_path(path)[1].partition("_")[0]: split_path(path)[1] for path in t.base_files(storage)}

    def change(record):
        for stat in t.stats_of(record):
            stat["prevBaseFile"] = names[stat["fileId"]]

    for number in (1, 2):
        t.change_record(storage, t.completed(storage, "deltacommit", number), change)


def _forget_slices(storage: Storage) -> None:
    """The entries of the last write name no earlier slice, as those of the first files of their groups do."""
    path = t.completed(storage, "deltacommit")
    t.change_record(storage, path, lambda record: [stat.update(prevCommit="null") for stat in t.stats_of(record)])


def planned_on_archived() -> Storage:
    """A clustering plan of a base file whose write is archived."""
    storage = t.copy_on_write()
    table = t.reopened(storage)
    for fare in range(7):
        table.upsert(t.rows(2, fare=fare))
    assert archive(table, {"hoodie.keep.max.commits": "4", "hoodie.keep.min.commits": "3"}).instants
    assert schedule_clustering(t.reopened(storage), t.CLUSTERING)
    return storage


def cut_history(storage: Storage) -> None:
    """The file of the history lacks its end."""
    (level,) = t.paths(storage, ".hoodie/timeline/history/", ".parquet")
    t.cut(storage, level, 40)


def _with_a_built_index() -> Storage:
    """An index was built from the last write on."""
    storage = t.copy_on_write()
    last = split_path(t.completed(storage, "commit"))[1][:17]
    entry = {"version": 1, "metadataPartitionPath": "column_stats", "indexUptoInstant": last, "extraMetadata": {}}
    record = {"version": 1, "indexPartitionInfos": [entry]}
    requested, completion = (f"{int(last) + seconds * 1000:017}" for seconds in (5, 6))
    for state in State:
        instant = Instant(requested, "indexing", state, completion if state is State.COMPLETED else None)
        content = b"" if state is State.INFLIGHT else write_action(instant, record, bytes(16))
        storage.put(f"{t.TIMELINE}/{instant.file_name}", content)
    return storage


TRACE_DAMAGES = (
    Damage("two writes on one base file", "traces.same-parent", "OCC-013", t.copy_on_write, _same_parent),
    Damage("a write on a newer base file", "traces.newer-parent", "OCC-013", t.copy_on_write, _newer_parent, ("TT-005",)),
    Damage("a write during a clustering", "traces.replaced-groups", "OCC-016", t.clustered, _complete_after_the_clustering,
           ("TT-005",)),
    Damage("a write that completed during a clustering", "traces.replaced-groups", "OCC-016", t.clustered,
           lambda storage: complete_during(storage, "replacecommit")),
    Damage("a log file of new buckets without their slice", "log-files.names", "LF-004", written_to_both_buckets, _forget_slices, severity="cosmetic"),
    Damage("a lost write", "traces.known-parents", "OCC-008", t.copy_on_write, _lose_write("commit", 1), ("RDR-008",)),
    Damage("a lost write before a compaction", "traces.known-parents", "OCC-008", t.compacted, _lose_write("deltacommit", 0),
           ("RDR-008", "ARC-002")),
    Damage("a write that an index saw", "traces.seen-completed", "TL-052", _with_a_built_index,
           lambda storage: storage.delete(t.completed(storage, "commit")), ("TL-030",)),
    Damage("a plan of an archived write, and a cut history", "history.readable", "LSM-011", planned_on_archived, cut_history),
    Damage("a plan without a log file", "traces.closed-plans", "CMP-003", t.compacted, _leave_out_log_files),
    Damage("a plan without a log file, before an upgrade", "traces.closed-plans", "CMP-003", upgraded, _leave_out_log_files),
    Damage("a plan of an unknown file", "presence.planned-files", "CLN-002", lambda: t.with_plan("compaction"), _name_unknown_file,
           ("TL-015",)),
    Damage("earlier base files of log files", "statistics.entries", "TL-005", t.merge_on_read, _base_logs_on_one_file),
    Damage("a clean of needed files", "traces.pending-cleans", "CLN-001", lambda: t.with_plan("clean"), _clean(-1)),
    Damage("a clean of planned files", "traces.pending-cleans", "CLN-001", lambda: t.with_plan("clean"), _cluster_what_is_cleaned),
    Damage("a clean of the files of a savepoint", "traces.pending-cleans", "CLN-001", _cleanable_with_a_savepoint, _clean(0)),
    Damage("two plans of one group", "traces.exclusive-plans", "SVC-004", lambda: t.with_plan("compaction"), _plan_again("compaction"),
           ("CMP-003", "TT-005"), "wrong-answers", "every query"),
    Damage("two clusterings of one group", "traces.exclusive-plans", "SVC-004", lambda: t.with_plan("clustering"),
           _plan_again("clustering"), ("TT-005",), "wrong-answers", "every query"),
    Damage("a compaction and a clustering of one group", "traces.exclusive-plans", "SVC-004", t.merge_on_read, _plan_both,
           ("TT-005",), "cosmetic", "One of the two services"),
)  # fmt: skip
