"""Mutants of the files of the archived timeline: manifests, names, rows, and merges of levels."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.timeline.history import history_writer


@mutant(breaks="LSM-006")
def superseded_history_files_deleted_at_once(patch: Patch) -> None:
    """Deletes the inputs of a merge in the step that publishes its output."""
    patch.set(history_writer, "KEPT_MANIFESTS", 1)
    patch.edit(history_writer.retire, "KEPT_MANIFESTS + merged", "KEPT_MANIFESTS")
