"""Mutants: markers."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.rollback import rollback
from hudi_reference.write import commit
from hudi_reference.write.concurrency import markers


@mutant(breaks="OCC-027")
def rollback_deletes_what_metadata_names(patch: Patch) -> None:
    """A rollback deletes the files that the inflight metadata lists, and no others."""
    patch.edit(
        rollback.plan_rollback,
        "files_of(table, target)",
        "tuple(sorted(load_commit(table.storage, table.properties, target).paths))",
    )


@mutant(breaks="OCC-027")
def markers_follow_the_files(patch: Patch) -> None:
    """A writer that stores the marker of a file once the file is there."""
    mark = "mark_file(storage, self.requested, name, stat)"
    store = "storage.create(join_path(stat.partition, name), data)"
    patch.edit(commit.Commit.add_file, f"{mark}\n    {store}", f"{store}\n    {mark}")


@mutant(breaks="OCC-027")
def every_file_is_marked_as_new(patch: Patch) -> None:
    """A writer that does not tell base files in place of earlier ones from others."""
    patch.edit(markers.mark_file, "else Kind.MERGE", "else Kind.CREATE")


@mutant(breaks="OCC-027")
def markers_outlive_the_rollback(patch: Patch) -> None:
    """A rollback that leaves the markers of the write."""
    patch.edit(rollback.undo, "remove_markers(table.storage, target)", "pass")
