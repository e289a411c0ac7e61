"""One write as an action on the timeline: requested, inflight, data files, completed, spec "Writer Expectations".

Only the last step makes anything visible, and it is the creation of one object.
"""

from dataclasses import dataclass, field

from hudi_reference.clock import Clock
from hudi_reference.errors import InstantExists, WriteConflict
from hudi_reference.ids import Ids
from hudi_reference.layout.names import join_path
from hudi_reference.layout.partitions import mark_partition
from hudi_reference.layout.properties import TableProperties
from hudi_reference.locks import held, new_owner
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.storage import ObjectExists, Storage
from hudi_reference.table.file_groups import load_commit
from hudi_reference.timeline.active import Timeline, load_timeline
from hudi_reference.timeline.generator import TimeGenerator, latest_time
from hudi_reference.timeline.instant import Instant
from hudi_reference.timeline.metadata import WriteStat, write_commit_metadata
from hudi_reference.timeline.states import State


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

    @implements("OCC-007", "TL-034", "TL-036", "LAY-018", "LAY-024")
    def add_file(self, name: str, data: bytes, stat: WriteStat) -> None:
        """Store a data file in its partition and remember what it holds."""
        mark_partition(self.storage, stat.partition, self.requested)
        self.storage.create(join_path(stat.partition, name), data)
        self.stats.append(stat)

    @implements("TL-031", "TL-032", "TL-036", "TL-051", "TL-052", "OCC-004", "OCC-023", "S3-006")
    def complete(self, schema: AvroSchema) -> str:
        """Publish the completed instant; its requested time. Raises WriteConflict, and then nothing of the write is visible.

        The completed file is the last object to be created: until then no reader sees anything of the write.
        """
        times, owner = TimeGenerator.of(self.storage, self.properties, self.clock), new_owner(f"commit {self.requested}")
        with held(times.lock, owner):
            timeline = load_timeline(self.storage, self.properties)
            self._check_inflight(timeline)
            self._check_conflicts(timeline)
            with times.drawn(max(latest_time(timeline), self.requested), owner) as completion:
                content = write_commit_metadata(self.operation, self.stats, schema, self.ids.sync_marker())
                _publish(self.storage, self.properties, self._instant(State.COMPLETED, completion), content)
        return self.requested

    def _check_inflight(self, timeline: Timeline) -> None:
        inflight = self._instant(State.INFLIGHT)
        if inflight not in timeline.instants:
            raise WriteConflict(
                "the action was completed or rolled back by somebody else", rule="TL-051",
                path=inflight.file_name, expected="the action inflight", found="another state, or no such action",
            )  # fmt: skip

    @implements("OCC-011", "OCC-013", "OCC-014", "OCC-019")
    def _check_conflicts(self, timeline: Timeline) -> None:
        """No action that completed since the write began may have touched its file groups. The lock is held meanwhile."""
        mine = {(stat.partition, stat.file_id) for stat in self.stats}
        for instant in set(timeline.commits).difference(self.seen.commits):
            other = load_commit(self.storage, self.properties, instant)
            theirs = {(stat.partition, stat.file_id) for stat in other.stats}
            theirs |= {(partition, file_id) for partition, ids in other.replaced.items() for file_id in ids}
            if shared := mine & theirs:
                partition, file_id = min(shared)
                raise WriteConflict(
                    "another writer changed the same file group meanwhile", rule="OCC-013", path=instant.file_name,
                    found=f"file group {file_id} in partition {partition!r}", cure="write again on the new state",
                )  # fmt: skip

    def _instant(self, state: State, completion: str | None = None) -> Instant:
        return Instant(self.requested, self.action, state, completion)


@implements("TL-001", "TL-006", "TL-008", "TL-026", "TL-038", "TL-045", "TL-048", "TL-049", "OCC-005")
def begin(
    storage: Storage, properties: TableProperties, clock: Clock, ids: Ids, operation: str, seen: Timeline | None = None
) -> Commit:
    """Request an action for a write and move it to inflight.

    `seen` is the timeline that the write is based on, the present one if None. Raises InstantExists if another writer has an
    action with this time.
    """
    timeline = load_timeline(storage, properties)
    requested = TimeGenerator.of(storage, properties, clock).requested(latest_time(timeline))
    action = "deltacommit" if properties.is_merge_on_read else "commit"
    commit = Commit(storage, properties, clock, ids, operation, requested, action, seen or timeline)
    _publish(storage, properties, Instant(requested, action, State.REQUESTED), b"")
    content = write_commit_metadata(operation, (), None, ids.sync_marker())
    _publish(storage, properties, Instant(requested, action, State.INFLIGHT), content)
    return commit


@implements("TL-003", "S3-001", "S3-002", "S3-006")
def _publish(storage: Storage, properties: TableProperties, instant: Instant, content: bytes) -> None:
    path = f"{properties.timeline_folder}/{instant.file_name}"
    try:
        storage.create(path, content)
    except ObjectExists as error:
        raise InstantExists(
            "another writer has created this instant", rule="S3-002", path=path, expected="no such file",
            cure="begin the write again: it gets a new instant",
        ) from error  # fmt: skip
