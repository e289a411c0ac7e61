"""The 38 invariants of writers and services, as data, and the checker that evaluates them after every step of a run.

    checker = InvariantChecker(start)
    exhaustive(make_store, processes, check=checker)       # the first broken invariant, as text

An invariant is evaluated only for the kinds of events (`on`) that can break it. Invariants without a function are checked
elsewhere; `elsewhere` says where.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from hudi_conformance.explorer.invariants import files, indexes, rollback, rows, times
from hudi_conformance.explorer.invariants.observed_state import (
    BEGIN,
    END,
    CurrentOperation,
    EarlierWrite,
    InitialTable,
    ObservedState,
    initial_state,
)
from hudi_conformance.explorer.invariants.snapshot_view import SnapshotView, SnapshotViews
from hudi_conformance.explorer.invariants.step_context import VISIBLE, InvariantCheck, StepContext, make_context
from hudi_conformance.explorer.simulation.runs import Run, Step
from hudi_reference.errors import HudiError


def always(_: StepContext) -> bool:
    """No further condition."""
    return True


@dataclass(frozen=True)
class Invariant:
    """One invariant. `holds` returns what is broken after a step whose event is in `on` and for which `when` holds.

    An invariant without `holds` is checked elsewhere; `elsewhere` says where.
    """

    number: int
    title: str
    rules: tuple[str, ...]
    on: frozenset[str] = frozenset()
    holds: InvariantCheck | None = None
    when: Callable[[StepContext], bool] = always
    elsewhere: str = ""

    def __str__(self) -> str:
        return f"invariant {self.number}, {self.title} [{', '.join(self.rules)}]"


def _on(*events: str) -> frozenset[str]:
    return frozenset(events)


_PUBLISHED, _COMPLETED, _PENDING, _DELETED = _on("pending", "completed"), _on("completed"), _on("pending"), _on("deleted")
_follow = rows.rows_follow_the_model

INVARIANTS = (
    Invariant(1, "monotone times", ("TT-003", "TL-004"), _PUBLISHED, times.times_are_unique),
    Invariant(2, "completion time and publication are atomic", ("OCC-022", "S3-007"), _COMPLETED,
              times.completions_are_published_in_order),
    Invariant(3, "requested time and publication are atomic", ("OCC-005", "TT-007"), _PENDING,
              times.requests_are_published_in_order),
    Invariant(4, "single completion", ("TL-051", "SVC-005"), _COMPLETED, times.actions_complete_once),
    Invariant(5, "order of states", ("TL-035", "TL-036", "TL-049", "ARC-002"), _on(*_PUBLISHED, "removed", "archived"),
              times.states_follow_each_other),
    Invariant(6, "reads are committed", ("RDR-008", "OCC-004"), VISIBLE, rows.reads_are_committed),
    Invariant(7, "snapshots as of one time are equal", ("RDR-006", "TYP-008"),
              _on("completed", "unpublished", "archived", "deleted"), rows.old_reads_stay_the_same),
    Invariant(8, "no lost write", ("OCC-001", "OCC-010"), VISIBLE, _follow, rows.is_completion_of_a_write),
    Invariant(9, "conflicts are detected", ("OCC-011", "OCC-012", "OCC-013"), _COMPLETED, rows.conflicts_are_complete),
    Invariant(10, "one of two conflicting writers completes", ("OCC-014", "OCC-019"), elsewhere="at the end of each run"),
    Invariant(11, "unique keys", ("OCC-017",), VISIBLE, rows.keys_are_unique),
    Invariant(12, "aborted writes are invisible", ("OCC-019", "TL-019"), VISIBLE, _follow, rows.is_rollback),
    Invariant(13, "commits are durable", ("TL-019", "CLN-002"), _on("deleted", "unpublished"), files.commits_keep_their_files),
    Invariant(14, "each log file in one slice", ("NBC-002", "RDR-015"), _on(*_PUBLISHED, "stored"),
              files.logs_are_in_one_slice),
    Invariant(15, "closed plans", ("NBC-007", "SVC-002"), _PENDING, files.plans_are_closed),
    Invariant(16, "services change no row", ("OCC-003", "SVC-011"), VISIBLE, _follow, rows.is_rewrite),
    Invariant(17, "uncommitted files change no slice", ("RDR-008", "NBC-002"), VISIBLE, _follow, rows.is_uncommitted),
    Invariant(18, "plans exclude each other", ("SVC-004", "SVC-010"), _PENDING, files.plans_exclude_each_other),
    Invariant(19, "executors do not delete each other's files", ("SVC-005", "SVC-007"), _COMPLETED,
              files.completed_files_are_there),
    Invariant(20, "log compaction keeps the order", ("LCP-001", "LCP-005"), VISIBLE, _follow, rows.is_log_compaction),
    Invariant(21, "a file group is replaced or written, not both", ("OCC-016", "SVC-009"), _COMPLETED,
              files.nothing_is_written_to_replaced_groups),
    Invariant(22, "replaced groups stay hidden", ("RDR-010",), _on("completed", "archived", "deleted"),
              files.replaced_groups_stay_away),
    Invariant(23, "cleans keep needed files", ("CLN-001", "CLN-002", "SVC-008"), _DELETED,
              files.cleans_spare_what_is_needed),
    Invariant(24, "savepoints keep their files", ("TL-021", "TL-022"), _on("deleted", "completed", "archived"),
              files.savepoints_keep_their_files),
    Invariant(25, "partitions stay while they have files", ("CLN-001", "LAY-018"), _DELETED,
              files.partitions_stay_while_they_have_files),
    Invariant(26, "cleans can be repeated", ("SVC-005", "TL-013"), _COMPLETED, files.cleans_do_all_of_their_plan),
    Invariant(27, "archiving loses nothing", ("ARC-001", "ARC-002", "ARC-004"), _on("archived", "history"),
              files.archiving_loses_nothing),
    Invariant(28, "manifests lead to files", ("LSM-008", "S3-003"), _on("history"), files.history_can_be_read),
    Invariant(29, "rolled-back writes stay rolled back", ("TL-019", "TL-030"), _COMPLETED, rollback.rolled_back_stays_so),
    Invariant(30, "rollbacks can be repeated", ("TL-019", "SVC-005"), _COMPLETED, rollback.rollbacks_leave_nothing),
    Invariant(31, "a restore yields the savepoint", ("TL-023", "TL-024"), _COMPLETED, rows.restored_is_the_savepoint),
    Invariant(32, "nothing completes during a restore", ("TL-023",), _COMPLETED, rollback.nothing_completes_during_a_restore),
    Invariant(33, "one holder of the lock", ("LOCK-001",), _on("acquire", "release", "other"), times.lock_has_one_holder),
    Invariant(34, "publications under a valid lease", ("OCC-010", "SVC-002", "LOCK-001"), _PUBLISHED,
              times.publishers_hold_the_lock),
    Invariant(35, "heartbeat before request", ("OCC-026", "TL-030"), _PENDING, times.heartbeat_precedes_request),
    Invariant(36, "file listing equals storage", ("OCC-021", "MDT-008"), _COMPLETED, indexes.listing_is_that_of_storage),
    Invariant(37, "complete indexes", ("SVC-012", "INX-001"), _on("completed", "other"), indexes.indexes_are_complete,
              indexes.concerns_indexes),
    Invariant(38, "early detection only removes outcomes", ("OCC-026",), elsewhere="two explorations compared, in the suite"),
)  # fmt: skip


class InvariantChecker:
    """Evaluates the invariants after every step of a run. A common prefix of two runs is evaluated once."""

    def __init__(self, start: InitialTable, *, leave_out: frozenset[int] = frozenset()) -> None:
        self.start = start
        self.views = SnapshotViews()
        #: How often an invariant was evaluated.
        self.asked = 0
        self._asking = [i for i in INVARIANTS if i.holds is not None and i.number not in leave_out]
        self._steps: list[Step] = []
        self._seen: list[ObservedState] = []

    def __call__(self, run: Run) -> str | None:
        """The first broken invariant of a run, None if all hold."""
        for number, _ in enumerate(self.observe_run(run)):
            if (violation := self._violations[number]) is not None:
                return violation
        broken = rollback.one_writer_completes(self._seen[-1], run.results)
        return None if broken is None else f"{INVARIANTS[9]}: {broken}"

    def observe_run(self, run: Run) -> list[ObservedState]:
        """The observed state after each step."""
        if not self._seen:
            self._seen, self._violations = [initial_state(self.start, run.simulated.state)], list[str | None]()
        known = 0
        while known < min(len(self._steps), len(run.steps)) and self._steps[known] is run.steps[known]:
            known += 1
        del self._steps[known:], self._seen[known + 1 :], self._violations[known:]
        for step in run.steps[known:]:
            seen, violation = self._look(step)
            self._steps.append(step)
            self._seen.append(seen)
            self._violations.append(violation)
        return self._seen[1:]

    def _look(self, step: Step) -> tuple[ObservedState, str | None]:
        """The observed state after the step, and its violation; a table that cannot be read is a violation."""
        before = self._seen[-1]
        try:
            context = make_context(before, step, self.views)
            return context.now, self._ask(context)
        except HudiError as error:
            return replace(before, step=before.step + 1, state=step.state), f"{error} (step {before.step + 1}: {step})"

    def _ask(self, context: StepContext) -> str | None:
        for invariant in self._asking:
            if context.event in invariant.on and invariant.when(context):
                assert invariant.holds is not None
                self.asked += 1
                if found := invariant.holds(context):
                    return f"{invariant}: {found} (step {context.now.step}: {context.step})"
        return None


__all__ = [
    "BEGIN", "END", "INVARIANTS", "CurrentOperation", "EarlierWrite", "InitialTable", "Invariant", "InvariantChecker",
    "ObservedState", "SnapshotView", "SnapshotViews", "StepContext",
]  # fmt: skip
