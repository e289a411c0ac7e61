"""Which files no clean may delete, whatever its plan says, spec "Table Management > Cleaning".

A pending plan may come from another engine, or may have been changed. Before a clean deletes anything, it checks each file:

    is not a base or log file in a partition of the table           refused
    carries the instant of a pending action                         refused: a write that is under way has stored it
    belongs to the slice that a snapshot reads                      refused
    is needed by reads from the earliest instant on that the plan
    says to retain                                                  refused: readers rely on that instant
    is protected by a savepoint, or read by a pending index plan    refused
    is not in storage                                               accepted: it counts as deleted
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hudi_reference.errors import UnsafePlan
from hudi_reference.layout.names import PARTITION_METAFILE, LogFileName, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileGroup, FileGroups, FileSlice
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.clean_plan import planned_files, retained_time
from hudi_reference.services.planning.index_plan import files_to_index
from hudi_reference.services.planning.plan_execution import Plan, by_partition, fields_of_plan
from hudi_reference.services.planning.unsafe_plan import unsafe_plan
from hudi_reference.services.rollback.savepoint import savepointed_files


@dataclass(frozen=True)
class Needed:
    """A slice whose files must stay, and why."""

    file_slice: FileSlice
    rule: str
    reason: str


@implements("CLN-001", "CLN-002", "CLN-003", "TL-021", "SVC-012")
def check_plan(table: Table, requested: str, plan: Plan) -> None:
    """Check that a clean which was requested then may delete all files of its plan. Changes nothing.

    Args:
        table: the table as it is now.
        requested: the requested time of the clean.
        plan: its plan, a HoodieCleanerPlan.

    Raises:
        MalformedMetadata: the plan lacks a field.
        UnsafePlan: a file must stay; the error names the plan and the file.
        PathOutsideTable: a file lies outside the table.
    """
    with fields_of_plan("clean", requested):
        planned, retained, _ = planned_files(plan), retained_time(plan), plan["policy"]
    timeline = table.timeline
    groups = load_file_groups(table.storage, table.properties, timeline)
    must_stay: dict[str, tuple[str, str]] = {}
    must_stay |= dict.fromkeys(files_to_index(table, timeline), ("SVC-012", "a pending index plan reads it"))
    must_stay |= dict.fromkeys(savepointed_files(table, timeline), ("TL-021", "a savepoint protects it"))
    bases = {}
    for needed in _slices_needed(groups, retained):
        because = (needed.rule, needed.reason)
        must_stay |= dict.fromkeys(needed.file_slice.paths, because)
        bases[(*needed.file_slice.group, needed.file_slice.base_file_instant)] = because
    pending = timeline.pending_times
    foreign = _outside_partitions(table, groups, planned)
    for path in planned:
        partition, name = split_path(path)
        file = parse_data_file_name(name)
        if file is None or META_FOLDER in partition.split("/") or path in foreign:
            raise _unsafe_plan(table, requested, path, "CLN-001", "not a base or log file in a partition of the table")
        if file.instant in pending:
            raise _unsafe_plan(table, requested, path, "CLN-002", "a pending action has stored it")
        if path in must_stay:
            raise _unsafe_plan(table, requested, path, *must_stay[path])
        if isinstance(file, LogFileName) and file.cdc and (change := bases.get((partition, file.file_id, file.instant))):
            raise _unsafe_plan(table, requested, path, *change)


def _slices_needed(groups: FileGroups, earliest: str | None) -> Iterator[Needed]:
    """The slices that reads at `earliest` or later need, and those that a snapshot reads."""
    for group in groups:
        for found in () if earliest is None else _slices_retained(group, earliest):
            yield Needed(found, "CLN-003", f"reads from {earliest} on need it, and the plan retains them")
        if group.latest is not None:
            yield Needed(group.latest, "CLN-002", "a snapshot reads it")


def _slices_retained(group: FileGroup, earliest: str) -> tuple[FileSlice, ...]:
    """The slices of a group from the newest one before that instant on. The slice of a pending compaction needs those before
    it.
    """
    if group.replaced_by is not None and group.replaced_by < earliest:
        return ()
    kept = []
    for found in group.slices:
        kept.append(found)
        if found.base_instant < earliest and not found.pending_compaction:
            break
    return tuple(kept)


def _outside_partitions(table: Table, groups: FileGroups, planned: Iterable[str]) -> frozenset[str]:
    """The planned files that are in storage, but in folders that are no partitions of the table."""
    known = {stat.partition for commit in groups.commits.values() for stat in commit.stats}
    found = set()
    for partition, names in by_partition(planned).items():
        if partition not in known:
            listed = table.storage.names(partition)
            if not any(name.startswith(PARTITION_METAFILE) for name in listed):
                found |= {f"{partition}/{name}".lstrip("/") for name in names if name in listed}
    return frozenset(found)


def _unsafe_plan(table: Table, requested: str, path: str, rule: str, reason: str) -> UnsafePlan:
    return unsafe_plan(
        table, "clean", requested, "the plan would delete a file that a clean must keep", rule=rule,
        expected="files that nothing reads any more", found=f"{path}: {reason}",
    )  # fmt: skip
