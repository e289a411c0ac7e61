"""Mutants of instant states: file names, order of states, and heartbeats."""

from dataclasses import replace
from typing import Any

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_conformance.mutants.timeline.actions import stands_for
from hudi_reference.layout.properties import TableProperties
from hudi_reference.legacy import versions
from hudi_reference.query import file_groups, table
from hudi_reference.query.table import Table
from hudi_reference.services.clean import clean
from hudi_reference.services.planning import clean_plan, plan_execution
from hudi_reference.services.rollback import failed_writes, rollback
from hudi_reference.storage import Storage
from hudi_reference.timeline import active
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents import metadata
from hudi_reference.timeline.instants import instant, states
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit, write
from hudi_reference.write.commit import Commit


@mutant(breaks="TL-025")
def fourth_state(patch: Patch) -> None:
    """Marks a started action by a file of a fourth state."""
    patch.edit(
        Transitions.start,
        "return self._create(inflight, content)",
        "return self.storage.put(f'{self.path(inflight)}.started', b'') or self._create(inflight, content)",
    )


@mutant(breaks="TL-026")
def begin_time_changes_at_start(patch: Patch) -> None:
    """Changes the requested time of a planned action when it is started."""
    patch.edit(
        plan_execution.carry_out,
        "inflight = transitions.start(found, repeated)",
        "inflight = transitions.start(transitions.request(action, table.storage.get(transitions.path(Instant(requested, action,"
        " State.REQUESTED)))), repeated)",
    )


@mutant(breaks="TL-027")
def requested_file_without_action(patch: Patch) -> None:
    """Omits the action in the name of the requested file."""
    patch.edit(Instant.file_name, "{self.action}.requested", "requested")


@mutant(breaks="TL-028")
def inflight_commit_named_with_action(patch: Patch) -> None:
    """Writes an inflight commit as <begin>.commit.inflight, as the text says and no engine reads."""
    patch.item(states.ACTIONS, "commit", replace(states.ACTIONS["commit"], inflight="commit.inflight"))
    patch.set(instant, "EXTENSIONS", states._extensions())


@mutant(breaks=("TL-029", "SVC-005", "SVC-006"))
def clean_not_resumed(patch: Patch) -> None:
    """A clean whose first attempt crashed is not resumed: another plan is made, the first one stays pending."""
    patch.edit(clean.clean, 'pending_of(table.timeline, "clean")', "()")
    patch.edit(clean.schedule_clean, 'pending_of(table.timeline, "clean")', "()")


@mutant(breaks="TL-030")
def heartbeat_starts_after_request(patch: Patch) -> None:
    """A writer sends its first heartbeat after its action is visible: until then it appears to have failed."""
    patch.edit(
        Transitions.request,
        "            if announce is not None:\n                announce(time)\n"
        "            return self._create(Instant(time, action, State.REQUESTED), content, owner)",
        "            created = self._create(Instant(time, action, State.REQUESTED), content, owner)\n"
        "            if announce is not None:\n                announce(time)\n            return created",
    )


@mutant(breaks="TL-030")
def expired_writer_completes(patch: Patch) -> None:
    """A writer completes without checking that its own heartbeat still exists."""
    patch.edit(Commit.complete, "if self.last_heartbeat:", "if False:")


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


@mutant(breaks="TL-031")
def completed_files_without_completion_time(patch: Patch) -> None:
    """Names completed files as before version 8."""
    patch.edit(
        Instant.file_name,
        "{self.requested}_{self.completion}.{ACTIONS[self.action].completes_as}",
        "{self.requested}.{ACTIONS[self.action].completes_as}",
    )


@mutant(breaks=("TL-033", "RDR-008"))
def pending_writes_read(patch: Patch) -> None:
    """Reads files of actions that have not completed."""
    patch.edit(
        active.Timeline._archived_completion_of,
        "return self.archived.completion_of(requested)\n",
        "return self.archived.completion_of(requested) or requested\n",
    )


@mutant(breaks="TL-035")
def plan_rewritten_when_executed(patch: Patch) -> None:
    """Writes the plan again when it is executed, without the files that have disappeared in the meantime."""
    patch.edit(
        plan_execution.carry_out,
        "inflight = transitions.start(found, repeated)",
        "inflight = transitions.start(found, repeated)\n"
        "    table.storage.put(transitions.path(Instant(requested, action, State.REQUESTED)),"
        " write_action(Instant(requested, action, State.REQUESTED), plan, table.ids.sync_marker()))",
    )


@mutant(breaks="TL-036")
def missing_files_skipped(patch: Patch) -> None:
    """Skips a file that a completed action wrote if it is not in storage."""
    patch.edit(file_groups._data_files, "sorted({*listed, *committed})", "sorted(listed)")


@mutant(breaks="TL-037")
def unknown_timeline_files_rejected(patch: Patch) -> None:
    """Fails on a file in the timeline folder that is not an instant."""
    patch.edit(active.build_timeline, "        if parts is None:\n            continue", "        parts[0]")


@mutant(breaks=("TL-039", "TL-010"))
def first_replaced_group_only(patch: Patch) -> None:
    """Hides only one of the groups of a partition that a replacecommit names."""
    patch.edit(file_groups._replaced_groups, "for file_id in file_ids\n", "for file_id in file_ids[:1]\n")


