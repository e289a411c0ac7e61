"""Mutants of concurrency: services beside writers, and beside each other. See `concurrency`."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups
from hudi_reference.services.archive import archive
from hudi_reference.services.clean import clean
from hudi_reference.services.clustering import clustering, plan
from hudi_reference.services.compaction import compaction, log_compaction
from hudi_reference.services.planning import plan_execution, rollback_validation
from hudi_reference.services.rollback import rollback, savepoint
from hudi_reference.timeline import pending_rollbacks
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency import conflict_resolution
from hudi_reference.write.concurrency.conflict_resolution import MATRIX, Cell, Verdict, WriteKind


@mutant(breaks="SVC-002")
def plans_are_made_before_the_lock(patch: Patch) -> None:
    """A planner takes the lock to publish its plan, and has made it before."""
    patch.edit(
        plan_execution.planning, "    with held(transitions.times.lock, owner):\n        yield publish", "    yield publish"
    )


@mutant(breaks=("SVC-002", "TL-021"))
def cleans_are_planned_before_the_lock(patch: Patch) -> None:
    """A clean is planned, then the lock is taken, then the plan is published: what was savepointed in between goes."""
    patch.edit(
        clean.schedule_clean,
        "    with planning(table) as publish:\n"
        '        if pending_of(table.timeline, "clean") or brings_back(table, table.timeline):\n'
        "            return None\n        plan = plan_clean(table, options)\n",
        "    plan = plan_clean(table, options)\n    with planning(table) as publish:\n",
    )


@mutant(breaks=("SVC-002", "TL-030"))
def rollbacks_are_planned_before_the_lock(patch: Patch) -> None:
    """That a write is pending is looked at first, and the rollback published under the lock: it may have completed."""
    patch.edit(
        rollback.schedule_rollback,
        "    with planning(table) as publish:\n        plan = plan_rollback(table, instant, failed=failed)\n",
        "    plan = plan_rollback(table, instant, failed=failed)\n    with planning(table) as publish:\n",
    )
    patch.set(rollback, "_drop_if_overtaken", lambda *_: None)


@mutant(breaks="SVC-004")
def plans_that_are_carried_out_are_forgotten(patch: Patch) -> None:
    """A planner looks at requested plans, and not at those that somebody is carrying out."""
    patch.edit(plan_execution.groups_in_plans, "if instant.action in actions)",
             "if instant.action in actions and instant.state is State.REQUESTED)")  # fmt: skip


@mutant(breaks="SVC-010")
def clusterings_take_what_is_planned(patch: Patch) -> None:
    """A clustering is planned over file groups that a compaction is going to rewrite."""
    patch.edit(plan.Planner.candidates, "groups_in_plans(self.table, self.view.timeline)", "()")


@mutant(breaks=("SVC-004", "LCP-001"))
def log_compactions_take_what_is_planned(patch: Patch) -> None:
    """A log compaction is planned over file groups that a compaction is going to rewrite."""
    patch.edit(log_compaction.plan_log_compaction, "groups_in_plans(table, view.timeline)", "()")


@mutant(breaks="SVC-005")
def executors_clear_the_way(patch: Patch) -> None:
    """Whoever carries out a compaction first deletes what lies there of another attempt, and nobody looks again."""
    patch.edit(
        compaction.execute_compaction,
        "        view, operations = table.view(), operations_in(plan)\n",
        "        for path in __import__('hudi_reference.services.planning.compaction_plan', fromlist=['p'])"
        ".files_of_instant(table, requested):\n            table.storage.delete(path)\n"
        "        view, operations = table.view(), operations_in(plan)\n",
    )
    patch.set(compaction, "check_stored", lambda *_: None)


@mutant(breaks=("SVC-005", "TL-051"))
def plans_complete_more_than_once(patch: Patch) -> None:
    """Who has carried out a plan completes it without a look whether somebody else has."""
    patch.edit(
        Transitions.complete,
        "        if instant not in timeline.instants:\n            raise _elsewhere(instant)\n",
        "",
    )


@mutant(breaks="TL-050")
def attempts_are_taken_back_without_the_lock(patch: Patch) -> None:
    """Whoever takes an attempt back deletes its files while its executor may be completing it."""
    patch.edit(
        rollback.take_back,
        '    with held(transitions.times.lock, new_owner(f"take back {pending.requested}")):\n'
        "        if pending in table.timeline.pending:\n",
        "    if True:\n        if True:\n",
    )


@mutant(breaks="TL-023")
def plans_start_without_the_lock(patch: Patch) -> None:
    """An executor says that it has begun after somebody has taken its plan away."""
    patch.edit(Transitions.start, "if ACTIONS[instant.action].planned else None", "if False else None")


@mutant(breaks="TL-023")
def services_complete_during_a_restore(patch: Patch) -> None:
    """A compaction completes that a restore is about to undo."""
    patch.edit(plan_execution.carry_out, "        if ACTIONS[action].writes:\n", "        if False:\n")


@mutant(breaks="TL-023")
def writes_complete_during_a_restore(patch: Patch) -> None:
    """A writer that began before a restore completes beside it."""
    patch.edit(pending_rollbacks.check_no_restore, 'if pending.action == "restore":', "if False:")


@mutant(breaks=("TL-019", "TL-030"))
def writers_do_not_ask_for_rollbacks(patch: Patch) -> None:
    """A write completes although its rollback is planned."""
    patch.edit(Commit.complete, "        check_not_undone(table.storage, table.properties, timeline, self.requested)\n", "")


@mutant(breaks=("TL-019", "TL-030"))
def writers_and_rollbacks_pass_each_other(patch: Patch) -> None:
    """A write does not ask whether its rollback is planned, and the rollback does not whether the write has completed."""
    patch.edit(Commit.complete, "        check_not_undone(table.storage, table.properties, timeline, self.requested)\n", "")
    patch.set(rollback, "_drop_if_overtaken", lambda *_: None)


@mutant(breaks=("TL-019", "TL-051"))
def what_was_rolled_back_begins_and_completes(patch: Patch) -> None:
    """A writer that was rolled back before it said that it had begun says so afterwards, and completes."""
    patch.edit(Transitions.complete, "if ACTIONS[instant.action].has_requested:", "if False:")


@mutant(breaks="TL-019")
def files_go_before_the_write_is_hidden(patch: Patch) -> None:
    """A rollback deletes the files of a completed write that readers still see."""
    patch.edit(rollback.undo, "            found = transitions.withdraw(found)\n", "            pass\n")


@mutant(breaks=("TL-023", "SVC-005"))
def restores_hide_writes_without_the_lock(patch: Patch) -> None:
    """Of two that carry out one restore the slower one puts pending files back that the faster one has removed."""
    patch.edit(
        rollback.undo,
        "    with held(transitions.times.lock, owner):\n        found = next(",
        "    if True:\n        found = next(",
    )


@mutant(breaks="TL-051")
def requested_files_go_first(patch: Patch) -> None:
    """Whoever removes an action from the timeline begins with its requested file."""
    patch.edit(Transitions.remove, "reversed(states)", "states")


@mutant(breaks=("TL-023", "CLN-002"))
def cleans_are_planned_during_a_restore(patch: Patch) -> None:
    """A clean is planned while a restore brings back the slices that it deletes."""
    patch.edit(clean.schedule_clean, " or brings_back(table, table.timeline)", "")


@mutant(breaks=("TL-023", "CLN-003"))
def what_a_clean_is_about_to_delete_is_restored(patch: Patch) -> None:
    """A restore or rollback does not look at cleans that are planned."""
    patch.edit(rollback_validation.check_left, "doomed = doomed_files(table, timeline)", "doomed = frozenset()")


@mutant(breaks=("TL-019", "CLN-003"))
def rollbacks_do_not_ask_what_is_left(patch: Patch) -> None:
    """The newest write is rolled back although a clean deletes the slices before it."""
    patch.edit(rollback.plan_rollback, "        check_left(table, timeline, (target,))\n", "")


@mutant(breaks=("TL-021", "TL-022"))
def savepoints_complete_beside_a_planned_clean(patch: Patch) -> None:
    """That no clean deletes the files of a savepoint is looked at when it begins, and not when it completes."""
    patch.edit(savepoint.savepoint, "content, lambda timeline: _check_kept(table, timeline, instant, files))", "content)")


@mutant(breaks=("ARC-001", "TL-023"))
def archiving_goes_on_during_a_restore(patch: Patch) -> None:
    """Writes are archived that a restore has yet to undo."""
    patch.edit(archive._archive, 'if pending_of(timeline, "restore"):', "if False:")


@mutant(breaks=("ARC-001", "ARC-002"))
def archivers_take_no_lock(patch: Patch) -> None:
    """Archives beside whoever else decides something."""
    patch.edit(archive._archive, 'with held(transitions_of(table).times.lock, new_owner("archive")):', "if True:")


@mutant(breaks="SVC-009")
def clusterings_never_look_for_changes(patch: Patch) -> None:
    """A clustering completes although a file group of its plan was changed meanwhile."""
    patch.edit(clustering.Attempt.check, "        standing.check(mine, other)\n", "        pass\n")


@mutant(breaks=("TL-019", "OCC-008"))
def writers_build_on_what_is_being_rolled_back(patch: Patch) -> None:
    """A writer asks whether what it builds on was rolled back, and not whether somebody is about to."""
    patch.edit(pending_rollbacks.check_still_there, "if commit.requested not in going", "if True")


@mutant(breaks="TL-019")
def what_is_being_rolled_back_is_compacted(patch: Patch) -> None:
    """A compaction is planned over the logs of a write whose rollback is planned: its rows stay."""
    patch.edit(compaction.schedule_compaction, "[] if brings_back(table, table.timeline) else", "")


@mutant(breaks="TL-021")
def archived_writes_get_savepoints(patch: Patch) -> None:
    """A savepoint completes although its write was archived meanwhile, so that nobody can go back there."""
    patch.edit(savepoint._check_kept, "    _check_active(timeline, instant)\n", "")


@mutant(breaks=("OCC-016", "SVC-009"))
def overwritten_groups_are_clustered(patch: Patch) -> None:
    """A clustering completes although its file groups were overwritten meanwhile: what was replaced is there again."""
    patch.item(MATRIX, (WriteKind.CLUSTERS, WriteKind.REPLACES), Cell(Verdict.BOTH, "nobody minds"))  # type: ignore[arg-type]


@mutant(breaks="OCC-013")
def overwrites_are_nobodys_concern(patch: Patch) -> None:
    """A writer looks for the commits of others, and not for what replaces whole file groups."""
    patch.edit(
        conflict_resolution.completed_since, "instant.action in COMMITS", "instant.action in COMMITS - {'replacecommit'}"
    )


@mutant(breaks="NBC-002")
def uncommitted_base_files_begin_slices(patch: Patch) -> None:
    """A base file of a write that is pending begins a slice: committed logs go to it, and nobody reads them there."""
    patch.edit(
        file_groups._slices,
        "        elif completion is not None:\n"
        "            slices[parsed.instant] = FileSlice(*identity, parsed.instant, base_file=name)\n",
        "        else:\n"
        "            slices[parsed.instant] = FileSlice(*identity, parsed.instant, base_file=name if completion else None)\n",
    )
