"""What a compaction counted or listed of the log files that it merged, and what its plan says of their number and sizes.

A plan has the sizes of files. A result has the sizes of the files, as Apache Hudi 1.0.2 counts them, or those of the contents
of their data blocks, as 1.2.0 does. A writer that counts nothing stores zeros.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from hudi_conformance.validator.checks.cheap.presence import entries_of_plan
from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.checks.writes.entries import COMPACTIONS, RESTORE, Entry, entries_of
from hudi_conformance.validator.checks.writes.results import plan_of_service
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.files.log.block import BlockType, CorruptBlock, HeaderKey
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import join_path
from hudi_reference.query.log_scanner import apply_log_compactions
from hudi_reference.timeline.instants.instant import Instant

_Operations = Mapping[tuple[str, str | None], Mapping[str, Any]]
_RULES = {"compaction": "TL-015", "logcompaction": "TL-017"}
_MEGABYTE = 1024 * 1024
#: What a result counts in its log files, beside their records.
_COUNTED = (
    "totalLogFilesCompacted", "totalLogBlocks", "totalLogSizeCompacted", "totalCorruptLogBlock", "totalRollbackBlocks",
    "totalLogRecords", "totalUpdatedRecordsCompacted",
)  # fmt: skip


def operation_of(entry: Entry) -> Mapping[str, Any] | None:
    """The operation of the plan for the file group of an entry of a compaction; None without one."""
    if entry.commit.operation not in COMPACTIONS or entry.name is None:
        return None
    service = "compaction" if entry.commit.operation == "COMPACT" else "logcompaction"
    operations: _Operations = entry.table.once(
        f"operations of {entry.instant.file_name}", lambda: _operations(entry.table, entry.instant, service)
    )
    return operations.get((entry.partition, entry.name.file_id))


def _operations(table: StoredTable, instant: Instant, service: str) -> _Operations:
    """The operations of a plan by file group; the first one, if a damaged plan has several for a group."""
    operations = (plan_of_service(table, instant, service) or {}).get("operations") or ()
    return {(one.get("partitionPath") or "", one.get("fileId")): one for one in reversed(operations)}


def counts_logs(entry: Entry) -> bool:
    """Whether the writer of an entry counts what it reads in log files."""
    return any(entry.stat.get(key) for key in _COUNTED)


def _results(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-005: a compaction counts the log files of its plan, their sizes and their blocks."""
    for entry in entries_of(table):
        operation = operation_of(entry)
        if operation is None or not counts_logs(entry) or not table.scope.wants(entry.partition):
            continue
        tally.looked("TL-005")
        for key, allowed in _expected(table, operation).items():
            is_counted = bool(entry.stat.get(key) or entry.stat.get("runtimeStats"))  # the reference counts no blocks
            if is_counted and entry.stat.get(key) not in allowed:
                yield entry.finding(f"{key}={' or '.join(map(str, sorted(allowed)))}", entry.stat.get(key))


def _expected(table: StoredTable, operation: Mapping[str, Any]) -> Mapping[str, Collection[int]]:
    """The values that the counters may have, as far as the log files are there. Files of version 6 have later blocks.

    Plans of Apache Hudi 1.0.2 and 1.2.0 name files of change capture, too, which the compactions do not read.
    """
    paths = _log_files(operation)
    if any(path.endswith(".cdc") for path in paths):
        return {}
    found: dict[str, Collection[int]] = {"totalLogFilesCompacted": {len(paths)}}
    if table.properties.is_legacy or any(path not in table.listing.files for path in paths):
        return found
    blocks = [block for path in paths for block in read_log_file(table.storage, path, for_inspection=True)]
    if not any(isinstance(block, CorruptBlock) or block.kind is BlockType.COMMAND for block in blocks):
        found |= {"totalLogBlocks": {len(blocks)}, "totalCorruptLogBlock": {0}, "totalRollbackBlocks": {0}}
        if all(table.opened.has_completed(block.instant) for block in blocks):
            merged = apply_log_compactions(blocks)  # without the inputs of earlier log compactions, which are not read
            contents = sum(block.content_length for block in merged if block.kind is not BlockType.DELETE)
            found["totalLogSizeCompacted"] = {contents, _size(table, paths)}
    return found


