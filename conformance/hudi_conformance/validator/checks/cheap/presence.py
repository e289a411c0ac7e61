"""Files that the table needs and that must be on storage, with their sizes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import BaseFileName, LogFileName, join_path, parse_data_file_name, split_path
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.history.history import END_OF_TIME
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS

RESTORE = "restore the file from another copy of the table, or hudi-conformance service TABLE restore --instant SAVEPOINT"


def _needed(table: StoredTable) -> dict[str, str]:
    """The paths of the files of the latest slices -> their base instant, as the completed writes name them."""
    return {
        one.path(name): one.base_instant
        for one in table.owned.latest_slices
        for name in (one.base_file, *one.log_files)
        if name is not None
    }


def _named_files(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Each file that a completed write names is there, unless a clean deleted it. After a lost timeline no clean is known."""
    if not table.timeline.instants:
        return
    needed, removals = _needed(table), table.removals
    reported = set[tuple[str, str]]()  # at version 6 several writes append to one file
    for instant, commit in table.owned.commits.items():
        beside = _log_files_of_the_attempt(table, commit)
        needed |= {path: needed[own] for path, own in beside.items() if own in needed}
        for path in sorted({*commit.paths, *beside}):
            tally.looked("TL-036")
            if path in table.listing.files or (
                removals.explains(path) and (path not in needed or not table.known_actions.are_all)
            ):
                continue  # without a lost action an older slice looks like the latest one
            if path in needed or instant in table.commits:
                found = _missing(table, instant, path, needed)
                if (found.rule, path) not in reported:
                    reported.add((found.rule, path))
                    yield found


def _log_files_of_the_attempt(table: StoredTable, commit: CommitMetadata) -> dict[str, str]:
    """The paths of the log files that a write stat lists and that its task wrote -> the path of the stat.

    A stat lists the log files of its slice: those of earlier writes, and those that its own task wrote before the last one.
    """
    partitions: Mapping[str, Any] = commit.record.get("partitionToWriteStats") or {}
    found, paths = {}, commit.paths
    for partition, stats in partitions.items():
        for stat in (one for one in stats or () if one.get("path") in paths):
            own = table.name_of(stat["path"]) if stat.get("logFiles") else None
            for name in stat.get("logFiles") or ():
                if _is_of_one_task(parse_data_file_name(name), own):
                    found[join_path(partition, name)] = stat["path"]
    return found


def _is_of_one_task(name: object, own: object) -> bool:
    """Whether one task attempt wrote both files, and they are log files."""
    return isinstance(name, LogFileName) and isinstance(own, LogFileName) and replace(name, version=own.version) == own


def _missing(table: StoredTable, instant: Instant, path: str, needed: Mapping[str, str]) -> Finding:
    removals = table.removals
    if instant.requested in removals.pending_targets:
        return Finding(
            "TL-023", "wrong-answers", path,
            "A restore or rollback stopped midway: until it is executed to its end, queries fail.",
            "no pending action that has begun to remove the writes of the latest state", f"no file of {instant.file_name}",
            "execute the pending action: hudi-conformance service TABLE restore, or rollback", key=split_path(path)[1],
        )  # fmt: skip
    by_rollback, by_clean = removals.rolled_back.get(path), removals.cleaned.get(path)
    severity: Severity = "data-lost"
    if path in needed:
        meaning = "Queries of the latest state fail or lack the rows of this file."
    else:
        meaning = "Time travel and incremental queries to this state fail or lack rows; the latest state is whole."
    if by_rollback is not None:
        rule, found = (
            "TL-019",
            f"no file; the rollback {by_rollback.file_name} deleted it, and {instant.file_name} is completed",
        )
    elif by_clean is not None:
        rule, found = "CLN-001", f"no file; the clean {by_clean.file_name} deleted it"
    else:
        rule, found = "TL-036", "no file"
    elsewhere = [one for one in sorted(misplaced(table)) if split_path(one)[1] == split_path(path)[1]]
    remedy = f"move {elsewhere[0]}, if it is the file, to {path}; otherwise {RESTORE}" if elsewhere else RESTORE
    return Finding(rule, severity, path, meaning, f"the file, as {table.path_of(instant)} names it", found, remedy,
                   key=split_path(path)[1])  # fmt: skip


def misplaced(table: StoredTable) -> frozenset[str]:
    """The paths of unnamed files with the name of a file that is missing in the folder that a completed write names."""
    found: frozenset[str] = table.once("misplaced files", lambda: _misplaced(table))
    return found


