"""What a service needs of its plan: without it, it fails, leaves rows out, or builds an index that lacks entries."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hudi_conformance.validator.checks.cheap.presence import entries_of_plan
from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally
from hudi_conformance.validator.checks.writes.removal_plans import RESTORE
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import join_path
from hudi_reference.metadata.partitions import BuiltIn, Kind
from hudi_reference.timeline.contents.avro_container import Record
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

WITHDRAW = "hudi-conformance service TABLE withdraw --instant {}"
#: The rules of the records that have a version, by action.
RULES_OF_VERSIONS = {
    "compaction": "TL-015", "logcompaction": "TL-017", "clustering": "TL-012", "clean": "TL-014", "rollback": "TL-020",
    "restore": "TL-024", "savepoint": "TL-022",
}  # fmt: skip
_FAILS = "The service fails again and again."


def _clustering_plans(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-012: the requested file of a clustering has the operation, groups and a strategy."""
    for instant, plan in _pending_plans(table, "clustering"):
        tally.looked("TL-012")
        clustering: Mapping[str, Any] = plan.get("clusteringPlan") or {}
        wanted = {
            "operationType=CLUSTER": plan.get("operationType") == "CLUSTER",
            "a clusteringPlan with inputGroups": bool(clustering.get("inputGroups")),
            "a strategy in the clusteringPlan": bool(clustering.get("strategy")),
            "a numOutputFileGroups of 1 or more": all(
                one.get("numOutputFileGroups") is None or one["numOutputFileGroups"] > 0
                for one in clustering.get("inputGroups") or ()
            ),
        }
        for expected, is_there in wanted.items():
            if not is_there:
                yield Finding(
                    "TL-012", "cosmetic", table.path_of(instant),
                    "Engines do not take it for a clustering, or fail when they execute it.", expected, "a plan without it",
                    WITHDRAW.format(instant.requested), key=instant.requested,
                )  # fmt: skip


def _versions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The version of a plan, or of the record of a completed action, is one that exists: 1 or 2."""
    for instant, content in table.contents.items():
        record: Mapping[str, Any] = content.record or {}
        rule, inner = RULES_OF_VERSIONS.get(instant.action), record.get("clusteringPlan") or {}
        versions = [one["version"] for one in (record, inner) if one.get("version") is not None]
        if rule is None or instant.state is State.INFLIGHT or not versions:
            continue
        tally.looked(rule)
        if wrong := [one for one in versions if one not in (1, 2)]:
            yield Finding(
                rule, "cosmetic", table.path_of(instant), "Engines may take the entries for those of another form, or fail.",
                "version 1 or 2", str(wrong[0]), RESTORE, key="version",
            )  # fmt: skip


def _pending_plans(table: StoredTable, *actions: str) -> Iterator[tuple[Instant, Record]]:
    """The pending services of these kinds with their plans, without those whose plan cannot be read."""
    for instant in table.timeline.pending:
        plan = table.plan_of(instant) if instant.action in actions else None
        if plan is not None:
            yield instant, plan


def _entries(record: Mapping[str, Any] | None, key: str) -> Sequence[Any]:
    """The list of a record under a key; empty without a record."""
    return [] if record is None else record.get(key) or []


def _empty_compactions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-015 and TL-017: the plan of a compaction has operations. One without them blocks others and compacts nothing."""
    for instant, plan in _pending_plans(table, "compaction", "logcompaction"):
        rule = "TL-015" if instant.action == "compaction" else "TL-017"
        tally.looked(rule)
        if not plan.get("operations"):
            yield Finding(rule, "cosmetic", table.path_of(instant), "The service does nothing.", "operations", "none",
                          WITHDRAW.format(instant.requested), key=instant.requested)  # fmt: skip


