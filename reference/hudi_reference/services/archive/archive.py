"""Archiving: moves old completed actions from the active timeline to the history, spec "LSM Timeline", "Archival Configs".

    1. orphan files of these actions are deleted                  later they could not be distinguished from committed files
    2. times, metadata and plans are written to the history       the actions are now in both places, and count once
    3. their files are deleted from the active timeline           pending ones first: no completed action looks pending
    4. levels of the history are merged, old manifests deleted

A crash at any point loses nothing: the next run finds the actions that are in both places and continues.

No index changes: it lists files of committed writes, and these stay. Therefore a table with indexes that are not maintained
here is archived, up to the last compaction of its metadata table (`bounds`).
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from hudi_reference.clock import Clock
from hudi_reference.errors import MalformedTable, UnsupportedTableFeature, WriteConflict
from hudi_reference.layout.properties import META_FOLDER, TableProperties, check_writable
from hudi_reference.locks import hold_lock, new_owner
from hudi_reference.query.file_system_view import load_commit
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
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import ACTIONS, COMMITS, State
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.concurrency.markers import folder_of
from hudi_reference.write.orphan_files import orphan_files, uncommitted_files, unnamed_files

#: Action -> the states whose file may contain its plan; the first file with content counts. Other actions have no plan. An
#: overwrite of a partition stores its workload profile there (ER-088).
PLANS: Mapping[str, tuple[State, ...]] = {
    "clean": (State.REQUESTED, State.INFLIGHT),
    "compaction": (State.REQUESTED,),
    "logcompaction": (State.REQUESTED,),
    "clustering": (State.INFLIGHT, State.REQUESTED),
    "replacecommit": (State.INFLIGHT, State.REQUESTED),
}


@dataclass(frozen=True)
class ArchivePlan:
    """The plan of an archiving: the instants to archive, by requested time, and the paths of orphan files to delete.

    `bound` is the reason other than the limits for which the earliest remaining instant is kept; None if there is none.
    """

    instants: tuple[Instant, ...] = ()
    to_delete: tuple[str, ...] = ()
    bound: Bound | None = None


@implements("ARC-001", "ARC-002")
def archive(
    table: Table, options: Mapping[str, str] | None = None, *, dry_run: bool = False, needed: Bound | None = None
) -> ArchivePlan:
    """Archive the actions that are due.

    Args:
        table: the table.
        options: settings by Hudi's names (see `limits`); they override those among the table's properties.
        dry_run: return the plan only, and change nothing.
        needed: for a metadata table, what its data table needs of its timeline.

    Returns:
        The plan that was carried out.

    Raises:
        Misuse: invalid limits.
        HistoryChanged, MalformedTable: the table has the same actions as before.
    """
    limits = limits_of(table.properties, {**table.options, **(options or {})})
    return _archive(table, limits, dry_run=dry_run, needed=needed)


def limits_of(properties: TableProperties, options: Mapping[str, str]) -> ArchiveLimits:
    """The limits for a table, from the settings and the table's properties. Raises Misuse."""
    return ArchiveLimits.from_options({**properties.entries, **options})


@implements("ARC-005", "ARC-006")
def archive_timeline(table: Table, timeline: Timeline) -> None:
    """After a write: archive if more writes are active than the upper limit.

    `timeline` is the timeline that the write loaded before its completion, so that counting needs no request. Errors are
    suppressed, because the write has completed; `archive` reports them.
    """
    limits = limits_of(table.properties, table.options)
    if limits.automatic and len(timeline.commits) + 1 > limits.most:
        with suppress(MalformedTable, UnsupportedTableFeature, WriteConflict):
            _archive(table, limits)


def _archive(table: Table, limits: ArchiveLimits, *, dry_run: bool = False, needed: Bound | None = None) -> ArchivePlan:
    storage, properties = table.storage, table.properties
    _check_archivable(properties, needed)
    with hold_lock(transitions_of(table).times.lock, new_owner("archive")):
        if not dry_run:
            _finish_earlier_runs(storage, properties)
        timeline = load_timeline(storage, properties)
        if pending_of(timeline, "restore"):  # the restore still needs the writes that it removes
            return ArchivePlan()
        situation = Situation(storage, properties, timeline, limits, needed)
        plan = _plan(situation, table.clock)
        if not dry_run:
            _execute(situation, plan)
        return plan


