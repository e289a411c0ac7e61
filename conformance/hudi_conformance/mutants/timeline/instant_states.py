"""Mutants of instant states: file names, order of states, and heartbeats."""

from dataclasses import replace
from typing import Any

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_conformance.mutants.timeline.actions import stands_for
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query import table
from hudi_reference.query.table import Table
from hudi_reference.services.clean import clean
from hudi_reference.services.planning import plan_execution
from hudi_reference.services.rollback import failed_writes, rollback
from hudi_reference.storage import Storage
from hudi_reference.timeline import active
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants import instant, states
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit, write
from hudi_reference.write.commit import Commit


@mutant(breaks="TL-028")
def inflight_commit_named_with_action(patch: Patch) -> None:
    """Writes an inflight commit as <begin>.commit.inflight, as the text says and no engine reads."""
    patch.item(states.ACTIONS, "commit", replace(states.ACTIONS["commit"], inflight="commit.inflight"))
    patch.set(instant, "EXTENSIONS", states._extensions())


@mutant(breaks=("TL-029", "SVC-005", "SVC-006"))
def clean_not_resumed(patch: Patch) -> None:
    """A clean whose first attempt crashed is not resumed: another plan is made, the first one stays pending."""
    patch.edit(
        plan_execution.execute_plans,
        "pending_of(table.timeline, action)",
        '[] if action == "clean" else pending_of(table.timeline, action)',
    )
    patch.edit(clean.schedule_clean, 'pending_of(table.timeline, "clean")', "()")


@mutant(breaks=("TL-030", "OCC-027"))
def clean_rolls_back_active_writers(patch: Patch) -> None:
    """A clean rolls back every pending write, whether its heartbeat has expired or not."""
    patch.edit(failed_writes.roll_back_failed, "not heartbeats_of(table).is_active(pending.requested)", "True")
    from hudi_reference.services.rollback import rollback

    patch.edit(rollback._check_failed, "if heartbeats_of(table).is_active(target.requested):", "if False:")


@mutant(breaks="TL-030")
def writer_rolls_back_all_pending_writes(patch: Patch) -> None:
    """A writer rolls back every pending write that it finds when it begins."""

    def begin(table: Table, *more: Any) -> Any:
        for found in table.timeline.pending:
            if found.action in ("commit", "deltacommit"):
                rollback.rollback(table, found.requested)
        return commit.begin(table, *more)

    patch.edit(rollback._check_failed, "heartbeats_of(table).is_active(target.requested)", "False")
    patch.set(write, "begin", begin)


@mutant(breaks="TL-040")
def clustering_requested_as_replacecommit(patch: Patch) -> None:
    """Reads a requested clustering as a requested replacecommit."""
    stands_for(patch, "clustering.requested", "replacecommit")


@mutant(breaks="TL-042")
def completed_action_listed_as_pending(patch: Patch) -> None:
    """Lists a pending clustering or compaction beside the instant under which it completed."""
    patch.set(active, "PENDING", {})
    patch.edit(active.build_timeline, "ACTIONS[parts[1]].completes_as", "parts[1]")


@mutant(breaks="TL-043")
def clustering_completes_as_clustering(patch: Patch) -> None:
    """Expects a completed clustering under the action name clustering."""
    patch.set(active, "PENDING", {})
    patch.item(states.ACTIONS, "clustering", replace(states.ACTIONS["clustering"], completes_as="clustering"))


@mutant(breaks="TL-044")
def compaction_completes_as_compaction(patch: Patch) -> None:
    """Expects a completed compaction under the action name compaction."""
    patch.set(active, "PENDING", {})
    patch.item(states.ACTIONS, "compaction", replace(states.ACTIONS["compaction"], completes_as="compaction"))


@mutant(breaks=("TL-046", "TL-048"))
def requested_state_skipped(patch: Patch) -> None:
    """Starts actions as inflight."""
    patch.edit(Transitions.request, "return self._create(Instant(time, action, State.REQUESTED), content, owner)",
             "return Instant(time, action, State.REQUESTED)")  # fmt: skip
    patch.edit(Transitions.start, "self._check_exists(instant)", "pass")


@mutant(breaks=("TL-047", "SVC-015"))
def clean_plan_in_memory(patch: Patch) -> None:
    """Keeps the files of a clean plan in the memory of the planner: another process finds nothing to delete."""
    patch.edit(
        plan_execution.hold_for_planning,
        "            return time",
        "            transitions_of.__dict__.setdefault('made', set()).add((id(table), time))\n            return time",
    )
    patch.edit(
        plan_execution.read_plan,
        "return read_content(table, Instant(requested, action, State.REQUESTED))",
        "plan = read_content(table, Instant(requested, action, State.REQUESTED))\n"
        "    known = (id(table), requested) in transitions_of.__dict__.get('made', ())\n"
        "    return plan if known else {**plan, 'filePathsToBeDeletedPerPartition': {}, 'RollbackRequests': []}",
    )


@mutant(breaks="TL-049")
def data_files_before_inflight(patch: Patch) -> None:
    """Writes data files while the write is requested, and publishes the inflight state just before it completes."""
    patch.edit(
        commit.begin,
        "transitions.start(requested, write_commit_metadata(operation, (), None, table.ids.sync_marker()))",
        "pass",
    )
    patch.edit(
        Commit.complete,
        "inflight = self.table, Instant(self.requested, self.action, State.INFLIGHT)",
        "inflight = self.table, transitions_of(self.table).start("
        "Instant(self.requested, self.action, State.REQUESTED),"
        " write_commit_metadata(self.operation, (), None, self.table.ids.sync_marker()))",
    )


@mutant(breaks="TL-053")
def lowest_state_read(patch: Patch) -> None:
    """Treats an action as pending as long as its earlier state files exist."""
    patch.set(active, "PENDING", {})
    patch.edit(active.build_timeline, "known[2] <= parts[2]", "known[2] > parts[2]")


@mutant(breaks="TL-055")
def timeline_cached_per_process(patch: Patch) -> None:
    """Reads the active timeline of a table once in the life of a process."""
    kept: dict[str, Timeline] = {}
    look = table.timeline_of

    def remembered(storage: Storage, properties: TableProperties, known: Timeline | None = None) -> Timeline:
        timeline = look(storage, properties, known)
        key = str(getattr(storage, "root", id(storage)))
        return kept.setdefault(key, timeline) if timeline.commits else timeline

    patch.set(table, "timeline_of", remembered)


@mutant(breaks="TL-036")
def files_stored_after_completion(patch: Patch) -> None:
    """Publishes the completion, and then stores the data files of the action once more."""
    original = Transitions.complete

    def complete(self: Transitions, instant: Any, *arguments: Any, **more: Any) -> Any:
        done = original(self, instant, *arguments, **more)
        for info in self.storage.list(skip=".hoodie"):
            if f"_{instant.requested}." in info.path:
                self.storage.put(info.path, self.storage.get(info.path))
        return done

    patch.set(Transitions, "complete", complete)
