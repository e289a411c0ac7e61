"""Planted bugs in the values of the metadata table and the names of its partitions."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.metadata import codec, partitions
from hudi_reference.metadata.records import SecondaryEntry


@planted(breaks="MDT-003")
def values_bring_their_own_key(bug: Bug) -> None:
    """Takes a value for right whose key is that of another entry."""
    bug.edit(codec._payload, 'record["key"] not in ("", key)', "False")


@planted(breaks=("MDT-007", "MDT-005"))
def any_key_lists_the_partitions(bug: Bug) -> None:
    """Takes a list of partitions for one under whatever key it stands."""
    bug.edit(codec._payload, "(key == ALL_PARTITIONS) != (number == PARTITION_LIST)", "False")


@planted(breaks=("MDT-006", "MDT-007", "MDT-013"))
def listed_files_have_no_size(bug: Bug) -> None:
    """Shows every listed file with size 0, as log files were once written."""
    bug.edit(codec._files_of, 'info["size"]', "0")


@planted(breaks=("MDT-006", "MDT-007"))
def removed_files_stay_listed(bug: Bug) -> None:
    """Never takes an entry for removed."""
    bug.edit(codec._files_of, 'info["isDeleted"]', "False")


@planted(breaks="MDT-011")
def statistics_of_files_are_those_of_partitions(bug: Bug) -> None:
    """Takes the statistics of a file for those of a partition."""
    bug.item(codec._KINDS, 3, codec._KINDS[6])


@planted(breaks="MDT-014")
def bounds_exchanged(bug: Bug) -> None:
    """Takes the greatest value for the least."""
    bug.edit(codec._statistics_of, '_bound_of(stats["minValue"])', '_bound_of(stats["maxValue"])')


@planted(breaks="IDX-007")
def filters_have_no_instant(bug: Bug) -> None:
    """Forgets when the bloom filter of a file was made."""
    bug.edit(codec._bloom_filter_of, 'stored["timestamp"]', '""')


@planted(breaks=("IDX-005", "IDX-006"))
def every_filter_is_simple(bug: Bug) -> None:
    """Takes every bloom filter of the metadata table for one of fixed size."""
    bug.edit(codec._bloom_filter_of, 'stored["type"]', '"SIMPLE"')


@planted(breaks="IDX-013")
def single_levels_have_no_partition(bug: Bug) -> None:
    """Leaves the partition of a record empty where its path has one level."""
    bug.edit(
        codec._location_of,
        'RecordLocation(_present(stored, "partitionName"),',
        'RecordLocation("" if "/" not in _present(stored, "partitionName") else _present(stored, "partitionName"),',
    )


@planted(breaks="IDX-010")
def every_record_is_in_the_same_file(bug: Bug) -> None:
    """Takes each record for one of the same file of its write."""
    bug.edit(codec._location_of, "(_present(stored, name) for", "(1 if name == 'fileIndex' else _present(stored, name) for")


@planted(breaks="IDX-008")
def removed_filters_count(bug: Bug) -> None:
    """Never takes a bloom filter for removed."""
    bug.edit(codec._bloom_filter_of, 'stored["isDeleted"]', "False")


@planted(breaks="IDX-030")
def removed_pairs_stay(bug: Bug) -> None:
    """Never takes a pair of a secondary index for removed."""
    bug.item(codec._KINDS, 7, _never_removed(codec._KINDS[7]))


def _never_removed(kind: codec._Kind) -> codec._Kind:
    return kind._replace(decode=lambda stored: SecondaryEntry())


@planted(breaks=("IDX-001", "IDX-023"))
def partitions_called_by_the_name_alone(bug: Bug) -> None:
    """Names the partition of an index without its type."""
    bug.edit(partitions.index_partition, 'f"{kind}_{name}"', "name")
