"""What a write must store in the entry of a file, by the kind of the file and of the write.

A table of statements: fields, the entries that they concern, and the values that are allowed there. Apache Hudi 1.0.2 and 1.2.0
and the reference keep each of them. Times, event times and write errors are not in the bytes of a table, and are not judged.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from hudi_conformance.validator.checks.finding import Finding
from hudi_conformance.validator.checks.writes.entries import COMPACTIONS, NOTHING, Entry

#: What a write counts in the log files that it reads.
OF_READ_LOGS = (
    "totalLogRecords", "totalLogFilesCompacted", "totalLogSizeCompacted", "totalUpdatedRecordsCompacted", "totalLogBlocks",
    "totalCorruptLogBlock", "totalRollbackBlocks", "totalLogReadTimeMs", "runtimeStats.totalScanTime",
)  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """The values that some fields may have in the entries that it concerns."""

    fields: tuple[str, ...]
    concerns: Callable[[Entry], bool]
    allowed: Callable[[Entry], Collection[Any]]


def _nothing(entry: Entry) -> Collection[Any]:
    return NOTHING


def _is_current(entry: Entry) -> bool:
    return not entry.table.properties.is_legacy


def _earlier_write(entry: Entry) -> Collection[Any]:
    """The write of the base file of a slice; without one the own time, or that of the slice. The reference stores none."""
    base = entry.named("baseFile")
    if base is not None:
        return (base.instant,)
    assert entry.name is not None
    return (entry.instant.requested, entry.name.instant, *NOTHING)


STATEMENTS = (
    Statement(OF_READ_LOGS, lambda entry: not entry.reads_logs, _nothing),
    Statement(("numUpdates", "tempPath"), _is_current, _nothing),
    Statement(("baseFile", "logFiles", "logOffset", "logVersion"), lambda entry: entry.is_base_file, _nothing),
    Statement(("prevBaseFile", "cdcStats"), lambda entry: entry.is_log_file, _nothing),
    Statement(("runtimeStats.totalUpsertTime",), lambda entry: entry.is_new and not entry.reads_logs, _nothing),
    Statement(("runtimeStats.totalCreateTime",), lambda entry: entry.name is not None and not entry.is_new, _nothing),
    Statement(("totalWriteBytes",), lambda entry: entry.stat.get("fileSizeInBytes") is not None and _is_current(entry),
              lambda entry: (entry.stat["fileSizeInBytes"],)),
    Statement(("partitionPath",), lambda entry: entry.stat.get("partitionPath") is None, lambda entry: (entry.partition,)),
    Statement(("prevCommit",), lambda entry: entry.is_new, _nothing),
    Statement(("prevCommit",), lambda entry: entry.is_log_file and entry.commit.operation not in COMPACTIONS, _earlier_write),
)  # fmt: skip


def unexpected_values(entry: Entry) -> Iterator[Finding]:
    """TL-005: each field has a value that its entry allows."""
    values = entry.stat | {f"runtimeStats.{key}": value for key, value in (entry.stat.get("runtimeStats") or {}).items()}
    for statement in STATEMENTS:
        if statement.concerns(entry):
            allowed = statement.allowed(entry)
            for field in statement.fields:
                value = values.get(field)
                if value not in allowed:
                    expected = " or ".join(dict.fromkeys(str(one) for one in allowed if one not in NOTHING))
                    yield entry.finding(f"{field}={expected or 'nothing'}", value)
