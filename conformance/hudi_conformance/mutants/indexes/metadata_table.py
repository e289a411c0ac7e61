"""Mutants of the metadata table: file listing, statistics, keys, and maintenance."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.metadata import codec, indexes, keys
from hudi_reference.services.metadata_table import metadata_sync
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync


@mutant(breaks="MDT-001")
def record_index_not_maintained(patch: Patch) -> None:
    """Writers update the file listing, and neither the record index nor the bloom filters."""
    patch.edit(
        MetadataSync._commit, "for name in partitions:", "for name in partitions[-1:] if len(partitions) == 1 else ('files',):"
    )


@mutant(breaks="MDT-003")
def metadata_value_key_not_checked(patch: Patch) -> None:
    """Accepts a value whose key is that of another entry."""
    patch.edit(codec._payload, 'record["key"] not in ("", key)', "False")


@mutant(breaks="MDT-004")
def metadata_table_never_compacted(patch: Patch) -> None:
    """No service compacts the metadata table."""
    patch.set(metadata_sync, "maintain", lambda metadata, data, building: None)


@mutant(breaks=("MDT-006", "MDT-007", "MDT-013"))
def listed_files_without_size(patch: Patch) -> None:
    """Returns size 0 for every listed file, as older writers stored it for log files."""
    patch.edit(codec._files_of, 'info["size"]', "0")


@mutant(breaks=("MDT-006", "MDT-007"))
def removed_files_stay_listed(patch: Patch) -> None:
    """Ignores the removal of a listed file."""
    patch.edit(codec._files_of, 'info["isDeleted"]', "False")


@mutant(breaks=("MDT-007", "MDT-005"))
def partition_list_under_any_key(patch: Patch) -> None:
    """Takes a record for the list of partitions, whatever its key is."""
    patch.edit(codec._payload, "(key == ALL_PARTITIONS) != (number == PARTITION_LIST)", "False")


@mutant(breaks="MDT-008")
def cleaned_files_stay_listed(patch: Patch) -> None:
    """A clean deletes files and leaves them in the file listing."""
    patch.edit(MetadataSync.apply, "deleted=_cleaned(record)", "deleted=()")


@mutant(breaks="MDT-008")
def initial_listing_contains_failed_writes(patch: Patch) -> None:
    """The first listing of a metadata table contains every file in storage, also of failed writes."""
    patch.edit(indexes._all_files, "if info.path in read or", "if info.path.endswith('.parquet') or info.path in read or")


@mutant(breaks="MDT-011")
def file_stats_read_as_partition_stats(patch: Patch) -> None:
    """Reads the statistics of a file as those of a partition."""
    patch.item(codec._KINDS, 3, codec._KINDS[6])


@mutant(breaks="MDT-014")
def column_bounds_swapped(patch: Patch) -> None:
    """Swaps the least and the greatest value."""
    patch.edit(codec._statistics_of, '_bound_of(stats["minValue"])', '_bound_of(stats["maxValue"])')


@mutant(breaks=("MDT-015", "IDX-003"))
def hash_seed_unsigned(patch: Patch) -> None:
    """Widens the seed of the hash without sign extension."""
    patch.set(keys, "_SEED", 0xDABADABA)


@mutant(breaks="MDT-015")
def column_stats_key_file_first(patch: Patch) -> None:
    """Puts the hash of the file before that of the column in keys of column statistics."""
    patch.edit(keys.column_stats_key, "key + file_digest(file_name)", "file_digest(file_name) + key")


@mutant(breaks="MDT-015")
def empty_partition_hashed_as_empty_text(patch: Patch) -> None:
    """Hashes the partition of a table without partitions as an empty text."""
    patch.edit(keys.partition_identifier, "partition or BASE_PATH", "partition")


@mutant(breaks="MDT-016")
def partition_stats_key_partition_first(patch: Patch) -> None:
    """Puts the partition before the column, so that no prefix selects a column."""
    patch.edit(
        keys.column_stats_key,
        "key += text_hash(partition_identifier(partition))",
        "key = text_hash(partition_identifier(partition)) + key",
    )