def _misplaced(table: StoredTable) -> frozenset[str]:
    missing = {split_path(path)[1] for path in table.named_files if path not in table.listing.files}
    unnamed = (path for path in table.data_files if path not in table.named_files) if missing else ()
    return frozenset(path for path in unnamed if split_path(path)[1] in missing)


def _sizes(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Each file has the size that its write recorded. Before version 8 writers appended to log files of others."""
    greatest: dict[str, tuple[int, Instant]] = {}
    for instant, commit in table.owned.commits.items():
        for stat in commit.stats:
            for path, size in ((stat.path, stat.size), *stat.changes.items()):
                if path not in greatest or greatest[path][0] < size:
                    greatest[path] = size, instant
    for path, (expected, instant) in greatest.items():
        info = table.listing.files.get(path)
        if info is None or not expected:
            continue
        tally.looked("TL-005")
        is_log = isinstance(table.name_of(path), LogFileName)
        if info.size < expected:
            yield Finding("TL-005", "data-lost", path, "The end of the file is missing, with the rows in it.",
                          f"{expected} bytes, by {table.path_of(instant)}", f"{info.size} bytes", RESTORE)  # fmt: skip
        elif info.size > expected and not (is_log and table.properties.is_legacy):
            yield Finding(
                "TL-005", "cosmetic" if is_log else "wrong-answers", path,
                "Readers that trust the recorded size read another footer or fewer blocks than those that list the folder.",
                f"{expected} bytes, by {table.path_of(instant)}", f"{info.size} bytes", RESTORE,
            )  # fmt: skip


def _savepoints(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The write of a savepoint is on the active timeline, and the files of the savepoint are there.

    Savepoints of Apache Hudi name log files of later writes, too, which a restore to the savepoint deletes.
    """
    completed = {instant.requested for instant in table.timeline.completed if instant.action in COMMITS}
    for instant in table.timeline.completed:
        if instant.action != "savepoint":
            continue
        path = table.path_of(instant)
        tally.looked("TL-021", "TL-041")
        if instant.requested not in completed:
            yield Finding("TL-041", "wrong-answers", path, "A restore to the savepoint is refused.",
                          f"the completed write {instant.requested} on the active timeline", "no such write",
                          f"hudi-conformance service TABLE delete-savepoint --instant {instant.requested}")  # fmt: skip
        for file in files_of_savepoint(table.contents[instant].record or {}):
            tally.looked("TL-021")
            parsed = table.name_of(file)
            if isinstance(parsed, LogFileName) and parsed.instant > instant.requested:
                continue
            if table.scope.wants(split_path(file)[0]) and file not in table.listing.files:
                by = table.removals.cleaned.get(file) or table.removals.rolled_back.get(file)
                yield Finding("TL-021", "data-lost", file, "A restore to the savepoint, and time travel to it, lack rows.",
                              f"the file, which {path} protects", "no file" if by is None else f"no file; {by.file_name} "
                              "deleted it", RESTORE)  # fmt: skip


def _unprotected(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-021: a savepoint has the files of the slices of its write, as far as no later action replaced their group."""
    done = {one.requested: one.completion or one.requested for one in table.owned.commits}
    for instant in table.timeline.completed:
        record = table.contents[instant].record
        if instant.action != "savepoint" or record is None:
            continue
        named, until = set(files_of_savepoint(record)), done.get(instant.requested, "")
        for path in _files_before(table, instant.requested):
            tally.looked("TL-021")
            file = table.data_files.get(path)
            if file is not None and path not in named and done.get(file.name.instant, END_OF_TIME) <= until:
                yield Finding(
                    "TL-021", "cosmetic", path,
                    "A clean may delete the file; time travel to the savepoint, and a restore to it, then lack rows.",
                    f"the file in {table.path_of(instant)}", "no such entry",
                    f"hudi-conformance service TABLE delete-savepoint --instant {instant.requested}, then savepoint again",
                    key=instant.requested,
                )  # fmt: skip


def _files_before(table: StoredTable, requested: str) -> Iterator[str]:
    """The paths of the files of slices at a write, of writes up to it. Writers of version 6 named base files alone."""
    for group in (one for one in table.owned if one.replaced_by is None):
        for last in [one for one in group.slices if one.base_instant <= requested][:1]:
            logs = () if table.opened.had_version_6 else last.log_files
            names = ((name, parse_data_file_name(name)) for name in (last.base_file, *logs) if name)
            yield from (last.path(name) for name, parsed in names if parsed is not None and parsed.instant <= requested)


def _two_in_a_slice(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LAY-023: a write stores one base file in a file group; with two of them engines read different ones."""
    for instant, commit in table.owned.commits.items():
        found: dict[tuple[str, str], str] = {}
        for stat in commit.stats:
            name = table.name_of(stat.path)
            if not isinstance(name, BaseFileName) or name.instant != instant.requested:
                continue
            tally.looked("LAY-023")
            first = found.setdefault((stat.partition, stat.file_id), stat.path)
            if first != stat.path:
                yield Finding(
                    "LAY-023", "wrong-answers", stat.path, "Engines read one of the two files or both, so that rows differ.",
                    f"one base file of group {stat.file_id} by {instant.requested}", f"also {first}",
                    "delete the file of the failed attempt, and take it out of the metadata of the write", key=stat.file_id,
                )  # fmt: skip


def files_of_savepoint(record: Mapping[str, Any]) -> Iterator[str]:
    """The paths of the files that a savepoint protects."""
    for partition, files in (record.get("partitionMetadata") or {}).items():
        for name in files["savepointDataFile"]:
            yield join_path(partition, name.rpartition("/")[2])


def _planned(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The files that a pending plan reads are there."""
    for instant in table.timeline.pending:
        plan = table.plan_of(instant) if instant.action in ("compaction", "logcompaction", "clustering") else None
        for path in files_of_plan(instant, plan or {}):
            tally.looked("CLN-002")
            if table.scope.wants(split_path(path)[0]) and path not in table.listing.files:
                yield Finding(
                    "CLN-002", "wrong-answers", path, "The plan can never be executed; the service fails again and again.",
                    f"the file, which {table.path_of(instant)} plans to read", "no file",
                    f"restore the file, or hudi-conformance service TABLE withdraw --instant {instant.requested}",
                )  # fmt: skip


def entries_of_plan(instant: Instant, plan: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The file slices that the plan of a compaction, log compaction or clustering reads, as it describes them."""
    if instant.action == "clustering":
        groups = (plan.get("clusteringPlan") or {}).get("inputGroups") or ()
        return [one for group in groups for one in group.get("slices") or ()]
    return plan.get("operations") or []


def files_of_plan(instant: Instant, plan: Mapping[str, Any]) -> set[str]:
    """The paths of the files that the plan of a compaction, log compaction or clustering reads."""
    found = set()
    for one in entries_of_plan(instant, plan):
        for name in (one.get("dataFilePath"), *(one.get("deltaFilePaths") or ())):
            if name:
                found.add(join_path(one.get("partitionPath") or "", name.rpartition("/")[2]))
    return found


def _earlier_files(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """A slice without a base file never had one: no write of its log files was based on one."""
    based: dict[str, str] = {}
    for commit in table.owned.commits.values():
        for partition, stats in (commit.record.get("partitionToWriteStats") or {}).items():
            for stat in stats or ():
                if stat.get("baseFile"):
                    based[join_path(partition, (stat.get("path") or "").rpartition("/")[2])] = stat["baseFile"]
    for one in table.owned.latest_slices:
        tally.looked("LAY-023")
        lost = None if one.base_file else next((based[p] for p in map(one.path, one.log_files) if p in based), None)
        if lost is not None:
            yield Finding(
                "LAY-023", "data-lost", one.path(lost.rpartition("/")[2]), "Queries lack the rows of this base file.",
                f"the base file of the log files of group {one.file_id}", "no file, and no completed write that names it",
                RESTORE, key=one.file_id,
            )  # fmt: skip


CHECKS = (
    Check("presence.named-files", ("TL-036", "TL-019", "TL-023", "CLN-001"), "cheap", _named_files),
    Check("presence.sizes", ("TL-005",), "cheap", _sizes),
    Check("presence.savepoints", ("TL-021", "TL-041"), "cheap", _savepoints),
    Check("presence.unprotected", ("TL-021",), "cheap", _unprotected, tables="data"),
    Check("presence.one-base-file", ("LAY-023",), "cheap", _two_in_a_slice),
    Check("presence.planned-files", ("CLN-002",), "cheap", _planned),
    Check("presence.base-files", ("LAY-023",), "cheap", _earlier_files),
)
