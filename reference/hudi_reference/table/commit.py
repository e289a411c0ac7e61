"""One write as an action on the timeline: requested, inflight, data files, completed, spec "Writer Expectations".

Only the last step makes anything visible, and it is the creation of one object.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from hudi_reference.clock import Clock
from hudi_reference.errors import InstantExists, WriteConflict
from hudi_reference.ids import Ids
from hudi_reference.layout.names import join_path
from hudi_reference.layout.partitions import mark_partition
from hudi_reference.layout.properties import TableProperties
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.storage import ObjectExists, Storage
from hudi_reference.timeline.active import load_timeline
from hudi_reference.timeline.generator import next_time
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
    stats: list[WriteStat] = field(default_factory=list)

    @implements("OCC-007", "TL-034", "TL-036", "LAY-018", "LAY-024")
    def add_file(self, name: str, data: bytes, stat: WriteStat) -> None:
        """Store a data file in its partition and remember what it holds."""
        mark_partition(self.storage, stat.partition, self.requested)
        self.storage.create(join_path(stat.partition, name), data)
        self.stats.append(stat)

    @implements("TL-031", "TL-032", "TL-036", "TL-051", "TL-052", "OCC-004", "OCC-023", "S3-006")
    def complete(self, schema: AvroSchema) -> str:
        """Publish the completed instant; its requested time. Raises WriteConflict if the action is not inflight any more.

        The completed file is the last object to be created: until then no reader sees anything of the write.
        """
        timeline = load_timeline(self.storage, self.properties)
        state = next((i.state for i in timeline.instants if i.identity == self._instant(State.INFLIGHT).identity), None)
        if state is not State.INFLIGHT:
            gone = "gone" if state is None else state.name
            raise WriteConflict(
                "the action was completed or rolled back by somebody else", rule="TL-051",
                path=self._instant(State.INFLIGHT).file_name, expected="INFLIGHT", found=gone,
            )  # fmt: skip
        completion = next_time(self.clock, timeline, utc=_is_utc(self.properties), after=self.requested)
        content = write_commit_metadata(self.operation, self.stats, schema, self.ids.sync_marker())
        _publish(self.storage, self.properties, self._instant(State.COMPLETED, completion), content)
        return self.requested

    def _instant(self, state: State, completion: str | None = None) -> Instant:
        return Instant(self.requested, self.action, state, completion)


@implements("TL-001", "TL-006", "TL-008", "TL-026", "TL-038", "TL-045", "TL-048", "TL-049", "OCC-005")
def begin(
    storage: Storage,
    properties: TableProperties,
    clock: Clock,
    ids: Ids,
    operation: str,
    profile: Iterable[WriteStat] = (),
) -> Commit:
    """Request an action for a write and move it to inflight.

    Raises InstantExists if another writer has an action with this time.
    """
    timeline = load_timeline(storage, properties)
    requested = next_time(clock, timeline, utc=_is_utc(properties))
    action = "deltacommit" if properties.is_merge_on_read else "commit"
    commit = Commit(storage, properties, clock, ids, operation, requested, action)
    _publish(storage, properties, Instant(requested, action, State.REQUESTED), b"")
    content = write_commit_metadata(operation, profile, None, ids.sync_marker())
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


def _is_utc(properties: TableProperties) -> bool:
    return properties.get("hoodie.table.timeline.timezone") == "UTC"
