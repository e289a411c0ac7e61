"""Planted bugs: table services."""

from typing import Any

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.query import file_groups, retention
from hudi_reference.query.table import Table
from hudi_reference.services.clean import clean
from hudi_reference.services.planning import clean_plan, plan_execution
from hudi_reference.services.rollback import restore, rollback, savepoint
from hudi_reference.write import commit, write


@planted(breaks="TL-011")
def clustering_leaves_one_group_of_each_partition(bug: Bug) -> None:
    """Overlooks the first replaced file group of a partition, so that a clustering doubles its rows."""
    bug.edit(file_groups._replaced_groups, "for file_id in file_ids", "for file_id in file_ids[1:]")


@planted(breaks="TL-013")
def clean_only_writes_metadata(bug: Bug) -> None:
    """A clean reports its files as deleted and leaves them where they are."""
    bug.edit(clean.execute_clean, "table.storage.delete(path)", "pass")


@planted(breaks="TL-013")
def clean_deletes_more_than_it_reports(bug: Bug) -> None:
    """A clean reports one file less than it deletes."""
    bug.edit(clean.execute_clean, "_record(requested, plan, files, ", "_record(requested, plan, files[1:], ")


@planted(breaks="TL-014")
def clean_plans_when_it_runs(bug: Bug) -> None:
    """A clean makes its plan when it is carried out, so that the requested file lists nothing."""
    bug.edit(
        clean.schedule_clean,
        'publish("clean", plan)',
        'publish("clean", {**plan, "filePathsToBeDeletedPerPartition": {}})',
    )
    bug.edit(
        clean.execute_clean,
        "planned_files(plan)",
        'planned_files(plan_clean(table, {"hoodie.clean.commits.retained": "1"}) or plan)',
    )


@planted(breaks="TL-019")
def rollback_leaves_the_files(bug: Bug) -> None:
    """A rollback removes the instant and leaves its files on storage."""
    bug.edit(rollback.undo, "table.storage.delete(path)", "pass")


@planted(breaks="TL-020")
def rollback_has_no_plan_to_resume(bug: Bug) -> None:
    """A rollback does not look for the plan of an earlier attempt, which stays pending for ever."""
    bug.edit(rollback.plan_rollback, "plan.target == instant", "False")


@planted(breaks="TL-021")
def clean_asks_no_savepoint(bug: Bug) -> None:
    """A clean consults the retention policy alone."""
    bug.edit(clean.plan_clean, "savepointed_files(table, timeline)", "()")


@planted(breaks="TL-022")
def savepoint_is_an_empty_mark(bug: Bug) -> None:
    """A savepoint names no file, so that what it protects must be guessed."""
    bug.edit(savepoint.savepoint, "by_partition(files)", "by_partition(())")


@planted(breaks="TL-023")
def restore_only_hides(bug: Bug) -> None:
    """A restore takes later instants off the timeline and leaves their files on storage."""
    bug.edit(restore.execute_restore, "undo(table, time, files)", "undo(table, time, ())")


@planted(breaks="TL-023")
def restore_goes_by_requested_times(bug: Bug) -> None:
    """A restore keeps what was requested before the savepoint, also where it completed after it."""
    bug.edit(restore._later, "(found.completion or found.requested) <= completion", "found.requested <= commit.requested")


@planted(breaks="TL-024")
def restore_has_no_plan(bug: Bug) -> None:
    """A restore looks up what to undo when it is carried out: its plan names nothing."""
    bug.edit(restore.schedule_restore, '"instantsToRollback": _named(plan.writes)', '"instantsToRollback": []')
    bug.edit(
        restore.execute_restore,
        "_plan_of(requested, record), table.clock.now(), {}",
        "RestorePlan(record['savepointToRestoreTimestamp'], tuple((w.requested, w.action) for w in table.timeline.writes[::-1]"
        " if w.requested > record['savepointToRestoreTimestamp']), requested), table.clock.now(), {}",
    )


