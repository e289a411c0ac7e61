"""Damages of the records of cleans, rollbacks, restores and savepoints, and of the plans of services."""

from collections.abc import Callable
from typing import Any

import validated_tables_samples as t
from contradiction_damages_samples import restored, rolled_back
from damages_samples import Damage

from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import State

_Edit = Callable[[Storage], None]
_LATER = "20990101000000000"


def _done(action: str, change: Callable[[Any], object]) -> _Edit:
    """Change the result of the last action of a kind."""
    return lambda storage: t.change_record(storage, t.completed(storage, action), change)


def _planned(action: str, change: Callable[[Any], object]) -> _Edit:
    """Change the plan of the last action of a kind."""
    return lambda storage: t.change_record(storage, t.paths(storage, f".{action}.requested")[-1], change)


def _first(change: Callable[[Any], object]) -> Callable[[Any], object]:
    """Change the first entry of a partition."""
    return lambda record: change(next(iter(record["partitionMetadata"].values())))


def _each_rollback(change: Callable[[Any], object]) -> Callable[[Any], object]:
    return lambda record: [change(one) for found in record["hoodieRestoreMetadata"].values() for one in found]


def _delete_of_latest(record: Any, path: str) -> None:
    """A rollback says that it deleted a file, and counts it."""
    folder, name = split_path(path)
    some = next(iter(record["partitionMetadata"].values()))
    mine = record["partitionMetadata"].setdefault(folder, {**some, "partitionPath": folder, "successDeleteFiles": []})
    mine["successDeleteFiles"] = [*mine["successDeleteFiles"], name]
    record["totalFilesDeleted"] += 1


def _rolled_back_latest(storage: Storage) -> None:
    path = t.base_files(storage)[-1]
    _done("rollback", lambda record: _delete_of_latest(record, path))(storage)


def _restored_latest(storage: Storage) -> None:
    path = t.base_files(storage)[-1]
    _done("restore", _each_rollback(lambda record: _delete_of_latest(record, path)))(storage)


def _pending_restore(storage: Storage) -> None:
    """The restore to a write that is not there has not been executed."""
    storage.delete(t.completed(storage, "restore"))
    _planned("restore", lambda record: record.update(savepointToRestoreTimestamp="20200101000000000"))(storage)


def _restore_of_the_savepoint(storage: Storage) -> None:
    """A restore that has not been executed is to roll back the write to which it goes back, too."""
    storage.delete(t.completed(storage, "restore"))

    def change(record: Any) -> None:
        found = record["instantsToRollback"]
        record["instantsToRollback"] = [*found, {**found[0], "commitTime": record["savepointToRestoreTimestamp"]}]

    _planned("restore", change)(storage)


def _rollback_of_more(storage: Storage) -> None:
    """A rollback that has not been executed is to delete a file of the first write, too."""
    storage.delete(t.completed(storage, "rollback"))
    path = t.base_files(storage)[0]

    def change(record: Any) -> None:
        (one, *others) = record["RollbackRequests"]
        added = {**one, "partitionPath": split_path(path)[0], "filesToBeDeleted": [path]}
        record["RollbackRequests"] = [one, *others, added]

    _planned("rollback", change)(storage)


def _pending_again(storage: Storage) -> None:
    """The write that a rollback rolled back is requested still."""
    path = t.completed(storage, "rollback")
    record: Any = read_action(storage.get(path), path, parse_instant_name(split_path(path)[1]))  # type: ignore[arg-type]
    storage.put(f"{t.TIMELINE}/{record['commitsRollback'][0]}.commit.requested", b"")


def _later_file(record: Any) -> None:
    entry = next(iter(record["partitionMetadata"].values()))
    name = entry["savepointDataFile"][0]
    entry["savepointDataFile"] = [*entry["savepointDataFile"], name.rpartition("_")[0] + f"_{_LATER}.parquet"]


def _plan(action: str, record: Any) -> _Edit:
    """Request an action a minute after the last write."""

    def edit(storage: Storage) -> None:
        after = max(split_path(path)[1][:17] for path in t.paths(storage, f"{t.TIMELINE}/2"))
        instant = Instant(f"{int(after) + 60_000:017}", action, State.REQUESTED)
        storage.put(f"{t.TIMELINE}/{instant.file_name}", write_action(instant, record, bytes(16)))

    return edit


def _index(**changes: Any) -> _Edit:
    """Plan an index from a write that never was, or with other changes."""
    entry = {"version": 1, "metadataPartitionPath": "column_stats", "indexUptoInstant": _LATER, "extraMetadata": {}, **changes}
    return _plan("indexing", {"version": 1, "indexPartitionInfos": [entry]})


