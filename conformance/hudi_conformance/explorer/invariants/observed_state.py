"""What an observer knows after each step of a run: what each process does, and which actions completed or were rolled back.

It is derived from the steps only: programs note what they begin (`Doing`) and what they read; their requests to storage give
the rest. An `ObservedState` is a value: runs with a common prefix share its states.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from hudi_conformance.explorer.history.history import GroupId
from hudi_conformance.explorer.invariants.snapshot_view import Row, comparable_row
from hudi_conformance.explorer.simulation.runs import Step
from hudi_conformance.explorer.simulation.simulated_store import State
from hudi_conformance.model import Model, Operation
from hudi_reference.caching import cached_property
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.timeline.contents.actions import read_action
from hudi_reference.timeline.contents.metadata import CommitMetadata, commit_metadata_of
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import COMMITS
from hudi_reference.timeline.instants.states import State as StateOfAction

TIMELINE, HISTORY = f"{META_FOLDER}/timeline/", f"{META_FOLDER}/timeline/history/"
#: The notes of programs.
BEGIN, END = "begin", "end"


class CurrentOperation(NamedTuple):
    """What a process is doing: an operation of the model with its rows, or a service or query by name."""

    kind: str
    rows: tuple[Mapping[str, Any], ...] = ()
    #: The time that a query asks for.
    at: str | None = None

    @property
    def is_write(self) -> bool:
        """Whether it changes rows."""
        return bool(self.rows)


class EarlierWrite(NamedTuple):
    """A write before the run."""

    requested: str
    completion: str
    kind: Operation
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class InitialTable:
    """The table before the run, and what its programs promise."""

    #: A model of the table, empty.
    model: Callable[[], Model]
    writes: tuple[EarlierWrite, ...]
    #: Whether writers compare record keys, so that a key is in one file group only.
    unique_keys: bool = False
    #: Whether writers of logs may write to one file group without conflict.
    non_blocking: bool = False
    #: Whether the lock is a lease, which a slow holder may lose.
    leased: bool = False
    #: Whether writers send heartbeats.
    heartbeats: bool = False
    #: Whether no process conflicts with a writer, so that every writer completes.
    without_conflicts: bool = False


class BegunAction(NamedTuple):
    """An action that a process added to the timeline in this run."""

    process: str
    doing: CurrentOperation
    step: int
    state: State


@dataclass(frozen=True)
class CompletedAction:
    """An action that completed: at step `step`, or before the run (step 0). Step `withdrawn` rolled it back."""

    instant: Instant
    step: int = 0
    process: str = ""
    doing: CurrentOperation | None = None
    record: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    withdrawn: int | None = None
    #: The greatest completion time on the timeline that its process had read when it chose its files.
    based_on: str | None = None

    @cached_property
    def metadata(self) -> CommitMetadata:
        """The commit metadata of a write."""
        empty = CommitMetadata("UNKNOWN")
        return commit_metadata_of(self.record, self.instant.file_name) if self.is_write and self.record else empty

    @property
    def is_write(self) -> bool:
        """Whether it added or replaced data files."""
        return self.instant.action in COMMITS

    @property
    def completion(self) -> str:
        """Its completion time."""
        return self.instant.completion or self.instant.requested

    @cached_property
    def groups(self) -> frozenset[GroupId]:
        """The file groups that it wrote to or replaced."""
        return frozenset((stat.partition, stat.file_id) for stat in self.metadata.stats) | self.replaced

    @cached_property
    def replaced(self) -> frozenset[GroupId]:
        """The file groups that it replaced."""
        return frozenset((partition, file_id) for partition, ids in self.metadata.replaced.items() for file_id in ids)

    @property
    def is_compaction(self) -> bool:
        """Whether it merged logs without changing rows."""
        return self.metadata.operation in ("COMPACT", "LOG_COMPACT")

    @cached_property
    def is_log_only(self) -> bool:
        """Whether it only added log files of new changes."""
        stats = self.metadata.stats
        return bool(stats) and all(stat.is_log for stat in stats) and not self.replaced and not self.is_compaction


@dataclass(frozen=True)
class ObservedState:
    """What is known after `step` steps of a run."""

    start: InitialTable
    state: State
    step: int = 0
    doing: Mapping[str, CurrentOperation] = field(default_factory=dict)
    begun: Mapping[str, BegunAction] = field(default_factory=dict)
    done: tuple[CompletedAction, ...] = ()
    #: The greatest time in the name of any instant so far.
    latest: str = ""
    #: Process -> the greatest completion time in its first listing of the timeline.
    based_on: Mapping[str, str] = field(default_factory=dict)
    #: Processes that changed rows, or tried to.
    writers: frozenset[str] = frozenset()
    #: Requested times of actions whose inflight file was removed. Their writers may store it again.
    rolled_back: frozenset[str] = frozenset()

    @cached_property
    def visible(self) -> tuple[CompletedAction, ...]:
        """Actions that completed and were not rolled back, in the order of completion."""
        return tuple(sorted((d for d in self.done if d.withdrawn is None), key=lambda done: done.completion))

    @cached_property
    def files(self) -> tuple[Instant, ...]:
        """The instants of all files in the timeline folder."""
        names = (path.removeprefix(TIMELINE) for path in self.state.objects if path.startswith(TIMELINE))
        found = (parse_instant_name(name) for name in names if "/" not in name)
        return tuple(instant for instant in found if instant is not None)

    @cached_property
    def pending(self) -> tuple[Instant, ...]:
        """Files of pending states, of actions that have no completed file."""
        completed = {found.identity for found in self.files if found.state is StateOfAction.COMPLETED}
        return tuple(f for f in self.files if f.state is not StateOfAction.COMPLETED and f.identity not in completed)

    def plans(self, *actions: str) -> list[tuple[Instant, Mapping[str, Any]]]:
        """The plans of pending actions."""
        found = (f for f in self.pending if f.action in actions and f.state is StateOfAction.REQUESTED)
        return [(instant, record) for instant in found if (record := self.read_record(instant))]

    def read_record(self, instant: Instant) -> Mapping[str, Any] | None:
        """The content of the file of an instant."""
        path = TIMELINE + instant.file_name
        stored = self.state.objects.get(path)
        return None if stored is None or not stored.body else read_action(stored.body, path, instant)

    def rows(self, *, until: str | None = None, requested: str | None = None) -> tuple[Row, ...]:
        """The rows of the model after all visible writes, or those completed `until` a time, or `requested` until a time."""
        writes = [(w.requested, w.completion, w.kind, w.rows) for w in self.start.writes]
        writes += [
            (d.instant.requested, d.completion, d.doing.kind, d.doing.rows)  # type: ignore[misc]
            for d in self.done
            if d.doing is not None and d.doing.is_write and d.is_write and not d.is_compaction
        ]
        visible = {done.instant.requested for done in self.visible}
        counted = [
            write for write in sorted(writes, key=lambda write: write[1])
            if write[0] in visible and (until is None or write[1] <= until) and (requested is None or write[0] <= requested)
        ]  # fmt: skip
        return replay_writes(self.start.model, counted)

    def next_state(self, step: Step) -> "ObservedState":
        """The state after one more step, except its effect on the timeline."""
        number, changes = self.step + 1, dict[str, Any]()
        if step.request == "note" and step.path == BEGIN:
            changes["doing"] = {**self.doing, step.process: step.asked.detail}
            changes["writers"] = self.writers | ({step.process} if step.asked.detail.is_write else frozenset())
            changes["based_on"] = {known: time for known, time in self.based_on.items() if known != step.process}
        elif (
            f"{step.path}/" == TIMELINE and (step.request, step.effect) == ("names", "ok") and step.process not in self.based_on
        ):
            changes["based_on"] = {**self.based_on, step.process: _greatest(step.answer)}
        return replace(self, state=step.state, step=number, **changes)

    def with_file(self, step: Step, instant: Instant) -> "ObservedState":
        """The state after the file of an instant was created."""
        latest = max(self.latest, instant.requested, instant.completion or "")
        begun = self.begun.get(instant.requested)
        if instant.state is not StateOfAction.COMPLETED:
            if begun is not None or instant.action == "savepoint":
                return replace(self, latest=latest)
            new = BegunAction(step.process, self.doing.get(step.process, CurrentOperation("unknown")), self.step, self.state)
            return replace(self, latest=latest, begun={**self.begun, instant.requested: new})
        doing = self.doing.get(step.process) if begun is None else begun.doing
        # A service is based on its plan, which was made under the lock; its requested time is that of the plan.
        is_write = doing is not None and doing.is_write
        based_on = self.based_on.get(step.process) if is_write else instant.requested
        done = CompletedAction(instant, self.step, step.process, doing, self.read_record(instant), based_on=based_on)
        return replace(self, latest=latest, done=(*self.done, done))

    def without_pending_file(self, instant: Instant) -> "ObservedState":
        """The state after a pending file was removed."""
        is_inflight = instant.state is StateOfAction.INFLIGHT
        return replace(self, rolled_back=self.rolled_back | {instant.requested}) if is_inflight else self

    def without_completed_action(self, instant: Instant) -> "ObservedState":
        """The state after a completed action was removed from the timeline."""
        hidden = tuple(replace(d, withdrawn=self.step) if d.instant == instant else d for d in self.done)
        return replace(self, done=hidden)


def initial_state(start: InitialTable, state: State) -> ObservedState:
    """The state before the first step, with the actions that are on the timeline."""
    found = ObservedState(start, state)
    completed = [i for i in found.files if i.state is StateOfAction.COMPLETED]
    done = tuple(CompletedAction(instant, record=found.read_record(instant)) for instant in completed)
    latest = max((max(i.requested, i.completion or "") for i in found.files), default="")
    known = {d.instant.requested for d in done}
    archived = tuple(  # archived actions
        CompletedAction(Instant(w.requested, "commit", StateOfAction.COMPLETED, w.completion))
        for w in start.writes if w.requested not in known
    )  # fmt: skip
    return replace(found, done=(*archived, *done), latest=latest)


def _greatest(names: Sequence[str]) -> str:
    found = (parse_instant_name(name) for name in names if not name.endswith("/"))
    return max((i.completion for i in found if i is not None and i.completion), default="")


def replay_writes(
    model: Callable[[], Model], writes: Sequence[tuple[str, str, Any, tuple[Mapping[str, Any], ...]]]
) -> tuple[Row, ...]:
    """The rows of a model after these writes, sorted."""
    filled = model()
    for requested, completion, kind, rows in writes:
        filled.apply(kind, rows, requested, completion)
    return tuple(sorted((comparable_row(row) for row in filled.snapshot()), key=repr))
