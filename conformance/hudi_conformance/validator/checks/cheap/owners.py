"""Every file on storage belongs to a completed write, or to one at work; others are read by mistake or take space.

Files below `.hoodie` that no reader reads and that no writer removes any more take space, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hudi_conformance.validator.checks.cheap.presence import misplaced
from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally
from hudi_conformance.validator.stored.file_views import DataFile
from hudi_conformance.validator.stored.pending import EXPIRED, heartbeat_of
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import BaseFileName, LogFileName, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, EXTENSIONS
from hudi_reference.write.concurrency.heartbeats import FOLDER as HEARTBEATS
from hudi_reference.write.concurrency.markers import folder_of

#: The write token of the files with which writers create file groups of the metadata table.
FIRST_TOKEN = "0-0-0"
_READ: tuple[Severity, str] = "wrong-answers", "Queries read rows that no completed write stored."
_UNREAD: tuple[Severity, str] = "lost-space", "No query reads the file."
_MARKERS = f"{META_FOLDER}/.temp/"
#: The ends of names of temporary files: of Hadoop's writers, of copying tools, of editors and of this project.
_TEMPORARY = (".tmp", ".temp", ".part", ".bak", ".orig", ".swp", ".inprogress", "_COPYING_", "~", " (")


#: The name of a file of an action, to which a copying tool has added a beginning.
_OF_AN_INSTANT = re.compile(r"[^.]\D*\d{14}")


@dataclass(frozen=True)
class _Orphan:
    """A file without an owner, and why."""

    file: DataFile
    rule: str
    why: str
    is_read: bool


def _files_of(slices: Iterable[FileSlice]) -> set[str]:
    """The paths of the files of file slices."""
    return {one.path(name) for one in slices for name in (one.base_file, *one.log_files) if name is not None}


def _owners(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Each data file has an owner."""
    owned = _files_of(one for group in table.owned for one in group.slices)
    read = _files_of(table.groups.latest_slices)
    named = table.named_files
    completed = {instant.requested for instant in table.owned.commits}
    pending = {
        instant.requested: instant
        for instant in table.timeline.pending
        if ACTIONS[instant.action].writes and instant.requested not in completed
    }
    updated, written = _written_groups(table)
    latest = _files_of(table.owned.latest_slices)
    for path, file in table.data_files.items():
        tally.looked("RDR-008")
        if file.name.instant in table.repeated_initializations:
            continue  # the metadata of an earlier initialization may not be there any more
        if path in table.removals.cleaned and path in latest:
            yield _cleaned_latest(table, path)
        elif path in table.removals.cleaned:
            yield _orphan(table, _Orphan(file, "TL-013", f"{table.removals.cleaned[path].file_name} deleted it", False))
        elif path in named or path in owned or _is_begin_of_group(table, file):
            continue
        elif file.name.instant in pending:
            if not may_be_at_work(table, pending[file.name.instant], file):
                yield _orphan(table, _Orphan(file, "TL-030", why_pending(table, pending[file.name.instant]), False))
        elif file.name.instant in completed:
            rule = "BF-007" if isinstance(file.name, BaseFileName) else "LF-007"
            why = f"the metadata of write {file.name.instant} does not name it: it is of a failed attempt"
            if file.group in updated and (file.group, file.name.instant) not in written and not table.properties.is_legacy:
                yield _unnamed(table, file)
            elif file.is_change_log and not _captured(table, file):
                yield _unnamed_changes(table, file)
            else:
                yield _orphan(table, _Orphan(file, rule, why, path in read))
        elif not table.history.may_have(file.name.instant, table.timeline.instants):
            why = f"neither timeline nor history has a completed write {file.name.instant}"
            yield _orphan(table, _Orphan(file, "ARC-004" if path in read else "RDR-008", why, path in read))


def _is_begin_of_group(table: StoredTable, file: DataFile) -> bool:
    """Whether it is the empty log file with which a file group of the metadata table begins; no metadata names it."""
    return table.is_metadata_table and isinstance(file.name, LogFileName) and file.name.write_token == FIRST_TOKEN


