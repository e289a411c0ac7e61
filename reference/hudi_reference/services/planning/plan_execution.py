"""Planning and executing the actions of services, spec "Table Services".

A plan is made and published under the lock of the table. Its execution depends on the plan alone: after a crash any process
can execute it again, from the beginning, with the same result.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from hudi_reference.errors import MalformedMetadata, Misuse, UnsupportedTableFeature
from hudi_reference.layout.names import LogFileName, is_change_file, join_path, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.locks import hold_lock, new_owner
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.unsafe_plan import unsafe_plan
from hudi_reference.storage import require_inside_table
from hudi_reference.timeline.active import Timeline, instants_requested_at
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.contents.metadata import groups_of_clustering, groups_of_compaction
from hudi_reference.timeline.instant_generator import latest_time
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State
from hudi_reference.timeline.transitions import check_not_rolled_back
from hudi_reference.write.commit import before_completion, transitions_of
from hudi_reference.write.preconditions import check_indexes_maintained

Plan = Mapping[str, Any]
#: Publishes a plan for an action; the requested time.
Publish = Callable[[str, Plan], str]
#: Actions whose plans name file slices.
PLANNED = ("compaction", "logcompaction", "clustering")


@contextmanager
@implements("SVC-002", "SVC-004")
def hold_for_planning(table: Table, owner: str | None = None) -> Iterator[Publish]:
    """Hold the lock of the table while a plan is made and published: no action is published in between.

    `owner` is the name of the lock's holder. The block gets the function that publishes a plan.
    """
    transitions, owner = transitions_of(table), owner or new_owner("plan")

    def publish(action: str, plan: Plan) -> str:
        with transitions.times.drawn(latest_time(table.timeline), owner) as time:
            requested = Instant(time, action, State.REQUESTED)
            transitions.request(action, write_action(requested, plan, table.ids.sync_marker()), time, owner)
            return time

    with hold_lock(transitions.times.lock, owner):
        yield publish


def read_plan(table: Table, action: str, requested: str) -> Plan:
    """The plan of the action with that requested time. Raises MalformedMetadata if there is none."""
    return read_content(table, Instant(requested, action, State.REQUESTED))


@contextmanager
def fields_of_plan(action: str, requested: str) -> Iterator[None]:
    """In the block, a field that the plan lacks or has with a value of another type is an error. Raises MalformedMetadata.

    A plan is read with the schema in its file, which may be any.
    """
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise MalformedMetadata(
            "the plan lacks a field, or has a value of another type", rule="TL-047",
            path=Instant(requested, action, State.REQUESTED).file_name, found=f"{type(error).__name__}: {error}",
            remedy="restore the file from another copy of the table",
        ) from error  # fmt: skip


def rollback_target(table: Table, requested: str) -> tuple[str, str]:
    """The requested time and the action of the write that a pending rollback rolls back."""
    plan = read_plan(table, "rollback", requested)
    with fields_of_plan("rollback", requested):
        target = plan["instantToRollback"]
        return str(target["commitTime"]), str(target["action"])


def read_content(table: Table, instant: Instant) -> Plan:
    """The record in the file of an instant. Raises MalformedMetadata if there is none."""
    path = f"{table.properties.timeline_folder}/{instant.file_name}"
    try:
        record = read_action(table.storage.get(path), path, instant)
    except FileNotFoundError as error:
        raise MalformedMetadata("the file of an action is missing", rule="TL-047", path=path) from error
    if record is None:
        raise MalformedMetadata("the file of an action is empty", rule="TL-047", path=path, expected="its plan")
    return record


@dataclass
class PlanExecution(ABC):
    """One execution of the plan of an action that was requested at `requested`.

    A service defines `work`, and the checks that it needs. `carry_out` calls them in the order in which they are listed here.
    """

    table: Table
    requested: str
    #: The action, and whether its inflight file repeats the plan.
    action: ClassVar[str]
    repeats_plan: ClassVar[bool] = False

    def check_plan(self, plan: Plan) -> None:  # noqa: B027 - a service need not define it
        """Raise an error if the plan must not be executed. Nothing has changed yet."""

    @abstractmethod
    def work(self, plan: Plan) -> Plan:
        """Carry out the plan; the record of the completed action."""

    def check_completion(self, timeline: Timeline) -> None:  # noqa: B027 - a service need not define it
        """Raise an error if the action must not complete. The lock is held, and the timeline was loaded under it."""

    @implements("TL-029")
    def check(self, timeline: Timeline) -> None:
        """Raise WriteConflict if a write of this service is being rolled back; then check the completion."""
        if ACTIONS[self.action].writes:
            check_not_rolled_back(self.table.storage, self.table.properties, timeline, self.requested)
        self.check_completion(timeline)


@implements("SVC-006", "TL-029")
def execute_plans(
    table: Table,
    action: str,
    options: Mapping[str, str] | None,
    schedule: Callable[[Table, Mapping[str, str] | None], str | None],
    execute: Callable[[Table, str], str],
    resume: Callable[[Table, Instant], str | None] | None = None,
) -> str | None:
    """Execute the pending plans of an action, then plan and execute one more.

    Args:
        table: the table.
        action: the action of the service.
        options: the settings with which `schedule` is called.
        schedule: publishes a plan; its requested time, None if there is nothing to do.
        execute: executes the plan with a requested time.
        resume: executes a pending plan, or drops it and returns None; None is `execute`.

    Returns:
        The requested time of the last plan that was executed; None if there was none.
    """
    waiting = pending_of(table.timeline, action)
    done = [execute(table, plan.requested) if resume is None else resume(table, plan) for plan in waiting]
    requested = schedule(table, options)
    if requested is not None:
        done.append(execute(table, requested))
    return next((time for time in reversed(done) if time is not None), None)


@implements("SVC-001", "TL-029", "TL-047", "SVC-015")
def carry_out(execution: PlanExecution) -> str:
    """Start a planned action, or start it again; do the work of its plan; complete it with the record of that work.

    An action that another process has completed meanwhile is left as it is.

    Returns:
        The requested time of the action.

    Raises:
        Misuse: there is no such plan.
        UnsupportedTableFeature: the table has indexes that are not maintained here.
    """
    table, action, requested = execution.table, execution.action, execution.requested
    check_indexes_maintained(table)
    transitions = transitions_of(table)
    found = _find_planned(table, action, requested)
    if found.state is State.COMPLETED:
        return requested
    plan = checked_plan(execution)
    sync_marker = table.ids.sync_marker
    pending, done = (Instant(requested, action, state) for state in (State.INFLIGHT, State.COMPLETED))
    repeated = write_action(pending, plan, sync_marker()) if execution.repeats_plan else b""
    inflight = transitions.start(found, repeated)
    record = execution.work(plan)
    content = write_action(done, record, sync_marker())
    transitions.complete(inflight, content, execution.check, partial(before_completion, table, inflight, content))
    return requested


def checked_plan(execution: PlanExecution) -> Plan:
    """The plan of an execution that may begin. Changes nothing.

    Raises UnsafePlan for one that is refused, and WriteConflict for a write beside its rollback or a restore.
    """
    table, action, requested = execution.table, execution.action, execution.requested
    if ACTIONS[action].writes:
        check_not_rolled_back(table.storage, table.properties, table.timeline, requested)
    _check_own_time(table, action, requested)
    plan = read_plan(table, action, requested)
    execution.check_plan(plan)
    return plan


def files_by_instant(table: Table) -> Mapping[str, tuple[str, ...]]:
    """The paths of all data files by the instant in their names."""
    found: dict[str, list[str]] = {}
    for info in table.storage.list(skip=META_FOLDER):
        if (name := parse_data_file_name(split_path(info.path)[1])) is not None:
            found.setdefault(name.instant, []).append(info.path)
    return {instant: tuple(paths) for instant, paths in found.items()}


@implements("CMP-001", "TL-050")
def stored_by(action: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Of the paths of files with the instant of an action in their names, those that the action stores.

    A compaction stores base files. After an upgrade from version 6, log files with its time are those of writes (ER-085).
    """
    return tuple(path for path in paths if action != "compaction" or not _is_log(path))