def _blocks(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LCP-002: the blocks of a log compaction list the instants of the blocks in the files of its plan.

    The others are applied again. A block without any list is applied after later ones, too.
    """
    for entry in entries_of(table):
        operation = operation_of(entry)
        if operation is None or entry.commit.operation != "LOG_COMPACT" or not table.scope.wants(entry.partition):
            continue
        paths = [*_log_files(operation), entry.path]
        if table.opened.had_version_6 or any(path not in table.listing.files for path in paths):
            continue
        tally.looked("LCP-002")
        *merged, written = (_instants(table, path) for path in paths)
        unlisted = {one for own, _ in merged for one in own if table.opened.has_completed(one)} - written[1]
        unlisted -= {one for _, listed in merged for one in listed}
        if unlisted:
            is_applied = not written[1] or table.opened.merge_mode == "CUSTOM"
            yield Finding(
                "LCP-002", "wrong-answers" if is_applied else "cosmetic", entry.path,
                "Readers apply the merged blocks a second time." if is_applied
                else "Readers apply a merged block a second time, which changes no row in the merge mode of the table.",
                f"also {', '.join(sorted(unlisted))} among the merged instants, by the plan",
                ", ".join(sorted(written[1])) or "none", RESTORE,
            )  # fmt: skip


def _instants(table: StoredTable, path: str) -> tuple[set[str], set[str]]:
    """The instants of the blocks in a log file, and those of the blocks that they replace."""
    blocks = [one for one in read_log_file(table.storage, path, for_inspection=True) if not isinstance(one, CorruptBlock)]
    times = (block.header.get(HeaderKey.COMPACTED_BLOCK_TIMES, "") for block in blocks)
    return {block.instant for block in blocks}, {one for listed in times for one in listed.split(",") if one}


def log_names(operation: Mapping[str, Any]) -> Sequence[str]:
    """The names of the log files that an operation merges."""
    return [one.rpartition("/")[2] for one in operation.get("deltaFilePaths") or ()]


def _log_files(operation: Mapping[str, Any]) -> Sequence[str]:
    return [join_path(operation.get("partitionPath") or "", name) for name in log_names(operation)]


def _size(table: StoredTable, paths: Collection[str]) -> int:
    return sum(table.listing.files[path].size for path in paths)


def _plans(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-015 and TL-017: the metrics of a plan are those of its files. Strategies choose operations by them."""
    for instant in table.timeline.instants:
        plan = table.plan_of(instant) if instant.action in _RULES and not table.properties.is_legacy else None
        for operation in () if plan is None else entries_of_plan(instant, plan):
            rule, metrics = _RULES[instant.action], operation.get("metrics") or {}
            tally.looked(rule, at=bool(metrics))
            for key, value in _metrics(table, operation, metrics).items():
                if key in metrics and metrics[key] != value:
                    yield Finding(
                        rule, "cosmetic", table.path_of(instant), "Strategies that choose by sizes choose other operations.",
                        f"{key}={value}", str(metrics[key]), RESTORE, key=str(operation.get("fileId")),
                    )  # fmt: skip


def _metrics(table: StoredTable, operation: Mapping[str, Any], metrics: Mapping[str, float]) -> Mapping[str, float]:
    """The expected metrics, as far as the files are there."""
    logs, base = _log_files(operation), str(operation.get("dataFilePath") or "").rpartition("/")[2]
    found = {"TOTAL_LOG_FILES": float(len(logs))}
    read, write = metrics.get("TOTAL_IO_READ_MB"), metrics.get("TOTAL_IO_WRITE_MB")
    if read is not None and write is not None:
        found["TOTAL_IO_MB"] = read + write
    files = [*logs, *([join_path(operation.get("partitionPath") or "", base)] if base else [])]
    if all(path in table.listing.files for path in files):
        found["TOTAL_LOG_FILES_SIZE"] = float(_size(table, logs))
        found["TOTAL_IO_READ_MB"] = float(_size(table, files) // _MEGABYTE)
    return found


CHECKS = (
    Check("compacted-logs.results", ("TL-005",), "cheap", _results),
    Check("compacted-logs.blocks", ("LCP-002",), "cheap", _blocks),
    Check("compacted-logs.plans", ("TL-015", "TL-017"), "cheap", _plans),
)
