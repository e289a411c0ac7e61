"""Mutants in reading timelines: where they lie, in which order they are, which files of the history are looked at."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.table import Table
from hudi_reference.timeline import active
from hudi_reference.timeline.history import history
from hudi_reference.timeline.history.manifest import LevelFile


@mutant(breaks="LAY-017")
def instants_beside_the_properties(patch: Patch) -> None:
    """Keeps the files of instants directly in .hoodie, as releases before 1.0 did."""
    patch.edit(TableProperties.timeline_folder, "if self.is_legacy else", "if True else")


@mutant(breaks=("TL-054", "RDR-003"))
def writes_in_the_order_in_which_they_began(patch: Patch) -> None:
    """Takes the write that was requested last for the latest one, whenever it completed."""
    patch.edit(active.completion_order, "instant.completion or instant.requested", "instant.requested")


@mutant(breaks="LSM-025")
def old_files_are_left_out_too_soon(patch: Patch) -> None:
    """Reads only those files of the history that end after the range that is asked for."""
    patch.edit(LevelFile.may_hold, "begin <= self.maximum", "end <= self.maximum")


@mutant(breaks="LSM-025")
def names_of_upgraded_tables_are_believed(patch: Patch) -> None:
    """Goes by the name of a history file whose times run backwards."""
    patch.edit(LevelFile.may_hold, "self.minimum > self.maximum or ", "")


@mutant(breaks=("LSM-011", "LSM-012"))
def any_file_under_a_listed_name_will_do(patch: Patch) -> None:
    """Reads what lies under the name of a history file, also if it is not what was published."""
    patch.edit(history._check_length, "if size != file.length:", "if size < 0:")


@mutant(breaks="RDR-002")
def each_partition_as_it_is_by_then(patch: Patch) -> None:
    """Looks at the table again for each slice that it reads."""
    patch.edit(
        Table._read,
        "parts = self._in_parallel(plan.read, plan.slices)",
        "parts = [plan.read(s) for n, _ in enumerate(plan.slices) for s in self.view().groups.latest_slices[n : n + 1]]",
    )
