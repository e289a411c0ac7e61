"""Mutants of archiving: limits, which instants are archived, and the order of the steps."""

from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import inspect
from hudi_reference.services.archive import archive, bounds, limits
from hudi_reference.timeline.history import history_writer
from hudi_reference.write import commit

SPARK, FLINK = limits.SPARK, limits.FLINK


@mutant(breaks="ARC-001")
def archived_instants_lost(patch: Patch) -> None:
    """Deletes old instants from the active timeline without storing them."""
    patch.edit(archive._carry_out, "flush(storage, history, (found.action(storage) for found in files))", "pass")


@mutant(breaks=("ARC-001", "TL-023"))
def archiving_during_restore(patch: Patch) -> None:
    """Archives writes that a pending restore has yet to roll back."""
    patch.edit(archive._archive, 'if pending_of(timeline, "restore"):', "if False:")


@mutant(breaks=("ARC-001", "ARC-002"))
def archiving_without_lock(patch: Patch) -> None:
    """Archives without the table lock."""
    patch.edit(archive._archive, 'with held(transitions_of(table).times.lock, new_owner("archive")):', "if True:")


@mutant(breaks="ARC-002")
def active_timeline_cleared_before_manifest(patch: Patch) -> None:
    """Deletes instants from the active timeline before the manifest that lists them is published."""
    patch.edit(
        archive._carry_out,
        "        flush(storage, history, (found.action(storage) for found in files))\n        _remove(storage, files)\n",
        "        actions = [found.action(storage) for found in files]\n"
        "        _remove(storage, files)\n        flush(storage, history, actions)\n",
    )


@mutant(breaks="ARC-002")
def archiving_deletes_completed_file_first(patch: Patch) -> None:
    """Removes the completed file of an action first, so that a crash leaves an action that appears pending."""
    patch.edit(
        archive._remove,
        "for found in files:\n        for _, instant in sorted(found.pending.items()):\n"
        '            storage.delete(f"{found.folder}/{instant.file_name}")\n    for found in files:\n'
        "        for name in found.completed:\n"
        '            storage.delete(f"{found.folder}/{name}")',
        "for found in files:\n        for name in found.completed:\n"
        '            storage.delete(f"{found.folder}/{name}")\n    for found in files:\n'
        "        for _, instant in sorted(found.pending.items()):\n"
        '            storage.delete(f"{found.folder}/{instant.file_name}")',
    )


@mutant(breaks="ARC-002")
def partly_archived_actions_listed_twice(patch: Patch) -> None:
    """Lists an action twice that is archived and not yet removed from the active timeline."""
    patch.edit(inspect.inspect_table, "if instant.identity not in archived", "")


@mutant(breaks="ARC-003")
def archiving_ignores_pending_actions(patch: Patch) -> None:
    """Archives pending actions, and the instants that they are based on."""
    patch.edit(bounds._pending, "if oldest is None", "if True")
    patch.edit(bounds._concurrent, "if first is None", "if True")


@mutant(breaks="ARC-003")
def archiving_ignores_savepoints(patch: Patch) -> None:
    """Archives instants after a savepoint although this is not configured."""
    patch.edit(bounds._savepoint, "if situation.limits.beyond_savepoints or", "if True or")


@mutant(breaks="ARC-004")
def archiving_keeps_markers(patch: Patch) -> None:
    """Archives an action and leaves its markers."""
    patch.edit(archive._files_to_delete, "sorted(requested)", "()")


@mutant(breaks="ARC-004")
def failed_attempt_files_kept(patch: Patch) -> None:
    """Archives an action without deleting the files of its failed attempts in the partitions."""
    patch.edit(
        archive._files_to_delete,
        "(*orphan_files(storage, lost(named), uncommitted(timeline, start)), *markers)",
        "tuple(markers)",
    )


@mutant(breaks=("ARC-005", "ARC-006"))
def automatic_archiving_disabled(patch: Patch) -> None:
    """Never archives after a write."""
    patch.edit(commit.Commit._after_completion, "self.table.hooks.after_completion", "()")


@mutant(breaks="ARC-006")
def archiving_one_write_late(patch: Patch) -> None:
    """Counts instants without the write that has just completed."""
    patch.edit(archive.archive_timeline, "len(timeline.commits) + 1 >", "len(timeline.commits) >")


@mutant(breaks="ARC-007")
def archiving_at_twice_the_limit(patch: Patch) -> None:
    """Starts only when there are twice as many writes as the limit says."""
    patch.edit(archive._writes_to_archive, "len(commits) <= most", "len(commits) <= 2 * most")


@mutant(breaks="ARC-007")
def archiving_default_of_flink(patch: Patch) -> None:
    """Uses the default upper limit of Flink jobs for every engine."""
    patch.item(SPARK, "most", replace(SPARK["most"], default="50"))  # type: ignore[arg-type]


@mutant(breaks="ARC-008")
def inconsistent_archive_limits_accepted(patch: Patch) -> None:
    """Accepts a lower limit that is not below the upper one; archiving then never runs, or runs with each write."""
    patch.edit(limits.ArchiveLimits._check, "if self.fewest >= self.most", "if False")


@mutant(breaks="ARC-009")
def archiving_keeps_upper_limit(patch: Patch) -> None:
    """Leaves as many writes as the upper limit says."""
    patch.edit(archive._writes_to_archive, "[: len(commits) - fewest]", "[: len(commits) - most]")


@mutant(breaks="ARC-010")
def compaction_of_history_counts_actions(patch: Patch) -> None:
    """Merges a level when its files contain as many actions as the batch size says."""
    patch.edit(history_writer._merge_level, "if len(files) >= batch_size", "if 2 * len(files) >= batch_size")


@mutant(breaks="ARC-011")
def flink_upper_limit_of_spark(patch: Patch) -> None:
    """Uses the upper limit of Spark jobs for Flink jobs, where only the lower one is set."""
    patch.item(FLINK, "most", replace(FLINK["most"], default="30"))  # type: ignore[arg-type]


@mutant(breaks="ARC-012")
def flink_lower_limit_of_spark(patch: Patch) -> None:
    """Uses the lower limit of Spark jobs for Flink jobs."""
    patch.item(FLINK, "fewest", replace(FLINK["fewest"], default="20"))  # type: ignore[arg-type]