def _index_of_a_later_write(storage: Storage) -> None:
    """Plan an index before the last write, from that write on."""
    last = split_path(t.completed(storage, "commit"))[1][:17]
    entry = {"version": 1, "metadataPartitionPath": "column_stats", "indexUptoInstant": last, "extraMetadata": {}}
    instant = Instant(f"{int(last) - 1:017}", "indexing", State.REQUESTED)
    record = {"version": 1, "indexPartitionInfos": [entry]}
    storage.put(f"{t.TIMELINE}/{instant.file_name}", write_action(instant, record, bytes(16)))


def _index_that_was_not_built(storage: Storage) -> None:
    """An index was planned from the last write on, and the completed action names none."""
    last = split_path(t.completed(storage, "commit"))[1][:17]
    entry = {"version": 1, "metadataPartitionPath": "column_stats", "indexUptoInstant": last, "extraMetadata": {}}
    requested, completion = (f"{int(last) + seconds * 1000:017}" for seconds in (5, 6))
    for state, record in (
        (State.REQUESTED, {"version": 1, "indexPartitionInfos": [entry]}), (State.INFLIGHT, None),
        (State.COMPLETED, {"version": 1, "operationType": None, "indexPartitionInfos": []}),
    ):  # fmt: skip
        instant = Instant(requested, "indexing", state, completion if state is State.COMPLETED else None)
        content = b"" if record is None else write_action(instant, record, bytes(16))
        storage.put(f"{t.TIMELINE}/{instant.file_name}", content)


_CLEAN = {
    "earliestInstantToRetain": None, "lastCompletedCommitTimestamp": "", "policy": "KEEP_LATEST_FILE_VERSIONS", "version": 2,
    "filesToBeDeletedPerPartition": {}, "filePathsToBeDeletedPerPartition": {}, "partitionsToBeDeleted": ["north"],
    "extraMetadata": {},
}  # fmt: skip


def _clustering(change: Callable[[Any], object]) -> _Edit:
    return _planned("clustering", change)


def _compaction(change: Callable[[Any], object]) -> _Edit:
    return _planned("compaction", change)


def _entries(record: Any) -> list[Any]:
    return [one for group in record["clusteringPlan"]["inputGroups"] for one in group["slices"]]


def _move(entry: Any) -> None:
    entry["dataFilePath"] = f"/elsewhere/{split_path(entry['dataFilePath'])[1]}"


def _clusterable() -> Storage:
    return t.with_plan("clustering")


def _compactable() -> Storage:
    return t.with_plan("compaction")


