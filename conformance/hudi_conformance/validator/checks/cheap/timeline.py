"""The instants of the active timeline: their names, states and times."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally, finding_of
from hudi_conformance.validator.stored.table import StateFile, StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.layout.names import LogFileName, split_path
from hudi_reference.timeline.contents.avro_container import Record
from hudi_reference.timeline.contents.metadata import SERVICES
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, EXTENSIONS, State
from hudi_reference.timeline.instants.version_6 import read_json_record

#: A name with the form of an instant, whatever its action.
_LIKE_AN_INSTANT = re.compile(r"(\d{14}|\d{17})(_(\d{14}|\d{17}))?\.[A-Za-z]+(\.requested|\.inflight)?", re.ASCII)
#: The beginning of a time: year, month, day and hour.
_HOUR = re.compile(r"\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])", re.ASCII)
RESTORE = "restore the file from another copy of the table"
_DAY = 86_400_000
_COUNTED_ONCE: tuple[Severity, str] = "cosmetic", "The action counts once."
_COUNTED_TWICE: tuple[Severity, str] = "wrong-answers", "Readers differ in which of the files they follow."
_MIXED_FILES: tuple[Severity, str] = "wrong-answers", "Files of the one count as files of the other."
_MIXED_ROLLBACKS: tuple[Severity, str] = "cosmetic", "A rollback of the one may take the files of the other for its own."
_WITHOUT_PLAN: tuple[Severity, str, str] = (
    "wrong-answers",
    "The plan is lost: the service can be neither executed nor told apart from other work, and readers may refuse.",
    RESTORE,
)
_WITHOUT_REQUEST: tuple[Severity, str, str] = (
    "cosmetic", "The write can still be rolled back, or complete.", "hudi-conformance service TABLE rollback --instant {}",
)  # fmt: skip


def _names(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Names of instants have times of the right length and number, and the completion is later than the request."""
    for file in table.state_files:
        tally.looked("TL-027", "TL-031", "TL-004")
        if file.error is not None:
            yield finding_of(file.error, "wrong-answers", "Readers refuse the table, or do not see the action.", rule="TL-031",
                             path=file.path)  # fmt: skip


