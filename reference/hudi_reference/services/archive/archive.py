"""Archiving: old completed actions leave the active timeline for the history, spec "LSM Timeline", "Archival Configs".

    1. what attempts of these actions left behind is deleted      nobody could tell it from committed files afterwards
    2. their times, metadata and plans go to the history          from here on they are in both places, and count once
    3. their files leave the active timeline                      pending ones first: no completed action looks pending
    4. levels of the history are merged, old manifests deleted

A process that dies in between loses nothing: the next run finds what is in both places and goes on.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from hudi_reference.clock import Clock
from hudi_reference.errors import MalformedTable, UnsupportedTableFeature, WriteConflict
from hudi_reference.layout.properties import META_FOLDER, TableProperties, check_writable
from hudi_reference.locks import held, new_owner
from hudi_reference.query.file_groups import load_commit
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.archive.bounds import Bound, Situation, earliest_bound
from hudi_reference.services.archive.limits import ArchiveLimits
from hudi_reference.services.planning.clean_plan import earliest_to_retain
from hudi_reference.services.planning.plan_execution import pending_of
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline, load_timeline
from hudi_reference.timeline.history.history import ArchivedAction
from hudi_reference.timeline.history.history_writer import flush, merge_levels, retire
from hudi_reference.timeline.instant_generator import TimeGenerator
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import ACTIONS, COMMITS, State
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.concurrency.markers import markers_of
from hudi_reference.write.orphan_files import files_left_behind, lost, uncommitted

#: Pending action -> the states whose file holds its plan, the first that has content. Others have none. What overwrites a
#: partition stores its workload profile there (ER-088).
PLANS: Mapping[str, tuple[State, ...]] = {
    "clean": (State.REQUESTED, State.INFLIGHT),
    "compaction": (State.REQUESTED,),
    "logcompaction": (State.REQUESTED,),
    "clustering": (State.INFLIGHT, State.REQUESTED),
    "replacecommit": (State.INFLIGHT, State.REQUESTED),
}


@dataclass(frozen=True)
class ArchivePlan:
    """What archiving moves: the instants that go, by requested time, and paths of files that they left behind.

    `bound` is what keeps the earliest instant that stays for another reason than the limits, None if the limits alone do.
    """

    going: tuple[Instant, ...] = ()
    left_behind: tuple[str, ...] = ()
    bound: Bound | None = None


@implements("ARC-001", "ARC-002")
def archive(
    table: Table, options: Mapping[str, str] | None = None, *, dry_run: bool = False, needed: Bound | None = None
) -> ArchivePlan:
    """Move what is due to the history; what went. With `dry_run` only what would go.

    `options` are settings by Hudi's names (see `archive_limits`), those among the table's properties hold otherwise. `needed`
    is what the data table needs of its metadata table, and is said of that alone. Raises Misuse for limits that cannot be,
    HistoryChanged, MalformedTable; the table then has the same actions as before.
    """
    limits = limits_of(table.properties, {**table.options, **(options or {})})
    return _archive(table, limits, dry_run=dry_run, needed=needed)


def limits_of(properties: TableProperties, options: Mapping[str, str]) -> ArchiveLimits:
    """The limits for a table: by the settings that are given, else by those among its properties. Raises Misuse."""
    return ArchiveLimits.of({**properties.entries, **options})


@implements("ARC-005", "ARC-006")
def archive_timeline(table: Table, timeline: Timeline) -> None:
    """What follows each write: archive if more writes are active now than may be.

    `timeline` is the one that the completed write found; counting on it costs no request. A table that cannot be archived was
    written all the same: what is wrong, `archive` says.
    """
    limits = limits_of(table.properties, table.options)
    if limits.automatic and len(timeline.commits) + 1 > limits.most:
        with suppress(MalformedTable, UnsupportedTableFeature, WriteConflict):
            _archive(table, limits)


def _archive(table: Table, limits: ArchiveLimits, *, dry_run: bool = False, needed: Bound | None = None) -> ArchivePlan:
    storage, properties = table.storage, table.properties
    _check_archivable(properties, needed)
    with held(transitions_of(table).times.lock, new_owner("archive")):
        if not dry_run:
            _finish_earlier_runs(storage, properties)
        timeline = load_timeline(storage, properties)
        if pending_of(timeline, "restore"):  # it has yet to find the writes that it undoes
            return ArchivePlan()
        situation = Situation(storage, properties, timeline, limits, needed)
        plan = _plan(situation, table.clock)
        if not dry_run:
            _carry_out(situation, plan)
        return plan


def _check_archivable(properties: TableProperties, needed: Bound | None) -> None:
    check_writable(properties)
    if properties.get("hoodie.table.keygenerator.type") == "HOODIE_TABLE_METADATA" and needed is None:
        raise UnsupportedTableFeature(
            "a metadata table is archived by what its data table still needs", rule="ARC-001",
            path=f"{META_FOLDER}/hoodie.properties", remedy="archive it with the engine that maintains it",
        )  # fmt: skip


def _plan(situation: Situation, clock: Clock) -> ArchivePlan:
    bound = earliest_bound(situation)
    writes = _writes_that_go(situation, clock, bound)
    if not writes:
        return ArchivePlan(bound=bound)
    newest = writes[-1].requested
    along = [i for i in situation.timeline.completed if _goes_along(i) and i.requested < newest]
    going = tuple(sorted([*writes, *along], key=lambda instant: instant.requested))
    return ArchivePlan(going, _left_behind(situation, going), bound)


def _goes_along(instant: Instant) -> bool:
    """Whether an action goes with the writes after it: cleans and rollbacks. A savepoint stays: it still protects."""
    action = ACTIONS[instant.action]
    # ER-089: savepoints, restores and index builds stay on the active timeline.
    return action.archived and not action.writes


@implements("ARC-003", "ARC-007", "ARC-009")
def _writes_that_go(situation: Situation, clock: Clock, bound: Bound | None) -> tuple[Instant, ...]:
    """The oldest completed writes beyond the lower limit, once there are more than the upper one, up to the bound."""
    commits, timeline = situation.commits, situation.timeline
    earliest = earliest_to_retain(situation.limits.cleaning, timeline, _hours_ago(situation, clock))
    after = None if earliest is None else sum(instant.requested > earliest.requested for instant in commits)
    most, fewest = situation.limits.beside_cleaning(after)
    # ER-090: only completed writes are counted.
    if len(commits) <= most:
        return ()
    free = (i for i in commits if i.requested not in situation.savepointed and (bound is None or i.requested < bound.requested))
    return tuple(free)[: len(commits) - fewest]


def _hours_ago(situation: Situation, clock: Clock) -> str:
    """The time up to which a cleaning policy by hours reaches back; "" for other policies."""
    policy = situation.limits.cleaning
    if policy.name != "KEEP_LATEST_BY_HOURS":
        return ""
    zone = TimeGenerator.of(situation.storage, situation.properties, clock).zone
    return format_time(clock.now() - policy.hours * 3_600_000, zone)


@implements("ARC-004")
def _left_behind(situation: Situation, going: Collection[Instant]) -> tuple[str, ...]:
    """Data files of attempts that lost, files of writes that never completed and that would pass for archived ones, markers.

    Afterwards only the history knows these actions, and it does not name their files.
    """
    storage, timeline = situation.storage, situation.timeline
    requested = {instant.requested for instant in going}
    start = next(i.requested for i in timeline.writes if i.requested not in requested | situation.savepointed)
    writes = (instant for instant in going if instant.action in COMMITS)
    named = {instant.requested: load_commit(storage, situation.properties, instant).paths for instant in writes}
    markers = (path for instant in sorted(requested) for path in markers_of(storage, instant))
    return (*files_left_behind(storage, lost(named), uncommitted(timeline, start)), *markers)


@implements("ARC-002")
def _carry_out(situation: Situation, plan: ArchivePlan) -> None:
    storage, properties = situation.storage, situation.properties
    history = properties.history_folder
    for path in plan.left_behind:
        storage.delete(path)
    if plan.going:
        files = _files_of(storage, properties.timeline_folder, plan.going)
        flush(storage, history, (found.action(storage) for found in files))
        _remove(storage, files)
    retire(storage, history, merge_levels(storage, history, situation.limits.batch_size))


def _finish_earlier_runs(storage: Storage, properties: TableProperties) -> None:
    """Remove from the active timeline what the history holds: a run died before it came to that."""
    timeline = load_timeline(storage, properties)
    if timeline.completed:
        first, last = timeline.completed[0].requested, timeline.completed[-1].requested
        archived = {instant.identity for instant in timeline.archived.instants(first, last)}
        both = [instant for instant in timeline.completed if instant.identity in archived]
        _remove(storage, _files_of(storage, properties.timeline_folder, both))


@dataclass(frozen=True)
class _Files:
    """All files of one action on the active timeline."""

    instant: Instant
    folder: str
    pending: dict[State, Instant] = field(default_factory=dict)
    completed: list[str] = field(default_factory=list)

    @implements("LSM-002", "LSM-020", "LSM-021")
    def action(self, storage: Storage) -> ArchivedAction:
        """What the history keeps of it: the bytes of the completed file, and those of the plan."""
        metadata = storage.get(f"{self.folder}/{self.instant.file_name}")
        return ArchivedAction(self.instant, metadata or None, self._plan(storage))

    def _plan(self, storage: Storage) -> bytes | None:
        actions = {instant.action for instant in self.pending.values()}
        states = next((PLANS[action] for action in sorted(actions) if action in PLANS), ())
        names = (self.pending[state].file_name for state in states if state in self.pending)
        return next((data for name in names if (data := storage.get(f"{self.folder}/{name}"))), None)


def _files_of(storage: Storage, folder: str, instants: Iterable[Instant]) -> list[_Files]:
    found = {instant.identity: _Files(instant, folder) for instant in instants}
    for name in storage.names(folder) if found else ():
        instant = parse_instant_name(name)
        if instant is None or instant.identity not in found:
            continue
        if instant.state is State.COMPLETED:
            found[instant.identity].completed.append(name)
        else:
            found[instant.identity].pending[instant.state] = instant
    return sorted(found.values(), key=lambda files: files.instant.requested)


@implements("ARC-002")
def _remove(storage: Storage, files: Iterable[_Files]) -> None:
    """Delete the pending files of all, then the completed ones from the oldest on: no action is lost or looks pending."""
    files = list(files)
    for found in files:
        for _, instant in sorted(found.pending.items()):
            storage.delete(f"{found.folder}/{instant.file_name}")
    for found in files:
        for name in found.completed:
            storage.delete(f"{found.folder}/{name}")
