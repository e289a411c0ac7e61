"""Which concurrent actions may both complete, spec "Concurrency Control > Writer Expectations > 3", "Streaming model".

A write is based on the actions that had completed when it began. Before it completes it compares itself, under the lock, with
each action that has completed since: the concurrent set. For each file group that both wrote, the matrix below decides.

The update strategy of the settings concerns clusterings that are pending when the write begins:

    SparkRejectUpdateStrategy     the write is refused before it begins (the default). The same holds for
                                  SparkConsistentBucketDuplicateUpdateStrategy: no write here stores rows in both groups
    SparkAllowUpdateStrategy      the write begins. The first to complete wins: the clustering aborts because of the change, or
                                  the write aborts because its file group was replaced
    the same, and the setting     the plan is withdrawn, then the write begins
    to roll back on conflict

For plans that are made later the second line holds in any case.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from operator import itemgetter
from typing import Any

import pyarrow as pa

from hudi_reference.errors import ConcurrentChange, MalformedMetadata, Misuse, WriteConflict
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.file_system_view import load_commit
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, arrow_schema, parse_schema, without_meta_columns
from hudi_reference.settings import boolean_setting
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline, completion_order, is_still_pending
from hudi_reference.timeline.contents.actions import load_action
from hudi_reference.timeline.contents.metadata import (
    CommitMetadata,
    WriteStat,
    groups_of_clustering,
    groups_of_compaction,
)
from hudi_reference.timeline.history.archived import archived_commits
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS, State
from hudi_reference.write.concurrency.config import Mode


class WriteKind(IntEnum):
    """How an action changes a file group. If it does so in two ways, the greater one counts."""

    #: A write adds log files.
    APPENDS = 1
    #: A write stores a base file.
    REWRITES = 2
    #: An overwrite, or the deletion of a partition, replaces the group.
    REPLACES = 3
    #: A log compaction merges log files of the group into one log file.
    JOINS = 4
    #: A compaction merges log files of the group into a base file.
    COMPACTS = 5
    #: A clustering moves the rows of the group to new groups.
    CLUSTERS = 6


class Verdict(StrEnum):
    """The outcome of two concurrent actions that change one file group."""

    #: Both complete.
    BOTH = "both"
    #: The first one completes, the later one aborts.
    FIRST = "first"
    #: Both complete under non-blocking control, else the first.
    NON_BLOCKING = "both, if non-blocking"
    #: Both complete, unless the writer is under optimistic control and the plan was made after it began: then the first.
    STREAMING = "both, unless optimistic"


@dataclass(frozen=True)
class Cell:
    """A verdict and its reason."""

    verdict: Verdict
    because: str


_SLICED = Cell(Verdict.BOTH, "log files that complete after the plan belong to the slice that the compaction opens")
_PLACED = Cell(Verdict.BOTH, "compacted blocks take the place of their inputs in the merge order")
_STALE = Cell(Verdict.FIRST, "the later base file lacks the changes of the first action")
_GONE = Cell(Verdict.FIRST, "readers ignore a replaced file group")
_UNSEEN = Cell(Verdict.FIRST, "the groups that replace this one lack the change")
_HIDDEN = Cell(Verdict.BOTH, "the group stays replaced, and its files are ignored")
_TWICE = Cell(Verdict.FIRST, "the rows would be in the table twice, or be lost")
_MERGED = Cell(Verdict.NON_BLOCKING, "the merge decides which record stays, in any order of the log files")
_PLANNED = Cell(Verdict.STREAMING, "the files are in different slices; the relational model aborts nevertheless (ER-119)")

#: (kind of this action, which is about to complete; kind of the concurrent one) -> verdict.
MATRIX: Mapping[tuple[WriteKind, WriteKind], Cell] = {
    (this, other): cell
    for this, cells in {
        #               APPENDS  REWRITES REPLACES JOINS     COMPACTS  CLUSTERS
        WriteKind.APPENDS:  (_MERGED, _STALE, _GONE,   _PLANNED, _PLANNED, _GONE),
        WriteKind.REWRITES: (_STALE,  _STALE, _GONE,   _STALE,   _STALE,   _GONE),
        WriteKind.REPLACES: (_UNSEEN, _UNSEEN, _GONE,  _UNSEEN,  _UNSEEN,  _GONE),
        WriteKind.JOINS:    (_PLACED, _STALE, _HIDDEN, _TWICE,   _PLACED,  _HIDDEN),
        WriteKind.COMPACTS: (_SLICED, _STALE, _HIDDEN, _PLACED,  _TWICE,   _HIDDEN),
        WriteKind.CLUSTERS: (_UNSEEN, _UNSEEN, _GONE,  _UNSEEN,  _UNSEEN,  _TWICE),
    }.items()
    for other, cell in zip(WriteKind, cells, strict=True)
}  # fmt: skip

STRATEGY_KEY = "hoodie.clustering.updates.strategy"
WITHDRAW_KEY = "hoodie.clustering.rollback.pending.replacecommit.on.conflict"
REJECT, ALLOW = "SparkRejectUpdateStrategy", "SparkAllowUpdateStrategy"
#: Of tables whose buckets are ranges of hashes: it stores rows in the groups of a planned resizing, too.
DUPLICATE = "SparkConsistentBucketDuplicateUpdateStrategy"
#: Operation of a service -> how it changes every group that it names.
_SERVICES = {"COMPACT": WriteKind.COMPACTS, "LOG_COMPACT": WriteKind.JOINS, "CLUSTER": WriteKind.CLUSTERS}
#: Maps the identity of a file group to a value that is equal for groups that count as the same.
SameGroup = Callable[[GroupId], GroupId]


@implements("OCC-013")
def write_kinds(stats: Iterable[WriteStat], replaced: Mapping[str, Iterable[str]], operation: str) -> dict[GroupId, WriteKind]:
    """How an action changes each file group that it writes to or replaces."""
    service, found = _SERVICES.get(operation), dict[GroupId, WriteKind]()
    for stat in stats:
        kind = service or (WriteKind.APPENDS if stat.is_log else WriteKind.REWRITES)
        identity = (stat.partition, stat.file_id)
        found[identity] = max(kind, found.get(identity, kind))
    for partition, file_ids in replaced.items():
        found |= {(partition, file_id): service or WriteKind.REPLACES for file_id in file_ids}
    return found


@dataclass(frozen=True)
class ConcurrentAction:
    """An action of the concurrent set. `schema` is the table's schema in its metadata, as text."""

    instant: Instant
    kinds: Mapping[GroupId, WriteKind]
    schema: str | None = None
    #: The files that a write stored; empty for services, which write no new records.
    stats: tuple[WriteStat, ...] = ()


