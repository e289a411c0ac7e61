"""Mutants of record keys and meta columns that change more than one expression."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.write.concurrency.config import IndexType
from hudi_reference.write.placement import global_index


@mutant(breaks="META-009")
def later_name_of_the_record_index_moves_records(patch: Patch) -> None:
    """Under the later name of the record index, records move between partitions by default."""
    setting, _ = global_index._MOVES[IndexType.GLOBAL_RECORD_LEVEL_INDEX]
    patch.item(global_index._MOVES, IndexType.GLOBAL_RECORD_LEVEL_INDEX, (setting, "true"))  # type: ignore[arg-type]
