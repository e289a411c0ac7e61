"""One write as an action on the timeline: requested, inflight, data files, completed, spec "Writer Expectations".

Only the last step makes anything visible, and it is the creation of one object.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property

from hudi_reference.clock import Clock
from hudi_reference.errors import HeartbeatLost, StorageFault, WriteConflict
from hudi_reference.ids import Ids
from hudi_reference.layout.names import join_path
from hudi_reference.layout.partitions import mark_partition
from hudi_reference.layout.properties import TableProperties
from hudi_reference.locks import Lock
from hudi_reference.query.file_groups import GroupId
from hudi_reference.query.table import Table
from hudi_reference.records.keys.bucket_hash import bucket_prefix
from hudi_reference.records.mergers.merger import RecordMerger
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline, load_timeline
from hudi_reference.timeline.contents.metadata import REPLACING, Replaced, WriteStat, write_commit_metadata, write_no_plan
from hudi_reference.timeline.instant_generator import Times
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.pending_rollbacks import check_no_restore, check_not_undone, check_still_there
from hudi_reference.timeline.transitions import Transitions, unannounced
from hudi_reference.write.concurrency.config import Concurrency, Mode, Policy
from hudi_reference.write.concurrency.conflict_resolution import Standing, Touch, check_schema, concurrent, touches
from hudi_reference.write.concurrency.heartbeats import Heartbeats, path_of
from hudi_reference.write.concurrency.key_conflicts import check_keys, keys_written
from hudi_reference.write.concurrency.markers import check_unmarked, mark_file, remove_markers


@dataclass
class Commit:
    """A write that has begun. Whoever holds it adds data files, then completes it."""

    storage: Storage
    properties: TableProperties
    clock: Clock
    ids: Ids
    operation: str
    requested: str
    action: str
    #: The timeline that the write is based on.
    seen: Timeline
    stats: list[WriteStat] = field(default_factory=list)
    #: What a replacecommit replaces; None for other writes.
    replaced: Replaced | None = None
    #: Settings of the writer by Hudi's names.
    options: Mapping[str, str] = field(default_factory=dict)
    #: The lock of the table; None is the one that the options name.
    lock: Lock | None = None
    #: What the table's mergers are, for the services that follow.
    mergers: Sequence[RecordMerger] = ()
    #: When the heart of the writer has beaten last, by its own clock.
    beaten: int = 0

    @cached_property
    def concurrency(self) -> Concurrency:
        """How the writer gets along with others."""
        return Concurrency.of(self.options)

    @property
    def table(self) -> Table:
        """The table that is written: with its lock, and with what merges its records."""
        return Table(self.storage, self.clock, self.ids, self.properties, options=self.options, lock=self.lock,
                     mergers=self.mergers)  # fmt: skip

    @property
    def heartbeats(self) -> Heartbeats:
        """Where writers show that they are alive."""
        return Heartbeats.of(self.storage, self.clock, self.concurrency)

    @property
    def transitions(self) -> Transitions:
        """What moves the actions of the table."""
        return Transitions.of(self.storage, self.properties, self.clock, self.options, self.lock)

    @implements("OCC-007", "TL-034", "TL-036", "LAY-018", "LAY-024")
    def add_file(self, name: str, data: bytes, stat: WriteStat, *, beside: bool = False) -> None:
        """Store a data file in its partition, after its marker, and remember what it holds.

        A file that lies `beside` a data file, as those of change capture do, is remembered with that one.
        """
        self._beat()
        mark_partition(self.storage, stat.partition, self.requested)
        self._look_at_markers(stat)
        mark_file(self.storage, self.requested, name, stat)
        self.storage.create(join_path(stat.partition, name), data)
        if not beside:
            self.stats.append(stat)

    def _beat(self) -> None:
        """Go on showing that the writer is alive, once it is time."""
        if self.beaten and self.clock.now() - self.beaten >= self.concurrency.interval:
            self.beaten = self.heartbeats.beat(self.requested)

    @implements("OCC-026")
    def _look_at_markers(self, stat: WriteStat) -> None:
        """Give up early where somebody else is changing the file group, if the settings say so."""
        if self.concurrency.early:
            with self._dying_of_conflicts():
                check_unmarked(self.heartbeats, self.requested, stat)

    @contextmanager
    @implements("OCC-019")
    def _dying_of_conflicts(self) -> Iterator[None]:
        """A writer that has lost stops its heart: what it leaves may be rolled back at once."""
        try:
            yield
        except WriteConflict:
            if self.beaten:
                self.heartbeats.stop(self.requested)
            raise

    @implements("TL-036", "OCC-004", "OCC-023", "S3-006")
    def complete(self, schema: AvroSchema) -> str:
        """Publish the completed instant; its requested time. Raises WriteConflict, and then nothing of the write is visible.

        The completed file is the last object to be created: until then no reader sees anything of the write.
        """
        inflight = Instant(self.requested, self.action, State.INFLIGHT)
        content = write_commit_metadata(self.operation, self.stats, schema, self.ids.sync_marker(), self.replaced)
        found: list[Timeline] = []

        def check(timeline: Timeline) -> None:
            check_not_undone(self.storage, self.properties, timeline, self.requested)
            check_still_there(self.storage, self.properties, self.seen, timeline)
            self._check_alive()
            self._check_conflicts(timeline, schema)
            found.append(timeline)

        with self._dying_of_conflicts():
            self.transitions.complete(inflight, content, check, upkeep(self.table, inflight, content))
        with suppress(StorageFault):  # the write is published: an error would have it written twice
            remove_markers(self.storage, self.requested)
            if self.beaten:
                self.heartbeats.stop(self.requested)
            for service in FOLLOW_UPS:
                service.run(self, found[0])
        return self.requested

    @implements("TL-030")
    def _check_alive(self) -> None:
        """Nobody can have taken the writer for dead. Asked under the lock, under which rollbacks are planned."""
        if not self.beaten:
            return
        silent, path = self.clock.now() - self.beaten, path_of(self.requested)
        alive = self.heartbeats.is_alive(self.requested) if silent > self.heartbeats.tolerance else self.storage.head(path)
        if not alive:
            raise HeartbeatLost(
                "the writer was silent for too long: others may be rolling its files back", rule="TL-030", path=path,
                expected=f"a beat in the last {self.heartbeats.tolerance} milliseconds", remedy="write again",
                found=f"the last one before {silent} milliseconds, or none that is still there",
            )  # fmt: skip

    @implements("OCC-001", "OCC-010", "OCC-011", "OCC-012", "OCC-013", "OCC-014", "OCC-019", "NBC-003")
    def _check_conflicts(self, timeline: Timeline, schema: AvroSchema) -> None:
        """Nobody in the concurrent set is in the way. The lock is held from the look at the timeline to the completion."""
        mine = touches(self.stats, self.replaced or {}, self.operation)
        mode = self.concurrency.mode
        standing = Standing(mode, self.seen, self._same_group)
        plans = mode is Mode.OPTIMISTIC or any(touch is not Touch.APPENDS for touch in mine.values())
        keys = keys_written(self.storage, self.stats, self.requested) if self.concurrency.compares_keys else frozenset()
        for other in concurrent(self.storage, self.properties, self.seen, timeline, plans=plans):
            standing.check(mine, other)
            if self.concurrency.compares_schemas:
                check_schema(schema, other)
            if keys:
                check_keys(self.storage, keys, other.stats, other.instant.requested, other.instant.file_name)

    def _same_group(self, identity: GroupId) -> GroupId:
        """With a bucket index the bucket is what counts: two writers may begin its file group under different ids."""
        partition, file_id = identity
        return identity if self.concurrency.index is None else (partition, bucket_prefix(file_id))


@implements("OCC-024")
@dataclass(frozen=True)
class FollowUp:
    """A service that follows each completed write.

    `check` raises Misuse for settings that cannot be, before the write begins. `run` gets the commit and the timeline that it
    found when it completed; it does not fail, for the write is done.
    """

    check: Callable[[TableProperties, Mapping[str, str]], object]
    run: Callable[[Commit, Timeline], None]


#: Services stand on a floor above: they put themselves in here.
FOLLOW_UPS: list[FollowUp] = []


#: What brings the metadata table up to date with an action before that completes. It stands on a floor above, too.
KEEPERS: list[Callable[[Table, Instant, bytes, Times, str], None]] = []


@implements("OCC-020")
def upkeep(table: Table, instant: Instant, content: bytes) -> Callable[[Times, str], None]:
    """What comes before the completion of an action with this content, under the lock of the table."""

    def before(times: Times, owner: str) -> None:
        for keeper in KEEPERS:
            keeper(table, instant, content, times, owner)

    return before


@implements("TL-001", "TL-006", "TL-008", "TL-038", "TL-039", "TL-045", "TL-049", "OCC-005")
def begin(
    storage: Storage,
    properties: TableProperties,
    clock: Clock,
    ids: Ids,
    operation: str,
    seen: Timeline | None = None,
    options: Mapping[str, str] | None = None,
    lock: Lock | None = None,
    mergers: Sequence[RecordMerger] = (),
) -> Commit:
    """Request an action for a write and move it to inflight; only then may it store data files.

    `seen` is the timeline that the write is based on, the present one if None. Raises InstantExists if another writer has an
    action with this time, WriteConflict while a restore is under way.
    """
    for service in FOLLOW_UPS:
        service.check(properties, options or {})
    concurrency = Concurrency.of(options or {})
    concurrency.check(properties)
    if seen is not None:
        check_no_restore(seen)
    transitions, is_lazy = Transitions.of(storage, properties, clock, options, lock), concurrency.policy is Policy.LAZY
    beaten = clock.now() if is_lazy else 0
    beat = Heartbeats.of(storage, clock, concurrency).beat if is_lazy else unannounced
    writes = "deltacommit" if properties.is_merge_on_read else "commit"
    action, plan = ("replacecommit", write_no_plan(ids.sync_marker())) if operation in REPLACING else (writes, b"")
    requested = transitions.request(action, plan, announce=beat)
    transitions.start(requested, write_commit_metadata(operation, (), None, ids.sync_marker()))
    seen = seen or load_timeline(storage, properties)
    return Commit(
        storage, properties, clock, ids, operation, requested.requested, requested.action, seen, options=options or {},
        lock=lock, mergers=mergers, beaten=beaten,
    )  # fmt: skip
