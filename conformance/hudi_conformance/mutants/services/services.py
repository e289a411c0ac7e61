"""Mutants: table services."""

from typing import Any

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups, retention
from hudi_reference.query.table import Table
from hudi_reference.services.clean import clean
from hudi_reference.services.planning import clean_plan, plan_execution
from hudi_reference.services.rollback import restore, rollback, savepoint
from hudi_reference.write import commit, write


@mutant(breaks="TL-011")
def clustering_leaves_one_group_of_each_partition(patch: Patch) -> None:
    """Overlooks the first replaced file group of a partition, so that a clustering doubles its rows."""
    patch.edit(file_groups._replaced_groups, "for file_id in file_ids", "for file_id in file_ids[1:]")


@mutant(breaks="TL-013")
def clean_only_writes_metadata(patch: Patch) -> None:
    """A clean reports its files as deleted and leaves them where they are."""
    patch.edit(clean.execute_clean, "table.storage.delete(path)", "pass")


@mutant(breaks="TL-013")
def clean_deletes_more_than_it_reports(patch: Patch) -> None:
    """A clean reports one file less than it deletes."""
    patch.edit(clean.execute_clean, "_record(requested, plan, files, ", "_record(requested, plan, files[1:], ")


@mutant(breaks="TL-014")
def clean_plans_when_it_runs(patch: Patch) -> None:
    """A clean makes its plan when it is carried out, so that the requested file lists nothing."""
    patch.edit(
        clean.schedule_clean,
        'publish("clean", plan)',
        'publish("clean", {**plan, "filePathsToBeDeletedPerPartition": {}})',
    )
    patch.edit(
        clean.execute_clean,
        "planned_files(plan)",
        'planned_files(plan_clean(table, {"hoodie.clean.commits.retained": "1"}) or plan)',
    )


@mutant(breaks="TL-019")
def rollback_leaves_the_files(patch: Patch) -> None:
    """A rollback removes the instant and leaves its files on storage."""
    patch.edit(rollback.undo, "table.storage.delete(path)", "pass")


@mutant(breaks="TL-020")
def rollback_has_no_plan_to_resume(patch: Patch) -> None:
    """A rollback does not look for the plan of an earlier attempt, which stays pending for ever."""
    patch.edit(rollback.plan_rollback, "plan.target == instant", "False")


@mutant(breaks="TL-021")
def clean_asks_no_savepoint(patch: Patch) -> None:
    """A clean consults the retention policy alone."""
    patch.edit(clean.plan_clean, "savepointed_files(table, timeline)", "()")


@mutant(breaks="TL-022")
def savepoint_is_an_empty_mark(patch: Patch) -> None:
    """A savepoint names no file, so that what it protects must be guessed."""
    patch.edit(savepoint.savepoint, "by_partition(files)", "by_partition(())")


@mutant(breaks="TL-023")
def restore_only_hides(patch: Patch) -> None:
    """A restore takes later instants off the timeline and leaves their files on storage."""
    patch.edit(restore.execute_restore, "undo(table, time, files)", "undo(table, time, ())")


@mutant(breaks="TL-023")
def restore_goes_by_requested_times(patch: Patch) -> None:
    """A restore keeps what was requested before the savepoint, also where it completed after it."""
    patch.edit(restore._later, "(found.completion or found.requested) <= completion", "found.requested <= commit.requested")


@mutant(breaks="TL-024")
def restore_has_no_plan(patch: Patch) -> None:
    """A restore looks up what to undo when it is carried out: its plan names nothing."""
    patch.edit(restore.schedule_restore, '"instantsToRollback": _named(plan.writes)', '"instantsToRollback": []')
    patch.edit(
        restore.execute_restore,
        "_plan_of(requested, record), table.clock.now(), {}",
        "RestorePlan(record['savepointToRestoreTimestamp'], tuple((w.requested, w.action) for w in table.timeline.writes[::-1]"
        " if w.requested > record['savepointToRestoreTimestamp']), requested), table.clock.now(), {}",
    )


@mutant(breaks=("TL-029", "SVC-005", "SVC-006"))
def clean_plans_again_after_a_crash(patch: Patch) -> None:
    """A clean whose first attempt died is not gone on with: another plan is made, the first one stays pending."""
    patch.edit(clean.clean, 'pending_of(table.timeline, "clean")', "()")
    patch.edit(clean.schedule_clean, 'pending_of(table.timeline, "clean")', "()")


@mutant(breaks="TL-030")
def writer_rolls_back_what_is_pending(patch: Patch) -> None:
    """A writer rolls back every pending write that it finds when it begins."""

    def begin(table: Table, *more: Any) -> Any:
        for found in table.timeline.pending:
            if found.action in ("commit", "deltacommit"):
                rollback.rollback(table, found.requested)
        return commit.begin(table, *more)

    patch.edit(rollback._check_failed, "heartbeats_of(table).is_active(target.requested)", "False")
    patch.set(write, "begin", begin)


@mutant(breaks="TL-041")
def clean_protects_base_files_alone(patch: Patch) -> None:
    """A clean keeps the base files of savepointed slices and deletes their log files."""
    patch.edit(
        clean_plan.deletable_slices,
        "yield found",
        "yield found\n            else:\n"
        "                yield FileSlice(found.partition, found.file_id, found.base_instant, None, found.log_files)",
    )


@mutant(breaks=("TL-047", "SVC-015"))
def executor_asks_its_own_memory(patch: Patch) -> None:
    """What a clean deletes only the process knows that planned it: another one finds nothing to do."""
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


