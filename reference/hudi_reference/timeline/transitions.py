"""The steps of an action from one state to the next, spec "Timeline > States".

Each state is one object, which is created atomically or deleted. `states.MOVES` lists the legal steps. Files are never renamed:
the files of earlier states remain next to those of later ones, and the highest state counts.

The functions below the class check for pending rollbacks and restores before a completion: a write must not complete after its
rollback was planned, and must not build on a write that is rolled back.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from hudi_reference.errors import IllegalTransition, InstantExists, Misuse, UnsupportedTableFeature, WriteConflict
from hudi_reference.layout.properties import TableProperties
from hudi_reference.locks import hold_lock, new_owner
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectExists, Storage
from hudi_reference.timeline.active import Timeline, load_timeline
from hudi_reference.timeline.contents.actions import load_action
from hudi_reference.timeline.instant_generator import Times, latest_time
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import ACTIONS, STEPS, State
from hudi_reference.timeline.instants.version_6 import check_migrated


def no_check(timeline: Timeline) -> None:
    """The check of a completion that cannot conflict."""


def no_preparation(times: Times, owner: str) -> None:
    """The preparation of a completion that needs none."""


@dataclass(frozen=True)
class Transitions:
    """Moves the actions of one table from state to state.

    All methods raise IllegalTransition for a step that `states.MOVES` does not have, WriteConflict if the action is not in the
    state that the caller expects, InstantExists if another writer has created the instant, and Misuse for an empty file where
    readers need a record.
    """

    storage: Storage
    properties: TableProperties
    times: Times

    @implements("TL-001", "TL-026", "TL-034", "TL-048")
    def request(
        self,
        action: str,
        content: bytes = b"",
        requested: str | None = None,
        owner: str | None = None,
        announce: Callable[[str], object] | None = None,
    ) -> Instant:
        """Create a new action with its plan, at a new time or at `requested`.

        `owner` holds the lock of the table already. `announce` is called with the new time before the action is visible. Raises
        LockNotHeld if the lock was lost.
        """
        _check_move(action, "request", None)
        check_migrated(self.storage, self.properties)
        if requested is not None:
            return self._create(Instant(requested, action, State.REQUESTED), content, owner)
        owner = new_owner(f"request {action}")
        with hold_lock(self.times.lock, owner):
            known = latest_time(load_timeline(self.storage, self.properties))
            with self.times.drawn(known, owner) as time:
                if announce is not None:
                    announce(time)
                return self._create(Instant(time, action, State.REQUESTED), content, owner)

    @implements("TL-035", "TL-049", "TL-050")
    def start(self, instant: Instant, content: bytes = b"") -> Instant:
        """Move to inflight. A planned action that is inflight already may be started again; its plan does not change.

        A savepoint has no requested state and begins here.
        """
        inflight = replace(instant, state=State.INFLIGHT)
        if instant.state is State.INFLIGHT:
            _check_move(instant.action, "start again", State.INFLIGHT)
            self._check_exists(inflight)
            return inflight
        begins = instant.state is State.REQUESTED and not ACTIONS[instant.action].has_requested
        before = None if begins else instant.state
        _check_move(instant.action, "begin" if before is None else "start", before)
        if before is None:
            check_migrated(self.storage, self.properties)
            return self._create(inflight, content)
        owner = new_owner(f"start {instant.action} {instant.requested}") if ACTIONS[instant.action].planned else None
        with nullcontext() if owner is None else hold_lock(self.times.lock, owner):  # no process can remove the plan meanwhile
            self._check_exists(instant)
            return self._create(inflight, content, owner)

    @implements("TL-031", "TL-032", "TL-036", "TL-051", "TL-052", "TT-007", "OCC-022", "S3-007")
    def complete(
        self,
        instant: Instant,
        content: bytes,
        check: Callable[[Timeline], None] = no_check,
        before: Callable[[Times, str], None] = no_preparation,
    ) -> Instant:
        """Publish the completion: take the completion time and create the file under one hold of the lock.

        Under the same lock, first `check` is called with the current timeline, and raises if the action must not complete.
        Then `before` makes the preparations, with the times of the table and the owner of the lock as arguments. Raises
        LockNotHeld if the lock was lost before the file was created.
        """
        _check_move(instant.action, "complete", instant.state)
        owner = new_owner(f"complete {instant.action} {instant.requested}")
        with hold_lock(self.times.lock, owner):
            timeline = load_timeline(self.storage, self.properties)
            if instant not in timeline.instants:
                raise _state_changed(instant)
            if ACTIONS[instant.action].has_requested:  # a rollback may have removed it before the inflight file was created
                self._check_exists(replace(instant, state=State.REQUESTED))
            check(timeline)
            before(self.times, owner)
            with self.times.drawn(max(latest_time(timeline), instant.requested), owner) as time:
                completes_as = ACTIONS[instant.action].completes_as
                return self._create(Instant(instant.requested, completes_as, State.COMPLETED, time), content, owner)

    @implements("TL-050")
    def revert(self, instant: Instant) -> Instant:
        """Move from inflight back to requested, for services whose plan can be executed again later."""
        requested = replace(instant, state=State.REQUESTED)
        _check_move(instant.action, "revert", instant.state)
        self._check_exists(requested)
        self.storage.delete(self.path(instant))
        return requested

    @implements("TL-052")
    def withdraw(self, instant: Instant) -> Instant:
        """Move a completed action back to inflight: the first step of a rollback or restore, which hides its effect from
        readers.

        Missing files of earlier states are created empty, so that the action remains on the timeline.
        """
        _check_move(instant.action, "withdraw", instant.state)
        self._check_exists(instant)
        files = self._files(instant)
        action = next((found.action for found in files if found.state is not State.COMPLETED), instant.action)
        for state in (State.REQUESTED, State.INFLIGHT):
            earlier = Instant(instant.requested, action, state)
            if state in ACTIONS[action].contents and earlier not in files:
                self.storage.put(self.path(earlier), b"")
        for completed in files:
            if completed.state is State.COMPLETED:
                self.storage.delete(self.path(completed))
        return Instant(instant.requested, action, State.INFLIGHT)

    def remove(self, instant: Instant) -> None:
        """Remove a pending action from the timeline: first its inflight file, then its requested file."""
        _check_move(instant.action, "remove", instant.state)
        states = [state for state in ACTIONS[instant.action].contents if state is not State.COMPLETED]
        for state in reversed(states):
            self.storage.delete(self.path(replace(instant, state=state)))

    def path(self, instant: Instant) -> str:
        """The path of the file of an instant."""
        return f"{self.properties.timeline_folder}/{instant.file_name}"

    def _files(self, instant: Instant) -> list[Instant]:
        """The instants of all files of an action; those of a completed compaction include the compaction's.

        There may be two completed files.
        """
        names = self.storage.names(self.properties.timeline_folder)
        parsed = (parse_instant_name(name) for name in names if name.startswith(instant.requested))
        return [known for known in parsed if known is not None and known.identity == instant.identity]

    def _check_exists(self, instant: Instant) -> None:
        if self.storage.head(self.path(instant)) is None:
            raise _state_changed(instant)

    @implements("TL-003", "S3-001", "S3-002", "S3-006")
    def _create(self, instant: Instant, content: bytes, owner: str | None = None) -> Instant:
        """Publish a state.

        If the step needs the lock, `owner` must still hold it, because another owner may have changed the table.
        """
        path = self.path(instant)
        expected = ACTIONS[instant.action].contents[instant.state]
        if expected.needed and not content:
            raise Misuse(
                "this file must not be empty", rule="TL-026", path=path, expected=str(expected.record), found="no bytes"
            )
        if owner is not None:
            self.times.lock.check(owner)
        try:
            self.storage.create(path, content)
        except ObjectExists as error:
            raise InstantExists(
                "another writer has created this instant", rule="S3-002", path=path, expected="no such file",
                remedy="start the action again with a new instant",
            ) from error  # fmt: skip
        return instant


@implements("TL-025", "TL-051", "TL-052")
def _check_move(action: str, named: str, start: State | None) -> None:
    """Raises IllegalTransition unless the action may take this step from the state `start`."""
    if action not in ACTIONS or ACTIONS[action].in_schema_folder:
        raise UnsupportedTableFeature("the action is not supported", rule="TL-025", found=action)
    steps = [move.named for move in STEPS[action] if move.start is start]
    if named not in steps:
        raise IllegalTransition(
            "no such step", rule="TL-052" if start is State.COMPLETED else "TL-051", found=f"{named} of a {action}",
            expected=f"from {'nothing' if start is None else start.name}: {' or '.join(steps) or 'no step'}",
        )  # fmt: skip


def _state_changed(instant: Instant) -> WriteConflict:
    return WriteConflict(
        "another process completed the action or rolled it back", rule="TL-051", path=instant.file_name,
        expected=f"the action in state {instant.state.name}", found="another state, or no such action",
    )  # fmt: skip


@implements("TL-023")
def check_no_restore(timeline: Timeline) -> None:
    """Raises WriteConflict if a restore is pending.

    A restore rolls back all pending writes, regardless of their requested times.
    """
    for pending in timeline.pending:
        if pending.action == "restore":
            raise WriteConflict(
                "the table is being restored", rule="TL-023", path=pending.file_name, expected="no pending restore",
                remedy="write again after the restore has completed",
            )  # fmt: skip


@implements("TL-019", "TL-030")
def check_not_rolled_back(storage: Storage, properties: TableProperties, timeline: Timeline, requested: str) -> None:
    """Raises WriteConflict if a rollback of the write or a restore is pending.

    The caller holds the lock under which rollbacks and restores are planned.
    """
    check_no_restore(timeline)
    for pending in timeline.pending:
        if pending.action == "rollback" and _target_of(storage, properties, pending) == requested:
            raise WriteConflict(
                "the write is being rolled back", rule="TL-019", path=pending.file_name, expected="the action inflight",
                remedy="write again",
            )  # fmt: skip


def _target_of(storage: Storage, properties: TableProperties, pending: Instant) -> str | None:
    plan = Instant(pending.requested, "rollback", State.REQUESTED)
    record: Mapping[str, Any] = load_action(storage, properties, plan) or {}
    target: str | None = (record.get("instantToRollback") or {}).get("commitTime")
    return target


@implements("TL-019", "TL-023", "OCC-008")
def check_base_commits_exist(storage: Storage, properties: TableProperties, seen: Timeline, timeline: Timeline) -> None:
    """Raises WriteConflict if a write that `seen` has as completed was rolled back meanwhile, or its rollback is pending.

    A file that was written on the basis of such a write contains rows that no longer exist. Writes older than the active
    timeline were archived, and still exist.
    """
    rollbacks = {_target_of(storage, properties, found): found for found in timeline.pending if found.action == "rollback"}
    known = {commit.identity for commit in timeline.commits}
    for commit in seen.commits:
        if commit.requested < (timeline.start or ""):
            continue
        if (rollback := rollbacks.get(commit.requested)) is not None:
            raise WriteConflict(
                "this write builds on one that is being rolled back", rule="TL-019", path=rollback.file_name,
                expected="no rollback of a completed write", found=f"a rollback of {commit.file_name}",
                remedy="write again when the rollback has completed; withdraw one that cannot complete: "
                f"hudi-conformance service TABLE withdraw --instant {rollback.requested}",
            )  # fmt: skip
        if commit.identity not in known:
            raise WriteConflict(
                "this write builds on one that was rolled back", rule="TL-019", path=commit.file_name,
                expected="the same commit as when the write began", remedy="write again on the current state of the table",
            )  # fmt: skip
