"""The active timeline and its queries, spec "Timeline".

The timeline decides which data files count: a file in storage counts only if the timeline has its action as completed. The
active timeline is one listing of one folder. The history is read only if an answer needs it, and only as far back as the
answer needs.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from hudi_reference.caching import cached_property
from hudi_reference.errors import MalformedInstantName, MalformedTable
from hudi_reference.layout.properties import TableProperties
from hudi_reference.limits import INSTANTS
from hudi_reference.requirement import implements
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.history.history import END_OF_TIME, START_OF_TIME, History
from hudi_reference.timeline.instants.instant import Instant, Parts, instant_name_parts, parse_instant_name
from hudi_reference.timeline.instants.states import ACTIONS, COMMITS, EXTENSIONS, PENDING, State


@implements("TT-003")
def requested_order(instant: Instant) -> tuple[str, str, State]:
    """Sort key: by requested time, then by the action name of the completed file."""
    return (instant.requested, ACTIONS[instant.action].completes_as, instant.state)


@implements("TL-054", "RDR-003")
def completion_order(instant: Instant) -> tuple[bool, str, tuple[str, str, State]]:
    """Sort key: by completion time; pending instants come last, by requested time."""
    pending = instant.state is not State.COMPLETED
    return (pending, "" if pending else instant.completion or instant.requested, requested_order(instant))


#: A module variable, because timelines are long and the lookup of an enumeration member is slower than a comparison.
_COMPLETED = State.COMPLETED
#: The end of a name under which Apache Hudi stores a file before it renames it. A writer that was killed in between leaves it.
_NOT_RENAMED = re.compile(r"\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


@dataclass(frozen=True)
class Timeline:
    """The instants of a table, one for each action in its highest state, by requested time.

    `archived` is the history, which is read only if an answer needs it.
    """

    instants: tuple[Instant, ...]
    archived: History = field(default_factory=lambda: History(MemoryStorage(), "none"), compare=False)
    #: Requested time of the oldest write in any state. Older writes were archived, and only completed writes are archived.
    start: str | None = None
    #: Files of writes requested after this time are ignored.
    read_time: str = END_OF_TIME
    #: Writes that completed at this time or later are ignored.
    limit: str = END_OF_TIME

    #: Completed instants before the limit.
    completed: tuple[Instant, ...] = field(init=False, compare=False, repr=False)
    #: Requested and inflight instants.
    pending: tuple[Instant, ...] = field(init=False, compare=False, repr=False)
    #: Completed instants that changed data files.
    commits: tuple[Instant, ...] = field(init=False, compare=False, repr=False)
    #: The completion times of all these, whatever the limit, by requested time.
    _completions: Mapping[str, str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Divide the instants by their states, once."""
        done = [instant for instant in self.instants if instant.state is _COMPLETED]
        seen = done if self.limit == END_OF_TIME else [i for i in done if (i.completion or i.requested) < self.limit]
        vars(self).update(
            completed=tuple(seen),
            pending=tuple(instant for instant in self.instants if instant.state is not _COMPLETED),
            commits=tuple(instant for instant in seen if instant.action in COMMITS),
            _completions={i.requested: i.completion or i.requested for i in done if i.action in COMMITS},
        )

    @property
    def writes(self) -> tuple[Instant, ...]:
        """Instants in any state that add or replace data files, including compactions and clusterings."""
        return tuple(instant for instant in self.instants if ACTIONS[instant.action].writes)

    @property
    def pending_times(self) -> frozenset[str]:
        """The requested times of pending actions. A savepoint has that of the write that it protects, which is completed."""
        return frozenset(instant.requested for instant in self.pending if instant.action != "savepoint")

    @property
    @implements("TL-054", "RDR-003")
    def latest(self) -> Instant | None:
        """The write that completed last, which defines the latest snapshot. Its requested time does not matter."""
        return max(self.commits, key=completion_order, default=None)

    @cached_property
    def history(self) -> tuple[Instant, ...]:
        """Archived instants up to the read time, by requested time. Reads the whole history."""
        return self.archived.instants(end=self.read_time)

    @implements("LSM-025", "TL-055")
    def requested_between(self, begin: str = START_OF_TIME, end: str = END_OF_TIME) -> tuple[Instant, ...]:
        """Completed instants, active and archived, that were requested from `begin` to `end`, by requested time."""
        active = [instant for instant in self.completed if begin <= instant.requested <= end]
        needed = self.start is None or begin < self.start
        return _combine(active, self.archived.instants(begin, end) if needed else ())

    @implements("LSM-025", "TL-054", "TL-055")
    def completed_between(self, begin: str = START_OF_TIME, end: str = END_OF_TIME) -> tuple[Instant, ...]:
        """Completed instants, active and archived, that completed from `begin` to `end`, by completion time."""
        active = [instant for instant in self.completed if begin <= (instant.completion or instant.requested) <= end]
        return tuple(sorted(_combine(active, self.archived.completed(begin, end)), key=completion_order))

    @implements("RDR-008", "TL-033")
    def completion_of(self, requested: str) -> str | None:
        """Completion time of the write with that requested time; None if it did not complete, or not before the limit."""
        completion = self._completions.get(requested) or self._archived_completion_of(requested)
        return None if completion is None or completion >= self.limit else completion

    @implements("RDR-008", "RDR-009", "TL-033", "TL-055")
    def _archived_completion_of(self, requested: str) -> str | None:
        """Completion time of a write that is not completed on the active timeline, without the limit.

        Writes older than the active timeline are looked up in the history. A write that is not there either counts as completed
        at its requested time, because only archiving removes state files.
        """
        if self.start is None or requested >= self.start:
            return self.archived.completion_of(requested)
        return self.archived.completion_of(requested, everywhere=True) or requested

    def until(self, requested: str) -> "Timeline":
        """The timeline of the instants requested at that time or before."""
        kept = tuple(instant for instant in self.instants if instant.requested <= requested)
        return Timeline(kept, self.archived, self.start, requested)

    @implements("TL-054", "RDR-003", "RDR-006")
    def completed_before(self, time: str) -> "Timeline":
        """The timeline of the instants that completed before that time, regardless of their requested times."""
        return replace(self, limit=min(time, self.limit))