@implements("OCC-006", "OCC-011", "OCC-012")
def completed_since(base: Timeline, now: Timeline) -> list[Instant]:
    """The writes and services that completed after everything in `base`, in completion order; `now` was read under the lock.

    Actions may have been archived since: the history is read if the active timeline begins at another instant than in `base`.
    """
    # The greatest completion time that the write knew when it began.
    snapshot = max((instant.completion or instant.requested for instant in base.completed), default="")
    found = now.completed if now.start == base.start else now.completed_between(snapshot)
    later = (instant for instant in found if (instant.completion or instant.requested) > snapshot)
    return sorted((instant for instant in later if instant.action in COMMITS), key=completion_order)


@implements("OCC-012", "OCC-015")
def concurrent_actions(
    storage: Storage, properties: TableProperties, base: Timeline, now: Timeline, *, plans: bool
) -> Iterator[ConcurrentAction]:
    """The actions that completed between two loads of the timeline, and with `plans` the compactions that are pending now.

    Raises MalformedMetadata if the metadata of one cannot be read, because it might conflict.
    """
    active = set(now.completed)
    for instant in completed_since(base, now):
        commit = (
            load_commit(storage, properties, instant) if instant in active else _read_archived_commit(now, instant, properties)
        )
        written = () if commit.is_service else commit.stats
        yield ConcurrentAction(instant, write_kinds(commit.stats, commit.replaced, commit.operation), commit.schema, written)
    # ER-116: the text aborts writers beside a planned compaction in one section and not in another; here only base files
    # conflict.
    for pending in (instant for instant in now.pending if plans and instant.action == "compaction"):
        path, plan = _load_plan(storage, properties, pending)
        if plan is not None:
            yield ConcurrentAction(pending, dict.fromkeys(groups_of_compaction(plan, path), WriteKind.COMPACTS))


def _load_plan(storage: Storage, properties: TableProperties, pending: Instant) -> tuple[str, Mapping[str, Any] | None]:
    """The path of the plan of a pending action, and the plan; None if another process has withdrawn it meanwhile.

    Raises MalformedMetadata if the action is pending and has no plan.
    """
    requested = Instant(pending.requested, pending.action, State.REQUESTED)
    path = f"{properties.timeline_folder}/{requested.file_name}"
    try:
        return path, load_action(storage, properties, requested)
    except FileNotFoundError as error:
        if is_still_pending(storage, properties, requested):
            raise MalformedMetadata("the plan of a pending action is missing", rule="TL-047", path=path) from error
        return path, None


def _read_archived_commit(now: Timeline, instant: Instant, properties: TableProperties) -> CommitMetadata:
    """The metadata of an action that was archived."""
    commits = archived_commits(now.archived, instant.requested, instant.requested)
    found = next((commit for one, commit in commits.items() if one.identity == instant.identity), None)
    if found is None:
        raise MalformedMetadata(
            "the history lacks the metadata of an action", rule="LSM-020", path=properties.history_folder,
            found=instant.file_name,
        )  # fmt: skip
    return found


