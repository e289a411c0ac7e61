"""Results of actions: services against their plans while these are on the timeline, replaced groups, and numbers of rows."""

from collections.abc import Iterator, Mapping
from typing import Any

from hudi_conformance.validator.checks.cheap.presence import entries_of_plan, files_of_plan
from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.names import BaseFileName, parse_data_file_name, split_path
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.query.file_groups import GroupId
from hudi_reference.timeline.contents.metadata import (
    DELETE_PARTITION,
    INSERT_OVERWRITE_TABLE,
    REPLACING,
    SERVICES,
    CommitMetadata,
    WriteStat,
    groups_of_clustering,
)
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

FILES = BuiltIn.FILES.value
RESTORE = "restore the completed file from another copy of the table"


def _clusterings(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """CLU-001: a clustering replaces exactly the file groups of its plan."""
    for instant, commit in table.commits.items():
        plan = plan_of_service(table, instant, "clustering")
        if plan is None:
            continue
        tally.looked("CLU-001")
        planned, replaced = set(groups_of_clustering(plan)), set(_replaced(commit))
        path = table.path_of(instant)
        kept, more = planned - replaced, replaced - planned
        if kept:
            yield _finding("CLU-001", "wrong-answers", path, "Queries return the rows of these groups twice.",
                           f"replaced groups: {_listed(planned)}", f"not replaced: {_listed(kept)}")  # fmt: skip
        if more:
            yield _finding("CLU-001", "data-lost", path, "Queries lack the rows of these groups, which nothing replaced.",
                           f"replaced groups: {_listed(planned)}", f"also replaced: {_listed(more)}")  # fmt: skip


def _lost_clusterings(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """CLU-007: a clustering of base files with rows stores files. Log files may delete all rows."""
    rows = {stat.path: stat.writes or 0 for commit in table.owned.commits.values() for stat in commit.stats if not stat.is_log}
    for instant, commit in table.commits.items():
        plan = plan_of_service(table, instant, "clustering")
        if plan is None or commit.operation != "CLUSTER":
            continue
        tally.looked("CLU-007")
        inputs = files_of_plan(Instant(instant.requested, "clustering", State.REQUESTED), plan)
        lost = sum(rows.get(path, 0) for path in inputs)
        if lost and not commit.paths and all(_is_base_file(table, path) for path in inputs):
            yield _finding("CLU-007", "data-lost", table.path_of(instant), "Queries lack the rows of the replaced groups.",
                           f"files with the {lost} rows of the planned groups", "no file")  # fmt: skip


def _replaced(commit: CommitMetadata) -> Iterator[GroupId]:
    return ((partition, file_id) for partition, ids in commit.replaced.items() for file_id in ids)


def _compactions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """CMP-001: a compaction stores a base file in each file group of its plan."""
    for instant, commit in table.commits.items():
        plan = plan_of_service(table, instant, "compaction")
        if plan is None or commit.operation != "COMPACT":
            continue
        tally.looked("CMP-001")
        planned = {(one.get("partitionPath") or "", one.get("fileId") or "") for one in plan.get("operations") or ()}
        stored = {(stat.partition, stat.file_id) for stat in commit.stats if _is_base_file(table, stat.path)}
        if lacking := planned - stored:
            yield _finding(
                "CMP-001", "data-lost", table.path_of(instant),
                "Readers take the rows of these groups for compacted, and find no base file.",
                f"base files of groups {_listed(planned)}", f"none of {_listed(lacking)}",
            )  # fmt: skip
        if more := stored - planned:
            yield _finding("CMP-001", "wrong-answers", table.path_of(instant),
                           "The base file hides log files that the compaction did not merge.",
                           f"base files of groups {_listed(planned)}", f"also of {_listed(more)}")  # fmt: skip


def _is_base_file(table: StoredTable, path: str) -> bool:
    return isinstance(table.name_of(path), BaseFileName)


def plan_of_service(table: StoredTable, instant: Instant, service: str) -> Mapping[str, Any] | None:
    """The plan of a service; None of another action, and if the plan is gone or damaged."""
    for action in (service, instant.action):
        plan = table.plan_of(Instant(instant.requested, action, State.REQUESTED))
        if plan is not None and files_of_plan(Instant(instant.requested, service, State.REQUESTED), plan):
            return plan
    return None


def _finding(rule: str, severity: Any, path: str, meaning: str, expected: str, found: str) -> Finding:
    return Finding(rule, severity, path, meaning, expected[:300], found[:300], RESTORE)


def _listed(groups: set[GroupId]) -> str:
    return ", ".join("/".join(filter(None, group)) for group in sorted(groups)) or "none"


def _plan_entries(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-015 and TL-012: each entry of a plan names the file group and the base file that its files belong to."""
    pending = {instant.requested for instant in table.timeline.pending}
    for instant, content in table.contents.items():
        if instant.state is not State.REQUESTED or instant.action not in ("clustering", "compaction", "logcompaction"):
            continue
        rule, is_pending = "TL-012" if instant.action == "clustering" else "TL-015", instant.requested in pending
        for entry in entries_of_plan(instant, content.record or {}):
            tally.looked(rule)
            if wrong := _disagreement(entry):
                expected, found = wrong
                yield Finding(
                    rule, "wrong-answers" if is_pending else "cosmetic", table.path_of(instant),
                    "The service fails, or stores the rows of one file group in another one." if is_pending
                    else "No query reads the plan of a completed service.", expected, found,
                    f"hudi-conformance service TABLE withdraw --instant {instant.requested}" if is_pending else RESTORE,
                    key=str(entry.get("fileId")),
                )  # fmt: skip


def _disagreement(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """What an entry of a plan says of its file group, and a file that is of another one."""
    file_id, base_instant = entry.get("fileId"), entry.get("baseInstantTime")
    base = entry.get("dataFilePath")
    for path in (base, *(entry.get("deltaFilePaths") or ())):
        name = parse_data_file_name(path.rpartition("/")[2]) if path else None
        if name is not None and name.file_id != file_id:
            return f"files of group {file_id}", str(path)
        if path == base and name is not None and base_instant and name.instant != base_instant:
            return f"the base file of {base_instant}", str(path)
    return None


def _kept_groups(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-039: an overwrite or a deletion of partitions replaces all file groups that were in them when it began."""
    created, replaced = _created(table), _replacing(table)
    on_storage = [(one.partition, one.file_id) for one in table.owned.latest_slices]
    for instant, commit in table.commits.items():
        if commit.operation not in REPLACING or instant.action != "replacecommit" or table.properties.is_legacy:
            continue
        tally.looked("TL-039")
        emptied = _emptied(commit)
        for group in on_storage:
            is_older = group in created and created[group] < instant.requested
            if is_older and group not in replaced and (emptied is None or group[0] in emptied):
                yield Finding(
                    "TL-039", "wrong-answers", table.path_of(instant),
                    "Queries return the rows of this file group beside those that replaced them.",
                    f"group {_listed({group})} among the replaced ones", "it is not, and no other action replaced it", RESTORE,
                    key=group[1],
                )  # fmt: skip


def _unnamed_partitions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-039: a deletion of partitions names them. One that names none replaced nothing, and deleted no entry of an index.

    Without a files index, a deletion that left older groups named none. With one, the deletion may have matched no partition.
    """
    if table.properties.is_legacy:
        return
    created, replaced = _created(table), _replacing(table)
    for instant, commit in table.commits.items():
        if commit.operation != DELETE_PARTITION or instant.action != "replacecommit":
            continue
        tally.looked("TL-039")
        groups = ((one.partition, one.file_id) for one in table.owned.latest_slices)
        left = {group for group in groups if created.get(group, ":") < instant.requested and group not in replaced}
        if not commit.replaced and left and _deleted_something(table, instant):
            yield _finding(
                "TL-039", "wrong-answers", table.path_of(instant), "Queries return the rows of the deleted partitions.",
                "the partitions that it deleted, with their file groups", f"none, beside older groups {_listed(left)}",
            )  # fmt: skip


def _deleted_something(table: StoredTable, instant: Instant) -> bool:
    """Whether a deletion of partitions had some: it deleted entries of the indexes, if there are any."""
    inside = table.metadata_table
    if inside is None or FILES not in table.properties.fields(USABLE):
        return True
    updates = (commit for one, commit in inside.commits.items() if one.requested == instant.requested)
    return any(stat.deletes for commit in updates for stat in commit.stats)


def _emptied(commit: CommitMetadata) -> set[str] | None:
    """The partitions whose rows a write replaces; None for all."""
    if commit.operation == INSERT_OVERWRITE_TABLE:
        return None
    return {*commit.replaced, *(stat.partition for stat in commit.stats)}


def _created(table: StoredTable) -> dict[GroupId, str]:
    """The completion time of the first write of each file group."""
    found: dict[GroupId, str] = {}
    for instant, commit in table.owned.commits.items():
        for stat in commit.stats:
            time = instant.completion or instant.requested
            group = (stat.partition, stat.file_id)
            found[group] = min(time, found.get(group, time))
    return found


def _replacing(table: StoredTable) -> set[GroupId]:
    return {group for commit in table.owned.commits.values() for group in _replaced(commit)}


def _row_counts(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-005: a base file has the rows of the one before and the inserted ones, without at most as many as were deleted.

    Deletes of keys that the file does not have are counted too, so that it may have more rows than that.
    """
    stored: dict[tuple[str, str], WriteStat] = {
        (stat.partition, split_path(stat.path)[1]): stat for commit in table.owned.commits.values() for stat in commit.stats
    }
    for instant, commit in table.owned.commits.items():
        for stat in () if commit.operation in SERVICES else commit.stats:
            if _is_base_file(table, stat.path) and stat.inserts + stat.updates > stat.writes:
                yield _finding("TL-005", "cosmetic", table.path_of(instant), "Only statistics of the write are wrong.",
                               f"at most {stat.writes} rows of {stat.path} inserted or updated",
                               f"{stat.inserts} inserted and {stat.updates} updated")  # fmt: skip
            before = stored.get((stat.partition, (stat.previous_base_file or "").rpartition("/")[2]))
            if before is None or before.path == stat.path or not _is_base_file(table, stat.path):
                continue
            tally.looked("TL-005")
            if before.writes and stat.writes > (most := before.writes + stat.inserts):
                yield _finding(
                    "TL-005", "cosmetic", table.path_of(instant), "Only statistics of the write are wrong.",
                    f"at most {most} rows of {stat.path}", f"{stat.writes} rows, {stat.inserts} of them inserted",
                )  # fmt: skip
            least = before.writes + stat.inserts - stat.deletes
            if stat.writes < least:
                yield Finding(
                    "TL-005", "data-lost", stat.path, "Queries lack rows that no write deleted.",
                    f"at least {least} rows: {before.writes} of {before.path}, {stat.inserts} inserted, {stat.deletes} deleted",
                    f"{stat.writes} rows, by {table.path_of(instant)}",
                    "write the rows of the earlier base file again that the later one lacks", key=stat.file_id,
                )  # fmt: skip


CHECKS = (
    Check("results.clusterings", ("CLU-001",), "cheap", _clusterings, tables="data"),
    Check("results.lost-clusterings", ("CLU-007",), "cheap", _lost_clusterings, tables="data"),
    Check("results.compactions", ("CMP-001",), "cheap", _compactions, tables="data"),
    Check("results.plan-entries", ("TL-012", "TL-015"), "cheap", _plan_entries, tables="data"),
    Check("results.replaced-groups", ("TL-039",), "cheap", _kept_groups, tables="data"),
    Check("results.deleted-partitions", ("TL-039",), "cheap", _unnamed_partitions, tables="data"),
    Check("results.row-counts", ("TL-005",), "cheap", _row_counts, tables="data"),
)