@mutant(breaks="CLN-001")
def clean_takes_logs_of_the_current_slice(patch: Patch) -> None:
    """A clean deletes the log files of the slice that a snapshot reads."""
    patch.edit(
        clean_plan.deletable_slices,
        "for found in _old_slices(policy, group, earliest):",
        "current = [FileSlice(s.partition, s.file_id, s.base_instant, None, s.log_files) for s in group.slices[:1]]\n"
        "        for found in (*current, *_old_slices(policy, group, earliest)):",
    )


@mutant(breaks="CLN-002")
def clean_ignores_plans(patch: Patch) -> None:
    """A clean deletes what a pending compaction still has to read."""
    patch.edit(clean.plan_clean, "groups_in_plans(table, timeline)", "()")


@mutant(breaks="SVC-008")
def clean_sees_completed_plans_alone(patch: Patch) -> None:
    """A clean looks for plans among completed actions, where there are none."""
    patch.edit(plan_execution.groups_in_plans, "timeline.pending", "timeline.completed")


@mutant(breaks="CLN-003")
def reads_of_cleaned_instants_answer(patch: Patch) -> None:
    """A read as of an instant that was cleaned and archived returns the rows of the files that are still there."""
    patch.edit(retention.check_retained, "time >= first", "True")


@mutant(breaks="TYP-008")
def the_table_begins_with_its_active_timeline(patch: Patch) -> None:
    """Refuses a read as of an archived instant, as if the table had not been there."""
    patch.edit(retention.check_begun, "timeline.requested_between()", "timeline.completed")


@mutant(breaks="CLN-003")
def groups_of_archived_writes_are_left_out(patch: Patch) -> None:
    """A read as of an instant leaves out a group whose slice of then was cleaned, where no active write names it."""
    patch.edit(retention.check_whole, "path is None", "True")


@mutant(breaks="CLN-001")
def clean_leaks_change_capture_files(patch: Patch) -> None:
    """A clean deletes base and log files of a slice and leaves what it logged of its changes for ever."""
    patch.edit(clean.plan_clean, "files += change_files_of(table.storage, slices)", "pass")


@mutant(breaks="CLN-004")
def clean_has_one_policy(patch: Patch) -> None:
    """A clean counts commits, whatever policy is asked for."""
    patch.edit(
        clean.plan_clean,
        "CleanPolicy.of(options or {})",
        "CleanPolicy.of({**(options or {}), 'hoodie.clean.policy': 'KEEP_LATEST_COMMITS'})",
    )


@mutant(breaks="CLN-005")
def clean_forgets_where_the_window_starts(patch: Patch) -> None:
    """A clean keeps what the last commits wrote and deletes the older slices that were current when the first of them began."""
    patch.edit(
        clean_plan._old_slices,
        "return tuple(before[1:])",
        "return tuple(before if len(before) < len(group.slices) else before[1:])",
    )


@mutant(breaks="CLN-006")
def clean_counts_versions_over_the_table(patch: Patch) -> None:
    """A clean takes versions of the table for those of a group: of a quiet group nothing stays."""
    patch.edit(
        clean_plan.deletable_slices,
        "for found in _old_slices(policy, group, earliest):",
        "newest = sorted({s.base_instant for other in groups for s in other.slices})[-policy.file_versions :]\n"
        "        for found in (s for s in group.slices if s.base_instant not in newest):",
    )


@mutant(breaks="CLN-007")
def clean_takes_replaced_groups_at_once(patch: Patch) -> None:
    """A clean by commits deletes a replaced group although a reader before the replacement is within retention."""
    patch.edit(clean_plan._old_slices, "group.replaced_by < earliest.requested", "True")


@mutant(breaks="CLN-008")
def clean_leaks_replaced_groups(patch: Patch) -> None:
    """A clean looks at current groups alone and leaves the files of replaced ones for ever."""
    patch.edit(clean_plan.deletable_slices, "in planned", "in planned or group.replaced_by is not None")


@mutant(breaks=("SVC-002", "SVC-004"))
def services_plan_without_the_lock(patch: Patch) -> None:
    """A service plans before it takes the lock, so that the plan may be older than the timeline that it comes on."""
    patch.edit(
        plan_execution.planning,
        "    with held(transitions.times.lock, owner):\n        yield publish",
        "    yield publish",
    )


@mutant(breaks=("SVC-001", "SVC-003"))
def services_work_under_the_lock(patch: Patch) -> None:
    """A service holds the lock for as long as it deletes files: every writer waits for it."""
    patch.edit(
        plan_execution.carry_out,
        "    record = work(plan)\n",
        "    with held(transitions.times.lock, 'worker'):\n        record = work(plan)\n",
    )


@mutant(breaks="CLN-004")
def cleans_by_hours_go_past_pending_writes(patch: Patch) -> None:
    """A clean by hours deletes what a writer that is still at work was based on; one by commits does not."""
    patch.edit(
        clean_plan.earliest_to_retain,
        "if found is None or not pending or",
        "if policy.name == 'KEEP_LATEST_BY_HOURS' or found is None or not pending or",
    )


@mutant(breaks="SVC-008")
def plans_of_log_compactions_hold_no_clean_back(patch: Patch) -> None:
    """A clean deletes what a pending log compaction has yet to read, once a compaction has overtaken it."""
    patch.edit(
        clean.plan_clean, "groups_in_plans(table, timeline)", "groups_in_plans(table, timeline, ('compaction', 'clustering'))"
    )


@mutant(breaks="SVC-008")
def plans_of_clusterings_hold_no_clean_back(patch: Patch) -> None:
    """A clean deletes what a pending clustering has yet to read, once a writer has overtaken it."""
    patch.edit(
        clean.plan_clean,
        "groups_in_plans(table, timeline)",
        "groups_in_plans(table, timeline, ('compaction', 'logcompaction'))",
    )
