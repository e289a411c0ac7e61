"""The contents of the files of actions, compared with their names."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally, finding_of
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.layout.names import BaseFileName, LogFileName, split_path
from hudi_reference.query.damage_checks import faults_between_commits, faults_of_commit, instants_of_slices
from hudi_reference.schema.avro import parse_schema
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State

RESTORE = "restore the file from another copy of the table"
#: The consequence of an unreadable file, by action; of writes if completed.
_MEANING: Mapping[str, str] = {
    "clean": "Time travel is refused, and the next clean or archiving fails.",
    "rollback": "The rollback cannot be executed again, and archiving fails.",
    "restore": "The restore cannot be executed again.",
    "savepoint": "The files of the savepoint are not protected, and a restore to it fails.",
    "indexing": "The index cannot be built.",
    "compaction": "Readers cannot tell which log files belong to the planned slice.",
    "logcompaction": "The log compaction cannot be executed.",
    "clustering": "The clustering can be neither executed nor withdrawn; engines that read plans refuse the table.",
}
#: Time of an action in its completion metadata: the field that must have the requested time of the name.
_OWN_TIME = {"clean": "startCleanTime", "rollback": "startRollbackTime", "restore": "startRestoreTime"}
#: Operations that complete as each kind of commit; others are recorded as commit or deltacommit.
_REPLACING = ("INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE", "DELETE_PARTITION", "CLUSTER")


def _readable(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Each file has the record of its action and state."""
    for instant, content in table.contents.items():
        tally.looked("TL-002")
        if content.error is not None:
            meaning = _MEANING.get(instant.action, "Readers refuse the table, because they do not know the files of the write.")
            yield finding_of(content.error, _severity(instant), meaning, rule="TL-002", path=table.path_of(instant),
                             remedy=RESTORE)  # fmt: skip
    _ = table.commits
    for instant, error in table.unreadable_commits.items():
        yield finding_of(error, "wrong-answers", "Readers refuse the table.", rule="TL-007", path=table.path_of(instant))


def _severity(instant: Instant) -> Severity:
    """The profile of a write at work, and the copy of a plan, are not read by any query."""
    return "cosmetic" if instant.state is State.INFLIGHT or _is_profile(instant) else "wrong-answers"


def _is_profile(instant: Instant) -> bool:
    return instant.state is State.REQUESTED and not ACTIONS[instant.action].planned