@implements("TL-019", "TL-023")
def check_no_logs(table: Table, compaction: Instant) -> None:
    """Raises UnsupportedTableFeature if writes appended to the slice of a pending compaction as before version 8.

    Their log files have the time of the compaction, and belong to no slice without it (ER-085).
    """
    for path in files_by_instant(table).get(compaction.requested, ()):
        if _is_log(path):
            raise UnsupportedTableFeature(
                "other actions wrote log files of this compaction, as before table version 8", rule="TL-019", path=path,
                found=compaction.file_name, remedy="execute the compaction",
            )  # fmt: skip


def _is_log(path: str) -> bool:
    name = parse_data_file_name(split_path(path)[1])
    return isinstance(name, LogFileName) and not name.cdc


@implements("TL-034")
def shares_its_time(table: Table, action: str, requested: str) -> bool:
    """Whether a write has the requested time of another action, too: the files with that time in their names are those of the
    write.
    """
    own = Instant(requested, action, State.REQUESTED).identity
    others = instants_requested_at(table.storage, table.properties, requested)
    return any(other.identity != own and ACTIONS[other.action].writes for other in others)


def _check_own_time(table: Table, action: str, requested: str) -> None:
    """Raise UnsafePlan if a write has the requested time of the plan, too."""
    if shares_its_time(table, action, requested):
        raise unsafe_plan(
            table, action, requested, "the plan has the requested time of another action", rule="TL-034",
            expected="a requested time that no write has", found=requested,
        )  # fmt: skip


