"""Mutants of cleaning."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import retention
from hudi_reference.services.clean import clean
from hudi_reference.services.planning import clean_plan


@mutant(breaks="CLN-001")
def clean_deletes_logs_of_current_slice(patch: Patch) -> None:
    """A clean deletes the log files of the slice that a snapshot reads."""
    patch.edit(
        clean_plan.deletable_slices,
        "for found in _old_slices(policy, group, earliest):",
        "current = [FileSlice(s.partition, s.file_id, s.base_instant, None, s.log_files) for s in group.slices[:1]]\n"
        "        for found in (*current, *_old_slices(policy, group, earliest)):",
    )


@mutant(breaks="CLN-001")
def clean_leaks_cdc_files(patch: Patch) -> None:
    """A clean deletes the base and log files of a slice and leaves its change-capture files."""
    patch.edit(clean.plan_clean, "files += change_files_of(table.storage, slices)", "pass")


@mutant(breaks="CLN-002")
def clean_ignores_compaction_plans(patch: Patch) -> None:
    """A clean deletes files that a pending compaction needs."""
    patch.edit(clean.plan_clean, "groups_in_plans(table, timeline)", "()")


@mutant(breaks="CLN-003")
def cleaned_instants_readable(patch: Patch) -> None:
    """A read as of an instant that was cleaned and archived returns the rows of the remaining files."""
    patch.edit(retention.check_retained, "time >= first", "True")


@mutant(breaks="CLN-003")
def cleaned_slices_of_archived_writes_omitted(patch: Patch) -> None:
    """A read as of an instant omits a group whose slice of that time was cleaned, if no active write names it."""
    patch.edit(retention.check_whole, "path is None", "True")


@mutant(breaks="CLN-004")
def clean_policy_ignored(patch: Patch) -> None:
    """A clean retains by commits, whatever policy is configured."""
    patch.edit(
        clean.plan_clean,
        "CleanPolicy.of(options or {})",
        "CleanPolicy.of({**(options or {}), 'hoodie.clean.policy': 'KEEP_LATEST_COMMITS'})",
    )


@mutant(breaks="CLN-004")
def clean_by_hours_ignores_pending_writes(patch: Patch) -> None:
    """A clean by hours deletes files that a pending write is based on; one by commits does not."""
    patch.edit(
        clean_plan.earliest_to_retain,
        "if found is None or not pending or",
        "if policy.name == 'KEEP_LATEST_BY_HOURS' or found is None or not pending or",
    )


@mutant(breaks="CLN-005")
def clean_deletes_slices_at_window_start(patch: Patch) -> None:
    """A clean keeps the files of the last commits and deletes the older slices that were current when the first of them
    began.
    """
    patch.edit(
        clean_plan._old_slices,
        "return tuple(before[1:])",
        "return tuple(before if len(before) < len(group.slices) else before[1:])",
    )


@mutant(breaks="CLN-006")
def clean_counts_versions_of_table(patch: Patch) -> None:
    """A clean counts versions of the table instead of the group: all slices of a group without recent writes are deleted."""
    patch.edit(
        clean_plan.deletable_slices,
        "for found in _old_slices(policy, group, earliest):",
        "newest = sorted({s.base_instant for other in groups for s in other.slices})[-policy.file_versions :]\n"
        "        for found in (s for s in group.slices if s.base_instant not in newest):",
    )


@mutant(breaks="CLN-007")
def clean_deletes_replaced_groups_at_once(patch: Patch) -> None:
    """A clean by commits deletes a replaced group although a reader before the replacement is within retention."""
    patch.edit(clean_plan._old_slices, "group.replaced_by < earliest.requested", "True")


@mutant(breaks="CLN-008")
def clean_leaks_replaced_groups(patch: Patch) -> None:
    """A clean processes current groups only and never deletes the files of replaced ones."""
    patch.edit(clean_plan.deletable_slices, "in planned", "in planned or group.replaced_by is not None")
