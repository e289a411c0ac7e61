"""Entries of the metadata of an action that contradict each other: places, earlier files, sizes and counts of a write.

Every engine stores them in agreement, so that a contradiction is the trace of an edit, or of two writers of one entry.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name, split_path
from hudi_reference.timeline.contents.metadata import SERVICES
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

RESTORE = "restore the file from another copy of the table"
_ONLY_STATISTICS = "Only statistics of the write are wrong."


@dataclass(frozen=True)
class _Entry:
    """The entry of a file in the metadata of a completed write, and the partition below which it is listed."""

    table: StoredTable
    instant: Instant
    partition: str
    stat: Mapping[str, Any]

    def finding(self, rule: str, severity: Severity, meaning: str, expected: str, found: str) -> Finding:
        """A finding in this entry."""
        path, key = self.table.path_of(self.instant), str(self.stat["path"])
        return Finding(rule, severity, path, meaning, expected, found, RESTORE, key=key)


def _entries(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The entries of the files of each completed write on the active timeline agree with themselves and with each other."""
    for instant, commit in table.commits.items():
        seen = set[str]()
        for partition, stats in (commit.record.get("partitionToWriteStats") or {}).items():
            for stat in stats or ():
                path = stat.get("path")
                if path:
                    tally.looked("TL-005", "LAY-018")
                    entry = _Entry(table, instant, partition, stat)
                    for check in _OF_AN_ENTRY:
                        yield from check(entry)
                    if path in seen and not table.properties.is_legacy:
                        yield _again(entry)
                    seen.add(path)


def _again(entry: _Entry) -> Finding:
    """TL-005: a write names each file once. Before version 8 it names a log file once for each append."""
    meaning = "Engines that do not look for duplicates read the file twice."
    return entry.finding("TL-005", "cosmetic", meaning, "one entry of the file", "a second entry")


def _place(entry: _Entry) -> Iterator[Finding]:
    """LAY-018: an entry has the partition below which it is listed. Some engines follow the one, some the other."""
    found = entry.stat.get("partitionPath")
    if found is not None and found != entry.partition:
        meaning = "Engines that follow the entry look for the file in another partition."
        yield entry.finding("LAY-018", "wrong-answers", meaning, repr(entry.partition), repr(found))


def _earlier_file(entry: _Entry) -> Iterator[Finding]:
    """TL-005: the earlier base file of an entry is of the write that the entry names as the earlier one."""
    text, time = entry.stat.get("prevBaseFile"), entry.stat.get("prevCommit")
    before = parse_data_file_name(str(text).rpartition("/")[2]) if text else None
    if isinstance(before, BaseFileName) and before.instant != time:
        meaning = "Change queries of engines that follow the entry compare the file with that of another write."
        expected = f"prevCommit={before.instant}, that of the earlier base file"
        yield entry.finding("TL-005", "cosmetic", meaning, expected, f"prevCommit={time}")


def _size(entry: _Entry) -> Iterator[Finding]:
    """TL-005: a file with rows has a size."""
    if entry.stat.get("numWrites") and entry.stat.get("fileSizeInBytes") == 0:
        meaning = "A metadata table that is built from the entry lists the file as an empty one."
        yield entry.finding("TL-005", "cosmetic", meaning, "the size of the file in fileSizeInBytes", "0")


def _counts(entry: _Entry) -> Iterator[Finding]:
    """TL-005: the rows of a log file were inserted or updated; it has no copied ones, except that of a service."""
    rows, inserts, updates = (entry.stat.get(key) or 0 for key in ("numWrites", "numInserts", "numUpdateWrites"))
    if rows == inserts + updates or entry.table.commits[entry.instant].operation in SERVICES:
        return
    name = parse_data_file_name(str(entry.stat["path"]).rpartition("/")[2])
    if isinstance(name, LogFileName) and not name.cdc:
        found = f"{inserts} inserted and {updates} updated"
        yield entry.finding("TL-005", "cosmetic", _ONLY_STATISTICS, f"{rows} rows", found)


#: Counts and sizes of an entry; none can be negative.
_NUMBERS = (
    "numWrites", "numDeletes", "numInserts", "numUpdateWrites", "fileSizeInBytes", "totalWriteBytes", "totalWriteErrors",
    "totalLogRecords",
)  # fmt: skip


def _numbers(entry: _Entry) -> Iterator[Finding]:
    """TL-005: no count is negative, and event times are in order."""
    for key in _NUMBERS:
        if (entry.stat.get(key) or 0) < 0:
            yield entry.finding("TL-005", "cosmetic", _ONLY_STATISTICS, f"{key} of 0 or more", str(entry.stat[key]))
    first, last = entry.stat.get("minEventTime"), entry.stat.get("maxEventTime")
    if first is not None and last is not None and first > last:
        yield entry.finding("TL-005", "cosmetic", _ONLY_STATISTICS, f"minEventTime up to {last}, maxEventTime", str(first))


