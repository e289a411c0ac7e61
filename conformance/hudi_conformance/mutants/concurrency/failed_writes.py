"""Mutants of early conflict detection, markers, heartbeats, and the rollback of failed writes."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.rollback import failed_writes, rollback
from hudi_reference.write import commit
from hudi_reference.write.concurrency import markers


@mutant(breaks="OCC-026")
def expired_writers_block_early_detection(patch: Patch) -> None:
    """Early conflict detection counts the markers of writers whose heartbeat has expired."""
    patch.edit(markers.check_unmarked, "other < instant and heartbeats.is_active(other)", "other < instant")


@mutant(breaks="OCC-026")
def early_detection_ignores_markers(patch: Patch) -> None:
    """Early conflict detection is enabled and detects nothing."""
    patch.edit(commit.Commit.add_file, "if self.concurrency.early:", "if False:")


@mutant(breaks="OCC-027")
def clean_ignores_failed_writes_policy(patch: Patch) -> None:
    """A clean rolls back failed writes although the configured policy leaves that to another service."""
    patch.edit(
        failed_writes.rollback_expired_writes, "is_lazy = Concurrency.of(settings).policy is Policy.LAZY", "is_lazy = True"
    )


@mutant(breaks="OCC-027")
def failed_overwrites_never_rolled_back(patch: Patch) -> None:
    """A clean rolls back failed commits and delta commits, but no failed overwrites."""
    patch.set(failed_writes, "_WRITES", ("commit", "deltacommit"))


@mutant(breaks="OCC-027")
def heartbeat_interval_setting_ignored(patch: Patch) -> None:
    """Takes a heartbeat for expired by the default interval of one minute, whatever the settings say."""
    patch.edit(
        rollback.heartbeats_of,
        "Heartbeats.of(table.storage, table.clock, Concurrency.of(table.options))",
        "Heartbeats(table.storage, table.clock)",
    )


@mutant(breaks="OCC-027")
def rollback_deletes_inflight_metadata_files_only(patch: Patch) -> None:
    """A rollback deletes only the files that the inflight metadata lists."""
    patch.edit(
        rollback.plan_rollback,
        "files_of(table, target)",
        "tuple(sorted(load_commit(table.storage, table.properties, target).paths))",
    )


@mutant(breaks="OCC-027")
def markers_written_after_files(patch: Patch) -> None:
    """A writer stores the marker of a file after the file itself."""
    mark = "mark_file(storage, self.requested, name, stat)"
    store = "storage.create(join_path(stat.partition, name), data)"
    patch.edit(commit.Commit.add_file, f"{mark}\n    {store}", f"{store}\n    {mark}")


@mutant(breaks="OCC-027")
def all_markers_of_type_create(patch: Patch) -> None:
    """A writer marks base files that replace earlier ones as created."""
    patch.edit(markers.mark_file, "else Kind.MERGE", "else Kind.CREATE")


@mutant(breaks="OCC-027")
def rollback_keeps_markers(patch: Patch) -> None:
    """A rollback leaves the markers of the write."""
    patch.edit(rollback.remove_action, "remove_markers(table.storage, target)", "pass")


@mutant(breaks="OCC-027")
def failed_writes_never_rolled_back(patch: Patch) -> None:
    """No service rolls back the write of a crashed writer."""
    patch.edit(failed_writes.roll_back_failed, "for pending in reversed(table.timeline.pending):", "for pending in ():")
