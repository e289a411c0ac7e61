"""Invariants 10, 29, 30 and 32: which writers abort, and rolled-back writes stay rolled back."""

from collections.abc import Iterator, Mapping

from hudi_conformance.explorer.invariants.observed_state import ObservedState
from hudi_conformance.explorer.invariants.step_context import StepContext
from hudi_conformance.explorer.simulation.runs import ProcessResult
from hudi_reference.errors import WriteConflict
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State


def _rollbacks(seen: ObservedState) -> Iterator[tuple[Instant, str | None]]:
    """The planned rollbacks on the timeline, in any state, each with the instant that it rolls back."""
    for found in seen.files:
        if found.action == "rollback" and found.state is State.REQUESTED and (plan := seen.read_record(found)):
            yield found, (plan["instantToRollback"] or {}).get("commitTime")


def rolled_back_stays_so(m: StepContext) -> str | None:
    """29."""
    instant = m.instant
    assert instant is not None
    if not ACTIONS[instant.action].writes:
        return None
    for rollback, target in _rollbacks(m.now):
        if target == instant.requested and rollback.requested != instant.requested:
            return f"{instant.file_name} completes although {rollback.file_name} rolls it back"
    return None


def rollbacks_leave_nothing(m: StepContext) -> str | None:
    """30."""
    instant = m.instant
    assert instant is not None
    if instant.action != "rollback":
        return None
    plan = m.plan or {"instantToRollback": {}, "RollbackRequests": ()}
    target = plan["instantToRollback"].get("commitTime")
    planned = [path.rpartition("/")[2] for request in plan["RollbackRequests"] or () for path in request["filesToBeDeleted"]]
    states = [i for i in m.now.files if i.requested == target and ACTIONS[i.action].writes]
    # The writer may still run and store its inflight file again; it cannot complete, and the next rollback removes the file.
    left = [i.file_name for i in states if i.state is not State.INFLIGHT or target not in m.now.rolled_back]
    left += [path for path in m.snapshot.data_files if path.rpartition("/")[2] in planned]
    return f"{instant.file_name} completes, and {left[0]} of {target} still exists" if left else None


def nothing_completes_during_a_restore(m: StepContext) -> str | None:
    """32. An action may be requested during a restore, but must not complete."""
    instant = m.instant
    assert instant is not None
    restores = [i for i in m.before.pending if i.action == "restore"]
    if not restores or not ACTIONS[instant.action].writes:
        return None
    return f"{instant.file_name} completes while {restores[0].file_name} is pending"


def one_writer_completes(seen: ObservedState, results: Mapping[str, ProcessResult]) -> str | None:
    """10. Evaluated at the end of a run without crashes and stalls."""
    writers = {process: ended for process, ended in results.items() if process in seen.writers}
    if any(ended.how in ("crashed", "stalled") for ended in results.values()):
        return None
    aborted = [process for process, ended in writers.items() if isinstance(ended.error, WriteConflict)]
    if seen.start.without_conflicts and aborted:
        return f"{aborted[0]} aborted without a conflict: {results[aborted[0]].error}"
    completed = [done for done in seen.done if done.step]
    return f"{' and '.join(aborted)} aborted, and no process completed anything" if aborted and not completed else None