@planted(breaks=("TL-029", "SVC-005", "SVC-006"))
def clean_plans_again_after_a_crash(bug: Bug) -> None:
    """A clean whose first attempt died is not gone on with: another plan is made, the first one stays pending."""
    bug.edit(clean.clean, 'pending_of(table.timeline, "clean")', "()")
    bug.edit(clean.schedule_clean, 'pending_of(table.timeline, "clean")', "()")


@planted(breaks="TL-030")
def writer_rolls_back_what_is_pending(bug: Bug) -> None:
    """A writer rolls back every pending write that it finds when it begins."""

    def begin(storage: Any, properties: Any, clock: Any, ids: Any, *more: Any) -> Any:
        table = Table(storage, clock, ids, properties)
        for found in table.timeline.pending:
            if found.action in ("commit", "deltacommit"):
                rollback.rollback(table, found.requested)
        return commit.begin(storage, properties, clock, ids, *more)

    bug.edit(rollback._check_failed, "heartbeats_of(table).is_alive(target.requested)", "False")
    bug.set(write, "begin", begin)


@planted(breaks="TL-041")
def clean_protects_base_files_alone(bug: Bug) -> None:
    """A clean keeps the base files of savepointed slices and deletes their log files."""
    bug.edit(
        clean_plan.deletable_slices,
        "yield found",
        "yield found\n            else:\n"
        "                yield FileSlice(found.partition, found.file_id, found.base_instant, None, found.log_files)",
    )


@planted(breaks=("TL-047", "SVC-015"))
def executor_asks_its_own_memory(bug: Bug) -> None:
    """What a clean deletes only the process knows that planned it: another one finds nothing to do."""
    bug.edit(
        plan_execution.planning,
        "            return time",
        "            transitions_of.__dict__.setdefault('made', set()).add((id(table), time))\n            return time",
    )
    bug.edit(
        plan_execution.read_plan,
        "return read_content(table, Instant(requested, action, State.REQUESTED))",
        "plan = read_content(table, Instant(requested, action, State.REQUESTED))\n"
        "    known = (id(table), requested) in transitions_of.__dict__.get('made', ())\n"
        "    return plan if known else {**plan, 'filePathsToBeDeletedPerPartition': {}, 'RollbackRequests': []}",
    )


@planted(breaks="CLN-001")
def clean_takes_logs_of_the_current_slice(bug: Bug) -> None:
    """A clean deletes the log files of the slice that a snapshot reads."""
    bug.edit(
        clean_plan.deletable_slices,
        "for found in _old_slices(policy, group, earliest):",
        "current = [FileSlice(s.partition, s.file_id, s.base_instant, None, s.log_files) for s in group.slices[:1]]\n"
        "        for found in (*current, *_old_slices(policy, group, earliest)):",
    )


@planted(breaks="CLN-002")
def clean_ignores_plans(bug: Bug) -> None:
    """A clean deletes what a pending compaction still has to read."""
    bug.edit(clean.plan_clean, "groups_in_plans(table, timeline)", "()")


@planted(breaks="SVC-008")
def clean_sees_completed_plans_alone(bug: Bug) -> None:
    """A clean looks for plans among completed actions, where there are none."""
    bug.edit(plan_execution.groups_in_plans, "timeline.pending", "timeline.completed")


@planted(breaks="CLN-003")
def reads_of_cleaned_instants_answer(bug: Bug) -> None:
    """A read as of an instant that was cleaned and archived returns the rows of the files that are still there."""
    bug.edit(retention.check_retained, "time >= first", "True")


@planted(breaks="TYP-008")
def the_table_begins_with_its_active_timeline(bug: Bug) -> None:
    """Refuses a read as of an archived instant, as if the table had not been there."""
    bug.edit(retention.check_begun, "timeline.requested_between()", "timeline.completed")


@planted(breaks="CLN-003")
def groups_of_archived_writes_are_left_out(bug: Bug) -> None:
    """A read as of an instant leaves out a group whose slice of then was cleaned, where no active write names it."""
    bug.edit(retention.check_whole, "path is None", "True")


