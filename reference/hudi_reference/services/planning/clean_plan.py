"""What a clean may delete, spec "Table Management > Cleaning": slices that no retained read needs.

    slices of a group, newest first      commits, hours                       file versions
    the newest                           kept                                 kept
    from the earliest instant E on       kept                                 the n newest are kept
    the newest one before E              kept: a reader at E needs it         deleted, if it is not among them
    older ones                           deleted                              deleted
    all slices of a replaced group       deleted, if replaced before E        deleted

With every policy a slice with a savepointed file is kept, and so are the slices of groups in pending plans. The change-capture
files of a base file are deleted with its slice.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from hudi_reference.errors import Misuse
from hudi_reference.layout.names import LogFileName, join_path, parse_data_file_name
from hudi_reference.query.file_groups import FileGroup, FileGroups, FileSlice, GroupId
from hudi_reference.requirement import implements
from hudi_reference.services.planning.plan_execution import path_in
from hudi_reference.settings import number_setting, with_present_names
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS

PolicyName = Literal["KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS", "KEEP_LATEST_BY_HOURS"]


@implements("CLN-004")
@dataclass(frozen=True)
class CleanPolicy:
    """The policy: which number of commits, of versions of each file group, or of hours remains readable."""

    name: PolicyName = "KEEP_LATEST_COMMITS"
    commits: int = 10
    file_versions: int = 3
    hours: int = 24

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> Self:
        """The policy among settings by Hudi's names. Raises Misuse."""
        options = with_present_names(options)
        name = options.get("hoodie.clean.policy", cls.name)
        match name:
            case "KEEP_LATEST_COMMITS" | "KEEP_LATEST_FILE_VERSIONS" | "KEEP_LATEST_BY_HOURS":
                return cls(
                    name,
                    number_setting(options, "hoodie.clean.commits.retained", cls.commits, least=1, rule="CLN-002"),
                    number_setting(options, "hoodie.clean.fileversions.retained", cls.file_versions, least=1, rule="CLN-002"),
                    number_setting(options, "hoodie.clean.hours.retained", cls.hours, least=1, rule="CLN-002"),
                )
        raise Misuse("no such cleaning policy", rule="CLN-004", expected=", ".join(get_args(PolicyName)), found=name)


@implements("CLN-005")
def earliest_to_retain(policy: CleanPolicy, timeline: Timeline, hours_ago: str) -> Instant | None:
    """The first instant that must remain readable; None if the policy has none, or nothing is old enough to delete.

    It is not later than a pending write, which may still read the state at its begin. `hours_ago` is the earliest time for a
    policy by hours.
    """
    commits = timeline.commits
    match policy.name:
        case "KEEP_LATEST_COMMITS":
            found = commits[-policy.commits] if len(commits) > policy.commits else None
        case "KEEP_LATEST_BY_HOURS":
            found = next((commit for commit in commits if commit.requested >= hours_ago), None)
        case "KEEP_LATEST_FILE_VERSIONS":
            return None
    pending = [i.requested for i in timeline.pending if ACTIONS[i.action].writes and i.action != "logcompaction"]
    if found is None or not pending or found.requested <= min(pending):
        return found
    return next((commit for commit in reversed(commits) if commit.requested < min(pending)), None)


@implements("CLN-001", "CLN-002", "CLN-005", "CLN-006", "CLN-008", "TL-013", "TL-021", "TL-041", "SVC-008")
def deletable_slices(
    policy: CleanPolicy,
    groups: FileGroups,
    earliest: Instant | None,
    savepointed: Collection[str],
    planned: Collection[GroupId],
) -> Iterator[FileSlice]:
    """The slices that a clean deletes.

    `savepointed` are paths of files that savepoints protect, `planned` the file groups of pending plans.
    """
    for group in groups:
        if (group.partition, group.file_id) in planned:
            continue
        for found in _old_slices(policy, group, earliest):
            if not any(path in savepointed for path in found.paths):
                yield found


@implements("CLN-001")
def change_files_of(storage: Storage, slices: Collection[FileSlice]) -> tuple[str, ...]:
    """The paths of the change-capture files that were written with the base files of these slices."""
    written = {(found.partition, found.file_id, found.base_file_instant) for found in slices}
    partitions = sorted({found.partition for found in slices})
    names = ((partition, name, parse_data_file_name(name)) for partition in partitions for name in storage.names(partition))
    return tuple(
        join_path(partition, name)
        for partition, name, file in names
        if isinstance(file, LogFileName) and file.cdc and (partition, file.file_id, file.instant) in written
    )


@implements("CLN-007")
def _old_slices(policy: CleanPolicy, group: FileGroup, earliest: Instant | None) -> tuple[FileSlice, ...]:
    """The slices of one group that the policy deletes."""
    if policy.name == "KEEP_LATEST_FILE_VERSIONS":
        return group.slices if group.replaced_by is not None else group.slices[policy.file_versions :]
    if earliest is None:
        return ()
    if group.replaced_by is not None and group.replaced_by < earliest.requested:
        return group.slices
    before = [found for found in group.slices if found.base_instant < earliest.requested]
    return tuple(before[1:])


def retained_time(record: Mapping[str, Any]) -> str | None:
    """The requested time of the first instant that a stored plan retains."""
    earliest = record["earliestInstantToRetain"]
    return None if earliest is None else str(earliest["timestamp"])


def planned_files(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The paths of the files that a stored plan deletes. Plans before version 2 contain names only."""
    files = [
        path_in(partition, file["filePath"])
        for partition, infos in (record.get("filePathsToBeDeletedPerPartition") or {}).items()
        for file in infos
    ]
    names = (record.get("filesToBeDeletedPerPartition") or {}).items()
    return (*files, *(path_in(partition, name) for partition, found in names for name in found))
