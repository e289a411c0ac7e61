"""Damages of single values in what writes and services say of their files: one for each field of `writes.expected_values`."""

from collections.abc import Callable
from typing import Any

import validated_tables_samples as t
from damages_samples import Damage

from hudi_conformance.validator.checks.writes.expected_values import OF_READ_LOGS
from hudi_reference.storage import Storage

_ENTRIES, _RESULTS, _PLANS, _INFLIGHT = (
    "statistics.entries", "compacted-logs.results", "compacted-logs.plans", "inflight-records",
)  # fmt: skip
Edit = Callable[[Storage], None]


def _stat(action: str, change: Callable[[Any], object], number: int = -1) -> Edit:
    """Change the first entry of a completed write."""

    def edit(storage: Storage) -> None:
        path = t.completed(storage, action, number)
        t.change_record(storage, path, lambda record: change(t.stats_of(record)[0]))

    return edit


def _set(action: str, field: str, value: Any, number: int = -1) -> Edit:
    """Set a field of that entry, also one in a record."""

    def change(stat: Any) -> None:
        first, _, inner = field.partition(".")
        times = {"totalScanTime": 0, "totalUpsertTime": 0, "totalCreateTime": 0}
        stat[first] = {**times, inner: value} if inner else value

    return _stat(action, change, number)


def _earlier_again(storage: Storage) -> None:
    """The last write says that it replaced the base file of the first one."""
    first: dict[str, Any] = {}
    t.change_record(storage, t.completed(storage, "commit", 0), lambda record: first.update(t.stats_of(record)[0]))
    text = first["path"].rpartition("/")[2]
    time = text.rpartition("_")[2].partition(".")[0]
    t.change_record(
        storage,
        t.completed(storage, "commit", -1),
        lambda record: next(one for one in t.stats_of(record) if one["fileId"] == first["fileId"]).update(
            prevBaseFile=text, prevCommit=time
        ),
    )


def _inflight(change: Callable[[Any], object]) -> Edit:
    return lambda storage: t.change_record(storage, t.paths(storage, ".inflight")[-1], change)


def _metric(key: str) -> Edit:
    def change(record: Any) -> None:
        metrics = record["operations"][0]["metrics"]
        metrics[key] = (metrics.get(key) or 0) + 7

    return lambda storage: t.change_record(storage, t.paths(storage, ".compaction.requested")[-1], change)


#: What other checks report of the same value: a file that is not there, and a write that is not known.
_ALSO = ("TL-036", "OCC-008", "OCC-013", "TL-007")


def _damage(name: str, check: str, make: Callable[[], Storage], edit: Edit, rule: str = "TL-005") -> Damage:
    return Damage(name, check, rule, make, edit, _ALSO, "cosmetic")


_OF_BASE_FILES = {
    **dict.fromkeys(OF_READ_LOGS, 1), "numUpdates": 1, "tempPath": "x", "baseFile": "x", "logFiles": ["x"], "logOffset": 1,
    "logVersion": 1, "runtimeStats.totalCreateTime": 1, "totalWriteBytes": 1, "partitionPath": None, "prevBaseFile": None,
    "cdcStats": {"north/x": 1},
}  # fmt: skip
_OF_FIRST_FILES = {"numInserts": 0, "numUpdateWrites": 1, "runtimeStats.totalUpsertTime": 1, "prevCommit": "20200101000000000"}
_OF_LOG_FILES = {
    "prevBaseFile": "x", "cdcStats": {"x": 1}, "prevCommit": "20200101000000000", "logFiles": None, "logOffset": None,
    "runtimeStats.totalCreateTime": 1,
}  # fmt: skip
_OF_COMPACTIONS = (
    "totalLogFilesCompacted", "totalLogBlocks", "totalLogSizeCompacted", "totalCorruptLogBlock", "totalRollbackBlocks",
)  # fmt: skip

VALUES_DAMAGES = (
    *(_damage(f"{field} of a base file", _ENTRIES, t.copy_on_write, _set("commit", field, value))
      for field, value in _OF_BASE_FILES.items()),
    *(_damage(f"{field} of a first file", _ENTRIES, t.copy_on_write, _set("commit", field, value, 0))
      for field, value in _OF_FIRST_FILES.items()),
    *(_damage(f"{field} of a log file", _ENTRIES, t.merge_on_read, _set("deltacommit", field, value))
      for field, value in _OF_LOG_FILES.items()),
    *(_damage(f"{field} of a compaction", _RESULTS, t.compacted, _set("commit", field, 99)) for field in _OF_COMPACTIONS),
    _damage("a log file twice in an entry", _ENTRIES, t.merge_on_read,
            _stat("deltacommit", lambda stat: stat.update(logFiles=stat["logFiles"] * 2))),
    _damage("an earlier base file that is not the last", _ENTRIES, t.copy_on_write, _earlier_again),
    _damage("more rows than before", "results.row-counts", t.copy_on_write,
            _stat("commit", lambda stat: stat.update(numWrites=99))),
    *(_damage(f"{key} of a plan", _PLANS, lambda: t.with_plan("compaction"), _metric(key), "TL-015")
      for key in ("TOTAL_LOG_FILES", "TOTAL_LOG_FILES_SIZE", "TOTAL_IO_READ_MB", "TOTAL_IO_MB")),
    _damage("another operation when it began", _INFLIGHT, t.copy_on_write,
            _inflight(lambda record: record.update(operationType="BULK_INSERT"))),
    _damage("a compaction when it began", _INFLIGHT, t.copy_on_write, _inflight(lambda record: record.update(compacted=True))),
    _damage("sizes when it began", _INFLIGHT, t.copy_on_write,
            _inflight(lambda record: record.update(partitionToWriteStats={"north": [{"fileId": "x", "fileSizeInBytes": 1}]}))),
)  # fmt: skip
