"""Mutants of early conflict detection, markers, heartbeats, and the rollback of failed writes."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.rollback import failed_writes
from hudi_reference.write import commit


@mutant(breaks="OCC-027")
def failed_overwrites_never_rolled_back(patch: Patch) -> None:
    """A clean rolls back failed commits and delta commits, but no failed overwrites."""
    patch.set(failed_writes, "_WRITES", ("commit", "deltacommit"))


@mutant(breaks="OCC-027")
def markers_written_after_files(patch: Patch) -> None:
    """A writer stores the marker of a file after the file itself."""
    mark = "mark_file(storage, self.requested, name, stat)"
    store = "storage.create(join_path(stat.partition, name), data)"
    patch.edit(commit.Commit.add_file, f"{mark}\n    {store}", f"{store}\n    {mark}")