@planted(breaks="CLN-001")
def clean_leaks_change_capture_files(bug: Bug) -> None:
    """A clean deletes base and log files of a slice and leaves what it logged of its changes for ever."""
    bug.edit(clean.plan_clean, "files += change_files_of(table.storage, slices)", "pass")


@planted(breaks="CLN-004")
def clean_has_one_policy(bug: Bug) -> None:
    """A clean counts commits, whatever policy is asked for."""
    bug.edit(
        clean.plan_clean,
        "CleanPolicy.of(options or {})",
        "CleanPolicy.of({**(options or {}), 'hoodie.clean.policy': 'KEEP_LATEST_COMMITS'})",
    )


@planted(breaks="CLN-005")
def clean_forgets_where_the_window_starts(bug: Bug) -> None:
    """A clean keeps what the last commits wrote and deletes the older slices that were current when the first of them began."""
    bug.edit(
        clean_plan._old_slices,
        "return tuple(before[1:])",
        "return tuple(before if len(before) < len(group.slices) else before[1:])",
    )


@planted(breaks="CLN-006")
def clean_counts_versions_over_the_table(bug: Bug) -> None:
    """A clean takes versions of the table for those of a group: of a quiet group nothing stays."""
    bug.edit(
        clean_plan.deletable_slices,
        "for found in _old_slices(policy, group, earliest):",
        "newest = sorted({s.base_instant for other in groups for s in other.slices})[-policy.file_versions :]\n"
        "        for found in (s for s in group.slices if s.base_instant not in newest):",
    )


@planted(breaks="CLN-007")
def clean_takes_replaced_groups_at_once(bug: Bug) -> None:
    """A clean by commits deletes a replaced group although a reader before the replacement is within retention."""
    bug.edit(clean_plan._old_slices, "group.replaced_by < earliest.requested", "True")


@planted(breaks="CLN-008")
def clean_leaks_replaced_groups(bug: Bug) -> None:
    """A clean looks at current groups alone and leaves the files of replaced ones for ever."""
    bug.edit(clean_plan.deletable_slices, "in planned", "in planned or group.replaced_by is not None")


@planted(breaks=("SVC-002", "SVC-004"))
def services_plan_without_the_lock(bug: Bug) -> None:
    """A service plans before it takes the lock, so that the plan may be older than the timeline that it comes on."""
    bug.edit(
        plan_execution.planning,
        "    with held(transitions.times.lock, owner):\n        yield publish",
        "    yield publish",
    )


@planted(breaks=("SVC-001", "SVC-003"))
def services_work_under_the_lock(bug: Bug) -> None:
    """A service holds the lock for as long as it deletes files: every writer waits for it."""
    bug.edit(
        plan_execution.carry_out,
        "    record = work(plan)\n",
        "    with held(transitions.times.lock, 'worker'):\n        record = work(plan)\n",
    )


@planted(breaks="CLN-004")
def cleans_by_hours_go_past_pending_writes(bug: Bug) -> None:
    """A clean by hours deletes what a writer that is still at work was based on; one by commits does not."""
    bug.edit(
        clean_plan.earliest_to_retain,
        "if found is None or not pending or",
        "if policy.name == 'KEEP_LATEST_BY_HOURS' or found is None or not pending or",
    )


@planted(breaks="SVC-008")
def plans_of_log_compactions_hold_no_clean_back(bug: Bug) -> None:
    """A clean deletes what a pending log compaction has yet to read, once a compaction has overtaken it."""
    bug.edit(
        clean.plan_clean, "groups_in_plans(table, timeline)", "groups_in_plans(table, timeline, ('compaction', 'clustering'))"
    )


@planted(breaks="SVC-008")
def plans_of_clusterings_hold_no_clean_back(bug: Bug) -> None:
    """A clean deletes what a pending clustering has yet to read, once a writer has overtaken it."""
    bug.edit(
        clean.plan_clean,
        "groups_in_plans(table, timeline)",
        "groups_in_plans(table, timeline, ('compaction', 'logcompaction'))",
    )
