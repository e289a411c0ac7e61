"""Which actions may complete beside each other, spec "Concurrency Control > Writer Expectations > 3", "Streaming model".

A write is based on what had completed when it began. When it ends it looks, under the lock, at every action that completed
since: the concurrent set. Whether it may complete beside one of them says the matrix below, for each file group of both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from operator import itemgetter

from hudi_reference.errors import ConcurrentChange, MalformedMetadata
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.file_groups import GroupId, load_commit
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, arrow_schema, parse_schema, without_meta_columns
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline, completion_order
from hudi_reference.timeline.contents.metadata import CommitMetadata, WriteStat, commit_metadata_of, read_compaction_plan
from hudi_reference.timeline.history.archived import metadata_of
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS, State
from hudi_reference.write.concurrency.config import Mode


class WriteKind(IntEnum):
    """What an action does to a file group; of two things that it does, the greater one counts."""

    #: A write adds log files.
    APPENDS = 1
    #: A write stores a base file.
    REWRITES = 2
    #: An overwrite, or the deletion of a partition, puts an end to the group.
    REPLACES = 3
    #: A log compaction joins log files of the group.
    JOINS = 4
    #: A compaction merges log files of the group into a base file.
    COMPACTS = 5
    #: A clustering moves the rows of the group to others, or to it.
    CLUSTERS = 6


class Verdict(StrEnum):
    """What becomes of two actions that ran at once and touch one file group."""

    #: Both complete.
    BOTH = "both"
    #: The one that ends first completes, the other one aborts.
    FIRST = "first"
    #: Both complete under non-blocking control, else the first.
    NON_BLOCKING = "both, if non-blocking"
    #: Both complete, unless the writer is under optimistic control and did not know of the plan: then the first.
    STREAMING = "both, unless optimistic"


@dataclass(frozen=True)
class Cell:
    """A verdict, and why it is safe or needed."""

    verdict: Verdict
    because: str


_SLICED = Cell(Verdict.BOTH, "log files that complete after the plan belong to the slice that the compaction opens")
_PLACED = Cell(Verdict.BOTH, "joined blocks count at the place of their inputs")
_STALE = Cell(Verdict.FIRST, "the later base file does not hold what the other one wrote")
_GONE = Cell(Verdict.FIRST, "nobody reads a file group that was replaced")
_UNSEEN = Cell(Verdict.FIRST, "what replaces the group was made without this change")
_HIDDEN = Cell(Verdict.BOTH, "the group stays hidden, whatever is stored in it")
_TWICE = Cell(Verdict.FIRST, "the rows would be in the table twice, or not at all")
_MERGED = Cell(Verdict.NON_BLOCKING, "the merge says which of two records stays, whichever log file came first")
_PLANNED = Cell(Verdict.STREAMING, "slices keep them apart; the relational model aborts all the same (ER-119)")

#: This action, which is about to complete, and the one that completed meanwhile.
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

#: Operations of services -> what they do to every group that they name.
_SERVICES = {"COMPACT": WriteKind.COMPACTS, "LOG_COMPACT": WriteKind.JOINS, "CLUSTER": WriteKind.CLUSTERS}
#: Two groups are one if this says the same of them: of (partition, file id).
SameGroup = Callable[[GroupId], GroupId]


@implements("OCC-013")
def write_kinds(stats: Iterable[WriteStat], replaced: Mapping[str, Iterable[str]], operation: str) -> dict[GroupId, WriteKind]:
    """What an action does to which file groups: those that it writes to, and those that it replaces."""
    service, found = _SERVICES.get(operation), dict[GroupId, WriteKind]()
    for stat in stats:
        touch = service or (WriteKind.APPENDS if stat.is_log else WriteKind.REWRITES)
        identity = (stat.partition, stat.file_id)
        found[identity] = max(touch, found.get(identity, touch))
    for partition, file_ids in replaced.items():
        found |= {(partition, file_id): service or WriteKind.REPLACES for file_id in file_ids}
    return found


@dataclass(frozen=True)
class ConcurrentAction:
    """An action that another one may have to give way to. `schema` is what it says of the table's, as text."""

    instant: Instant
    write_kinds: Mapping[GroupId, WriteKind]
    schema: str | None = None
    #: What a write stored; services write no record anew.
    stats: tuple[WriteStat, ...] = ()


@implements("OCC-006")
def snapshot_time(seen: Timeline) -> str:
    """The greatest completion time that a write knows of when it begins: what it is based on; "" where there is none."""
    return max((instant.completion or instant.requested for instant in seen.completed), default="")


@implements("OCC-011", "OCC-012")
def completed_since(seen: Timeline, now: Timeline) -> list[Instant]:
    """The writes and services that completed later than anything in `seen`, in this order; `now` was read under the lock.

    An action may have been archived since: the history is asked where the active timeline begins elsewhere than it did.
    """
    snapshot = snapshot_time(seen)
    found = now.completed if now.start == seen.start else now.completed_between(snapshot)
    later = (instant for instant in found if (instant.completion or instant.requested) > snapshot)
    return sorted((instant for instant in later if instant.action in COMMITS), key=completion_order)


