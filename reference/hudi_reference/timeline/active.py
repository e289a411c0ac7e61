"""The active timeline and what may be asked of it, spec "Timeline".

The timeline is the authority: what it does not show as completed did not happen, whatever lies in storage.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from hudi_reference.layout.properties import TableProperties
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.history import read_history
from hudi_reference.timeline.instant import Instant, parse_instant_name
from hudi_reference.timeline.states import ACTIONS, COMMITS, State

#: Later than every instant: `:` follows the digits.
END_OF_TIME = ":"


@dataclass(frozen=True)
class Timeline:
    """The instants of a table, one for each action in its highest state, by requested time.

    `load_history` reads the archived instants; it is called when an answer needs them and at most once.
    """

    instants: tuple[Instant, ...]
    load_history: Callable[[], tuple[Instant, ...]] = tuple
    #: Requested time of the oldest write in any state: what is older was archived, and only completed writes are.
    start: str | None = None
    #: Requested time up to which files count.
    read_time: str = END_OF_TIME

    @property
    def completed(self) -> tuple[Instant, ...]:
        """Completed instants."""
        return tuple(instant for instant in self.instants if instant.state is State.COMPLETED)

    @property
    def pending(self) -> tuple[Instant, ...]:
        """Requested and inflight instants."""
        return tuple(instant for instant in self.instants if instant.state is not State.COMPLETED)

    @property
    def commits(self) -> tuple[Instant, ...]:
        """Completed instants that changed data files."""
        return tuple(instant for instant in self.completed if instant.action in COMMITS)

    @cached_property
    def history(self) -> tuple[Instant, ...]:
        """Archived instants, by requested time."""
        return self.load_history()

    @cached_property
    def _completions(self) -> dict[str, str]:
        return {instant.requested: instant.completion or instant.requested for instant in self.commits}

    @cached_property
    def _archived_completions(self) -> dict[str, str]:
        commits = (instant for instant in self.history if instant.action in COMMITS)
        return {instant.requested: instant.completion or instant.requested for instant in commits}

    @implements("RDR-008", "RDR-009", "TL-033", "TL-055")
    def completion_of(self, requested: str) -> str | None:
        """Completion time of the write with that requested time; None if it did not complete.

        Writes older than the active timeline are looked up in the history. One that is not there either counts as completed
        when it was requested, as its state files can only have been removed by archiving.
        """
        if (completion := self._completions.get(requested)) is not None:
            return completion
        if self.start is None or requested >= self.start:
            return self._archived_completions.get(requested)
        return self._archived_completions.get(requested, requested)

    def until(self, requested: str) -> "Timeline":
        """The timeline of the instants requested at that time or before."""
        kept = tuple(instant for instant in self.instants if instant.requested <= requested)
        return Timeline(kept, lambda: tuple(i for i in self.history if i.requested <= requested), self.start, requested)


@implements("LAY-017", "TL-046", "TL-053")
def build_timeline(names: Iterable[str]) -> tuple[Instant, ...]:
    """The instants that file names stand for, one for each action in the highest of its states, by requested time.

    Foreign names are passed over. Of two completed files of one action the first completion counts.
    """
    highest: dict[tuple[str, str], Instant] = {}
    for name in sorted(names):
        instant = parse_instant_name(name)
        if instant is None:
            continue
        known = highest.get(instant.identity)
        if known is None or known.state < instant.state:
            highest[instant.identity] = instant
    return tuple(sorted(highest.values(), key=lambda instant: (instant.requested, ACTIONS[instant.action].completes_as)))


@implements("LAY-017", "LSM-001")
def load_timeline(storage: Storage, properties: TableProperties) -> Timeline:
    """The active timeline from one listing of its folder."""
    folder = properties.timeline_folder + "/"
    names = (info.path.removeprefix(folder) for info in storage.list(folder, skip=properties.history_folder))
    instants = build_timeline(name for name in names if "/" not in name)
    return Timeline(instants, lambda: read_history(storage, properties.history_folder), _oldest_write(instants))


def _oldest_write(instants: Iterable[Instant]) -> str | None:
    """Savepointed commits may stay behind when later ones are archived, so they do not count."""
    instants = tuple(instants)
    savepointed = {instant.requested for instant in instants if instant.action == "savepoint"}
    writes = (instant.requested for instant in instants if ACTIONS[instant.action].writes)
    return next((requested for requested in writes if requested not in savepointed), None)
