"""Invariants 13 to 15, 18, 19, 21 to 28: the files of plans, the files that may be deleted, and where instants are stored."""

from collections.abc import Mapping
from typing import Any

from hudi_conformance.explorer.history.history import GroupId
from hudi_conformance.explorer.invariants.step_context import StepContext
from hudi_reference.errors import MalformedTable
from hudi_reference.layout.names import join_path, parse_data_file_name, split_path
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.services.planning.clean_plan import planned_files
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, COMMITS, State


def commits_keep_their_files(m: StepContext) -> str | None:
    """13."""
    path = m.step.path
    if m.event == "unpublished" and m.doing.kind == "rollback":
        return f"{m.step.path} is rolled back as a failed write, although it had completed"
    if m.event == "unpublished":
        return (
            None
            if m.instant is None or _has_rollback_plan(m)
            else f"{m.instant.file_name} is rolled back, and no plan names it"
        )
    owner = next((done for done in m.now.visible if done.is_write and path in done.metadata.paths), None)
    if owner is None or any(path in planned_files(plan) for _, plan in m.now.plans("clean")):
        return None
    return f"{path} of {owner.instant.file_name} is deleted, and no plan of a clean names it"


def _has_rollback_plan(m: StepContext) -> bool:
    instant = m.instant
    assert instant is not None
    if instant.action in ("savepoint", "rollback", "restore"):
        return True
    targets = [(plan["instantToRollback"] or {}).get("commitTime") for _, plan in m.now.plans("rollback")]
    for _, plan in m.now.plans("restore"):
        targets += [write["commitTime"] for write in plan["instantsToRollback"]]
    return instant.requested in targets


def logs_are_in_one_slice(m: StepContext) -> str | None:
    """14."""
    if isinstance(m.snapshot.rows, str):
        return None
    slices = [name for group in m.snapshot.groups for found in group.slices for name in map(found.path, found.log_files)]
    for done in m.now.visible:
        for stat in done.metadata.stats if done.is_write else ():
            is_there = stat.is_log and stat.path in m.now.state.objects
            if is_there and (count := slices.count(stat.path)) != 1:
                return f"{stat.path} of {done.instant.file_name} is in {count} slices"
    return None


def _operations(plan: Mapping[str, Any]) -> list[tuple[GroupId, str, frozenset[str]]]:
    """Group, base instant and names of logs of each operation of a compaction's plan."""
    return [
        ((o["partitionPath"] or "", o["fileId"]), o["baseInstantTime"] or "",
         frozenset(path.rpartition("/")[2] for path in o["deltaFilePaths"] or ()))
        for o in plan["operations"] or ()
    ]  # fmt: skip


def plans_are_closed(m: StepContext) -> str | None:
    """15."""
    instant = m.instant
    assert instant is not None
    if instant.action not in ("compaction", "logcompaction") or instant.state is not State.REQUESTED:
        return None
    completed = {d.instant.requested: d.completion for d in m.now.visible}
    for group, base, logs in _operations(m.now.read_record(instant) or {"operations": ()}):
        late = [name for name in logs if completed.get(_written(name), "9") >= instant.requested]
        if late:
            return f"the plan {instant.file_name} names {late[0]}, which had not completed"
        slices = (
            found for known in m.snapshot_before.groups for found in known.slices if (known.partition, known.file_id) == group
        )
        due = {name for found in slices if found.base_instant == base for name in found.log_files}
        if instant.action == "compaction" and due - logs:
            return f"the plan {instant.file_name} leaves out {min(due - logs)}"
    return None


def _written(name: str) -> str:
    parsed = parse_data_file_name(name)
    return "" if parsed is None else parsed.instant


def groups_of_plan(instant: Instant, plan: Mapping[str, Any]) -> frozenset[GroupId]:
    """The file groups that a plan of a compaction, log compaction or clustering reads."""
    if instant.action == "clustering":
        inputs = (plan.get("clusteringPlan") or {}).get("inputGroups") or ()
        return frozenset((s["partitionPath"] or "", s["fileId"]) for group in inputs for s in group["slices"] or ())
    return frozenset(group for group, _, _ in _operations(plan))


def plans_exclude_each_other(m: StepContext) -> str | None:
    """18."""
    instant = m.instant
    assert instant is not None
    if instant.action not in ("compaction", "clustering", "logcompaction") or instant.state is not State.REQUESTED:
        return None
    mine = groups_of_plan(instant, m.now.read_record(instant) or {"operations": ()})
    # A compaction does not wait for log compactions: it plans over them.
    others = ("compaction", "clustering") if instant.action == "compaction" else ("compaction", "clustering", "logcompaction")
    for other, plan in m.before.plans(*others):
        if shared := mine & groups_of_plan(other, plan):
            return f"{instant.file_name} and {other.file_name} both plan {min(shared)}"
    return None


def completed_files_are_there(m: StepContext) -> str | None:
    """19."""
    missing = [path for path in sorted(m.done.metadata.paths) if path not in m.now.state.objects] if m.done.is_write else []
    return f"{m.done.instant.file_name} completes without {missing[0]}" if missing else None


