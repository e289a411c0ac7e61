"""The inflight file of a completed write: the operation of the result, and what was known before a file was written.

It has the groups that the write was about to update, with numbers of rows that it expected. Sizes, and what is counted while
files are written, are not known at that time.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.checks.writes.entries import NOTHING
from hudi_conformance.validator.checks.writes.expected_values import OF_READ_LOGS
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.states import COMMITS, State

_MEANING = "No query reads the inflight file of a completed write."
#: What a write does not know before its files are there.
_UNKNOWN = (
    *OF_READ_LOGS, "path", "totalWriteBytes", "totalWriteErrors", "fileSizeInBytes",
    "numUpdates", "tempPath", "prevBaseFile", "cdcStats", "logFiles", "logOffset", "logVersion", "baseFile", "minEventTime",
    "maxEventTime", "runtimeStats",
)  # fmt: skip


def _inflight(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-005: the inflight file of a completed write agrees with its result."""
    completed = {one.requested: commit for one, commit in table.commits.items()}
    for instant, content in table.contents.items():
        record: Mapping[str, Any] = content.record or {}
        commit = completed.get(instant.requested)
        if instant.state is not State.INFLIGHT or instant.action not in COMMITS or commit is None or not record:
            continue
        tally.looked("TL-005")
        for key, expected, found in _differences(record, commit):
            yield Finding(
                "TL-005", "cosmetic", table.path_of(instant), _MEANING, expected, found,
                "none is needed; archiving removes the file", key=key,
            )  # fmt: skip


def _differences(record: Mapping[str, Any], commit: CommitMetadata) -> Iterator[tuple[str, str, str]]:
    """Field, expected and found value of each contradiction."""
    result = commit.record
    if record.get("operationType") not in (result.get("operationType"), "UNKNOWN", None):
        yield "operationType", f"operationType={result.get('operationType')}", str(record.get("operationType"))
    if bool(record.get("compacted")) != bool(result.get("compacted")):
        yield "compacted", f"compacted={result.get('compacted')}", str(record.get("compacted"))
    for stats in (record.get("partitionToWriteStats") or {}).values():
        for stat in stats or ():
            wrong = [key for key in _UNKNOWN if stat.get(key) not in NOTHING]
            if wrong:
                yield wrong[0], f"nothing in {wrong[0]} of group {stat.get('fileId')}", str(stat[wrong[0]])


CHECKS = (Check("inflight-records", ("TL-005",), "cheap", _inflight),)
