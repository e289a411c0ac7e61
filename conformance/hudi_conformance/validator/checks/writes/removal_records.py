"""The records of cleans, rollbacks, restores and savepoints agree with themselves, with their plans, and with the timeline.

Every engine stores them in agreement. What contradicts itself was edited, or is that of another action.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally
from hudi_conformance.validator.checks.writes.removal_plans import RESTORE
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_reference.timeline.contents.metadata import SERVICES
from hudi_reference.timeline.instants.states import ACTIONS, State

Record = Mapping[str, Any]
#: What is expected and what was found instead.
_Fault = tuple[str, str]

_RULES = {"clean": "TL-014", "rollback": "TL-020", "restore": "TL-024", "savepoint": "TL-022"}
_POLICIES = ("KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS", "KEEP_LATEST_BY_HOURS")
_RESTORED: tuple[Severity, str] = "cosmetic", "The restore went back to another state."
_RESTORING: tuple[Severity, str] = "wrong-answers", "The restore cannot be executed, and blocks writers."
_UNREAD = "No query reads the entry; a validation, a restore or a metadata table that follows it takes other files for deleted."


def _records(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-014, TL-020, TL-022, TL-024: the entries of a completed action agree with each other and with its plan."""
    for instant in table.timeline.completed:
        record = table.contents[instant].record
        if instant.action not in _RULES or record is None:
            continue
        tally.looked(_RULES[instant.action])
        plan = table.plan_of(instant)
        for expected, found in _FAULTS[instant.action](record, plan or {}):
            yield Finding(_RULES[instant.action], "cosmetic", table.path_of(instant), _UNREAD, expected[:300], found[:300],
                          RESTORE, key=instant.requested)  # fmt: skip


def _partitions(record: Record) -> Mapping[str, Record]:
    """The entries by partition; a damaged record may have none in a place."""
    return {partition: entry or {} for partition, entry in (record.get("partitionMetadata") or {}).items()}


def _times(found: Any) -> list[str]:
    """The requested times of a list of instants with their actions."""
    return [str((one or {}).get("commitTime")) for one in found or ()]


def _of_partitions(record: Record, plan: Record) -> Iterator[_Fault]:
    """The entry of a partition names the partition below which it is listed."""
    for partition, entry in _partitions(record).items():
        if entry.get("partitionPath") != partition:
            yield f"partitionPath={partition!r}, below which it is listed", repr(entry.get("partitionPath"))


def _of_deletions(record: Record, plan: Record) -> Iterator[_Fault]:
    """The number of deleted files is that of their names, and none was deleted and kept."""
    yield from _of_partitions(record, plan)
    entries = list(_partitions(record).values())
    deleted = sum(len(entry.get("successDeleteFiles") or ()) for entry in entries)
    if record.get("totalFilesDeleted") != deleted:
        yield f"totalFilesDeleted={deleted}, the number of names in successDeleteFiles", str(record.get("totalFilesDeleted"))
    for entry in entries:
        if both := set(entry.get("successDeleteFiles") or ()) & set(entry.get("failedDeleteFiles") or ()):
            yield f"{min(both)} either deleted or not", "in successDeleteFiles and in failedDeleteFiles"


def _of_a_clean(record: Record, plan: Record) -> Iterator[_Fault]:
    yield from _of_deletions(record, plan)
    entries = _partitions(record)
    for entry in entries.values():
        if entry.get("policy") not in _POLICIES:
            yield f"one of the policies {', '.join(_POLICIES)}", repr(entry.get("policy"))
    planned = plan.get("partitionsToBeDeleted")
    deleted = sorted(partition for partition, entry in entries.items() if entry.get("isPartitionDeleted"))
    if planned is not None and sorted(planned) != deleted:
        yield f"deleted partitions: {_listed(planned)}, those of the plan", _listed(deleted)


def _of_a_rollback(record: Record, plan: Record) -> Iterator[_Fault]:
    yield from _of_deletions(record, plan)
    actions = {str(one.get("commitTime")): one.get("action") for one in record.get("instantsRollback") or () if one}
    if actions and sorted(actions) != sorted(record.get("commitsRollback") or ()):
        yield f"instantsRollback: {_listed(record.get('commitsRollback') or ())}, as commitsRollback", _listed(actions)
    planned = plan.get("instantToRollback") or {}
    if planned and planned.get("commitTime") not in (record.get("commitsRollback") or ()):
        yield f"a rollback of {planned.get('commitTime')}, as planned", _listed(record.get("commitsRollback") or ())
    action = actions.get(str(planned.get("commitTime")), planned.get("action"))
    if action != planned.get("action"):
        yield f"the action {planned.get('action')} of the plan", str(action)


def _of_a_restore(record: Record, plan: Record) -> Iterator[_Fault]:
    """A restore says the same instants four times: in its plan, in two lists, and with what was deleted."""
    restored = record.get("hoodieRestoreMetadata") or {}
    said = {
        "instantsToRollback": record.get("instantsToRollback") or (),
        "restoreInstantInfo": _times(record.get("restoreInstantInfo")),
        "the plan": _times(plan.get("instantsToRollback")) if plan else restored,
    }
    for name, instants in said.items():
        if set(instants) != set(restored):
            yield f"{name}: {_listed(restored)}, as hoodieRestoreMetadata", _listed(instants)
    for requested, rollbacks in restored.items():
        for rollback in (one or {} for one in rollbacks or ()):
            yield from _of_deletions(rollback, {})
            if requested not in (rollback.get("commitsRollback") or ()):
                yield f"a rollback of {requested}, under which it is listed", _listed(rollback.get("commitsRollback") or ())


