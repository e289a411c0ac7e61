"""Mutants of the files of the archived timeline: manifests, names, rows, and merges of levels."""

import re

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.timeline.history import history_writer, manifest


@mutant(breaks="LSM-006")
def superseded_history_files_deleted_at_once(patch: Patch) -> None:
    """Deletes the inputs of a merge in the step that publishes its output."""
    patch.set(history_writer, "KEPT_MANIFESTS", 1)
    patch.edit(history_writer.retire, "KEPT_MANIFESTS + merged", "KEPT_MANIFESTS")


@mutant(breaks="LSM-007")
def history_version_is_a_file_name(patch: Patch) -> None:
    """Stores the name of the manifest in the version file, and reads both."""
    patch.set(manifest, "_VERSION", re.compile(r"(manifest_)?\d{1,18}"))
    patch.edit(manifest.current_version, r'.strip(" \r\n\t")', r'.strip(" \r\n\t").removeprefix("manifest_")')
    patch.edit(history_writer._publish, "number = max([seen.manifest.number, *taken]) + 1", _NAMED)


#: The number of the next manifest, whose text is the name of its file.
_NAMED = """
    class Named(int):
        def __str__(self):
            return f"manifest_{int(self)}"

        def __format__(self, form):
            return format(int(self), form)

    number = Named(max([seen.manifest.number, *taken]) + 1)
"""