@dataclass(frozen=True)
class ConflictChecker:
    """Applies the matrix, with the writer's mode, its base timeline, and the function that identifies file groups."""

    mode: Mode | None
    base: Timeline
    same: SameGroup = lambda identity: identity

    @implements("OCC-013", "OCC-014", "OCC-015", "OCC-016", "NBC-003", "NBC-004", "NBC-007")
    def conflict(self, mine: Mapping[GroupId, WriteKind], other: ConcurrentAction) -> tuple[GroupId, Cell] | None:
        """A file group for which both actions must not complete, with the cell of the matrix; None if both may complete."""
        greatest_last = sorted(other.kinds.items(), key=itemgetter(1))
        theirs = {self.same(identity): kind for identity, kind in greatest_last}
        for identity, kind in sorted(mine.items()):
            if (done := theirs.get(self.same(identity))) is None:
                continue
            cell = MATRIX[kind, done]
            if not self._may_both_complete(cell.verdict, other.instant):
                return identity, cell
        return None

    def _may_both_complete(self, verdict: Verdict, other: Instant) -> bool:
        match verdict:
            case Verdict.NON_BLOCKING:
                return self.mode is Mode.NON_BLOCKING
            case Verdict.STREAMING:
                return self.mode is not Mode.OPTIMISTIC or other.identity in {known.identity for known in self.base.instants}
            case _:
                return verdict is Verdict.BOTH

    def check(self, mine: Mapping[GroupId, WriteKind], other: ConcurrentAction) -> None:
        """Raises ConcurrentChange if the other action conflicts with this one."""
        if (found := self.conflict(mine, other)) is not None:
            (partition, file_id), cell = found
            planned = other.instant.state is not State.COMPLETED
            raise ConcurrentChange(
                "a pending action is going to change the same file group" if planned
                else "a concurrent action changed the same file group",
                rule="OCC-015" if planned else "OCC-013", path=other.instant.file_name,
                expected=f"no concurrent change, because {cell.because}",
                found=f"file group {file_id} in partition {partition!r}",
                remedy="write again on the new state",
            )  # fmt: skip


def check_schema(mine: AvroSchema, requested: str, other: ConcurrentAction) -> None:
    """Raises ConcurrentChange if the table would lose columns when the write with this requested time completes.

    It would lose those that a concurrent action has and this write lacks. Deployed readers would also hide those of this write
    that an action with a later request lacks.

    Args:
        mine: the schema of this write.
        requested: the requested time of this write.
        other: an action that completed since this write read the table.
    """
    if other.schema is None:
        return
    theirs = arrow_schema(without_meta_columns(parse_schema(other.schema, other.instant.file_name)))
    known = arrow_schema(without_meta_columns(mine))
    changed = list(_changed(theirs, known))
    # ER-253: deployed readers take the schema of the later request, which would hide the columns of this write.
    if other.instant.requested > requested:
        changed += _changed(known, theirs)
    if changed:
        raise ConcurrentChange(
            "a concurrent action has another schema of the table", rule="OCC-011", path=other.instant.file_name,
            expected="the schema that the write began with", found=f"{changed[0].name}: {changed[0].type}",
            remedy="write again on the new state",
        )  # fmt: skip


def _changed(schema: pa.Schema, other: pa.Schema) -> Iterator[pa.Field]:
    """The columns of a schema that the other one lacks, or has with another type."""
    return (field for field in schema if field.name not in other.names or other.field(field.name).type != field.type)


@implements("SVC-009", "OCC-017")
def apply_update_strategy(table: Table, timeline: Timeline, changed: Iterable[FileSlice]) -> None:
    """Apply the update strategy of the settings to a write that changes these slices.

    Raises WriteConflict if it refuses the write, Misuse for an unknown strategy.
    """
    name = table.options.get(STRATEGY_KEY, REJECT).rpartition(".")[2]
    if name == DUPLICATE:
        name = REJECT  # no write here stores rows in two groups
    if name not in (REJECT, ALLOW):
        raise Misuse("no such update strategy", rule="SVC-009", path=STRATEGY_KEY, expected=f"{REJECT} or {ALLOW}", found=name)
    if not (planned := planned_clusterings(table.storage, table.properties, timeline)):
        return
    # ER-124: a write is refused if a clustering is planned, as deployed; the text does not specify this.
    planned_for = {group: planned[group] for found in changed if (group := (found.partition, found.file_id)) in planned}
    if planned_for and name == REJECT:
        (partition, file_id), requested = min(planned_for.items())
        raise WriteConflict(
            "a clustering is planned for a file group that the write changes", rule="SVC-009",
            path=f"{requested}.clustering.requested", expected="no pending plan, or another update strategy",
            found=f"file group {file_id} in partition {partition!r}",
            remedy=f"write when the clustering is completed, or set {STRATEGY_KEY}={ALLOW}",
        )  # fmt: skip
    withdraw = table.hooks.withdraw_clustering
    if boolean_setting(table.options, WITHDRAW_KEY) and withdraw is not None:
        for requested in sorted(set(planned_for.values())):
            withdraw(table, requested)


def planned_clusterings(storage: Storage, properties: TableProperties, timeline: Timeline) -> Mapping[GroupId, str]:
    """The requested time of the clustering that is pending for each file group.

    Raises MalformedMetadata if an action is pending and has no plan.
    """
    found: dict[GroupId, str] = {}
    for pending in timeline.pending:
        if pending.action == "clustering":
            _, plan = _load_plan(storage, properties, pending)
            found |= dict.fromkeys(groups_of_clustering(plan or {}), pending.requested)
    return found