def nothing_is_written_to_replaced_groups(m: StepContext) -> str | None:
    """21."""
    mine = m.done
    if not mine.is_write:
        return None
    for other in m.now.visible:
        if other is mine or not other.is_write:
            continue
        is_unread = mine.instant.requested < other.completion < mine.completion and not other.is_compaction
        if (shared := mine.replaced & other.groups) and is_unread:
            return f"{mine.instant.file_name} replaces {min(shared)} without what {other.instant.file_name} wrote to it"
        if (shared := mine.groups & other.replaced) and not mine.is_compaction:
            return f"{mine.instant.file_name} completes in {min(shared)}, which {other.instant.file_name} replaced"
    return None


def replaced_groups_stay_away(m: StepContext) -> str | None:
    """22."""
    if isinstance(m.snapshot.rows, str):
        return None
    replaced = {group: done for done in m.now.visible for group in done.replaced}
    for found in m.snapshot.groups.latest_slices if replaced else ():
        if (found.partition, found.file_id) in replaced:
            by = replaced[found.partition, found.file_id]
            return f"the group {found.file_id} is visible again, which {by.instant.file_name} replaced"
    return None


def cleans_spare_what_is_needed(m: StepContext) -> str | None:
    """23."""
    path = m.step.path
    if m.doing.kind != "clean":
        return None
    if path in _latest(m.snapshot_before.groups.latest_slices):
        return f"{path} is deleted, which the latest slices need"
    for instant, plan in m.now.plans("compaction", "logcompaction", "clustering"):
        if path in _paths_in(instant, plan):
            return f"{path} is deleted, which the plan {instant.file_name} reads"
    for begun in (m.now.begun[i.requested] for i in m.now.pending if i.requested in m.now.begun and ACTIONS[i.action].writes):
        if begun.doing.is_write and path in _latest(m.views(begun.state).groups.latest_slices):
            return f"{path} is deleted, on which {begun.process} is based"
    return None


def _latest(slices: tuple[FileSlice, ...]) -> set[str]:
    return {path for found in slices for path in found.paths}


def _paths_in(instant: Instant, plan: Mapping[str, Any]) -> set[str]:
    """The paths of the files that a plan reads."""
    if instant.action == "clustering":
        read = [s for group in (plan.get("clusteringPlan") or {}).get("inputGroups") or () for s in group["slices"] or ()]
    else:
        read = plan["operations"] or []
    named = ((s["partitionPath"] or "", (s["dataFilePath"], *(s["deltaFilePaths"] or ()))) for s in read)
    return {join_path(partition, path.rpartition("/")[2]) for partition, paths in named for path in paths if path}


def savepoints_keep_their_files(m: StepContext) -> str | None:
    """24. The write of a savepoint also stays on the active timeline."""
    active = {found.requested for found in m.now.files if found.action in COMMITS and found.state is State.COMPLETED}
    for done in m.now.visible:
        if done.instant.action != "savepoint" or done.record is None:
            continue
        if done.instant.requested not in active:
            return f"{done.instant.file_name} protects a write that is not on the active timeline"
        for partition, files in done.record["partitionMetadata"].items():
            for name in files["savepointDataFile"]:
                if join_path(partition, name) not in m.now.state.objects:
                    return f"{join_path(partition, name)} is gone, which {done.instant.file_name} protects"
    return None


def partitions_stay_while_they_have_files(m: StepContext) -> str | None:
    """25. An object store has no folders: the partition metadata file makes a folder a partition."""
    folder, name = split_path(m.step.path)
    if not name.startswith(".hoodie_partition_metadata"):
        return None
    left = [path for path in m.snapshot.data_files if split_path(path)[0] == folder]
    return f"the partition {folder!r} is deleted, and {left[0]} is in it" if left else None


def cleans_do_all_of_their_plan(m: StepContext) -> str | None:
    """26."""
    instant = m.instant
    assert instant is not None
    if instant.action != "clean":
        return None
    left = [path for path in planned_files(m.plan or {}) if path in m.now.state.objects]
    return f"{instant.file_name} completes, and {left[0]} is still there" if left else None


def archiving_loses_nothing(m: StepContext) -> str | None:
    """27."""
    active = {i.identity for i in m.now.files if i.state is State.COMPLETED}
    archived = [i.identity for i in m.snapshot.history]
    for done in m.now.visible:
        if done.instant.identity not in active and done.instant.identity not in archived:
            return f"{done.instant.file_name} is neither active nor archived"
    twice = [identity for identity in archived if archived.count(identity) > 1]
    if twice:
        return f"the action of {twice[0][0]} is twice in the history"
    return (_still_needed(m) or _would_count_as_committed(m)) if m.event == "archived" else None


def _still_needed(m: StepContext) -> str | None:
    """A writer that began before an action completed must find the action in its conflict check."""
    instant = m.instant
    assert instant is not None
    if not ACTIONS[instant.action].writes:
        return None
    for found in m.now.pending:
        begun = m.now.begun.get(found.requested)
        if begun is not None and begun.doing.is_write and found.requested < (instant.completion or ""):
            return f"{instant.file_name} is archived, and {begun.process} has yet to check for conflicts with it"
    return None


def _would_count_as_committed(m: StepContext) -> str | None:
    """A file of an instant before the active timeline counts as committed."""
    start, done = m.snapshot.timeline.start, {d.instant.requested for d in m.now.visible}
    for path, written in m.snapshot.data_files.items():
        if start is not None and written < start and written not in done:
            return f"{path} counts as committed, and {written} has not completed"
    return None


def history_can_be_read(m: StepContext) -> str | None:
    """28."""
    try:
        _ = m.snapshot.history
    except (MalformedTable, FileNotFoundError) as error:
        return f"the history cannot be read: {error}"
    return None