@mutant(breaks="TL-039")
def replacement_recorded_as_commit(patch: Patch) -> None:
    """Records an overwrite, or the deletion of a partition, as a commit."""
    patch.edit(commit._action_of, "if operation in REPLACING", "if False")


@mutant(breaks="TL-040")
def clustering_requested_as_replacecommit(patch: Patch) -> None:
    """Takes a requested clustering for a requested replacecommit."""
    stands_for(patch, "clustering.requested", "replacecommit")


@mutant(breaks="TL-041")
def clean_deletes_savepointed_logs(patch: Patch) -> None:
    """A clean keeps the base files of savepointed slices and deletes their log files."""
    patch.edit(
        clean_plan.deletable_slices,
        "yield found",
        "yield found\n            else:\n"
        "                yield FileSlice(found.partition, found.file_id, found.base_instant, None, found.log_files)",
    )


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


@mutant(breaks="TL-045")
def operation_inferred_from_action(patch: Patch) -> None:
    """Infers the write operation from the action, and rejects metadata with another one."""
    patch.edit(
        metadata.commit_metadata_of,
        'operation=record.get("operationType") or "UNKNOWN"',
        'operation={"INSERT": "INSERT", "UPSERT": "UPSERT"}[record["operationType"]]',
    )


@mutant(breaks=("TL-046", "TL-048"))
def requested_state_skipped(patch: Patch) -> None:
    """Starts actions as inflight."""
    patch.edit(Transitions.request, "return self._create(Instant(time, action, State.REQUESTED), content, owner)",
             "return Instant(time, action, State.REQUESTED)")  # fmt: skip
    patch.edit(Transitions.start, "self._check_exists(instant)", "pass")


@mutant(breaks=("TL-047", "SVC-015"))
def clean_plan_in_memory(patch: Patch) -> None:
    """Only the process that planned a clean knows its files: another process finds nothing to delete."""
    patch.edit(
        plan_execution.planning,
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


@mutant(breaks="TL-050")
def compaction_rollback_without_lock(patch: Patch) -> None:
    """A rollback of an attempt deletes its files while its executor may be completing it."""
    patch.edit(
        rollback.revert_attempt,
        '    with held(transitions.times.lock, new_owner(f"revert {pending.requested}")):\n'
        "        if pending in table.timeline.pending:\n",
        "    if True:\n        if True:\n",
    )


@mutant(breaks="TL-050")
def inflight_action_not_resumed(patch: Patch) -> None:
    """Refuses to continue an action that another process has started."""
    patch.edit(Transitions.start, '_check_move(instant.action, "start again", State.INFLIGHT)', "raise _state_changed(instant)")


@mutant(breaks="TL-051")
def unanswered_completion_repeated(patch: Patch) -> None:
    """A writer whose completion got no answer takes it for a failure and writes again: the rows are stored twice."""
    patch.edit(
        write.run_with_retries,
        "suppress(ConcurrentChange)",
        "suppress(ConcurrentChange, __import__('hudi_reference.errors', fromlist=['errors']).StorageFault)",
    )


@mutant(breaks="TL-051")
def rollback_deletes_requested_file_first(patch: Patch) -> None:
    """The removal of an action from the timeline starts with its requested file."""
    patch.edit(Transitions.remove, "reversed(states)", "states")


@mutant(breaks="TL-051")
def completion_without_inflight(patch: Patch) -> None:
    """Completes an action whose inflight file does not exist."""
    patch.edit(Transitions.complete, "if instant not in timeline.instants:", "if False:")


@mutant(breaks="TL-052")
def last_of_several_completions_used(patch: Patch) -> None:
    """Takes the last of several completed files of one action."""
    patch.edit(active.build_timeline, "known[2] <= parts[2]", "known[2] < parts[2]")


@mutant(breaks="TL-053")
def lowest_state_read(patch: Patch) -> None:
    """Takes an action for pending as long as its earlier state files exist."""
    patch.set(active, "PENDING", {})
    patch.edit(active.build_timeline, "known[2] <= parts[2]", "known[2] > parts[2]")


@mutant(breaks="TL-054")
def completed_actions_ordered_by_begin_time(patch: Patch) -> None:
    """Orders completed actions by requested times."""
    patch.edit(active.completion_order, '"" if pending else instant.completion or instant.requested', "instant.requested")


@mutant(breaks=("TL-054", "RDR-003"))
def latest_write_by_requested_time(patch: Patch) -> None:
    """Takes the write that was requested last for the latest one, whenever it completed."""
    patch.edit(active.completion_order, "instant.completion or instant.requested", "instant.requested")


@mutant(breaks="TL-055")
def timeline_cached_per_process(patch: Patch) -> None:
    """Reads the active timeline of a table once in the life of a process."""
    kept: dict[str, Timeline] = {}
    look = versions.timeline_of

    def remembered(storage: Storage, properties: TableProperties, known: Timeline | None = None) -> Timeline:
        timeline = look(storage, properties, known)
        key = str(getattr(storage, "root", id(storage)))
        return kept.setdefault(key, timeline) if timeline.commits else timeline

    patch.set(table, "timeline_of", remembered)
