"""Entries of the metadata of an action that contradict each other: places, earlier files, sizes and counts of a write.

Every engine stores them in agreement, so that a contradiction is the trace of an edit, or of two writers of one entry.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.checks.writes.entries import RESTORE, Entry, entries_of
from hudi_conformance.validator.checks.writes.expected_values import unexpected_values
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name, split_path
from hudi_reference.query.file_groups import GroupId
from hudi_reference.timeline.contents.metadata import SERVICES
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State


def _entries(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The entries of the files of each completed write on the active timeline agree with themselves and with each other."""
    seen = set[tuple[Instant, str]]()
    for entry in entries_of(table):
        tally.looked("TL-005", "LAY-018")
        for check in _OF_AN_ENTRY:
            yield from check(entry)
        if (entry.instant, entry.path) in seen and not table.properties.is_legacy:
            yield _again(entry)
        seen.add((entry.instant, entry.path))


def _again(entry: Entry) -> Finding:
    """TL-005: a write names each file once. Before version 8 it names a log file once for each append."""
    meaning = "Engines that do not look for duplicates read the file twice."
    return entry.finding("one entry of the file", "a second entry", meaning=meaning)


def _place(entry: Entry) -> Iterator[Finding]:
    """LAY-018: an entry has the partition below which it is listed. Some engines follow the one, some the other."""
    found = entry.stat.get("partitionPath")
    if found is not None and found != entry.partition:
        meaning = "Engines that follow the entry look for the file in another partition."
        yield entry.finding(repr(entry.partition), repr(found), rule="LAY-018", severity="wrong-answers", meaning=meaning)


def _earlier_file(entry: Entry) -> Iterator[Finding]:
    """TL-005: the earlier base file of an entry is of the write that the entry names as the earlier one."""
    time, before = entry.stat.get("prevCommit"), entry.named("prevBaseFile")
    if isinstance(before, BaseFileName) and before.instant != time:
        yield entry.finding(
            f"prevCommit={before.instant}, that of the earlier base file", f"prevCommit={time}", meaning=_COMPARED
        )


_COMPARED = "Change queries of engines that follow the entry compare the file with that of another write."


def _last_base_file(entry: Entry) -> Iterator[Finding]:
    """TL-005: the earlier base file of an entry is the last one of its group that was completed before the write began."""
    table, name = entry.table, entry.name
    group = (entry.partition, "" if name is None else name.file_id)
    if (
        not isinstance(name, BaseFileName)
        or table.properties.is_legacy
        or group in table.once("replaced groups", _replaced(table))
    ):
        return
    found = str(entry.stat.get("prevBaseFile") or "").rpartition("/")[2]
    if not found and not entry.is_new:  # of a release that names only the instant of the earlier file
        return
    known = {one: instant.completion or "" for one, instant in _base_files_of(table, group).items()}
    last = max(((time, one) for one, time in known.items() if time < entry.instant.requested), default=("", ""))
    is_known = found in known if found else entry.commit.operation != "COMPACT"
    if is_known and known.get(found, "") < last[0]:
        yield entry.finding(f"prevBaseFile={last[1]}, the last one", found or "none", meaning=_COMPARED)


def _replaced(table: StoredTable) -> Callable[[], frozenset[GroupId]]:
    return lambda: frozenset(
        (partition, one) for commit in table.commits.values() for partition, ids in commit.replaced.items() for one in ids
    )


def _base_files_of(table: StoredTable, group: GroupId) -> Mapping[str, Instant]:
    """The base files of a file group that writes of the active timeline stored, with these writes."""
    found: Mapping[GroupId, Mapping[str, Instant]] = table.once("base files of groups", lambda: _base_files(table))
    return found.get(group, {})


def _base_files(table: StoredTable) -> Mapping[GroupId, Mapping[str, Instant]]:
    found: dict[GroupId, dict[str, Instant]] = {}
    for entry in entries_of(table):
        if entry.name is not None and entry.is_base_file:
            found.setdefault((entry.partition, entry.name.file_id), {})[entry.text] = entry.instant
    return found


def _size(entry: Entry) -> Iterator[Finding]:
    """TL-005: a file with rows has a size."""
    if entry.stat.get("numWrites") and not (size := entry.stat.get("fileSizeInBytes")):
        meaning = "A metadata table that is built from the entry lists the file as an empty one."
        yield entry.finding("the size of the file in fileSizeInBytes", size, meaning=meaning)


def _counts(entry: Entry) -> Iterator[Finding]:
    """TL-005: the rows of log files, and of the first base file of a group, were inserted or updated, unless by a service."""
    rows, inserts, updates = (entry.stat.get(key) or 0 for key in ("numWrites", "numInserts", "numUpdateWrites"))
    is_complete = entry.is_log_file or entry.is_new
    if is_complete and rows != inserts + updates and entry.commit.operation not in SERVICES:
        yield entry.finding(f"{rows} rows", f"{inserts} inserted and {updates} updated")


