"""One write as an action on the timeline: requested, inflight, data files, completed, spec "Writer Expectations".

Creating the completed file is the only step that makes anything visible.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from hudi_reference.errors import HeartbeatLost, StorageFault, WriteConflict
from hudi_reference.layout.names import join_path
from hudi_reference.layout.partitions import mark_partition
from hudi_reference.query.file_groups import GroupId
from hudi_reference.query.table import Table
from hudi_reference.records.keys.bucket_hash import bucket_prefix
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import REPLACING, Replaced, WriteStat, write_commit_metadata, write_no_plan
from hudi_reference.timeline.instant_generator import Times, times_of
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.transitions import Transitions, check_base_commits_exist, check_no_restore, check_not_rolled_back
from hudi_reference.write.column_ids import store_version
from hudi_reference.write.concurrency.config import Concurrency, Mode, Policy
from hudi_reference.write.concurrency.conflict_resolution import (
    ConflictChecker,
    WriteKind,
    check_schema,
    concurrent_actions,
    write_kinds,
)
from hudi_reference.write.concurrency.heartbeats import Heartbeats, heartbeat_path
from hudi_reference.write.concurrency.key_conflicts import check_keys, keys_written
from hudi_reference.write.concurrency.markers import check_unmarked, mark_file, remove_markers

#: The setting with the prefix of those settings that are stored in the metadata of commits; `_` for deployed writers.
EXTRA_PREFIX = "hoodie.datasource.write.commitmeta.key.prefix"


def transitions_of(table: Table) -> Transitions:
    """The state transitions of the actions of a table."""
    times = times_of(table.storage, table.properties, table.clock, table.options, table.lock)
    return Transitions(table.storage, table.properties, times)


@dataclass
class Commit:
    """A write that has begun. The holder adds data files, then completes it."""

    table: Table
    operation: str
    requested: str
    action: str
    #: The timeline that the write is based on.
    base_timeline: Timeline
    #: The concurrency settings of the writer.
    concurrency: Concurrency
    stats: list[WriteStat] = field(default_factory=list)
    #: The file groups that a replacecommit replaces; None for other writes.
    replaced: Replaced | None = None
    #: The time of the writer's last heartbeat, by its own clock; 0 for a writer that sends none.
    last_heartbeat: int = 0

    @property
    def heartbeats(self) -> Heartbeats:
        """The heartbeats of the table's writers."""
        return Heartbeats.from_settings(self.table.storage, self.table.clock, self.concurrency)

    @implements("OCC-007", "OCC-026", "TL-034", "TL-036", "LAY-018", "LAY-024")
    def add_file(self, name: str, data: bytes, stat: WriteStat, *, beside: bool = False) -> None:
        """Store a data file in its partition, after its marker, and record its stat.

        The next heartbeat is sent if its interval has passed. With early conflict detection the write aborts if another active
        writer has marked the same file group.

        A change-capture file is stored `beside` a data file: it is recorded in the stat of that data file.
        """
        storage = self.table.storage
        if self.last_heartbeat and self.table.clock.now() - self.last_heartbeat >= self.concurrency.interval:
            self.last_heartbeat = self.heartbeats.send(self.requested)
        mark_partition(storage, stat.partition, self.requested)
        if self.concurrency.early:
            with self._abort_on_conflict():
                check_unmarked(self.heartbeats, self.requested, stat)
        mark_file(storage, self.requested, name, stat)
        storage.create(join_path(stat.partition, name), data)
        if not beside:
            self.stats.append(stat)

    @contextmanager
    @implements("OCC-019")
    def _abort_on_conflict(self) -> Iterator[None]:
        """A writer that aborts deletes its heartbeat, so that its files can be rolled back at once."""
        try:
            yield
        except WriteConflict:
            if self.last_heartbeat:
                self.heartbeats.delete(self.requested)
            raise

    @implements("TL-036", "OCC-004", "OCC-023", "S3-006")
    def complete(self, schema: AvroSchema, version: Mapping[str, str] | None = None) -> str:
        """Publish the completed instant. The completed file is created last: before that, readers see nothing of the write.

        Args:
            schema: the Avro schema of the table after the write, without meta columns.
            version: the entry of the metadata with the version of the schema history, if the table has one.

        Returns:
            The requested time of the write.

        Raises:
            WriteConflict: a concurrent action conflicts with this one. Then no part of the write is visible.
        """
        table, inflight = self.table, Instant(self.requested, self.action, State.INFLIGHT)
        version = dict(version or {})
        store_version(table.storage, self.base_timeline, version, self.requested)
        marker, extra = table.ids.sync_marker(), extra_metadata(table.options) | version
        content = write_commit_metadata(self.operation, self.stats, schema, marker, self.replaced, extra)
        present: list[Timeline] = []

        def check(timeline: Timeline) -> None:
            check_not_rolled_back(table.storage, table.properties, timeline, self.requested)
            check_base_commits_exist(table.storage, table.properties, self.base_timeline, timeline)
            if self.last_heartbeat:
                self._check_heartbeat()
            self._check_conflicts(timeline, schema)
            present.append(timeline)

        with self._abort_on_conflict():
            transitions_of(table).complete(inflight, content, check, partial(before_completion, table, inflight, content))
        self._after_completion(present[0])
        return self.requested

    @implements("OCC-024")
    def _after_completion(self, timeline: Timeline) -> None:
        """Delete markers and heartbeat, then run the hooks that follow a write.

        A storage fault is suppressed: the write is published, and an error would make the caller write it again.
        """
        with suppress(StorageFault):
            remove_markers(self.table.storage, self.requested)
            if self.last_heartbeat:
                self.heartbeats.delete(self.requested)
            for service in self.table.hooks.after_completion:
                service(self.table, timeline)

    @implements("TL-030")
    def _check_heartbeat(self) -> None:
        """Raise HeartbeatLost if another process may have considered the heartbeat expired.

        This is checked under the lock, because rollbacks are planned under the same lock.
        """
        table, path = self.table, heartbeat_path(self.requested)
        age, limit = table.clock.now() - self.last_heartbeat, self.heartbeats.tolerance
        active = self.heartbeats.is_active(self.requested) if age > limit else table.storage.head(path)
        if not active:
            raise HeartbeatLost(
                "the heartbeat of the writer has expired: its files may be rolled back by another process", rule="TL-030",
                path=path, expected=f"a heartbeat in the last {limit} milliseconds",
                found=f"the last one {age} milliseconds ago, or a deleted one", remedy="write again",
            )  # fmt: skip

    @implements("OCC-001", "OCC-010", "OCC-011", "OCC-012", "OCC-013", "OCC-014", "OCC-019", "NBC-003")
    def _check_conflicts(self, timeline: Timeline, schema: AvroSchema) -> None:
        """Raise ConcurrentChange if an action of the concurrent set conflicts with this write.

        The lock is held from the load of the timeline to the completion.
        """
        storage, properties, settings = self.table.storage, self.table.properties, self.concurrency
        mine = write_kinds(self.stats, self.replaced or {}, self.operation)
        checker = ConflictChecker(settings.mode, self.base_timeline, self._same_group)
        plans = settings.mode is Mode.OPTIMISTIC or any(kind is not WriteKind.APPENDS for kind in mine.values())
        keys = keys_written(storage, self.stats, self.requested) if settings.compares_keys else frozenset()
        for other in concurrent_actions(storage, properties, self.base_timeline, timeline, plans=plans):
            checker.check(mine, other)
            if settings.compares_schemas:
                check_schema(schema, self.requested, other)
            if keys:
                check_keys(storage, keys, other.stats, other.instant.requested, other.instant.file_name)

    def _same_group(self, identity: GroupId) -> GroupId:
        """What identifies a file group: with a bucket index the bucket, as two writers may create its group with other ids."""
        partition, file_id = identity
        return identity if self.concurrency.index is None else (partition, bucket_prefix(file_id))


