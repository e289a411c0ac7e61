"""Every file on storage belongs to a completed write, or to one at work; others are read by mistake or take space."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.file_views import DataFile
from hudi_conformance.validator.stored.pending import EXPIRED, heartbeat_of
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import BaseFileName
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS


@dataclass(frozen=True)
class _Orphan:
    """A file without an owner, and why."""

    file: DataFile
    rule: str
    why: str
    is_read: bool


def _paths(groups: FileGroups) -> set[str]:
    return {
        one.path(name)
        for group in groups
        for one in group.slices
        for name in (one.base_file, *one.log_files)
        if name is not None
    }


def _owners(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Each data file has an owner."""
    owned, read = _paths(table.owned), _read_by_snapshot(table)
    named = {path for commit in table.owned.commits.values() for path in commit.paths}
    completed = {instant.requested for instant in table.owned.commits}
    pending = {
        instant.requested: instant
        for instant in table.timeline.pending
        if ACTIONS[instant.action].writes and instant.requested not in completed
    }
    for path, file in table.data_files.items():
        tally.looked("RDR-008")
        if path in table.removals.cleaned:
            yield _orphan(table, _Orphan(file, "TL-013", f"{table.removals.cleaned[path].file_name} deleted it", False))
        elif path in named or (path in owned and path not in completed):
            continue
        elif file.name.instant in pending:
            if not _may_be_at_work(table, pending[file.name.instant], file):
                why = f"{pending[file.name.instant].file_name} is pending, and its writer sends no heartbeat"
                yield _orphan(table, _Orphan(file, "TL-030", why, False))
        elif file.name.instant in completed:
            rule = "BF-007" if isinstance(file.name, BaseFileName) else "LF-007"
            why = f"the metadata of write {file.name.instant} does not name it: it is of a failed attempt"
            yield _orphan(table, _Orphan(file, rule, why, path in read))
        elif not table.history.errors:
            why = f"neither timeline nor history has a completed write {file.name.instant}"
            yield _orphan(table, _Orphan(file, "ARC-004" if path in read else "RDR-008", why, path in read))


def _read_by_snapshot(table: StoredTable) -> set[str]:
    """The files of the latest slices in the reader's view."""
    return {
        one.path(name) for one in table.groups.latest_slices for name in (one.base_file, *one.log_files) if name is not None
    }


def _may_be_at_work(table: StoredTable, instant: Instant, file: DataFile) -> bool:
    return heartbeat_of(table, instant.requested) == "active" or table.now - file.modified <= EXPIRED


def _orphan(table: StoredTable, orphan: _Orphan) -> Finding:
    file = orphan.file
    age = (table.now - file.modified) // 1000
    remedy = "delete the file"
    if orphan.rule == "TL-030":
        remedy = f"hudi-conformance service TABLE rollback --instant {file.name.instant}"
    return Finding(
        orphan.rule, "wrong-answers" if orphan.is_read else "lost-space", file.path,
        "Queries read rows that no completed write stored." if orphan.is_read else "No query reads the file.",
        "a file of a completed write", f"{file.size} bytes, {age} s old; {orphan.why}", remedy,
    )  # fmt: skip


def _ids(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """A file id belongs to one partition."""
    if table.is_metadata_table:
        return  # a file id is the name of its partition with a number
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


CHECKS = (
    Check("owners.data-files", ("RDR-008", "ARC-004", "BF-007", "LF-007", "TL-013", "TL-030"), "cheap", _owners),
    Check("owners.file-ids", ("LAY-020",), "cheap", _ids),
)