def _find_planned(table: Table, action: str, requested: str) -> Instant:
    """The action with that plan; a completed action may have another name. Raises Misuse."""
    plan = f"{table.properties.timeline_folder}/{Instant(requested, action, State.REQUESTED).file_name}"
    for found in table.timeline.instants:
        if (found.requested, found.action) == (requested, action):
            return found
        if (found.requested, found.action) == (requested, ACTIONS[action].completes_as) and table.storage.head(plan):
            return found
    raise Misuse(
        "no such plan on the active timeline", rule="TL-047", expected=f"the requested time of a {action}", found=requested
    )


def pending_of(timeline: Timeline, action: str) -> tuple[Instant, ...]:
    """The actions of that type that were requested and not completed, by requested time."""
    return tuple(found for found in timeline.pending if found.action == action)


@implements("CLN-002", "SVC-004", "SVC-008", "SVC-010")
def groups_in_plans(table: Table, timeline: Timeline, actions: Collection[str] = PLANNED) -> frozenset[GroupId]:
    """The file groups of pending plans of these actions; other services do not change them until the plans are executed."""
    found: set[GroupId] = set()
    for pending in (instant for instant in timeline.pending if instant.action in actions):
        plan = read_plan(table, pending.action, pending.requested)
        if pending.action == "clustering":
            found.update(groups_of_clustering(plan))
        else:
            requested = Instant(pending.requested, pending.action, State.REQUESTED)
            found.update(groups_of_compaction(plan, f"{table.properties.timeline_folder}/{requested.file_name}"))
    return frozenset(found)


@implements("CLN-002", "TL-019", "TL-023")
def rolls_back_completed_write(table: Table, timeline: Timeline) -> bool:
    """Whether a restore, or the rollback of a completed write, is pending: older slices will be the latest ones again."""
    if pending_of(timeline, "restore"):
        return True
    targets = {rollback_target(table, rollback.requested)[0] for rollback in pending_of(timeline, "rollback")}
    return any(commit.requested in targets for commit in timeline.commits)


def location_in_plan(table: Table, path: str) -> str:
    """The name of a file in plans, as deployed writers write it: with the table's base path and scheme, unescaped."""
    parts = urlsplit(table.uri)
    base = f"file:{unquote(parts.path)}" if parts.scheme == "file" else table.uri
    return f"{base.rstrip('/')}/{path}"


def path_in(partition: str, text: str) -> str:
    """The path below the base path of a file that a plan names. Raises PathOutsideTable.

    Only partition and name are used, because the table may have been moved since.
    """
    return require_inside_table(join_path(require_inside_table(partition), text.rstrip("/").rpartition("/")[2]))


def planned_slice(record: Plan, base_instant: str | None = None) -> FileSlice:
    """The slice that an operation of a plan names; without `base_instant` its instant is that of its first file.

    Raises KeyError and similar errors for a record of another form, UnsupportedTableFeature, PathOutsideTable.
    """
    partition = record["partitionPath"] or ""
    if record.get("bootstrapFilePath"):
        raise UnsupportedTableFeature(
            "some columns of the slice are stored outside of its base file", rule="LAY-007", path=record["bootstrapFilePath"]
        )
    base = split_path(path_in(partition, record["dataFilePath"]))[1] if record["dataFilePath"] else None
    names = [split_path(path_in(partition, path))[1] for path in record["deltaFilePaths"] or ()]
    # Readers order the log files of a slice by their names, whatever the order in the plan.
    logs = tuple(sorted((name for name in names if not is_change_file(name)), key=_merge_order))
    if base_instant is None:
        first = parse_data_file_name(base or next(iter(logs), ""))
        base_instant = first.instant if first else ""
    return FileSlice(partition, record["fileId"], base_instant, base, logs)


def _merge_order(name: str) -> tuple[str, int, str, bool]:
    parsed = parse_data_file_name(name)
    return parsed.merge_order if isinstance(parsed, LogFileName) else ("", 0, name, False)


def by_partition(paths: Iterable[str]) -> dict[str, list[str]]:
    """The names of files by their partition."""
    found: dict[str, list[str]] = {}
    for partition, name in map(split_path, paths):
        found.setdefault(partition, []).append(name)
    return found