def _listed(found: Any) -> str:
    return ", ".join(sorted(map(str, found))) or "none"


_FAULTS: Mapping[str, Callable[[Record, Record], Iterator[_Fault]]] = {
    "clean": _of_a_clean, "rollback": _of_a_rollback, "restore": _of_a_restore, "savepoint": _of_partitions,
}  # fmt: skip


def _savepoint_targets(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-024: a restore goes back to a completed write. It stays, and may have been archived since."""
    completed = {one.requested for one in (*table.timeline.completed, *table.history.instants)}
    for instant in table.timeline.instants:
        plan = table.plan_of(instant) if instant.action == "restore" else None
        target = None if plan is None else plan.get("savepointToRestoreTimestamp")
        if not target or table.history.errors:
            continue
        tally.looked("TL-024")
        if target not in completed:
            severity, meaning = _RESTORED if instant.state is State.COMPLETED else _RESTORING
            yield Finding(
                "TL-024", severity, table.path_of(instant), meaning,
                "savepointToRestoreTimestamp of a completed write", str(target), RESTORE, key="savepointToRestoreTimestamp",
            )  # fmt: skip


def _of_the_restored_state(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-024: a pending restore rolls back no write of the state to which it goes back."""
    done = {one.requested: one.completion or one.requested for one in (*table.timeline.completed, *table.history.instants)}
    for instant in table.timeline.pending:
        plan: Record = (table.plan_of(instant) if instant.action == "restore" else None) or {}
        target = str(plan.get("savepointToRestoreTimestamp"))
        tally.looked("TL-024", at=target in done)
        if target not in done:
            continue  # another check reports it
        kept = [one for one in _times(plan.get("instantsToRollback")) if one <= target and done.get(one, "9") <= done[target]]
        if kept:
            yield Finding(
                "TL-024", "wrong-answers", table.path_of(instant), "The restore removes rows that it is to bring back.",
                f"writes after {target} in instantsToRollback", ", ".join(kept),
                f"remove the pending files of the restore {instant.requested} before a writer executes it",
                key=instant.requested,
            )  # fmt: skip


def _files_that_are_there(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-019 and TL-023: what a rollback or a restore says that it deleted is no file of a completed write.

    A service that is executed again after a rollback may store a file with the name of the deleted one. So may a write of
    version 6 a log file, whose name has no time of its own.
    """
    latest = {
        one.path(name): one for one in table.owned.latest_slices for name in (one.base_file, *one.log_files) if name is not None
    }
    services = {one.requested for one, commit in table.owned.commits.items() if commit.operation in SERVICES}
    for path, instant in table.removals.rolled_back.items():
        rule = "TL-019" if instant.action == "rollback" else "TL-023"
        tally.looked(rule)
        name = parse_data_file_name(path.rpartition("/")[2])
        if path not in latest or path not in table.listing.files or name is None or name.instant in services:
            continue
        if isinstance(name, LogFileName) and table.opened.had_version_6:
            continue
        yield Finding(
            rule, "wrong-answers", path,
            "Queries read the file, while a metadata table that follows the action leaves it out, with its rows.",
            f"a {instant.action} that names no file of the latest state", f"{instant.file_name} says that it deleted the file",
            f"restore {instant.file_name} from another copy of the table; keep the data file",
        )  # fmt: skip


def _still_pending(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-019: a rollback removes the instant of the write from the timeline. A service keeps its plan."""
    for instant in table.timeline.pending:
        by = table.removals.targets.get(instant.requested)
        if ACTIONS[instant.action].planned or table.properties.is_legacy:
            continue
        tally.looked("TL-019")
        if by is not None and by.state is State.COMPLETED:
            yield Finding(
                "TL-019", "cosmetic", table.path_of(instant), "The write is rolled back a second time.",
                f"no instant {instant.requested}, which {by.file_name} rolled back", f"a pending {instant.action}",
                f"hudi-conformance service TABLE rollback --instant {instant.requested}",
            )  # fmt: skip


def _later_files(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-021: a savepoint names base files that its write, or one before it, had stored."""
    for instant in table.timeline.completed:
        record = table.contents[instant].record
        if instant.action != "savepoint" or record is None:
            continue
        tally.looked("TL-021")
        for entry in _partitions(record).values():
            for file in entry.get("savepointDataFile") or ():
                name = parse_data_file_name(file.rpartition("/")[2])
                if isinstance(name, BaseFileName) and name.instant > instant.requested:
                    yield Finding(
                        "TL-021", "cosmetic", table.path_of(instant), "Cleans keep a file that no restore needs.",
                        f"base files up to {instant.requested}", file, RESTORE, key=file,
                    )  # fmt: skip


CHECKS = (
    Check("removal-records.entries", tuple(_RULES.values()), "cheap", _records),
    Check("removal-records.restored-to", ("TL-024",), "cheap", _savepoint_targets, tables="data"),
    Check("removal-records.restored-state", ("TL-024",), "cheap", _of_the_restored_state, tables="data"),
    Check("removal-records.files", ("TL-019", "TL-023"), "cheap", _files_that_are_there, tables="data"),
    Check("removal-records.still-pending", ("TL-019",), "cheap", _still_pending),
    Check("removal-records.later-files", ("TL-021",), "cheap", _later_files, tables="data"),
)
