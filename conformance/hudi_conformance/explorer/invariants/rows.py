"""Invariants 6 to 12, 16, 17, 20 and 31: the rows that readers see, and the writes that may both complete."""

from hudi_conformance.explorer.invariants.observed_state import CompletedAction
from hudi_conformance.explorer.invariants.snapshot_view import Row, SnapshotView
from hudi_conformance.explorer.invariants.step_context import StepContext
from hudi_reference.timeline.instants.states import State

REWRITES = {"compaction", "clustering"}
ROLLBACKS = {"rollback", "withdrawal", "restore"}


def _differ(m: StepContext, right: tuple[Row, ...]) -> str | None:
    """How the rows of a snapshot differ from these."""
    found = m.snapshot.rows
    if isinstance(found, str):
        return found
    missing, extra = [row for row in right if row not in found], [row for row in found if row not in right]
    if not missing and not extra and len(found) == len(right):
        return None
    return f"a snapshot lacks {missing} and shows {extra or len(found)}; expected are {list(right)}"


def reads_are_committed(m: StepContext) -> str | None:
    """6."""
    done = {action.instant.requested for action in m.now.visible}
    records = m.snapshot.records
    wrong = [(row, time) for row, time in records if time not in done] if not isinstance(records, str) else []
    return f"the row {wrong[0][0]} of {wrong[0][1]} is visible, which has not completed" if wrong else None


def old_reads_stay_the_same(m: StepContext) -> str | None:
    """7. Reads as of the last write before the run; after a restore or clean the read may be refused."""
    if not m.now.start.writes:
        return None
    point = m.now.start.writes[-1].requested
    if not any(action.instant.requested == point for action in m.now.visible):
        return None
    found = m.snapshot.cached_result(SnapshotView.rows_as_of, point)
    right = m.now.rows(requested=point)
    if isinstance(found, str) or found == right:
        return None
    return f"as of {point} there are {list(found)}; expected are {list(right)}"


def rows_follow_the_model(m: StepContext) -> str | None:
    """8, 12, 16, 17, 20: the snapshot after the step equals the model after the completed writes."""
    return _differ(m, m.now.rows())


def is_completion_of_a_write(m: StepContext) -> bool:
    """8."""
    return m.event in ("completed", "archived", "history") and m.doing.kind not in (*REWRITES, *ROLLBACKS, "logcompaction")


def is_rollback(m: StepContext) -> bool:
    """12."""
    return m.doing.kind in ROLLBACKS and m.event in ("removed", "deleted", "unpublished", "completed")


def is_rewrite(m: StepContext) -> bool:
    """16."""
    return m.doing.kind in REWRITES


def is_log_compaction(m: StepContext) -> bool:
    """20."""
    return m.doing.kind == "logcompaction"


def is_uncommitted(m: StepContext) -> bool:
    """17."""
    return m.event in ("stored", "pending", "deleted", "removed") and m.doing.kind not in (
        *REWRITES,
        *ROLLBACKS,
        "logcompaction",
    )


def conflicts_are_complete(m: StepContext) -> str | None:
    """9."""
    mine = m.done
    for other in m.now.visible:
        if other is mine or not (other.is_write and mine.is_write) or not _overlap(mine, other):
            continue
        if (shared := mine.groups & other.groups) and not _may_both_complete(m, mine, other):
            return f"{mine.instant.file_name} completes beside {other.instant.file_name}, and both changed {min(shared)}"
    return None


def _overlap(one: CompletedAction, other: CompletedAction) -> bool:
    return one.instant.requested < other.completion and other.instant.requested < one.completion


def _may_both_complete(m: StepContext, one: CompletedAction, other: CompletedAction) -> bool:
    """Whether two overlapping writes of a group may both complete: logs beside a compaction, or non-blocking writers."""
    if one.is_compaction or other.is_compaction:
        return all(action.is_compaction or action.is_log_only or _is_hidden(one, other) for action in (one, other))
    return one.is_log_only and other.is_log_only and m.now.start.non_blocking


def _is_hidden(one: CompletedAction, other: CompletedAction) -> bool:
    """Whether a compaction completed in a file group that was replaced before, so that no reader uses it."""
    first, last = sorted((one, other), key=lambda done: done.completion)
    return last.is_compaction and last.groups & first.groups <= first.replaced


def keys_are_unique(m: StepContext) -> str | None:
    """11."""
    if not m.now.start.unique_keys or isinstance(m.snapshot.rows, str):
        return None
    keys = [(row[0], row[1]) for row in m.snapshot.rows]
    twice = [key for key in keys if keys.count(key) > 1]
    return f"the key {twice[0]} exists twice" if twice else None


def restored_is_the_savepoint(m: StepContext) -> str | None:
    """31."""
    assert m.instant is not None
    if m.instant.action != "restore":
        return None
    plan = m.now.read_record(next(i for i in m.now.files if i.requested == m.instant.requested and i.state is State.REQUESTED))
    target = (plan or {}).get("savepointToRestoreTimestamp")
    point = next((d.completion for d in m.now.done if d.instant.requested == target and d.is_write), None)
    return None if point is None else _differ(m, m.now.rows(until=point))
