"""Mutants of index records: bloom filters, the record index, and secondary indexes."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.metadata import codec, secondary_keys
from hudi_reference.metadata.records import SecondaryEntry
from hudi_reference.write.concurrency.config import IndexType
from hudi_reference.write.placement import global_index


@mutant(breaks="IDX-028")
def secondary_key_colon_separator(patch: Patch) -> None:
    """Separates the parts of a secondary key by a colon."""
    patch.set(secondary_keys, "SEPARATOR", ":")


def _never_removed(kind: codec._Kind) -> codec._Kind:
    return kind._replace(decode=lambda stored: SecondaryEntry())


@mutant(breaks="IDX-030")
def removed_secondary_entries_read(patch: Patch) -> None:
    """Ignores the removal of a pair of a secondary index."""
    patch.item(codec._KINDS, 7, _never_removed(codec._KINDS[7]))


@mutant(breaks="META-009")
def later_name_of_the_record_index_moves_records(patch: Patch) -> None:
    """Under the later name of the record index, records move between partitions by default."""
    setting, _ = global_index._MOVES[IndexType.GLOBAL_RECORD_LEVEL_INDEX]
    patch.item(global_index._MOVES, IndexType.GLOBAL_RECORD_LEVEL_INDEX, (setting, "true"))  # type: ignore[arg-type]