def _actions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Only known actions are on the timeline."""
    folder = table.properties.timeline_folder
    for path in table.listing.files:
        parent, name = split_path(path)
        if parent != folder or not _LIKE_AN_INSTANT.fullmatch(name):
            continue
        tally.looked("TL-037")
        if name.partition(".")[2] not in EXTENSIONS:
            requested = re.split("[_.]", name, maxsplit=1)[0]
            has_files = any(file.name.instant == requested for file in table.data_files.values()) or _names_files(table, path)
            yield Finding(
                "TL-037", "data-lost" if has_files else "cosmetic", path,
                "No reader sees the action" + (", so that the rows of its files are missing." if has_files else "."),
                "an action of the format", name.partition(".")[2], "give the file its right name, or remove it",
            )  # fmt: skip


def _names_files(table: StoredTable, path: str) -> bool:
    """Whether the file has the metadata of a write; of version 6 the names of log files do not tell their write."""
    try:
        record = read_json_record(table.storage.get(path), path)
    except (HudiError, FileNotFoundError):
        return False
    return any((record.get("partitionToWriteStats") or {}).values())


def _states(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """An action was requested before it was begun. A completed action may lack both files: archiving deletes them first."""
    for instant, files in _by_action(table).items():
        states = {file.instant.state for file in files}
        tally.looked("TL-048")
        if State.COMPLETED in states or State.REQUESTED in states or not ACTIONS[files[-1].instant.action].has_requested:
            continue
        if table.properties.is_legacy and not ACTIONS[files[-1].instant.action].planned:
            continue
        planned = ACTIONS[files[-1].instant.action].planned
        severity, meaning, remedy = _WITHOUT_PLAN if planned else _WITHOUT_REQUEST
        yield Finding(
            "TL-048", severity, files[-1].path, meaning,
            f"{instant[0]}.{files[-1].instant.action}.requested", "only the inflight file", remedy.format(instant[0]),
        )  # fmt: skip


def _pairs(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """A completed action has the files of its earlier states until it is archived: archiving deletes them first."""
    archived = {instant.identity for instant in table.history.instants}
    for identity, files in _by_action(table).items():
        states = {file.instant.state for file in files}
        action = ACTIONS[files[-1].instant.action]
        if State.COMPLETED not in states or identity in archived or table.history.errors:
            continue
        tally.looked("TL-048")
        wanted = {State.REQUESTED, State.INFLIGHT} if action.has_requested else {State.INFLIGHT}
        for state in sorted(wanted - states):
            yield Finding(
                "TL-048", "cosmetic", files[-1].path, "The action counts; a restore that withdraws it lacks the file.",
                f"the {state.name.lower()} file of {identity[0]}", "no such file", "none is needed; archiving ignores it",
                key=f"{identity[0]} {state.name.lower()}",
            )  # fmt: skip


def _by_action(table: StoredTable) -> dict[tuple[str, str], list[StateFile]]:
    found: dict[tuple[str, str], list[StateFile]] = defaultdict(list)
    for file in table.state_files:
        found[file.instant.identity].append(file)
    return found


def _completed_once(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """An action has one completed file. Two executors of one plan may store two; they count once if they say the same."""
    for (requested, _), files in _by_action(table).items():
        done = [file for file in files if file.instant.state is State.COMPLETED]
        tally.looked("TL-052", at=bool(done))
        if len(done) > 1:
            records = [table.contents[file.instant].record for file in done]
            same = all(record == records[0] for record in records) or _are_of_a_plan(records)
            severity, meaning = _COUNTED_ONCE if same else _COUNTED_TWICE
            yield Finding(
                "TL-052", severity, done[-1].path, meaning,
                f"one completed file of {requested}", ", ".join(split_path(file.path)[1] for file in done),
                "remove the file that completed later",
            )  # fmt: skip


def _are_of_a_plan(records: Sequence[Record | None]) -> bool:
    """Whether all are results of one plan of a service, which have the same rows in files of other names."""
    return all(record is not None and record.get("operationType") in SERVICES for record in records)


def _one_action_for_a_time(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """No two actions share a requested time, except a savepoint and the write that it protects."""
    by_time: dict[str, list[Instant]] = defaultdict(list)
    for instant in table.timeline.instants:
        if instant.action != "savepoint":
            by_time[instant.requested].append(instant)
    for requested, instants in by_time.items():
        tally.looked("TL-034")
        if len(instants) > 1 and not table.is_metadata_table:
            writes = [instant for instant in instants if ACTIONS[instant.action].writes]
            severity, meaning = _MIXED_FILES if len(writes) > 1 else _MIXED_ROLLBACKS
            yield Finding(
                "TL-034", severity, table.path_of(instants[-1]), meaning,
                f"one action with the time {requested}", ", ".join(instant.file_name for instant in instants),
                "none that is safe for all; restore the timeline from another copy of the table",
            )  # fmt: skip


def _completion_times(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """No two writes completed at the same time, because the order of their changes would be open."""
    if table.properties.is_legacy or table.is_metadata_table:
        return
    by_time: dict[str, list[Instant]] = defaultdict(list)
    for instant in table.timeline.commits:
        by_time[instant.completion or instant.requested].append(instant)
    for completion, instants in by_time.items():
        tally.looked("TT-003")
        if len({instant.requested for instant in instants}) > 1:
            yield Finding(
                "TT-003", "cosmetic", table.path_of(instants[-1]), "These writes are ordered by their requested times.",
                "a completion time for each write", f"{completion} of {', '.join(instant.requested for instant in instants)}",
                "none is needed; check that the writers share a lock",
            )  # fmt: skip


def _future(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TT-005: no time is later than the clock of this machine by more than a day, the largest difference of time zones.

    If all times of the table are later, the clock of this machine is wrong, and nothing is known.
    """
    limit = _time_of(table.now + _DAY)
    instants = [one for one in table.timeline.instants if len(one.requested) == len(limit)]
    late = [one for one in instants if max(one.requested, one.completion or "") > limit]
    tally.looked("TT-005", at=len(instants))
    for instant in late if len(late) < len(instants) else ():
        yield Finding(
            "TT-005", "wrong-answers", table.path_of(instant),
            "Writers with right clocks store later changes under earlier times, so that queries order them wrongly.",
            f"times up to {limit}", max(instant.requested, instant.completion or ""),
            "restore the file of the action from another copy of the table, and check the clocks of the writers",
            key=instant.requested,
        )  # fmt: skip