@implements("OCC-012", "OCC-015")
def concurrent(
    storage: Storage, properties: TableProperties, seen: Timeline, now: Timeline, *, plans: bool
) -> Iterator[ConcurrentAction]:
    """Whoever completed between two looks at the timeline, and with `plans` the compactions that are pending now.

    Raises MalformedMetadata where it cannot be read what one of them does: then nobody can say whether it is in the way.
    """
    active = set(now.completed)
    for instant in completed_since(seen, now):
        commit = load_commit(storage, properties, instant) if instant in active else _archived(now, instant, properties)
        written = () if commit.is_service else commit.stats
        yield ConcurrentAction(instant, write_kinds(commit.stats, commit.replaced, commit.operation), commit.schema, written)
    # ER-116: the text asks writers to abort beside a planned compaction, and elsewhere not to; only base files conflict.
    for plan in (pending for pending in now.pending if plans and pending.action == "compaction"):
        path = f"{properties.timeline_folder}/{Instant(plan.requested, plan.action, State.REQUESTED).file_name}"
        yield ConcurrentAction(plan, dict.fromkeys(read_compaction_plan(_plan(storage, path), path), WriteKind.COMPACTS))


def _plan(storage: Storage, path: str) -> bytes:
    try:
        return storage.get(path)
    except FileNotFoundError as error:
        raise MalformedMetadata("the plan of a pending action is missing", rule="TL-047", path=path) from error


def _archived(now: Timeline, instant: Instant, properties: TableProperties) -> CommitMetadata:
    """What an action did that is in the history already."""
    found = now.archived.actions(instant.requested, instant.requested, plan=False)
    action = next(action for action in found if action.instant.identity == instant.identity)
    record = metadata_of(action, properties.history_folder)
    if record is None:
        raise MalformedMetadata(
            "the history does not say what an action did", rule="LSM-020", path=properties.history_folder,
            found=instant.file_name,
        )  # fmt: skip
    return commit_metadata_of(record, properties.history_folder)


@dataclass(frozen=True)
class ConflictChecker:
    """What decides beside the matrix: the writer's mode, the timeline that it began with, when two file groups count as one."""

    mode: Mode | None
    seen: Timeline
    same: SameGroup = lambda identity: identity

    @implements("OCC-013", "OCC-014", "OCC-015", "OCC-016", "NBC-003", "NBC-004", "NBC-007")
    def conflict(self, mine: Mapping[GroupId, WriteKind], other: ConcurrentAction) -> tuple[GroupId, Cell] | None:
        """A file group that excludes this action beside the other one, and why; None if both may complete."""
        greatest_last = sorted(other.write_kinds.items(), key=itemgetter(1))
        theirs = {self.same(identity): touch for identity, touch in greatest_last}
        for identity, touch in sorted(mine.items()):
            if (done := theirs.get(self.same(identity))) is None:
                continue
            cell = MATRIX[touch, done]
            if not self._both(cell.verdict, other.instant):
                return identity, cell
        return None

    def _both(self, verdict: Verdict, other: Instant) -> bool:
        match verdict:
            case Verdict.NON_BLOCKING:
                return self.mode is Mode.NON_BLOCKING
            case Verdict.STREAMING:
                return self.mode is not Mode.OPTIMISTIC or other.identity in {known.identity for known in self.seen.instants}
            case _:
                return verdict is Verdict.BOTH

    def check(self, mine: Mapping[GroupId, WriteKind], other: ConcurrentAction) -> None:
        """Raises ConcurrentChange if the other action excludes this one."""
        if (found := self.conflict(mine, other)) is not None:
            (partition, file_id), cell = found
            planned = other.instant.state is not State.COMPLETED
            raise ConcurrentChange(
                "another action is to change the same file group" if planned
                else "another writer changed the same file group meanwhile",
                rule="OCC-015" if planned else "OCC-013", path=other.instant.file_name,
                expected=f"nobody else, for {cell.because}", found=f"file group {file_id} in partition {partition!r}",
                remedy="write again on the new state",
            )  # fmt: skip


def check_schema(mine: AvroSchema, other: ConcurrentAction) -> None:
    """Raises ConcurrentChange where another write has given the table columns that this one does not know: the table would have
    lost them once this one has completed.
    """
    if other.schema is None:
        return
    theirs = arrow_schema(without_meta_columns(parse_schema(other.schema, other.instant.file_name)))
    known = arrow_schema(without_meta_columns(mine))
    for field in theirs:
        if field.name not in known.names or known.field(field.name).type != field.type:
            raise ConcurrentChange(
                "another writer changed the table's schema meanwhile", rule="OCC-011", path=other.instant.file_name,
                expected="the schema that the write began with", found=f"{field.name}: {field.type}",
                remedy="write again on the new state",
            )  # fmt: skip