def _log_file(entry: _Entry) -> Iterator[Finding]:
    """TL-005: the entry of a log file has its version, it is among the log files of the slice, and so is the base file.

    The reference stores 1 as the version of every file, and writers append to a file from an offset before version 8 only.
    """
    stat = entry.stat
    text = str(stat["path"]).rpartition("/")[2]
    name = parse_data_file_name(text)
    if not isinstance(name, LogFileName) or name.cdc:
        return
    if (version := stat.get("logVersion")) not in (None, 1, name.version):
        yield entry.finding("TL-005", "cosmetic", _ONLY_STATISTICS, f"logVersion={name.version}", str(version))
    if (logs := stat.get("logFiles")) and text not in {one.rpartition("/")[2] for one in logs}:
        yield entry.finding("TL-005", "cosmetic", _ONLY_STATISTICS, f"{text} in logFiles", ", ".join(logs)[:300])
    base = str(stat.get("baseFile") or "").rpartition("/")[2]
    parsed = parse_data_file_name(base) if base else None
    if base and not (isinstance(parsed, BaseFileName) and parsed.file_id == name.file_id and parsed.instant <= name.instant):
        yield entry.finding("TL-005", "cosmetic", _ONLY_STATISTICS, f"a base file of group {name.file_id}", base)


def _slice(entry: _Entry) -> Iterator[Finding]:
    """TL-005: the log files of an entry are of its group, and its base file is the last one that was completed before.

    A write that began while a compaction was pending names the base file before that of the compaction.
    """
    table, name = entry.table, parse_data_file_name(str(entry.stat["path"]).rpartition("/")[2])
    if not isinstance(name, LogFileName) or name.cdc:
        return
    for other in entry.stat.get("logFiles") or ():
        parsed = parse_data_file_name(other.rpartition("/")[2])
        if not isinstance(parsed, LogFileName) or parsed.file_id != name.file_id:
            yield entry.finding("TL-005", "cosmetic", _ONLY_STATISTICS, f"log files of group {name.file_id}", other)
    base = parse_data_file_name(str(entry.stat.get("baseFile") or "").rpartition("/")[2])
    if not isinstance(base, BaseFileName) or table.properties.is_legacy:
        return
    known = (one for one in table.commits if base.instant < one.requested and (one.completion or "") < entry.instant.requested)
    stored = (split_path(path) for one in known for path in table.commits[one].paths)
    for folder, later in stored:
        parsed = parse_data_file_name(later)
        if folder == entry.partition and isinstance(parsed, BaseFileName) and parsed.file_id == name.file_id:
            yield entry.finding(
                "TL-005", "cosmetic", _ONLY_STATISTICS, f"baseFile={later}, the last one", entry.stat["baseFile"]
            )


def _offset(entry: _Entry) -> Iterator[Finding]:
    """TL-005: a log file is written as a whole from version 8 on, or from the end of what an earlier write stored in it."""
    offset, table = entry.stat.get("logOffset"), entry.table
    if not offset or table.properties.is_legacy or table.opened.had_version_6:
        return
    path = entry.stat["path"]
    ends = {stat.log_offset + stat.size for commit in table.commits.values() for stat in commit.stats if stat.path == path}
    if offset not in ends:
        yield entry.finding("TL-005", "cosmetic", _ONLY_STATISTICS, "logOffset=0, or the end of an earlier write", str(offset))


_OF_AN_ENTRY: tuple[Callable[[_Entry], Iterator[Finding]], ...] = (
    _place, _earlier_file, _size, _counts, _numbers, _log_file, _slice, _offset,
)  # fmt: skip


def _retained(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """CLN-005: a clean retains the write that was the last one when it was planned, and others before it."""
    for instant, content in table.contents.items():
        record: Mapping[str, Any] = content.record or {}
        if instant.action != "clean" or instant.state is not State.COMPLETED:
            continue
        first, last = (str(record.get(key) or "") for key in ("earliestCommitToRetain", "lastCompletedCommitTimestamp"))
        tally.looked("CLN-005")
        if first and last and first > last:
            yield Finding(
                "CLN-005", "cosmetic", table.path_of(instant),
                "The next clean and archiving take the changes up to this time for cleaned.",
                f"earliestCommitToRetain up to {last}, the last completed write", first, RESTORE, key="earliestCommitToRetain",
            )  # fmt: skip


CHECKS = (
    Check("statistics.entries", ("LAY-018", "TL-005"), "cheap", _entries),
    Check("statistics.retained", ("CLN-005",), "cheap", _retained),
)