def _check_archivable(properties: TableProperties, needed: Bound | None) -> None:
    check_writable(properties)
    if properties.get("hoodie.table.keygenerator.type") == "HOODIE_TABLE_METADATA" and needed is None:
        raise UnsupportedTableFeature(
            "the data table decides what is archived in its metadata table", rule="ARC-001",
            path=f"{META_FOLDER}/hoodie.properties", remedy="archive it with the engine that maintains it",
        )  # fmt: skip


def _plan(situation: Situation, clock: Clock) -> ArchivePlan:
    bound = earliest_bound(situation)
    writes = _writes_to_archive(situation, clock, bound)
    if not writes:
        return ArchivePlan(bound=bound)
    newest = writes[-1].requested
    along = [i for i in situation.timeline.completed if _is_archived_along(i) and i.requested < newest]
    going = tuple(sorted([*writes, *along], key=lambda instant: instant.requested))
    return ArchivePlan(going, _files_to_delete(situation, going), bound)


def _is_archived_along(instant: Instant) -> bool:
    """Whether an action is archived with the writes after it: cleans and rollbacks, but not savepoints."""
    action = ACTIONS[instant.action]
    # ER-089: savepoints, restores and index builds stay on the active timeline.
    return action.archived and not action.writes


@implements("ARC-003", "ARC-007", "ARC-009")
def _writes_to_archive(situation: Situation, clock: Clock, bound: Bound | None) -> tuple[Instant, ...]:
    """The oldest completed writes, down to the lower limit and up to the bound, if there are more than the upper limit."""
    commits, timeline = situation.commits, situation.timeline
    earliest = earliest_to_retain(situation.limits.cleaning, timeline, _start_of_hours_to_retain(situation, clock))
    after = None if earliest is None else sum(instant.requested > earliest.requested for instant in commits)
    most, fewest = situation.limits.beside_cleaning(after)
    # ER-090: only completed writes are counted.
    if len(commits) <= most:
        return ()
    free = (i for i in commits if i.requested not in situation.savepointed and (bound is None or i.requested < bound.requested))
    return tuple(free)[: len(commits) - fewest]


def _start_of_hours_to_retain(situation: Situation, clock: Clock) -> str:
    """The time up to which a cleaning policy by hours reaches back; "" for other policies."""
    policy = situation.limits.cleaning
    if policy.name != "KEEP_LATEST_BY_HOURS":
        return ""
    zone = situation.properties.zone
    return format_time(clock.now() - policy.hours * 3_600_000, zone)


@implements("ARC-004")
def _files_to_delete(situation: Situation, going: Collection[Instant]) -> tuple[str, ...]:
    """Orphan files of the archived actions, files of uncompleted writes that would count as archived, and markers.

    After archiving only the history contains these actions, and it does not name their files.
    """
    storage, timeline = situation.storage, situation.timeline
    requested = {instant.requested for instant in going}
    left = [instant.requested for instant in timeline.writes if instant.requested not in requested]
    # If only savepointed writes stay, the next write starts the timeline: files of earlier writes must be gone before it does.
    start = next((time for time in left if time not in situation.savepointed), left[-1])
    writes = (instant for instant in going if instant.action in COMMITS)
    named = {instant.requested: load_commit(storage, situation.properties, instant).paths for instant in writes}
    markers = (info.path for instant in sorted(requested) for info in storage.list(folder_of(instant)))
    return (*orphan_files(storage, unnamed_files(named), uncommitted_files(timeline, start)), *markers)


@implements("ARC-002")
def _execute(situation: Situation, plan: ArchivePlan) -> None:
    storage, properties = situation.storage, situation.properties
    history = properties.history_folder
    for path in plan.to_delete:
        storage.delete(path)
    if plan.instants:
        files = _files_of(storage, properties.timeline_folder, plan.instants)
        flush(storage, history, (found.action(storage) for found in files))
        _remove(storage, files)
    retire(storage, history, merge_levels(storage, history, situation.limits.batch_size))


def _finish_earlier_runs(storage: Storage, properties: TableProperties) -> None:
    """Delete from the active timeline the actions that are in the history: an earlier run crashed before that step."""
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
        """The action as the history stores it: with the bytes of the completed file, and those of the plan."""
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
    """Delete the pending files of all actions, then the completed ones, oldest first: no completed action looks pending."""
    files = list(files)
    for found in files:
        for _, instant in sorted(found.pending.items()):
            storage.delete(f"{found.folder}/{instant.file_name}")
    for found in files:
        for name in found.completed:
            storage.delete(f"{found.folder}/{name}")