#: The requested times of bootstraps of metadata alone, and of whole records.
_OF_BOOTSTRAPS = ("00000000000001", "00000000000002")


def _calendar(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-027: a time has a month, a day and an hour if the other times of the table do. A counter may have any digits.

    A bootstrap has one of two times of 14 digits, which are before all others.
    """
    times = [(one, time) for one in table.timeline.instants for time in (one.requested, one.completion) if time is not None]
    wrong = [(instant, time) for instant, time in times if not _HOUR.match(time) and time not in _OF_BOOTSTRAPS]
    tally.looked("TL-027", at=len(times))
    for instant, time in wrong if len(wrong) < len(times) else ():
        yield Finding(
            "TL-027", "cosmetic", table.path_of(instant),
            "The order of times counts; engines fail that read the time for a query, a clean by hours or archiving.",
            "a month up to 12, a day up to 31 and an hour up to 23, as in the other times", time,
            "restore the file of the action from another copy of the table", key=instant.requested,
        )  # fmt: skip


def _time_of(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{moment:%Y%m%d%H%M%S}{milliseconds % 1000:03}"


def _types(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Delta commits occur only in merge-on-read tables."""
    is_mor = table.entries.get("hoodie.table.type")
    meaning, expected, remedy = _OTHER_ACTION if _has_commits(table) else _OTHER_TYPE
    for instant in (*table.history.instants, *table.timeline.instants):
        tally.looked("TL-038", at=instant.action == "deltacommit")
        if instant.action == "deltacommit" and is_mor == "COPY_ON_WRITE":
            yield Finding(
                "TL-038", "wrong-answers", table.path_of(instant), meaning, expected, "hoodie.table.type=COPY_ON_WRITE", remedy
            )
    if is_mor == "COPY_ON_WRITE":
        yield from _log_files(table, tally)


_OTHER_TYPE = (
    "Readers of copy-on-write tables do not read log files.", "a merge-on-read table",
    "set hoodie.table.type=MERGE_ON_READ in hoodie.properties",
)  # fmt: skip
_OTHER_ACTION = (
    "Readers of copy-on-write tables do not look for deltacommits.", "commits, as the other writes of the table are",
    "restore the file from another copy of the table, or name it a commit if the write stored base files",
)  # fmt: skip


def _has_commits(table: StoredTable) -> bool:
    """Whether writes completed as commits, as those of copy-on-write tables do, and no log file of rows is there."""
    logs = (one for path in table.data_files if isinstance(one := table.name_of(path), LogFileName) and not one.cdc)
    written = any(commit.operation not in ("COMPACT", None) for i, commit in table.commits.items() if i.action == "commit")
    return written and next(logs, None) is None


def _log_files(table: StoredTable, tally: Tally) -> Iterator[Finding]:
    """TYP-002: the writes of a copy-on-write table store no log files but those of captured changes."""
    for instant, commit in table.commits.items():
        for stat in commit.stats:
            tally.looked("TYP-002")
            if isinstance(table.name_of(stat.path), LogFileName) and not stat.path.endswith(".cdc"):
                yield Finding(
                    "TYP-002", "wrong-answers", stat.path, "Readers of copy-on-write tables do not read the file.",
                    "base files alone, because the table is copy-on-write", f"a log file of {instant.file_name}",
                    "set hoodie.table.type=MERGE_ON_READ in hoodie.properties, and compact", key=stat.file_id,
                )  # fmt: skip


CHECKS = (
    Check("timeline.names", ("TL-004", "TL-027", "TL-028", "TL-031"), "cheap", _names),
    Check("timeline.actions", ("TL-037",), "cheap", _actions),
    Check("timeline.states", ("TL-048",), "cheap", _states),
    Check("timeline.pairs", ("TL-048",), "cheap", _pairs),
    Check("timeline.completed-once", ("TL-052",), "cheap", _completed_once),
    Check("timeline.one-action-for-a-time", ("TL-034",), "cheap", _one_action_for_a_time),
    Check("timeline.completion-times", ("TT-003",), "cheap", _completion_times),
    Check("timeline.future", ("TT-005",), "cheap", _future),
    Check("timeline.calendar", ("TL-027",), "cheap", _calendar, tables="data"),
    Check("timeline.table-type", ("TL-038", "TYP-002"), "cheap", _types),
)
