"""The file groups that replacing actions name, and the entries of plans: each names groups that it can mean."""

import re
from collections.abc import Iterator
from itertools import chain

from hudi_conformance.validator.checks.cheap.presence import entries_of_plan
from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.query.file_groups import GroupId
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

_OF_BUCKET = re.compile(r"\d{8}-0000-0000-0000-\d{12}(-\d+)?")
RESTORE = "restore the completed file from another copy of the table"


def _own_groups(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-010: no action replaces a file group that it writes itself: readers would leave its own rows out."""
    for instant, commit in table.owned.commits.items():
        written = {(stat.partition, stat.file_id): stat for stat in commit.stats}
        for partition, ids in commit.replaced.items():
            tally.looked("TL-010", at=len(ids))
            for stat in (written[partition, one] for one in ids if (partition, one) in written):
                yield Finding(
                    "TL-010", "wrong-answers", table.path_of(instant), "Queries lack the rows that the action stored.",
                    "replaced file groups of earlier writes", f"{stat.path} is in the replaced group {stat.file_id}", RESTORE,
                    key=stat.file_id,
                )  # fmt: skip


def _places(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-039: a replaced file group is named with its partition. Ids are unique in a table, so that another one is wrong.

    Non-blocking writers give file groups of one bucket the same id in all partitions (NBC-004).
    """
    has_all = table.known_actions.have_all_writes and not table.opened.had_version_6  # an archive of version 6 may lack actions
    known: dict[str, set[str]] = {}
    stored = ((stat.file_id, stat.partition) for commit in table.owned.commits.values() for stat in commit.stats)
    for file_id, partition in chain(stored, ((one.file_id, one.partition) for one in table.owned)):
        known.setdefault(file_id, set()).add(partition)
    for instant, commit in table.owned.commits.items():
        for partition, ids in commit.replaced.items():
            tally.looked("TL-039", at=len(ids))
            for file_id in (one for one in ids if _OF_BUCKET.fullmatch(one) is None):
                places = known.get(file_id, {partition})
                if file_id not in known and table.scope.wants(partition) and has_all:
                    yield Finding(
                        "TL-039", "cosmetic", table.path_of(instant), "No query reads the entry.",
                        f"groups of completed writes in partition {partition!r}", f"group {file_id}, without a write",
                        RESTORE, key=file_id,
                    )  # fmt: skip
                if partition not in places:
                    yield Finding(
                        "TL-039", "wrong-answers", table.path_of(instant),
                        "Queries return the rows of the file group that was replaced.",
                        f"group {file_id} in partition {min(places)!r}", f"in partition {partition!r}", RESTORE, key=file_id,
                    )  # fmt: skip


def _planned_once(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-015 and TL-012: a pending plan has each file group once."""
    for instant in table.timeline.pending:
        rule, seen = "TL-012" if instant.action == "clustering" else "TL-015", set[GroupId]()
        for one in entries_of_plan(instant, table.plan_of(instant) or {}):
            tally.looked(rule)
            group = (one.get("partitionPath") or "", one.get("fileId") or "")
            if group in seen:
                yield Finding(
                    rule, "wrong-answers", table.path_of(instant),
                    "The service stores the rows of the group twice, or fails when it stores the second file.",
                    "each file group once", f"group {group[1]} twice",
                    f"hudi-conformance service TABLE withdraw --instant {instant.requested}", key=group[1],
                )  # fmt: skip
            seen.add(group)


def _merged_once(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """SVC-004: no two completed compactions merged the same log files of a file group."""
    merged: dict[tuple[str, str], Instant] = {}
    for instant, commit in table.commits.items():
        requested = Instant(instant.requested, "compaction", State.REQUESTED)
        plan = table.plan_of(requested) if commit.operation == "COMPACT" else None
        for one in entries_of_plan(requested, plan) if plan is not None else ():
            for name in (path.rpartition("/")[2] for path in one.get("deltaFilePaths") or ()):
                tally.looked("SVC-004")
                first = merged.setdefault((one.get("partitionPath") or "", name), instant)
                if first is not instant:
                    yield Finding(
                        "SVC-004", "wrong-answers", table.path_of(instant),
                        "The later base file lacks the changes since the earlier compaction, or applies changes twice.",
                        f"log files that {first.file_name} did not merge", name, RESTORE, key=one.get("fileId"),
                    )  # fmt: skip


CHECKS = (
    Check("replacements.merged-once", ("SVC-004",), "cheap", _merged_once, tables="data"),
    Check("replacements.own-groups", ("TL-010",), "cheap", _own_groups, tables="data"),
    Check("replacements.places", ("TL-039",), "cheap", _places, tables="data"),
    Check("replacements.planned-once", ("TL-012", "TL-015"), "cheap", _planned_once, tables="data"),
)