_ENTRIES, _FILES = "removal-records.entries", "removal-records.files"
PLANS_DAMAGES = (
    Damage("a clean of another partition", _ENTRIES, "TL-014", t.cleaned,
           _done("clean", _first(lambda entry: entry.update(partitionPath="elsewhere")))),
    Damage("a clean of more files", _ENTRIES, "TL-014", t.cleaned, _done("clean", lambda record: record.update(totalFilesDeleted=9))),
    Damage("a clean of an unknown policy", _ENTRIES, "TL-014", t.cleaned,
           _done("clean", _first(lambda entry: entry.update(policy="KEEP_NOTHING")))),
    Damage("a clean that deleted and kept a file", _ENTRIES, "TL-014", t.cleaned,
           _done("clean", _first(lambda entry: entry.update(failedDeleteFiles=entry["successDeleteFiles"])))),
    Damage("a clean of a whole partition", _ENTRIES, "TL-014", t.cleaned,
           _done("clean", _first(lambda entry: entry.update(isPartitionDeleted=True)))),
    Damage("a rollback of more files", _ENTRIES, "TL-020", rolled_back,
           _done("rollback", lambda record: record.update(totalFilesDeleted=9))),
    Damage("a rollback of another partition", _ENTRIES, "TL-020", rolled_back,
           _done("rollback", _first(lambda entry: entry.update(partitionPath="elsewhere")))),
    Damage("a rollback of two lists", _ENTRIES, "TL-020", rolled_back,
           _done("rollback", lambda record: [one.update(commitTime="20200101000000000") for one in record["instantsRollback"]])),
    Damage("a rollback of another action", _ENTRIES, "TL-020", rolled_back,
           _planned("rollback", lambda record: record["instantToRollback"].update(action="clean"))),
    Damage("a rollback that planned another write", _ENTRIES, "TL-020", rolled_back,
           _planned("rollback", lambda record: record["instantToRollback"].update(commitTime="20200101000000000"))),
    Damage("a restore of fewer instants", _ENTRIES, "TL-024", restored,
           _done("restore", lambda record: record.update(instantsToRollback=[]))),
    Damage("a restore of other details", _ENTRIES, "TL-024", restored,
           _done("restore", lambda record: record.update(restoreInstantInfo=[]))),
    Damage("a restore that planned nothing", _ENTRIES, "TL-024", restored,
           _planned("restore", lambda record: record.update(instantsToRollback=[]))),
    Damage("a restore with a rollback of another write", _ENTRIES, "TL-024", restored,
           _done("restore", _each_rollback(lambda record: record.update(commitsRollback=[])))),
    Damage("a restore of more files", _ENTRIES, "TL-024", restored,
           _done("restore", _each_rollback(lambda record: record.update(totalFilesDeleted=9)))),
    Damage("a savepoint of another partition", _ENTRIES, "TL-022", t.cleaned,
           _done("savepoint", _first(lambda entry: entry.update(partitionPath="elsewhere")))),
    Damage("a restore to its savepoint, which it rolls back", "removal-records.restored-state", "TL-024", restored,
           _restore_of_the_savepoint, says="rows that it is to bring back"),
    Damage("a rollback that is to delete a file of another write", "removal-plans.pending-rollbacks", "TL-019", rolled_back,
           _rollback_of_more, severity="wrong-answers", says="as soon as the rollback is executed"),
    Damage("a restore to a lost write", "removal-records.restored-to", "TL-024", restored,
           _planned("restore", lambda record: record.update(savepointToRestoreTimestamp="20200101000000000"))),
    Damage("a pending restore to a lost write", "removal-records.restored-to", "TL-024", restored, _pending_restore, (),
           "wrong-answers"),
    Damage("a completed restore to a lost write", "removal-records.restored-to", "TL-024", restored,
           _planned("restore", lambda record: record.update(savepointToRestoreTimestamp="20200101000000000")), (), "cosmetic"),
    Damage("a rollback of the latest file", _FILES, "TL-019", rolled_back, _rolled_back_latest, ("TL-035",), "wrong-answers"),
    Damage("a restore of the latest file", _FILES, "TL-023", restored, _restored_latest, (), "wrong-answers"),
    Damage("a write that is pending again", "removal-records.still-pending", "TL-019", rolled_back, _pending_again),
    Damage("a savepoint of a later file", "removal-records.later-files", "TL-021", t.cleaned, _done("savepoint", _later_file), (),
           "cosmetic"),
    Damage("a plan of another operation", "plans.clusterings", "TL-012", _clusterable,
           _clustering(lambda plan: plan.update(operationType="UPSERT"))),
    Damage("a plan without groups", "plans.clusterings", "TL-012", _clusterable,
           _clustering(lambda plan: plan["clusteringPlan"].update(inputGroups=[]))),
    Damage("a plan of no new group", "plans.clusterings", "TL-012", _clusterable,
           _clustering(lambda plan: plan["clusteringPlan"]["inputGroups"][0].update(numOutputFileGroups=0)), severity="cosmetic"),
    Damage("a plan without a strategy", "plans.clusterings", "TL-012", _clusterable,
           _clustering(lambda plan: plan["clusteringPlan"].update(strategy=None))),
    Damage("a plan of nothing", "plans.compactions", "TL-015", _compactable, _compaction(lambda plan: plan.update(operations=[]))),
    Damage("a plan without the base file", "plans.base-files", "CMP-003", _compactable,
           _compaction(lambda plan: [one.update(dataFilePath=None) for one in plan["operations"]]), (), "data-lost"),
    Damage("a plan of a file elsewhere", "plans.places", "TL-012", _clusterable,
           _clustering(lambda plan: [_move(one) for one in _entries(plan)])),
    Damage("a plan to delete a partition", "plans.deleted-partitions", "CLN-001", t.copy_on_write, _plan("clean", _CLEAN)),
    Damage("an index up to no write", "plans.indexes", "INX-008", t.copy_on_write, _index(), (), "wrong-answers"),
    Damage("an index without a begin", "plans.indexes", "INX-008", t.copy_on_write, _index(indexUptoInstant=None)),
    Damage("an index up to a lost write", "plans.indexes", "INX-008", t.copy_on_write, _index(indexUptoInstant="20200101000000000")),
    Damage("an index up to a later write", "plans.indexes", "INX-008", t.copy_on_write, _index_of_a_later_write),
    Damage("an index that was not built", "plans.indexes", "INX-006", t.copy_on_write,
           _index_that_was_not_built, (), "cosmetic"),
    Damage("an unknown index", "plans.indexes", "INX-007", t.copy_on_write, _index(metadataPartitionPath="x"), ("INX-008",)),
    Damage("no index", "plans.indexes", "INX-006", t.copy_on_write,
           _plan("indexing", {"version": 1, "indexPartitionInfos": []})),
)  # fmt: skip
