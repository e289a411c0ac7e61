"""Mutants of the metadata table: file listing, statistics, keys, and maintenance."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.metadata import codec, keys
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.services.metadata_table import metadata_sync


@mutant(breaks="MDT-004")
def metadata_table_never_compacted(patch: Patch) -> None:
    """No service compacts the metadata table."""
    patch.set(metadata_sync, "maintain", lambda metadata, data, building: None)


@mutant(breaks="MDT-011")
def file_stats_read_as_partition_stats(patch: Patch) -> None:
    """Reads the statistics of a file as those of a partition."""
    patch.item(codec._KINDS, 3, codec._KINDS[6])


@mutant(breaks=("MDT-015", "IDX-003"))
def hash_seed_unsigned(patch: Patch) -> None:
    """Widens the seed of the hash without sign extension."""
    patch.set(keys, "_SEED", 0xDABADABA)


@mutant(breaks="IDX-002")
def bloom_filter_partition_in_the_singular(patch: Patch) -> None:
    """Names the partition of the bloom filters `bloom_filter`."""
    patch.set(BuiltIn.BLOOM_FILTERS, "_value_", "bloom_filter")


@mutant(breaks="IDX-009")
def record_index_partition_as_a_setting(patch: Patch) -> None:
    """Names the partition of the record index as the setting that enables it."""
    patch.set(BuiltIn.RECORD_INDEX, "_value_", "record_level_index")
