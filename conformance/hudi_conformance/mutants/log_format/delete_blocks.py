"""Mutants of delete blocks."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import content
from hudi_reference.records import merge, merge_tables
from hudi_reference.records.merge_tables import Kind, decisions_of


@mutant(breaks="BLK-010")
def old_delete_blocks_read_as_avro(patch: Patch) -> None:
    """Decodes the deletes of the old content versions as Avro."""
    patch.item(content._DELETE_FORMS, 1, content._avro_deletes)
    patch.item(content._DELETE_FORMS, 2, content._avro_deletes)


@mutant(breaks=("BLK-012", "MRG-014"))
def delete_by_key_ordering_compared(patch: Patch) -> None:
    """Compares the ordering value of a delete that has none as 0."""
    by_ordering = decisions_of(merge_tables.cells_by_ordering(Kind.ROW, Kind.KEY_DELETE))
    patch.item(merge.DECISIONS["EVENT_TIME_ORDERING"], (Kind.ROW, Kind.KEY_DELETE), by_ordering[Kind.ROW, Kind.KEY_DELETE])
