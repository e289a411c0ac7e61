"""Mutants of file groups and file slices."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.records.keys import bucket_hash
from hudi_reference.write import commit, locate


@mutant(breaks="LAY-020")
def files_grouped_by_instant(patch: Patch) -> None:
    """Groups data files by the instant in their names."""
    patch.edit(file_groups._data_files, "(partition, parsed.file_id), []", "(partition, parsed.instant), []")


@mutant(breaks="LAY-020")
def one_group_for_each_partition(patch: Patch) -> None:
    """Takes all files of a partition for one group."""
    patch.edit(file_groups._data_files, "(partition, parsed.file_id), []", '(partition, ""), []')


@mutant(breaks="LAY-021")
def bucket_of_absolute_hash(patch: Patch) -> None:
    """Takes the absolute value of a hash instead of clearing its sign bit; keys move to other buckets than those of other
    writers.
    """
    patch.edit(bucket_hash.bucket_of, "(list_hash(values) & 0x7FFFFFFF)", "abs(list_hash(values))")


@mutant(breaks=("LAY-021", "PROP-017"))
def upsert_without_lookup(patch: Patch) -> None:
    """Writes a known key into a fresh file group."""
    patch.edit(locate.locate, "if found.any():", "if False:")


@mutant(breaks="LAY-022")
def log_only_groups_ignored(patch: Patch) -> None:
    """Lists base files only, and so misses file groups that have only logs."""
    patch.edit(FileGroups.latest_slices, "is not None)", "is not None and latest.base_file)")


@mutant(breaks="LAY-023")
def oldest_slice_read_as_newest(patch: Patch) -> None:
    """Reads the oldest slice of a group as the newest."""
    patch.edit(file_groups._slices, "sorted(slices, reverse=True)", "sorted(slices)")


@mutant(breaks="LAY-024")
def base_file_rewritten_in_place(patch: Patch) -> None:
    """Also writes the new content of a base file under its old name."""
    patch.edit(
        commit.Commit.add_file,
        "self.stats.append(stat)",
        "self.stats.append(stat)\n"
        "    if stat.previous_base_file:\n"
        "        self.table.storage.put(join_path(stat.partition, stat.previous_base_file), data)",
    )
