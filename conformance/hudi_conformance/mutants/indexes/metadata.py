"""Mutants in the values of the metadata table and the names of its partitions."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.metadata import codec, partitions
from hudi_reference.metadata.records import SecondaryEntry


@mutant(breaks="MDT-003")
def values_bring_their_own_key(patch: Patch) -> None:
    """Takes a value for right whose key is that of another entry."""
    patch.edit(codec._payload, 'record["key"] not in ("", key)', "False")


@mutant(breaks=("MDT-007", "MDT-005"))
def any_key_lists_the_partitions(patch: Patch) -> None:
    """Takes a list of partitions for one under whatever key it stands."""
    patch.edit(codec._payload, "(key == ALL_PARTITIONS) != (number == PARTITION_LIST)", "False")


@mutant(breaks=("MDT-006", "MDT-007", "MDT-013"))
def listed_files_have_no_size(patch: Patch) -> None:
    """Shows every listed file with size 0, as log files were once written."""
    patch.edit(codec._files_of, 'info["size"]', "0")


@mutant(breaks=("MDT-006", "MDT-007"))
def removed_files_stay_listed(patch: Patch) -> None:
    """Never takes an entry for removed."""
    patch.edit(codec._files_of, 'info["isDeleted"]', "False")


@mutant(breaks="MDT-011")
def statistics_of_files_are_those_of_partitions(patch: Patch) -> None:
    """Takes the statistics of a file for those of a partition."""
    patch.item(codec._KINDS, 3, codec._KINDS[6])


@mutant(breaks="MDT-014")
def bounds_exchanged(patch: Patch) -> None:
    """Takes the greatest value for the least."""
    patch.edit(codec._statistics_of, '_bound_of(stats["minValue"])', '_bound_of(stats["maxValue"])')


@mutant(breaks="IDX-007")
def filters_have_no_instant(patch: Patch) -> None:
    """Forgets when the bloom filter of a file was made."""
    patch.edit(codec._bloom_filter_of, 'stored["timestamp"]', '""')


@mutant(breaks=("IDX-005", "IDX-006"))
def every_filter_is_simple(patch: Patch) -> None:
    """Takes every bloom filter of the metadata table for one of fixed size."""
    patch.edit(codec._bloom_filter_of, 'stored["type"]', '"SIMPLE"')


@mutant(breaks="IDX-013")
def single_levels_have_no_partition(patch: Patch) -> None:
    """Leaves the partition of a record empty where its path has one level."""
    patch.edit(
        codec._location_of,
        'RecordLocation(_present(stored, "partitionName"),',
        'RecordLocation("" if "/" not in _present(stored, "partitionName") else _present(stored, "partitionName"),',
    )


@mutant(breaks="IDX-010")
def every_record_is_in_the_same_file(patch: Patch) -> None:
    """Takes each record for one of the same file of its write."""
    patch.edit(codec._location_of, "(_present(stored, name) for", "(1 if name == 'fileIndex' else _present(stored, name) for")


@mutant(breaks="IDX-008")
def removed_filters_count(patch: Patch) -> None:
    """Never takes a bloom filter for removed."""
    patch.edit(codec._bloom_filter_of, 'stored["isDeleted"]', "False")


@mutant(breaks="IDX-030")
def removed_pairs_stay(patch: Patch) -> None:
    """Never takes a pair of a secondary index for removed."""
    patch.item(codec._KINDS, 7, _never_removed(codec._KINDS[7]))


def _never_removed(kind: codec._Kind) -> codec._Kind:
    return kind._replace(decode=lambda stored: SecondaryEntry())


@mutant(breaks=("IDX-001", "IDX-023"))
def partitions_called_by_the_name_alone(patch: Patch) -> None:
    """Names the partition of an index without its type."""
    patch.edit(partitions.index_partition, 'f"{kind}_{name}"', "name")
