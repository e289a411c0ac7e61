"""Results of services against their plans, as long as the plans are on the active timeline."""

from collections.abc import Iterator, Mapping
from typing import Any

from hudi_conformance.validator.checks.cheap.presence import files_of_plan
from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import BaseFileName, parse_data_file_name, split_path
from hudi_reference.query.file_groups import GroupId
from hudi_reference.timeline.contents.metadata import CommitMetadata, groups_of_clustering
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

RESTORE = "restore the completed file from another copy of the table"


def _clusterings(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """CLU-001: a clustering replaces exactly the file groups of its plan."""
    for instant, commit in table.commits.items():
        plan = _plan(table, instant, "clustering")
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


def _replaced(commit: CommitMetadata) -> Iterator[GroupId]:
    return ((partition, file_id) for partition, ids in commit.replaced.items() for file_id in ids)


def _compactions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """CMP-001: a compaction stores a base file in each file group of its plan."""
    for instant, commit in table.commits.items():
        plan = _plan(table, instant, "compaction")
        if plan is None or commit.operation != "COMPACT":
            continue
        tally.looked("CMP-001")
        planned = {(one.get("partitionPath") or "", one.get("fileId") or "") for one in plan.get("operations") or ()}
        stored = {(stat.partition, stat.file_id) for stat in commit.stats if _is_base_file(stat.path)}
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


def _is_base_file(path: str) -> bool:
    return isinstance(parse_data_file_name(split_path(path)[1]), BaseFileName)


def _plan(table: StoredTable, instant: Instant, service: str) -> Mapping[str, Any] | None:
    """The plan of a completed service; None of another action, and if the plan is gone or damaged."""
    if instant.state is not State.COMPLETED:
        return None
    for action in (service, instant.action):
        plan = table.plan_of(Instant(instant.requested, action, State.REQUESTED))
        if plan is not None and files_of_plan(Instant(instant.requested, service, State.REQUESTED), plan):
            return plan
    return None


def _finding(rule: str, severity: Any, path: str, meaning: str, expected: str, found: str) -> Finding:
    return Finding(rule, severity, path, meaning, expected[:300], found[:300], RESTORE)


def _listed(groups: set[GroupId]) -> str:
    return ", ".join("/".join(filter(None, group)) for group in sorted(groups)) or "none"


CHECKS = (
    Check("results.clusterings", ("CLU-001",), "cheap", _clusterings, tables="data"),
    Check("results.compactions", ("CMP-001",), "cheap", _compactions, tables="data"),
)
