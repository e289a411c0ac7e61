"""Traces of lost updates: what concurrent writers and services did to each other, as far as the timeline still shows it."""

from collections.abc import Iterator, Mapping
from typing import Any

from hudi_conformance.validator.checks.cheap.presence import files_of_plan, files_of_savepoint
from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import LogFileName, join_path, parse_data_file_name, split_path
from hudi_reference.query.damage_checks import instants_of_slices
from hudi_reference.query.file_groups import GroupId
from hudi_reference.timeline.contents.metadata import CommitMetadata, WriteStat, groups_of_clustering
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

#: Services that write to the slice of a plan, or whose plan is the begin of a slice, before they complete.
COMPACTIONS = ("COMPACT", "LOG_COMPACT")
AGAIN = "write the rows of {} again; hudi-conformance read TABLE --query cdc or its source has them"


def _same_parent(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """No two writes made a base file of one group from the same earlier base file: the changes of one would be lost."""
    known: dict[tuple[str, str, str], tuple[Instant, WriteStat]] = {}
    for instant, stat, parent in _new_base_files(table, tally):
        first, lost = known.setdefault((stat.partition, stat.file_id, parent), (instant, stat))
        if first.requested != instant.requested:
            yield Finding(
                "OCC-013", "data-lost", lost.path,
                "Queries read the base file of the later write alone: the changes of the other are lost.",
                f"a base file of {instant.requested} that is based on that of {first.requested}",
                f"both are based on {parent}", AGAIN.format(first.requested), key=stat.file_id,
            )  # fmt: skip
        known[stat.partition, stat.file_id, parent] = instant, stat


def _newer_parent(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """No write made a base file from one that was requested later (ER-236): the latter stays the latest one of its group."""
    for instant, stat, parent in _new_base_files(table, tally):
        if _instant_of(parent) > instant.requested:
            yield Finding(
                "OCC-013", "data-lost", stat.path,
                "Queries read the file that it is based on, which is newer by its name: the changes of the write are lost.",
                f"a base file that is based on one requested before {instant.requested}", f"it is based on {parent}",
                AGAIN.format(instant.requested), key=stat.file_id,
            )  # fmt: skip


def _new_base_files(table: StoredTable, tally: Tally) -> Iterator[tuple[Instant, WriteStat, str]]:
    """The base files that writes made from earlier ones of their groups, and the names of those."""
    for instant, commit in table.owned.commits.items():
        for stat in commit.stats:
            if not stat.path or isinstance(table.name_of(stat.path), LogFileName):
                continue
            tally.looked("OCC-013")
            if stat.previous_base_file and commit.operation not in COMPACTIONS:
                yield instant, stat, stat.previous_base_file.rpartition("/")[2]


def _replaced_groups(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """No write completed in a file group after the group was replaced, nor between plan and completion of a clustering.

    Completion times of version 6 are those of files, which change when a table is copied, and a migration keeps them. In such
    a table only a write that began after the action counts.
    """
    had_version_6 = table.opened.had_version_6
    replaced = {
        (partition, file_id): (instant, commit)
        for instant, commit in table.owned.commits.items()
        for partition, ids in commit.replaced.items()
        for file_id in ids
    }
    for instant, commit in table.owned.commits.items():
        if commit.is_service:
            continue
        for stat in commit.stats:
            by = replaced.get((stat.partition, stat.file_id))
            tally.looked("OCC-016", at=by is not None)
            if by is None or by[0] == instant or (instant.requested < by[0].requested and had_version_6):
                continue
            if _writes_new_buckets(commit, by[0]):
                continue
            if table.properties.is_legacy or _is_unread(instant, *by):
                yield Finding(
                    "OCC-016", "data-lost", stat.path, "The rows of the file are lost: queries skip a replaced group.",
                    f"no write that completes in the group after {by[0].requested} was planned",
                    f"{instant.file_name} wrote to the group, which {by[0].file_name} replaced",
                    AGAIN.format(instant.requested), key=stat.file_id,
                )  # fmt: skip


def _is_unread(write: Instant, replacing: Instant, commit: CommitMetadata) -> bool:
    """Whether a write completed too late for an action that replaced its group.

    A clustering reads the state of its plan. An overwrite or a deletion of a partition replaces all rows before its completion.
    """
    completed = write.completion or write.requested
    if commit.is_service:
        return completed > replacing.requested
    return completed > (replacing.completion or replacing.requested)


def _rolled_back(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """A write that was rolled back is not completed. A service may have executed its plan again after the rollback."""
    for instant in table.owned.commits:
        tally.looked("TL-019")
        by = table.removals.targets.get(instant.requested)
        if by is not None and not table.properties.is_legacy and (by.completion or "") > (instant.completion or ""):
            yield Finding(
                "TL-019", "data-lost", table.path_of(instant),
                "Its files were removed, and readers still count on them: queries fail or lack its rows.",
                "no completed write that was rolled back", f"{by.file_name} rolled it back",
                f"remove the completed file if the write has no file left; {AGAIN.format(instant.requested)}",
            )  # fmt: skip


def _lost_with_level_files(table: StoredTable) -> frozenset[str]:
    """The requested times of the archived actions that the check of the manifest reports: no listed file has them."""
    return frozenset(instant.requested for lost in table.known_actions.archived_without_entry.values() for instant in lost)


def _known_parents(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Each write was based on writes that are completed, on the active timeline or in the history.

    The parents of an archived write may have been archived before the history begins.
    """
    if table.is_metadata_table or not table.history.is_whole:
        return
    completed = {instant.requested for instant in (*table.timeline.commits, *table.history.instants)}
    known = {*completed, *instants_of_slices(table.timeline, table.owned.commits), *table.removals.targets}
    known |= _lost_with_level_files(table)
    first = min(completed, default="")
    for instant, commit in table.owned.commits.items():
        is_active = instant in table.commits
        for parent in sorted({stat.previous_instant for stat in commit.stats} - known):
            tally.looked("OCC-008")
            if not parent.isdigit() or not int(parent) or parent == instant.requested or not (is_active or parent > first):
                continue
            yield Finding(
                "OCC-008", "wrong-answers", table.place_of(instant),
                "The write merged with rows that the table no longer has, or the action that stored them was lost.",
                f"writes on the state of completed writes; {parent} completed", f"{parent} is not on timeline or history",
                "restore the file of the action from another copy of the table, or restore the table to a savepoint before it",
                key=parent,
            )  # fmt: skip


def _seen_completed(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-052 and ARC-002: a write that a clean or a plan saw completed is still completed, unless it was rolled back."""
    if table.is_metadata_table or not table.history.is_whole:
        return
    completed = {instant.requested for instant in (*table.timeline.completed, *table.history.instants)}
    pending = table.timeline.pending_times
    gone = table.removals.targets.keys() | table.removals.pending_targets | _lost_with_level_files(table)
    reported: set[str] = set()
    for instant, seen in _witnesses(table):
        tally.looked("TL-052", "ARC-002")
        for requested in sorted(set(seen) - completed - gone - reported):
            reported.add(requested)
            rule, found = (
                ("TL-052", f"{requested} is pending") if requested in pending else ("ARC-002", f"no action {requested}")
            )
            yield Finding(
                rule, "data-lost", table.path_of(instant),
                "Queries lack the rows of the write: it had completed, and its completed file was lost.",
                f"the completed write {requested}, on timeline or history", found,
                "restore the completed file of the write from another copy of the table; do not roll the write back",
                key=requested,
            )  # fmt: skip


def _witnesses(table: StoredTable) -> Iterator[tuple[Instant, list[str]]]:
    """The actions whose content names writes that had completed before.

    A clean and a built index name the latest one; plans name the files of writes that completed before them. A
    restore takes later plans and cleans back as well.
    """
    for instant, content in table.contents.items():
        record: Mapping[str, Any] = content.record or {}
        if instant.action == "clean" and instant.state is State.COMPLETED:
            last = str(record.get("lastCompletedCommitTimestamp") or "")
            yield instant, [last] if last.isdigit() and int(last) else []
        elif instant.action == "indexing":
            upto = (str(one.get("indexUptoInstant") or "") for one in record.get("indexPartitionInfos") or ())
            is_done = instant.state is State.COMPLETED  # a pending plan may be wrong itself, which others report
            yield instant, [one for one in upto if is_done and one.isdigit() and table.timeline.completion_of(one) is None]
        elif instant.state is State.REQUESTED:
            parsed = (parse_data_file_name(split_path(path)[1]) for path in files_of_plan(instant, record))
            yield instant, [one.instant for one in parsed if one is not None]


def _closed_plans(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The plan of a compaction has exactly the log files of its slice whose writes completed before it."""
    slices = {(one.partition, one.file_id, one.base_instant): one for group in table.owned for one in group.slices}
    for instant in table.timeline.instants:
        plan = _compaction_plan(table, instant)
        for operation in (plan or {}).get("operations") or ():
            tally.looked("CMP-003")
            group = operation.get("partitionPath") or "", operation.get("fileId") or ""
            base = operation.get("baseInstantTime") or ""
            found = slices.get((*group, base))
            planned = {name.rpartition("/")[2] for name in operation.get("deltaFilePaths") or ()}
            files = set(found.log_files if found is not None else ())
            if table.opened.had_version_6:  # the name of a log file had the instant of its base file
                files = {name for name in files if (*group, _instant_of(name)) not in slices or _instant_of(name) == base}
                files &= _named_before(table, instant)
            yield from _left_out(table, instant, group, files - planned)
            yield from _taken_early(table, instant, group, planned)


def _instant_of(name: str) -> str:
    """The instant in the name of a log file."""
    parsed = parse_data_file_name(name)
    return "" if parsed is None else parsed.instant


def _completion_of(table: StoredTable, name: str) -> str | None:
    """The completion time of the write of a log file; None if it is not completed."""
    written: dict[str, str] = table.once(
        "completion times", lambda: {instant.requested: instant.completion or "" for instant in table.owned.commits}
    )
    return written.get(_instant_of(name))


def _named_before(table: StoredTable, plan: Instant) -> set[str]:
    """The names of the files in the metadata of the writes that completed, of those that were requested before a plan."""
    commits = ((instant.requested, commit) for instant, commit in table.owned.commits.items())
    return {split_path(one.path)[1] for requested, commit in commits if requested < plan.requested for one in commit.stats}


def _left_out(table: StoredTable, instant: Instant, group: GroupId, names: set[str]) -> Iterator[Finding]:
    for name in sorted(names):
        if (_completion_of(table, name) or ":") < instant.requested:
            yield Finding(
                "CMP-003", "data-lost", join_path(group[0], name),
                "The compacted slice lacks the changes of this file, and queries no longer read it.",
                f"the file in the plan {instant.requested}, because its write completed before", "a plan without it",
                AGAIN.format(f"the write of {name}"), key=group[1],
            )  # fmt: skip


def _taken_early(table: StoredTable, instant: Instant, group: GroupId, names: set[str]) -> Iterator[Finding]:
    if table.opened.had_version_6:
        return  # the name of a log file had the instant of its base file
    for name in sorted(names):
        completion = _completion_of(table, name)
        if (
            _instant_of(name) not in table.repeated_initializations
            and completion is not None
            and completion > instant.requested
        ):
            yield Finding(
                "CMP-003", "wrong-answers", join_path(group[0], name),
                "Queries apply the changes of this file again after the compaction, over later ones.",
                f"no file of a write that completed after the plan {instant.requested}", f"its write completed at {completion}",
                "compare the completion time with another copy of the table; otherwise compact the file group again",
                key=group[1],
            )  # fmt: skip


def _compaction_plan(table: StoredTable, instant: Instant) -> Mapping[str, Any] | None:
    """The plan of a compaction, pending or completed; None for other actions."""
    return table.plan_of(Instant(instant.requested, "compaction", State.REQUESTED))


def _pending_cleans(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """A pending clean deletes no file that the latest slices, a savepoint or a pending plan needs."""
    needed = {one.path(name): "the latest state" for one in table.owned.latest_slices
              for name in (one.base_file, *one.log_files) if name}  # fmt: skip
    for instant, content in table.contents.items():
        if instant.action == "savepoint":
            needed |= dict.fromkeys(files_of_savepoint(content.record or {}), f"the savepoint {instant.file_name}")
    for instant in table.timeline.pending:
        plan = table.plan_of(instant) if instant.action in ("compaction", "logcompaction", "clustering") else None
        needed |= dict.fromkeys(files_of_plan(instant, plan or {}), f"the plan {instant.file_name}")
    for path, clean in table.removals.planned.items():
        tally.looked("CLN-001", at=clean.action == "clean")
        if clean.action == "clean" and path in needed and path in table.listing.files:
            yield Finding(
                "CLN-001", "wrong-answers", path, "The file will be lost as soon as the clean is executed.",
                f"no file that {needed[path]} needs", f"{table.path_of(clean)} is about to delete it",
                f"remove the pending files of the clean {clean.requested} before a writer executes it",
            )  # fmt: skip


def _writes_new_buckets(commit: CommitMetadata, clustering: Instant) -> bool:
    """Whether a write stored its rows for the buckets that a pending clustering makes too (ER-163)."""
    names = (parse_data_file_name(split_path(stat.path)[1]) for stat in commit.stats)
    return any(isinstance(name, LogFileName) and name.instant == clustering.requested for name in names)


def _exclusive_plans(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """No file group is in the pending plans of a compaction and of a clustering, or in two of one kind."""
    planned: dict[GroupId, Instant] = {}
    for instant in table.timeline.pending:
        if instant.action not in ("compaction", "clustering"):
            continue
        plan: Mapping[str, Any] = table.plan_of(instant) or {}
        operations = plan.get("operations") or ()
        groups = (
            groups_of_clustering(plan)
            if instant.action == "clustering"
            else tuple((one.get("partitionPath") or "", one.get("fileId") or "") for one in operations)
        )
        for group in groups:
            tally.looked("SVC-004")
            other = planned.setdefault(group, instant)
            if other is not instant:
                yield Finding(
                    "SVC-004", *_of_two_plans(instant, other, table.path_of(instant)),
                    f"no group of the plan {other.file_name}", f"group {group[1]} in partition {group[0]!r}",
                    f"hudi-conformance service TABLE withdraw --instant {instant.requested}", key=group[1],
                )  # fmt: skip


def _of_two_plans(instant: Instant, other: Instant, path: str) -> tuple[Severity, str, str]:
    """Severity, path and meaning of two plans of one file group. Apache Hudi keeps one plan of each kind for a file group."""
    if instant.action == other.action:
        return "wrong-answers", path, "Apache Hudi refuses every query and write of the table until one plan is gone."
    return "cosmetic", path, "One of the two services will fail or repeat its work."


CHECKS = (
    Check("traces.same-parent", ("OCC-013",), "cheap", _same_parent),
    Check("traces.newer-parent", ("OCC-013",), "cheap", _newer_parent),
    Check("traces.replaced-groups", ("OCC-016",), "cheap", _replaced_groups),
    Check("traces.rolled-back", ("TL-019",), "cheap", _rolled_back),
    Check("traces.known-parents", ("OCC-008",), "cheap", _known_parents),
    Check("traces.seen-completed", ("TL-052", "ARC-002"), "cheap", _seen_completed),
    Check("traces.closed-plans", ("CMP-003",), "cheap", _closed_plans),
    Check("traces.pending-cleans", ("CLN-001",), "cheap", _pending_cleans),
    Check("traces.exclusive-plans", ("SVC-004",), "cheap", _exclusive_plans),
)