def _combine(active: Iterable[Instant], archived: Iterable[Instant]) -> tuple[Instant, ...]:
    """By requested time. An instant that is archived and still in the active timeline counts once."""
    by_identity = {instant.identity: instant for instant in (*archived, *active)}
    return tuple(sorted(by_identity.values(), key=requested_order))


@implements("LAY-017", "TL-042", "TL-046", "TL-053")
def build_timeline(names: Iterable[str]) -> tuple[Instant, ...]:
    """The instants of file names: one for each action, in its highest state, by requested time.

    Foreign names are ignored. If an action has two completed files, the earlier completion counts (ER-261).
    Raises MalformedInstantName.
    """
    highest: dict[tuple[str, str], Parts] = {}
    done, action = "", ""  # the last completed action; its pending files follow in this order, and are skipped
    for name in sorted(names, reverse=True):
        if PENDING.get(name[len(done) :]) == action and name.startswith(done):
            continue
        parts = instant_name_parts(name)
        if parts is None:
            continue
        identity = (parts[0], ACTIONS[parts[1]].completes_as)
        known = highest.get(identity)
        if known is None or known[2] <= parts[2]:
            highest[identity] = parts
            if parts[2] is _COMPLETED:
                done, action = identity
    return tuple(Instant(*highest[identity]) for identity in sorted(highest))


def instants_requested_at(storage: Storage, properties: TableProperties, requested: str) -> tuple[Instant, ...]:
    """The active instants with that requested time as they are now."""
    return build_timeline(name for name in storage.names(properties.timeline_folder) if name.startswith(requested))


def is_still_pending(storage: Storage, properties: TableProperties, instant: Instant) -> bool:
    """Whether an action is pending now: another process may have withdrawn it since a timeline was loaded."""
    return any(pending.identity == instant.identity for pending in load_timeline(storage, properties).pending)


@implements("LAY-017", "LSM-001", "TL-055")
def load_timeline(storage: Storage, properties: TableProperties, known: Timeline | None = None) -> Timeline:
    """The active timeline from one listing of its folder.

    `known` is an earlier timeline of the same table; the files of the history that it has read are not read again. Raises
    MalformedTable.
    """
    names = storage.names(properties.timeline_folder)
    INSTANTS.check(len(names), properties.timeline_folder)
    if not names and storage.head(properties.timeline_folder) is not None:
        raise MalformedTable("a file is in the place of the timeline folder", rule="LAY-017", path=properties.timeline_folder)
    instants = build_timeline(names)
    _check_names(names, instants, properties.timeline_folder)
    history = History(storage, properties.history_folder, {} if known is None else dict(known.archived.levels))
    return Timeline(instants, history, oldest_write(instants))


@implements("TL-046")
def _check_names(names: Iterable[str], instants: Iterable[Instant], folder: str) -> None:
    """Refuse names that hide actions: that of a folder in the place of an instant, and that of a damaged completed file.

    The completed file of an unknown action that has the requested time of a pending action was damaged: the pending files of an
    action that is not known here have another name too. A completed file that was not renamed has not completed its action.
    """
    times = {instant.requested for instant in instants if instant.state is not _COMPLETED}
    for name in names:
        if name[-1] == "/" and parse_instant_name(name[:-1]) is not None:
            raise MalformedInstantName(
                "a folder is in the place of the file of an instant", rule="TL-046", path=f"{folder}/{name}",
                remedy="restore the file or remove the folder; the action may have completed",
            )  # fmt: skip
        if not times:
            continue
        requested, divider, rest = name.partition("_")
        completion, _, action = rest.partition(".")
        is_completed = requested in times and divider and completion.isdigit()
        if is_completed and action not in EXTENSIONS and not _NOT_RENAMED.search(action):
            raise MalformedInstantName(
                "the completed file of an unknown action has the requested time of a pending action", rule="TL-046",
                path=f"{folder}/{name}", expected="the name of an action", found=action,
                remedy="the name was damaged: rename the file",
            )  # fmt: skip


def oldest_write(instants: Iterable[Instant]) -> str | None:
    """The requested time of the oldest write.

    Savepointed commits do not count, because they stay when later ones are archived.
    """
    instants = tuple(instants)
    savepointed = {instant.requested for instant in instants if instant.action == "savepoint"}
    writes = (instant.requested for instant in instants if ACTIONS[instant.action].writes)
    return next((requested for requested in writes if requested not in savepointed), None)
