"""Mutants of index records: bloom filters, the record index, and secondary indexes."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.metadata import codec, secondary_keys
from hudi_reference.metadata.records import SecondaryEntry


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