#: Counts and sizes of an entry; none can be negative.
_NUMBERS = (
    "numWrites", "numDeletes", "numInserts", "numUpdateWrites", "fileSizeInBytes", "totalWriteBytes", "totalWriteErrors",
    "totalLogRecords",
)  # fmt: skip


def _numbers(entry: Entry) -> Iterator[Finding]:
    """TL-005: no count is negative, and event times are in order."""
    for key in _NUMBERS:
        if (entry.stat.get(key) or 0) < 0:
            yield entry.finding(f"{key} of 0 or more", entry.stat[key])
    first, last = entry.stat.get("minEventTime"), entry.stat.get("maxEventTime")
    if first is not None and last is not None and first > last:
        yield entry.finding(f"minEventTime up to {last}, maxEventTime", first)


def _log_file(entry: Entry) -> Iterator[Finding]:
    """TL-005: the entry of a log file has its version, it is the last of the log files of the slice, and so is the base file.

    The reference stores 1 as the version of every file, and writers append to a file from an offset before version 8 only.
    Entries that an upgrade rewrote have neither version nor offset nor log files.
    """
    stat, name = entry.stat, entry.name
    if not isinstance(name, LogFileName):
        return
    if (version := stat.get("logVersion")) not in (None, 1, name.version):
        yield entry.finding(f"logVersion={name.version}", version)
    if not entry.table.opened.had_version_6:
        lacking = [key for key in ("logVersion", "logOffset", "logFiles") if stat.get(key) in (None, [])]
        if lacking:
            yield entry.finding(f"a value of {lacking[0]}", "none")
    logs = [one.rpartition("/")[2] for one in stat.get("logFiles") or ()]
    if logs and (logs[-1] != entry.text or len(set(logs)) < len(logs)):
        yield entry.finding(f"{entry.text} as the last of logFiles, and each once", ", ".join(logs))
    base, text = entry.named("baseFile"), stat.get("baseFile")
    if text and not (isinstance(base, BaseFileName) and base.file_id == name.file_id and base.instant <= name.instant):
        yield entry.finding(f"a base file of group {name.file_id}", text)


def _captured(entry: Entry) -> Iterator[Finding]:
    """TL-005: the files with captured changes of an entry are of its group and write, with their sizes."""
    for path, size in (entry.stat.get("cdcStats") or {}).items():
        folder, text = split_path(path)
        parsed = parse_data_file_name(text)
        is_own = isinstance(parsed, LogFileName) and entry.name is not None and parsed.file_id == entry.name.file_id
        if not is_own or parsed is None or parsed.instant != entry.instant.requested or folder != entry.partition:
            yield entry.finding("a file with the changes of this group and write", path)
        elif (info := entry.table.listing.files.get(path)) is not None and info.size != size:
            yield entry.finding(f"{info.size} bytes of {text}", size)


def _slice(entry: Entry) -> Iterator[Finding]:
    """TL-005: the log files of an entry are of its group, and its base file is the last one that was completed before.

    A write that began while a compaction was pending names the base file before that of the compaction.
    """
    table, name = entry.table, entry.name
    if not isinstance(name, LogFileName):
        return
    for other in entry.stat.get("logFiles") or ():
        parsed = parse_data_file_name(other.rpartition("/")[2])
        if not isinstance(parsed, LogFileName) or parsed.file_id != name.file_id:
            yield entry.finding(f"log files of group {name.file_id}", other)
    base = entry.named("baseFile")
    if not isinstance(base, BaseFileName) or table.properties.is_legacy:
        return
    for later, write in _base_files_of(table, (entry.partition, name.file_id)).items():
        if base.instant < write.requested and (write.completion or "") < entry.instant.requested:
            yield entry.finding(f"baseFile={later}, the last one", entry.stat["baseFile"])


def _offset(entry: Entry) -> Iterator[Finding]:
    """TL-005: a log file is written as a whole from version 8 on, or from the end of what an earlier write stored in it."""
    offset, table = entry.stat.get("logOffset"), entry.table
    if not offset or table.properties.is_legacy or table.opened.had_version_6:
        return
    path = entry.stat["path"]
    ends = {stat.log_offset + stat.size for commit in table.commits.values() for stat in commit.stats if stat.path == path}
    if offset not in ends:
        yield entry.finding("logOffset=0, or the end of an earlier write", offset)


_OF_AN_ENTRY: tuple[Callable[[Entry], Iterator[Finding]], ...] = (
    _place, _earlier_file, _last_base_file, _size, _counts, _numbers, _log_file, _captured, _slice, _offset,
    unexpected_values,
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
