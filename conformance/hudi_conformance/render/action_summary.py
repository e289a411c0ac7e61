"""A summary of an action in one line, from the record in its file."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hudi_conformance.render.parts.layout import format_count, shorten_line
from hudi_reference.timeline.instants.states import State

Record = Mapping[str, Any]

#: Counter of a write -> the sign before its number.
_COUNTERS = (("numInserts", "+"), ("numUpdateWrites", "~"), ("numDeletes", "-"))


def summarize_action(action: str, state: State, record: Record | None) -> str:
    """A summary of the record of an action in a state; "" for an empty file."""
    how = _SUMMARIES.get((action, state)) or _SUMMARIES.get((action, None))
    if record is None or how is None:
        return ""
    try:
        return how(record)
    except (KeyError, TypeError, AttributeError, ValueError):
        return "its record has unexpected fields"


def _write(record: Record) -> str:
    stats = _stats(record)
    files = sum(1 for stat in stats if stat.get("path"))
    parts = [record.get("operationType") or "", format_count(files, "file") if files else "", _rows(stats)]
    replaced = sum(len(ids) for ids in (record.get("partitionToReplaceFileIds") or {}).values())
    return _joined([*parts, f"replaces {format_count(replaced, 'group')}" if replaced else ""])


def _profile(record: Record) -> str:
    """The plan of an inflight write."""
    rows = _rows(_stats(record))
    return _joined([record.get("operationType") or "", f"to write {rows}" if rows else ""])


def _stats(record: Record) -> list[Record]:
    return [stat for stats in (record.get("partitionToWriteStats") or {}).values() for stat in stats or ()]


def _rows(stats: Iterable[Record]) -> str:
    """New, changed and deleted rows, or their sum if the writer stores only that."""
    stats = list(stats)
    sums = {sign: sum(int(stat.get(key) or 0) for stat in stats) for key, sign in _COUNTERS}
    counts = " ".join(f"{sign}{number:,}" for sign, number in sums.items() if number)
    if counts:
        return f"{counts} rows"
    rows = sum(int(stat.get("numWrites") or 0) for stat in stats)
    return format_count(rows, "row") if rows else ""


def _compaction_plan(record: Record) -> str:
    operations = record.get("operations") or []
    logs = sum(len(o.get("deltaFilePaths") or ()) for o in operations)
    return f"plan: {format_count(logs, 'log file')} of {format_count(len(operations), 'group')}"


def _replace_plan(record: Record) -> str:
    plan = record.get("clusteringPlan")
    if plan is None:
        return ""
    groups = plan.get("inputGroups") or []
    slices = sum(len(group.get("slices") or ()) for group in groups)
    made = sum(int(group.get("numOutputFileGroups") or 0) for group in groups)
    return f"plan: {format_count(slices, 'group')} into {made:,}"


def _clean_plan(record: Record) -> str:
    partitions = record.get("filePathsToBeDeletedPerPartition") or {}
    files = sum(len(found or ()) for found in partitions.values())
    return f"plan: delete {format_count(files, 'file')} in {format_count(len(partitions), 'partition')}"


def _clean(record: Record) -> str:
    kept = record.get("earliestCommitToRetain")
    files = format_count(int(record["totalFilesDeleted"]), "file")
    return f"deleted {files}" + (f", keeps {kept} and later" if kept else "")


def _rollback_plan(record: Record) -> str:
    target = record["instantToRollback"]
    files = sum(len(r.get("filesToBeDeleted") or ()) for r in record.get("RollbackRequests") or ())
    return f"plan: roll back {target['action']} {target['commitTime']}, delete {format_count(files, 'file')}"


def _rollback(record: Record) -> str:
    return (
        f"rolled back {', '.join(record['commitsRollback'])}, deleted {format_count(int(record['totalFilesDeleted']), 'file')}"
    )


def _restore_plan(record: Record) -> str:
    return f"plan: roll back {format_count(len(record['instantsToRollback'] or ()), 'action')}{_back_to(record)}"


def _back_to(record: Record) -> str:
    target = record.get("savepointToRestoreTimestamp")
    return f", restore to {target}" if target else ""


def _restore(record: Record) -> str:
    return f"rolled back {format_count(len(record['instantsToRollback'] or ()), 'action')}"


def _savepoint(record: Record) -> str:
    files = sum(len(p.get("savepointDataFile") or ()) for p in (record.get("partitionMetadata") or {}).values())
    who = ": ".join(text for text in (record.get("savepointedBy"), record.get("comments")) if text)
    return f"keeps {format_count(files, 'file')}" + (f" ({shorten_line(who)})" if who else "")


def _indexes(record: Record) -> str:
    infos = record.get("indexPartitionInfos") or []
    return ", ".join(str(info.get("metadataPartitionPath")) for info in infos)


def _joined(parts: Iterable[str]) -> str:
    return "  ".join(part for part in parts if part)


_SUMMARIES: Mapping[tuple[str, State | None], Callable[[Record], str]] = {
    ("commit", State.INFLIGHT): _profile,
    ("deltacommit", State.INFLIGHT): _profile,
    ("replacecommit", State.INFLIGHT): _profile,
    ("replacecommit", State.REQUESTED): _replace_plan,
    ("commit", None): _write,
    ("deltacommit", None): _write,
    ("replacecommit", None): _write,
    ("compaction", None): _compaction_plan,
    ("logcompaction", None): _compaction_plan,
    ("clustering", None): _replace_plan,
    ("clean", State.COMPLETED): _clean,
    ("clean", None): _clean_plan,
    ("rollback", State.COMPLETED): _rollback,
    ("rollback", None): _rollback_plan,
    ("restore", State.COMPLETED): _restore,
    ("restore", None): _restore_plan,
    ("savepoint", State.COMPLETED): _savepoint,
    ("indexing", None): _indexes,
}