def _cleaned_latest(table: StoredTable, path: str) -> Finding:
    """A clean that says that it deleted a file of the latest state; the file shows that its metadata is wrong."""
    clean = table.removals.cleaned[path]
    return Finding(
        "CLN-001", "wrong-answers", path,
        "Queries read the file, while a metadata table that follows the clean leaves it out, with its rows.",
        "a clean that names no file of the latest state", f"{clean.file_name} says that it deleted the file",
        f"restore {clean.file_name} from another copy of the table; keep the data file",
    )  # fmt: skip


def _written_groups(table: StoredTable) -> tuple[set[GroupId], set[tuple[GroupId, str]]]:
    """The file groups that completed writes name, and the same with the requested time of each write."""
    written = {
        ((stat.partition, stat.file_id), instant.requested)
        for instant, commit in table.owned.commits.items()
        for stat in commit.stats
    }
    written |= {(group, instant.requested) for instant, commit in table.owned.commits.items() for group in _replaced(commit)}
    return {group for group, _ in written}, written


def _replaced(commit: CommitMetadata) -> Iterator[GroupId]:
    return ((partition, file_id) for partition, ids in commit.replaced.items() for file_id in ids)


def _unnamed(table: StoredTable, file: DataFile) -> Finding:
    """A failed attempt is followed by one that succeeds in the same file group; here the metadata names none."""
    return Finding(
        "TL-007", "data-lost", file.path, "Queries lack the changes of the write to this file group.",
        f"this file, or that of another attempt, in the metadata of the write {file.name.instant}",
        f"no file of group {file.name.file_id}", "restore the completed file of the write from another copy of the table",
        key=file.name.file_id,
    )  # fmt: skip


def _captured(table: StoredTable, file: DataFile) -> bool:
    """Whether the metadata of the write names other change capture of the file group, or the table captures no changes."""
    commits = (commit for instant, commit in table.owned.commits.items() if instant.requested == file.name.instant)
    stats = (stat for commit in commits for stat in commit.stats if (stat.partition, stat.file_id) == file.group)
    return any(stat.changes for stat in stats) or not table.properties.is_set("hoodie.table.cdc.enabled")


def _unnamed_changes(table: StoredTable, file: DataFile) -> Finding:
    """TYP-012: a write that captured changes names the files of them."""
    return Finding(
        "TYP-012", "wrong-answers", file.path, "Change queries fail, or lack the changes of the write to this file group.",
        f"this file, or that of another attempt, in cdcStats of the write {file.name.instant}", "no file of captured changes",
        "restore the completed file of the write from another copy of the table", key=file.name.file_id,
    )  # fmt: skip


#: What is said of a pending write whose writer has removed the markers.
_NO_MARKERS = "it has no markers, as after completion: its completed file may have been lost"


def why_pending(table: StoredTable, instant: Instant) -> str:
    """A writer removes its markers after completion: a pending write without them may have lost its completed file."""
    why = f"{instant.file_name} is pending, and its writer sends no heartbeat"
    if any(path.startswith(f"{folder_of(instant.requested)}/") for path in table.listing.files):
        return why
    return f"{why}; {_NO_MARKERS}"


def may_be_at_work(table: StoredTable, instant: Instant, file: DataFile) -> bool:
    """Whether the writer of a pending write with this file may still be at work."""
    return heartbeat_of(table, instant.requested) == "active" or table.now - file.modified <= EXPIRED


def _orphan(table: StoredTable, orphan: _Orphan) -> Finding:
    file = orphan.file
    age = (table.now - file.modified) // 1000
    remedy = "delete the file"
    if file.path in misplaced(table):
        remedy = "move the file into the folder that its write names, if it is the missing one; otherwise delete it"
    if orphan.rule == "RDR-008":
        remedy = "delete the file, unless another finding shows that its action was lost"
    if orphan.rule == "ARC-004":
        remedy = (
            "restore timeline or history of its write from another copy of the table; delete the file if it never completed"
        )
    if orphan.rule == "TL-030":
        remedy = f"hudi-conformance service TABLE rollback --instant {file.name.instant}"
        if orphan.why.endswith(_NO_MARKERS):
            remedy = f"restore the completed file from another copy of the table; if the write never completed, {remedy}"
    severity, meaning = _READ if orphan.is_read else _UNREAD
    return Finding(
        orphan.rule, severity, file.path, meaning,
        "a file of a completed write", f"{file.size} bytes, {age} s old; {orphan.why}", remedy,
    )  # fmt: skip


