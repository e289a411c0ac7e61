"""What the services share: a plan is made and published under the lock of the table, and carried out from the plan alone."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

from hudi_reference.errors import MalformedMetadata, Misuse, UnsupportedTableFeature
from hudi_reference.layout.names import join_path, parse_data_file_name, split_path, tells_changes
from hudi_reference.locks import held, new_owner
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.maintained_indexes import check_indexes_maintained
from hudi_reference.storage import inside
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.actions import load_action, write_action
from hudi_reference.timeline.contents.metadata import groups_of_clustering
from hudi_reference.timeline.instant_generator import latest_time
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State
from hudi_reference.timeline.pending_rollbacks import check_not_rolled_back
from hudi_reference.timeline.transitions import no_check
from hudi_reference.write.commit import before_completion, transitions_of

Plan = Mapping[str, Any]
#: Publishes a plan for an action; the requested time.
Publish = Callable[[str, Plan], str]
#: Actions whose plans read file slices.
PLANNED = ("compaction", "logcompaction", "clustering")


@contextmanager
@implements("SVC-002", "SVC-004")
def planning(table: Table, owner: str | None = None) -> Iterator[Publish]:
    """The lock of the table for as long as the block lasts: what is planned in it takes every action before into account, and
    none comes in between the look at the timeline and the publication. `owner` is the name under which it is held.
    """
    transitions, owner = transitions_of(table), owner or new_owner("plan")

    def publish(action: str, plan: Plan) -> str:
        with transitions.times.drawn(latest_time(table.timeline), owner) as time:
            requested = Instant(time, action, State.REQUESTED)
            transitions.request(action, write_action(requested, plan, table.ids.sync_marker()), time, owner)
            return time

    with held(transitions.times.lock, owner):
        yield publish


def read_plan(table: Table, action: str, requested: str) -> Plan:
    """The plan of an action that was requested then. Raises MalformedMetadata if there is none."""
    return read_content(table, Instant(requested, action, State.REQUESTED))


def read_content(table: Table, instant: Instant) -> Plan:
    """The record in the file of an instant. Raises MalformedMetadata if there is none."""
    path = f"{table.properties.timeline_folder}/{instant.file_name}"
    try:
        record = load_action(table.storage, table.properties, instant)
    except FileNotFoundError as error:
        raise MalformedMetadata("the file of an action is missing", rule="TL-047", path=path) from error
    if record is None:
        raise MalformedMetadata("the file of an action is empty", rule="TL-047", path=path, expected="its plan")
    return record


def any_plan(_: Plan) -> None:
    """The check of actions whose plans are carried out as they are."""


@implements("SVC-001", "TL-029", "TL-047", "SVC-015")
def carry_out(
    table: Table,
    action: str,
    requested: str,
    work: Callable[[Plan], Plan],
    *,
    repeat_plan: bool = False,
    check_plan: Callable[[Plan], None] = any_plan,
    check: Callable[[Timeline], None] = no_check,
) -> str:
    """Start a planned action, or start it again; do the work that its plan says; complete it with the record that `work` gives.

    `check_plan` is asked before the action starts, and raises what speaks against its plan.

    The requested time. An action that somebody else has completed meanwhile is left as it is. `check` is asked under the lock
    before the completion, and raises what speaks against it. Raises Misuse if there is no such plan, UnsupportedTableFeature
    for a table with indexes that are not maintained here.
    """
    check_indexes_maintained(table)
    transitions = transitions_of(table)
    found = _planned(table, action, requested)
    if found.state is State.COMPLETED:
        return requested
    plan = read_plan(table, action, requested)
    check_plan(plan)
    content = write_action(Instant(requested, action, State.INFLIGHT), plan, table.ids.sync_marker()) if repeat_plan else b""
    inflight = transitions.start(found, content)
    record = work(plan)
    content = write_action(Instant(requested, action, State.COMPLETED), record, table.ids.sync_marker())

    def nobody_objects(timeline: Timeline) -> None:
        if ACTIONS[action].writes:
            check_not_rolled_back(table.storage, table.properties, timeline, requested)
        check(timeline)

    transitions.complete(inflight, content, nobody_objects, before_completion(table, inflight, content))
    return requested


def _planned(table: Table, action: str, requested: str) -> Instant:
    """The action with that plan, which may complete under another name. Raises Misuse."""
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
    """The file groups that pending plans of these actions read: other services leave them alone until these are carried out."""
    found: set[GroupId] = set()
    for pending in (instant for instant in timeline.pending if instant.action in actions):
        plan = read_plan(table, pending.action, pending.requested)
        if pending.action == "clustering":
            found.update(groups_of_clustering(plan))
        else:
            found |= {(operation["partitionPath"] or "", operation["fileId"]) for operation in plan["operations"] or ()}
    return frozenset(found)


def location(table: Table, path: str) -> str:
    """A file as deployed writers name it in plans: with the table's base path and scheme, and nothing escaped."""
    parts = urlsplit(table.uri)
    base = f"file:{unquote(parts.path)}" if parts.scheme == "file" else table.uri
    return f"{base.rstrip('/')}/{path}"


def path_in(partition: str, text: str) -> str:
    """The path below the base path of a file that a plan names. A table may have been moved since it was planned, so that only
    partition and name count. Raises PathOutsideTable.
    """
    return inside(join_path(inside(partition), text.rstrip("/").rpartition("/")[2]))


def planned_slice(record: Plan, base_instant: str | None = None) -> FileSlice:
    """A slice that a plan names, whoever made it; without `base_instant` that of its first file.

    Raises KeyError and its kin for a record of another shape, UnsupportedTableFeature, PathOutsideTable.
    """
    partition = record["partitionPath"] or ""
    if record.get("bootstrapFilePath"):
        raise UnsupportedTableFeature(
            "part of the slice's columns is not in its base file", rule="LAY-007", path=record["bootstrapFilePath"]
        )

    def name(path: str) -> str:
        return split_path(path_in(partition, path))[1]

    base = name(record["dataFilePath"]) if record["dataFilePath"] else None
    logs = tuple(found for found in map(name, record["deltaFilePaths"] or ()) if not tells_changes(found))
    if base_instant is None:
        first = parse_data_file_name(base or next(iter(logs), ""))
        base_instant = first.instant if first else ""
    return FileSlice(partition, record["fileId"], base_instant, base, logs)


def by_partition(paths: Iterable[str]) -> dict[str, list[str]]:
    """The names of files by their partition."""
    found: dict[str, list[str]] = {}
    for partition, name in map(split_path, paths):
        found.setdefault(partition, []).append(name)
    return found