def _lost_base_files(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """CMP-003: the plan of a compaction reads the base file of each slice that has one."""
    slices = {(one.partition, one.file_id, one.base_instant): one for group in table.owned for one in group.slices}
    for instant, plan in _pending_plans(table, "compaction"):
        for entry in _entries(plan, "operations"):
            tally.looked("CMP-003")
            group = entry.get("partitionPath") or "", entry.get("fileId") or ""
            found = slices.get((*group, entry.get("baseInstantTime") or ""))
            if found is not None and found.base_file and not entry.get("dataFilePath"):
                yield Finding(
                    "CMP-003", "data-lost", found.path(found.base_file),
                    "The compacted slice lacks the rows of this file, and queries no longer read it.",
                    f"the file in the plan {instant.requested}", "a plan without it", WITHDRAW.format(instant.requested),
                    key=group[1],
                )  # fmt: skip


def _places(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-012 and TL-015: a path in a plan, below whatever base path, is in the partition of its entry."""
    for instant in table.timeline.pending:
        rule = "TL-012" if instant.action == "clustering" else "TL-015"
        for entry in entries_of_plan(instant, table.plan_of(instant) or {}):
            for path in filter(None, (entry.get("dataFilePath"), *(entry.get("deltaFilePaths") or ()))):
                inside = join_path(entry.get("partitionPath") or "", path.rpartition("/")[2])
                tally.looked(rule)
                if "/" in path and not f"/{path}".endswith(f"/{inside}"):
                    yield Finding(
                        rule, "wrong-answers", table.path_of(instant), _FAILS, f"a path that ends in {inside}", path,
                        WITHDRAW.format(instant.requested), key=str(entry.get("fileId")),
                    )  # fmt: skip


def _deleted_partitions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """CLN-001: a pending clean deletes no partition with rows. The folder of a planned partition is deleted as a whole."""
    filled = {one.partition: one for one in table.owned.latest_slices}
    for instant, plan in _pending_plans(table, "clean"):
        for partition in _entries(plan, "partitionsToBeDeleted"):
            tally.looked("CLN-001")
            if partition in filled:
                yield Finding(
                    "CLN-001", "wrong-answers", table.path_of(instant),
                    "The partition will be lost as soon as the clean is executed.", "no partition of the latest state",
                    f"{partition!r}, which has the group {filled[partition].file_id}",
                    f"remove the pending files of the clean {instant.requested} before a writer executes it", key=partition,
                )  # fmt: skip


def _index_plans(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """INX-004, INX-006 to INX-008: a plan names the indexes to build, and the completed write up to which they are built."""
    for instant in table.timeline.instants:
        plan = table.plan_of(instant) if instant.action == "indexing" else None
        if plan is None:
            continue
        tally.looked("INX-006", "INX-007", "INX-008")
        is_done = instant.state is State.COMPLETED
        entries = _entries(plan, "indexPartitionInfos")
        if not entries:
            yield _index_finding(table, instant, "INX-006", "indexPartitionInfos", "none")
        for entry in entries:
            name, upto = str(entry.get("metadataPartitionPath")), str(entry.get("indexUptoInstant"))
            if not _is_index(name):
                yield _index_finding(table, instant, "INX-007", "the name of an index in metadataPartitionPath", name)
            if (wrong := _wrong_begin(table, instant, upto)) is not None:
                yield _index_finding(table, instant, "INX-008", wrong, f"indexUptoInstant={upto}")
        result = table.contents[instant].record if is_done else None
        built = sorted(str(one.get("metadataPartitionPath")) for one in _entries(result, "indexPartitionInfos"))
        planned = sorted(str(one.get("metadataPartitionPath")) for one in entries)
        if result is not None and built != planned:
            expected = f"the indexes of the plan: {', '.join(planned)}"
            yield _index_finding(table, instant, "INX-006", expected, ", ".join(built) or "none")


def _is_index(name: str) -> bool:
    return name in (*BuiltIn,) or name.startswith(tuple(f"{kind}_" for kind in Kind))


def _wrong_begin(table: StoredTable, instant: Instant, upto: str) -> str | None:
    """What is wrong with the write from which an index is built; an older one may have been archived or rolled back since."""
    if not upto.isdigit() or upto > instant.requested:
        return f"an instant before {instant.requested}"
    active = [one.requested for one in table.timeline.instants]
    gone = {*table.removals.targets, *table.removals.pending_targets, *(one.requested for one in table.history.instants)}
    if upto in (*active, *gone) or table.history.errors:
        return None
    return f"a write of the timeline before {instant.requested}" if upto > min(active) or not table.history.instants else None


def _index_finding(table: StoredTable, instant: Instant, rule: str, expected: str, found: str) -> Finding:
    """A pending plan builds an index that lacks entries, or none; a completed one is not read any more."""
    severity: Severity
    if instant.state is State.COMPLETED:
        severity, meaning, remedy = "cosmetic", "No query reads the plan of a built index.", RESTORE
    else:
        severity, meaning = "wrong-answers", "The indexer fails, or the index lacks entries of writes."
        remedy = WITHDRAW.format(instant.requested)
    return Finding(rule, severity, table.path_of(instant), meaning, expected[:300], found[:300], remedy, key=instant.requested)


CHECKS = (
    Check("plans.versions", tuple(RULES_OF_VERSIONS.values()), "cheap", _versions),
    Check("plans.clusterings", ("TL-012",), "cheap", _clustering_plans, tables="data"),
    Check("plans.compactions", ("TL-015", "TL-017"), "cheap", _empty_compactions, tables="data"),
    Check("plans.base-files", ("CMP-003",), "cheap", _lost_base_files, tables="data"),
    Check("plans.places", ("TL-012", "TL-015"), "cheap", _places, tables="data"),
    Check("plans.deleted-partitions", ("CLN-001",), "cheap", _deleted_partitions, tables="data"),
    Check("plans.indexes", ("INX-006", "INX-007", "INX-008"), "cheap", _index_plans, tables="data"),
)
