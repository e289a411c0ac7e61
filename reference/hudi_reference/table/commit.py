"""One write as an action on the timeline: requested, inflight, data files, completed, spec "Writer Expectations".

Only the last step makes anything visible, and it is the creation of one object.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hudi_reference.clock import Clock
from hudi_reference.errors import WriteConflict
from hudi_reference.ids import Ids
from hudi_reference.layout.names import join_path
from hudi_reference.layout.partitions import mark_partition
from hudi_reference.layout.properties import TableProperties
from hudi_reference.locks import Lock
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.storage import Storage
from hudi_reference.table.file_groups import load_commit
from hudi_reference.table.markers import mark_file, remove_markers
from hudi_reference.timeline.active import Timeline, load_timeline
from hudi_reference.timeline.history import END_OF_TIME
from hudi_reference.timeline.instant import Instant
from hudi_reference.timeline.metadata import WriteStat, write_commit_metadata
from hudi_reference.timeline.states import State
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.timeline.undone import check_no_restore, check_not_undone

#: Operations that merge log files and change no row.
JOINING = ("COMPACT", "LOG_COMPACT")


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
    #: Settings of the writer by Hudi's names.
    options: Mapping[str, str] = field(default_factory=dict)
    #: The lock of the table; None is the one that the options name.
    lock: Lock | None = None

    @property
    def transitions(self) -> Transitions:
        """What moves the actions of the table."""
        return Transitions.of(self.storage, self.properties, self.clock, self.options, self.lock)

    @implements("OCC-007", "TL-034", "TL-036", "LAY-018", "LAY-024")
    def add_file(self, name: str, data: bytes, stat: WriteStat, *, beside: bool = False) -> None:
        """Store a data file in its partition, after its marker, and remember what it holds.

        A file that lies `beside` a data file, as those of change capture do, is remembered with that one.
        """
        mark_partition(self.storage, stat.partition, self.requested)
        mark_file(self.storage, self.requested, name, stat)
        self.storage.create(join_path(stat.partition, name), data)
        if not beside:
            self.stats.append(stat)

    @implements("TL-036", "OCC-004", "OCC-023", "S3-006")
    def complete(self, schema: AvroSchema) -> str:
        """Publish the completed instant; its requested time. Raises WriteConflict, and then nothing of the write is visible.

        The completed file is the last object to be created: until then no reader sees anything of the write.
        """
        inflight = Instant(self.requested, self.action, State.INFLIGHT)
        content = write_commit_metadata(self.operation, self.stats, schema, self.ids.sync_marker())
        found: list[Timeline] = []

        def check(timeline: Timeline) -> None:
            check_not_undone(self.storage, self.properties, timeline, self.requested)
            self._check_conflicts(timeline)
            found.append(timeline)

        self.transitions.complete(inflight, content, check)
        remove_markers(self.storage, self.requested)
        for service in FOLLOW_UPS:
            service.run(self, found[0])
        return self.requested

    @implements("OCC-011", "OCC-013", "OCC-014", "OCC-019", "NBC-003", "NBC-007")
    def _check_conflicts(self, timeline: Timeline) -> None:
        """No action that completed since the write began may have touched its file groups. The lock is held meanwhile.

        What merges log files stands beside new ones: by their completion these belong to the slice that a compaction opens.
        """
        mine = {(stat.partition, stat.file_id) for stat in self.stats}
        for instant in set(timeline.commits).difference(self.seen.commits):
            other = load_commit(self.storage, self.properties, instant)
            theirs = {(stat.partition, stat.file_id) for stat in other.stats}
            theirs |= {(partition, file_id) for partition, ids in other.replaced.items() for file_id in ids}
            if other.operation in JOINING:
                theirs -= {(stat.partition, stat.file_id) for stat in self.stats if stat.is_log}
            if shared := mine & theirs:
                partition, file_id = min(shared)
                raise WriteConflict(
                    "another writer changed the same file group meanwhile", rule="OCC-013", path=instant.file_name,
                    found=f"file group {file_id} in partition {partition!r}", cure="write again on the new state",
                )  # fmt: skip


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


@implements("TL-001", "TL-006", "TL-008", "TL-038", "TL-045", "TL-049", "OCC-005")
def begin(
    storage: Storage,
    properties: TableProperties,
    clock: Clock,
    ids: Ids,
    operation: str,
    seen: Timeline | None = None,
    options: Mapping[str, str] | None = None,
    lock: Lock | None = None,
) -> Commit:
    """Request an action for a write and move it to inflight; only then may it store data files.

    `seen` is the timeline that the write is based on, the present one if None. Raises InstantExists if another writer has an
    action with this time, WriteConflict while a restore is under way.
    """
    for service in FOLLOW_UPS:
        service.check(properties, options or {})
    if seen is not None:
        check_no_restore(seen, END_OF_TIME)
    transitions = Transitions.of(storage, properties, clock, options, lock)
    requested = transitions.request("deltacommit" if properties.is_merge_on_read else "commit")
    transitions.start(requested, write_commit_metadata(operation, (), None, ids.sync_marker()))
    seen = seen or load_timeline(storage, properties)
    instant = (requested.requested, requested.action)
    return Commit(storage, properties, clock, ids, operation, *instant, seen, options=options or {}, lock=lock)
