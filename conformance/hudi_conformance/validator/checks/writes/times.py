"""Completion times: an action completes after the actions that it read, and after its update of the metadata table.

The name of the completed file is the only place of a completion time. What an action read, and the completion times in the
metadata table, show a wrong one. Before version 8 actions had no completion times, and a migration takes those of the files.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.checks.writes.traces import COMPACTIONS
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import LogFileName, parse_data_file_name, split_path
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS, State

#: The actions that update the metadata table before they complete. That of a restore or an index has a time of its own.
_UPDATING = (*COMMITS, "clean", "rollback")
_MEANING = "Time travel and incremental queries leave changes out, and log files are merged in another order."
_REMEDY = "give the completed file the right completion time, from another copy of the table"


class _Read(NamedTuple):
    """An action read what the write with this requested time had stored, as `how` shows."""

    reader: Instant
    requested: str
    how: str


def _after_what_was_read(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TT-004: each action completes after the writes whose files it read."""
    if table.opened.had_version_6:
        return
    completed = {one.requested: one for one in table.owned.commits}
    for read in dict.fromkeys(_reads(table)):
        written = completed.get(read.requested)
        if written is None or written == read.reader or _is_backwards(read.reader):
            continue
        tally.looked("TT-004")
        if (written.completion or "") > (read.reader.completion or ""):
            yield Finding(
                "TT-004", "wrong-answers", table.place_of(read.reader), _MEANING,
                f"a completion time after {written.completion}, that of {written.requested}: {read.how}",
                f"{read.reader.completion}; one of the two times is wrong", _REMEDY, key=read.requested,
            )  # fmt: skip


def _is_backwards(instant: Instant) -> bool:
    """Whether an action completed before it was requested, which `timeline.names` reports."""
    return (instant.completion or "") <= instant.requested


def _reads(table: StoredTable) -> Iterator[_Read]:
    created = _created(table.owned.commits)
    for instant, commit in table.owned.commits.items():
        for requested in sorted(_parents(table, commit)):
            yield _Read(instant, requested, "the write is based on its file")
        for requested in sorted(_earlier_logs(commit)):
            yield _Read(instant, requested, "the write names its log file as an earlier one")
        groups = {(partition, file_id) for partition, ids in commit.replaced.items() for file_id in ids}
        for requested in sorted({created[group].requested for group in groups & created.keys()}):
            yield _Read(instant, requested, "the action replaced its file group")
    for instant, content in table.contents.items():
        if instant.state is State.COMPLETED and instant.action == "savepoint":
            yield _Read(instant, instant.requested, "the savepoint protects it")
        if instant.state is State.COMPLETED and instant.action == "clean":
            record: Mapping[str, Any] = content.record or {}
            yield _Read(instant, str(record.get("lastCompletedCommitTimestamp")), "the clean names it as the last write")


def _parents(table: StoredTable, commit: CommitMetadata) -> set[str]:
    """The writes on whose slices a write is based. The slice of a planned compaction exists before its base file."""
    compactions: frozenset[str] = table.once("compactions", lambda: _compactions(table))
    return {stat.previous_instant for stat in commit.stats} - compactions


def _compactions(table: StoredTable) -> frozenset[str]:
    return frozenset(i.requested for i, commit in table.owned.commits.items() if commit.operation in COMPACTIONS)


def _earlier_logs(commit: CommitMetadata) -> set[str]:
    """The writers of the log files that were in a slice when a write added another one, which the entry names as well."""
    stats: Mapping[str, Any] = commit.record.get("partitionToWriteStats") or {}
    logs = {split_path(str(name))[1] for found in stats.values() for stat in found or () for name in stat.get("logFiles") or ()}
    own = {split_path(stat.path)[1] for stat in commit.stats}
    return {one.instant for one in map(parse_data_file_name, logs - own) if isinstance(one, LogFileName)}


def _created(commits: Mapping[Instant, CommitMetadata]) -> dict[tuple[str, str], Instant]:
    """The write that created each file group: the first to complete."""
    found: dict[tuple[str, str], Instant] = {}
    for instant in sorted(commits, key=lambda one: one.completion or one.requested):
        for stat in commits[instant].stats:
            found.setdefault((stat.partition, stat.file_id), instant)
    return found


def _after_its_update(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-032: the update of the metadata table by an action completes before the action does."""
    for updated, instant in _updates(table):
        tally.looked("TL-032")
        if updated > (instant.completion or "") and not _is_backwards(instant):
            yield Finding(
                "TL-032", "wrong-answers", table.path_of(instant), _MEANING,
                f"a completion time after {updated}, when the metadata table had its update",
                str(instant.completion), _REMEDY, key=instant.requested,
            )  # fmt: skip


def _in_order_of_updates(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """OCC-022: actions complete in the order in which they updated the metadata table, because both happen under one lock."""
    right = [(updated, one) for updated, one in _updates(table) if updated <= (one.completion or "")]
    for (_, before), (updated, after) in pairwise(sorted(right, key=lambda found: found[0])):
        tally.looked("OCC-022")
        if updated < (before.completion or ""):
            yield Finding(
                "OCC-022", "wrong-answers", table.path_of(before), _MEANING,
                f"a completion time before {updated}, when {after.requested} updated the metadata table",
                str(before.completion), _REMEDY, key=before.requested,
            )  # fmt: skip


def _updates(table: StoredTable) -> list[tuple[str, Instant]]:
    """Each completed action of the active timeline that updated the metadata table, with the completion time of its update.

    An indexer that runs meanwhile may update the metadata table for a completed action under the time of that action.
    """
    inside = table.metadata_table
    if inside is None or inside.properties.is_legacy or table.opened.had_version_6:
        return []
    indexers = [(one.requested, one.completion or "9" * 17) for one in table.timeline.instants if one.action == "indexing"]
    updates: dict[str, list[str]] = defaultdict(list)
    for instant, commit in inside.commits.items():
        completion = instant.completion or ""
        is_indexed = any(begin < completion < end for begin, end in indexers)
        if instant.action == "deltacommit" and not commit.is_service and completion and not is_indexed:
            updates[instant.requested].append(completion)
    actions = (one for one in table.timeline.completed if one.action in _UPDATING)
    return [(max(updates[one.requested]), one) for one in actions if one.requested in updates]


CHECKS = (
    Check("times.after-what-was-read", ("TT-004",), "cheap", _after_what_was_read, tables="data"),
    Check("times.after-its-update", ("TL-032",), "cheap", _after_its_update, tables="data"),
    Check("times.in-order-of-updates", ("OCC-022",), "cheap", _in_order_of_updates, tables="data"),
)