def _ids(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """A file id belongs to one partition. In a metadata table it is the name of its partition with a number."""
    places: dict[str, set[str]] = defaultdict(set)
    for one in table.groups.latest_slices:
        places[one.file_id].add(one.partition)
    for file_id, partitions in places.items():
        tally.looked("LAY-020")
        if len(partitions) > 1:
            yield _shared_id(file_id, sorted(partitions))


def _shared_id(file_id: str, partitions: Iterable[str]) -> Finding:
    return Finding(
        "LAY-020", "cosmetic", next(iter(partitions)), "Indexes that locate records by file id alone may find another group.",
        f"one partition with the file group {file_id}", ", ".join(map(repr, partitions)), "none is needed", key=file_id,
    )  # fmt: skip


def _markers(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """OCC-027: the markers of an action are removed after its completion, with its rollback, or with its archiving."""
    pending = table.timeline.pending_times
    kept: dict[str, list[str]] = defaultdict(list)
    for path, info in table.listing.files.items():
        if path.startswith(_MARKERS):
            requested = path.removeprefix(_MARKERS).partition("/")[0]
            tally.looked("OCC-027")
            if requested not in pending and table.now - info.modified > EXPIRED:
                kept[requested].append(path)
    for requested, paths in sorted(kept.items()):
        yield Finding(
            "OCC-027", "lost-space", f"{_MARKERS}{requested}", "No query reads the files.", "markers of pending actions alone",
            f"{len(paths)} markers of {requested}, which is not pending", "delete the folder", key=requested,
        )  # fmt: skip


def _heartbeats(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """A writer removes its heartbeat at the end; one that is left belongs to a writer that crashed."""
    pending = table.timeline.pending_times
    for path, info in table.listing.files.items():
        folder, name = split_path(path)
        if folder == HEARTBEATS:
            tally.looked("OCC-027")
            if name not in pending and table.now - info.modified > EXPIRED:
                yield Finding("OCC-027", "lost-space", path, "No query reads the file.", "heartbeats of pending actions alone",
                              f"a heartbeat of {name}, which is not pending", "delete the file", key=name)  # fmt: skip


def _temporary_files(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LAY-017: the folders of timeline and history have files of actions. Others are what a writer or a tool left."""
    folder, history = table.properties.timeline_folder, table.properties.history_folder
    for path, info in table.listing.files.items():
        parent, name = split_path(path)
        is_named = name[:14].isdigit()
        if not (parent == history or (parent == folder and (is_named or _OF_AN_INSTANT.match(name)))):
            continue
        tally.looked("LAY-017")
        extension = name.partition(".")[2]
        is_temporary = extension not in EXTENSIONS and any(end in f".{extension}" for end in _TEMPORARY)
        if (is_temporary or (parent == folder and not is_named)) and table.now - info.modified > EXPIRED:
            yield Finding("LAY-017", "lost-space", path, "No query reads the file.", "files of actions",
                          f"{info.size} bytes under the name of a temporary file", "delete the file")  # fmt: skip


CHECKS = (
    Check(
        "owners.data-files",
        ("RDR-008", "ARC-004", "BF-007", "CLN-001", "LF-007", "TL-007", "TL-013", "TL-030", "TYP-012"),
        "cheap",
        _owners,
    ),
    Check("owners.file-ids", ("LAY-020",), "cheap", _ids, tables="data"),
    Check("leftovers.markers", ("OCC-027",), "cheap", _markers),
    Check("leftovers.heartbeats", ("OCC-027",), "cheap", _heartbeats),
    Check("leftovers.temporary-files", ("LAY-017",), "cheap", _temporary_files),
)  # fmt: skip
