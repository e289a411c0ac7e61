"""What archiving must keep on the active timeline, whatever the limits are, spec "LSM Timeline", "Archival Configs".

Each bound is the requested time of an instant that a reader, writer or service needs there: it and all later ones are kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hudi_reference.layout.properties import META_FOLDER, TableProperties
from hudi_reference.requirement import implements
from hudi_reference.services.archive.limits import ArchiveLimits
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline, build_timeline
from hudi_reference.timeline.contents.avro_container import read_record
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State

#: The folder of the metadata table's timeline.
METADATA_TIMELINE = f"{META_FOLDER}/metadata/{META_FOLDER}/timeline"


@dataclass(frozen=True)
class Bound:
    """The requested time of the first instant to keep, and the reason."""

    requested: str
    why: str


@dataclass(frozen=True)
class Situation:
    """A table whose timeline is archived."""

    storage: Storage
    properties: TableProperties
    timeline: Timeline
    limits: ArchiveLimits
    #: Of a metadata table: what its data table needs of it.
    needed: Bound | None = None

    @property
    def commits(self) -> tuple[Instant, ...]:
        """Completed writes, by requested time."""
        return self.timeline.commits

    @property
    def savepointed(self) -> frozenset[str]:
        """Requested times of the writes with a completed or pending savepoint."""
        return frozenset(i.requested for i in self.timeline.instants if i.action == "savepoint")


def earliest_bound(situation: Situation) -> Bound | None:
    """The lowest of all bounds; None if there is none."""
    return min(_bounds(situation), key=lambda bound: bound.requested, default=None)


def _bounds(situation: Situation) -> Iterator[Bound]:
    for bound in (
        _pending_bound,
        _concurrent_bound,
        _compaction_bound,
        _replacing_bound,
        _metadata_table_bound,
        _savepoint_bound,
        lambda one: one.needed,
    ):
        found = bound(situation)
        if found is not None:
            yield found


@implements("ARC-003")
def _pending_bound(situation: Situation) -> Bound | None:
    """The newest completed write before the oldest pending one: the pending one is based on it."""
    oldest = _oldest_pending(situation.timeline)
    if oldest is None:
        return None
    before = [instant.requested for instant in situation.commits if instant.requested < oldest]
    return Bound(before[-1] if before else oldest, f"the write of {oldest} is pending")


@implements("ARC-003")
def _concurrent_bound(situation: Situation) -> Bound | None:
    """The first write that completed after the oldest pending one began: the pending one has to check it for conflicts.

    Deployed archivers use requested times alone and hide such a write from the check (ER-091).
    """
    oldest = _oldest_pending(situation.timeline)
    since = (i.requested for i in situation.commits if oldest is not None and (i.completion or i.requested) > oldest)
    first = next(since, None)
    return None if first is None else Bound(first, f"the pending write of {oldest} may be in conflict with it")


def _oldest_pending(timeline: Timeline) -> str | None:
    return next((instant.requested for instant in timeline.pending if ACTIONS[instant.action].writes), None)


def _compaction_bound(situation: Situation) -> Bound | None:
    """The first of the delta commits that make the next compaction due: the trigger counts them."""
    due = situation.limits.compacted_after
    if not situation.properties.is_merge_on_read or due is None:
        return None
    compactions = [instant for instant in situation.commits if instant.action == "commit"]
    last = compactions[-1] if compactions else None
    deltas = [i for i in situation.timeline.instants if i.action == "deltacommit"]
    if last is not None:
        deltas = [i for i in deltas if i.state is not State.COMPLETED or (i.completion or i.requested) > last.requested]
    if last is None and not deltas:
        return None
    if len(deltas) < due:
        first = last.requested if last is not None else deltas[0].requested
        return Bound(first, f"{len(deltas)} of {due} delta commits since then make a compaction due")
    return Bound(deltas[len(deltas) - due].requested, f"{due} delta commits make a compaction due")


def _replacing_bound(situation: Situation) -> Bound | None:
    """The first write whose replaced files may still exist: without it readers would read them again."""
    replacing = [i for i in situation.timeline.instants if ACTIONS[i.action].completes_as == "replacecommit"]
    cleans = [i for i in situation.timeline.completed if i.action == "clean"]
    since = _cleaned_until(situation, cleans[-1], replacing) if cleans else ""
    # A clean of file versions that ran meanwhile did not see a write that completed later, whenever that was requested.
    first = next((instant.requested for instant in replacing if (instant.completion or instant.requested) >= since), None)
    return None if first is None else Bound(first, "the files that it replaced are not cleaned yet")


def _cleaned_until(situation: Situation, clean: Instant, replacing: Sequence[Instant]) -> str:
    """The requested time before which the files of replaced groups were deleted.

    This is the earliest instant that the clean retains, or the first savepoint that it respects if a group was replaced after
    it; for a policy by versions it is the clean itself.
    """
    path = f"{situation.properties.timeline_folder}/{Instant(clean.requested, 'clean', State.REQUESTED).file_name}"
    try:
        plan = read_record(situation.storage.get(path), path)
    except FileNotFoundError:  # only the completed file exists: nothing is known to be cleaned
        return ""
    retained = str((plan.get("earliestInstantToRetain") or {}).get("timestamp") or clean.requested)
    spared = ((plan.get("extraMetadata") or {}).get("savepointed_timestamps") or "").split(",")
    savepoint = min((time for time in spared if time), default="")
    if savepoint and any(savepoint <= instant.requested <= retained for instant in replacing):
        return savepoint
    return retained


def _metadata_table_bound(situation: Situation) -> Bound | None:
    """The first write after the last compaction of the metadata table: this timeline decides whether its log files count."""
    if "files" not in situation.properties.fields("hoodie.table.metadata.partitions"):
        return None
    instants = build_timeline(situation.storage.names(METADATA_TIMELINE))
    compactions = [i.requested for i in instants if i.action == "commit" and i.state is State.COMPLETED]
    if not compactions:
        return Bound("", "the metadata table was never compacted")
    since = (i.requested for i in situation.commits if (i.completion or i.requested) > compactions[-1])
    first = next(since, None)
    return None if first is None else Bound(first, "the last compaction of the metadata table does not cover it")


def _savepoint_bound(situation: Situation) -> Bound | None:
    """The first savepoint, unless archiving may go beyond it."""
    if situation.limits.beyond_savepoints or not situation.savepointed:
        return None
    return Bound(min(situation.savepointed), "it has a savepoint")