def extra_metadata(options: Mapping[str, str]) -> dict[str, str]:
    """What the settings of a writer add to the metadata of its commits: entries whose names have the set prefix."""
    prefix = options.get(EXTRA_PREFIX, "_")
    return {name: value for name, value in options.items() if name.startswith(prefix)} if prefix else {}


@implements("OCC-020")
def before_completion(table: Table, instant: Instant, content: bytes, times: Times, owner: str) -> None:
    """Run the hooks of the table before the action with this content completes; `owner` holds the lock."""
    for hook in table.hooks.before_completion:
        hook(table, instant, content, times, owner)


@implements("TL-001", "TL-006", "TL-008", "TL-038", "TL-039", "TL-045", "TL-049", "OCC-005")
def begin(table: Table, operation: str, base_timeline: Timeline | None = None) -> Commit:
    """Request an action for a write and move it to inflight. The write stores its data files after that.

    Args:
        table: the table with the settings of the writer.
        operation: the operation as the commit metadata names it.
        base_timeline: the timeline that the write is based on; None is the present one.

    Raises:
        InstantExists: another writer has an action with this time.
        WriteConflict: a restore is pending.
        Misuse: the settings of the writer contradict each other. Whether they fit the table is checked before (`check_write`).
    """
    concurrency = Concurrency.from_options(table.options)
    if base_timeline is not None:
        check_no_restore(base_timeline)
    sends_heartbeats = concurrency.policy is Policy.LAZY
    last_heartbeat = table.clock.now() if sends_heartbeats else 0
    announce = Heartbeats.from_settings(table.storage, table.clock, concurrency).send if sends_heartbeats else None
    action, plan = _action_of(table, operation)
    transitions = transitions_of(table)
    requested = transitions.request(action, plan, announce=announce)
    transitions.start(requested, write_commit_metadata(operation, (), None, table.ids.sync_marker()))
    base = base_timeline or table.timeline
    return Commit(table, operation, requested.requested, requested.action, base, concurrency, last_heartbeat=last_heartbeat)


def _action_of(table: Table, operation: str) -> tuple[str, bytes]:
    """The action of an operation, and the content of its requested file."""
    if operation in REPLACING:
        return "replacecommit", write_no_plan(table.ids.sync_marker())
    # ER-007: a deltacommit may write base files, too. ER-008: a write has no plan, so its requested file is empty.
    return ("deltacommit" if table.properties.is_merge_on_read else "commit"), b""