def _own_files(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The metadata of a write names its own files, and files in the partitions and groups that it says.

    Before version 8 the name of a log file had the instant of its base file; `log-files.names` is about names of that kind in
    tables with consistent hashing (ER-163). They may have the instant of a plan that is later than the request of the write.
    """
    older_names = table.opened.had_version_6 or table.has_consistent_hashing
    commits = {**table.history.commits, **table.commits}
    plans = instants_of_slices(table.timeline, commits)
    for instant, commit in commits.items():
        for stat in commit.stats:
            folder, parsed = split_path(stat.path)[0], table.name_of(stat.path)
            tally.looked("BF-009", "LAY-018", at=bool(stat.path))
            path = table.place_of(instant)
            if not stat.path:
                continue
            if parsed is None:
                yield Finding("BF-003", "wrong-answers", path, "Readers refuse the table.", "the name of a data file",
                              repr(stat.path), RESTORE, key=stat.path)  # fmt: skip
            elif _is_foreign(parsed, instant, plans, may_be_older=bool(stat.log_offset or older_names)):
                yield Finding(
                    "BF-009", "wrong-answers", path, "The metadata is that of another action: it hides the own files.",
                    f"files of instant {instant.requested}", stat.path, RESTORE, key=stat.path,
                )  # fmt: skip
            elif folder != stat.partition or parsed.file_id != stat.file_id:
                yield Finding(
                    "LAY-018" if folder != stat.partition else "LAY-020", "wrong-answers", path,
                    "Readers look for the file in another partition or file group.",
                    f"{stat.path} in partition {folder!r} and group {parsed.file_id}",
                    f"partition {stat.partition!r} and group {stat.file_id}", RESTORE, key=stat.path,
                )  # fmt: skip


def _is_foreign(name: BaseFileName | LogFileName, instant: Instant, plans: set[str], *, may_be_older: bool) -> bool:
    """Whether a write cannot have written to the file. An older file is that of another one, to which it may append."""
    may_be_other = may_be_older if name.instant < instant.requested else name.instant in plans
    return name.instant != instant.requested and not (isinstance(name, LogFileName) and may_be_other)


def _fit_together(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """What readers refuse: metadata without files, one span of a file in two writes, a write that is based on a pending one."""
    is_legacy = table.properties.is_legacy
    alone = (
        faults_of_commit(commit, instant, table.path_of(instant), is_legacy=is_legacy)
        for instant, commit in table.commits.items()
    )
    together = faults_between_commits(table.commits, table.timeline, table.properties)
    tally.looked("TL-005", "TL-007", "TL-036", at=len(table.commits))
    for fault in (*chain.from_iterable(alone), *together):
        if fault.rule != "BF-009":  # `actions.own-files` reports the files of other actions
            yield finding_of(fault, "wrong-answers", "Readers refuse the table.", rule="TL-007", path=table.uri)


def _operations(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Writes that replace file groups are replacecommits. A replacecommit of an engine may replace nothing."""
    for instant, commit in table.commits.items():
        tally.looked("TL-039")
        replaces = commit.operation in _REPLACING or (commit.replaced and commit.operation != "UNKNOWN")
        if replaces and instant.action != "replacecommit":
            yield Finding(
                "TL-039", "wrong-answers", table.path_of(instant), "Readers do not leave out the file groups that it replaced.",
                "a replacecommit", f"a {instant.action} of the operation {commit.operation}", RESTORE,
            )  # fmt: skip


#: What Apache Hudi 1.0 to 1.2 knows; its readers fail on metadata with another text.
_OPERATIONS = frozenset({
    "INSERT", "INSERT_PREPPED", "UPSERT", "UPSERT_PREPPED", "BULK_INSERT", "BULK_INSERT_PREPPED", "DELETE", "DELETE_PREPPED",
    "BOOTSTRAP", "INDEX", "ALTER_SCHEMA", "BUCKET_RESCALE", "UNKNOWN", "COMPACT", "LOG_COMPACT", *_REPLACING,
})  # fmt: skip


def _known_operations(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-045 and TYP-011: an operation that engines know, which says that it compacts only if it is a compaction."""
    for instant, commit in table.commits.items():
        tally.looked("TL-045", "TYP-011")
        if commit.operation not in _OPERATIONS:
            yield Finding(
                "TL-045", "wrong-answers", table.path_of(instant), "Engines refuse the metadata.",
                ", ".join(sorted(_OPERATIONS)), repr(commit.operation), RESTORE, key="operationType",
            )  # fmt: skip
        elif not commit.record.get("operationType"):
            yield Finding(
                "TL-045", "cosmetic", table.path_of(instant), "Engines cannot tell a service from a write.",
                "the operation in operationType", "none", RESTORE, key="operationType",
            )  # fmt: skip
        elif commit.compacted and commit.operation not in ("COMPACT", "LOG_COMPACT", "UNKNOWN"):
            yield Finding(
                "TYP-011", "wrong-answers", table.path_of(instant),
                "Incremental queries of engines that follow the mark leave the changes of the write out.",
                f"compacted=false of the operation {commit.operation}", "compacted=true", RESTORE, key="compacted",
            )  # fmt: skip


#: The operation of a service: the actions as which it is requested and completes, and their rule.
_SERVICES: Mapping[str, tuple[str, str, str]] = {
    "COMPACT": ("compaction", "commit", "TL-044"),
    "CLUSTER": ("clustering", "replacecommit", "TL-043"),
    "LOG_COMPACT": ("logcompaction", "deltacommit", "TL-016"),
}


def _services(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-043, TL-044, TL-016: the metadata of a service is in the file of the action as which it completes."""
    for instant, commit in table.commits.items():
        if commit.operation not in _SERVICES:
            continue
        _, action, rule = _SERVICES[commit.operation]
        tally.looked(rule)
        if instant.action != action:
            yield Finding(
                rule, "wrong-answers", table.path_of(instant),
                "Incremental queries leave the changes of the write out, because they take it for a service.",
                f"a {action} of the operation {commit.operation}", f"a {instant.action}", RESTORE,
            )  # fmt: skip


def _planned_as(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-043, TL-044, TL-016: a service completes the action that was requested as that service, and no write does.

    Before version 8 a clustering was requested as a replacecommit.
    """
    if table.opened.had_version_6:
        return
    requested = {file.instant.requested: file for file in table.state_files if file.instant.state is State.REQUESTED}
    services = {action: (operation, rule) for operation, (action, _, rule) in _SERVICES.items()}
    for instant, commit in table.commits.items():
        file = requested.get(instant.requested)
        if file is None or commit.operation == "UNKNOWN":
            continue
        operation, rule = services.get(file.instant.action, (None, None))
        wanted, _, wanted_rule = _SERVICES.get(commit.operation, (None, None, None))
        tally.looked(*filter(None, {rule, wanted_rule}))
        if (operation or wanted) and operation != commit.operation:
            yield Finding(
                rule or wanted_rule or "", "wrong-answers", table.path_of(instant),
                "Incremental queries return rows that did not change, or leave changes out.",
                f"the operation {operation}" if operation else f"a {wanted} that was requested for {commit.operation}",
                f"{commit.operation}, requested as a {file.instant.action}", RESTORE,
            )  # fmt: skip


def _own_times(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Services record their own requested time."""
    for instant, content in table.contents.items():
        key = _OWN_TIME.get(instant.action)
        if key is None or instant.state is not State.COMPLETED or content.record is None:
            continue
        tally.looked("TL-034")
        found = str(content.record.get(key))
        if found != instant.requested:
            yield Finding(
                "TL-034", "cosmetic", table.path_of(instant), "The metadata is that of another action of this kind.",
                f"{key}={instant.requested}", found, RESTORE,
            )  # fmt: skip


def _schemas(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The schema in the metadata of a write is an Avro record schema. Every writer stores one with its files."""
    seen: dict[str, HudiError | None] = {}
    for instant, commit in table.commits.items():
        if commit.schema is None and commit.paths:
            yield Finding(
                "LF-038", "cosmetic", table.path_of(instant), "Readers take the schema of the write before it, or of a file.",
                "the schema in extraMetadata", "no schema", RESTORE,
            )  # fmt: skip
        if commit.schema is None:
            continue
        tally.looked("LF-038")
        if commit.schema not in seen:
            try:
                parse_schema(commit.schema, table.path_of(instant))
                seen[commit.schema] = None
            except HudiError as error:
                seen[commit.schema] = error
        wrong = seen[commit.schema]
        if wrong is not None:
            yield finding_of(wrong, "wrong-answers", "Readers do not know the columns of the table.", rule="LF-038",
                             path=table.path_of(instant))  # fmt: skip


def _plans(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The inflight file of a clean repeats the plan of its requested file; a plan never changes."""
    for instant, content in table.contents.items():
        if instant.action != "clean" or instant.state is not State.INFLIGHT or content.record is None:
            continue
        requested = table.contents.get(Instant(instant.requested, "clean", State.REQUESTED))
        tally.looked("TL-035")
        if requested is not None and requested.record is not None and _files(requested.record) != _files(content.record):
            yield Finding(
                "TL-035", "wrong-answers", table.path_of(instant), "Two executors of the plan delete different files.",
                "the plan of the requested file", "another plan", RESTORE,
            )  # fmt: skip


def _lost_plans(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-012: the requested file of a clustering has its plan. That of a replacecommit before version 8 may be empty."""
    for instant, content in table.contents.items():
        if instant.action != "clustering" or instant.state is not State.REQUESTED or table.opened.had_version_6:
            continue
        tally.looked("TL-012")
        if content.record is None and content.error is None:
            yield Finding("TL-012", "wrong-answers", table.path_of(instant), _MEANING["clustering"],
                          "a plan of the clustering", "an empty file", RESTORE)  # fmt: skip


def _files(plan: Mapping[str, Any]) -> Any:
    return plan.get("filePathsToBeDeletedPerPartition"), plan.get("filesToBeDeletedPerPartition")


CHECKS = (
    Check("actions.readable", ("TL-002", "TL-005", "TL-007", "TL-009", "TL-012", "TL-014", "TL-015", "TL-017", "TL-018",
                               "TL-020", "TL-022", "TL-024", "TL-026"), "cheap", _readable),
    Check("actions.own-files", ("BF-003", "BF-009", "LAY-018", "LAY-020"), "cheap", _own_files),
    Check("actions.fit-together", ("TL-002", "TL-005", "TL-007", "TL-036"), "cheap", _fit_together),
    Check("actions.operations", ("TL-039",), "cheap", _operations),
    Check("actions.known-operations", ("TL-045", "TYP-011"), "cheap", _known_operations),
    Check("actions.services", ("TL-016", "TL-043", "TL-044"), "cheap", _services),
    Check("actions.planned-as", ("TL-016", "TL-043", "TL-044"), "cheap", _planned_as),
    Check("actions.own-times", ("TL-034",), "cheap", _own_times),
    Check("actions.schemas", ("LF-038",), "cheap", _schemas),
    Check("actions.plans", ("TL-035",), "cheap", _plans),
    Check("actions.lost-plans", ("TL-012",), "cheap", _lost_plans),
)  # fmt: skip
