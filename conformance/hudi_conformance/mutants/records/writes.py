"""Mutants in writing: where rows go, and what is written beside them."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.write import locate, rows
from hudi_reference.write.writer import Writer


@mutant(breaks=("LAY-021", "PROP-017"))
def upsert_without_lookup(patch: Patch) -> None:
    """Writes a known key into a fresh file group."""
    patch.edit(locate.locate, "if found.any():", "if False:")


@mutant(breaks="TYP-015")
def merge_on_read_rewrites_base_files(patch: Patch) -> None:
    """Writes updates of a merge-on-read table into new base files."""
    patch.edit(Writer.change, "if self.commit.table.properties.is_merge_on_read", "if False")


@mutant(breaks=("LF-004", "LF-035"))
def logs_named_after_their_base_file(patch: Patch) -> None:
    """Names a log file by the instant of the base file, as before version 8."""
    patch.edit(
        Writer.append_log_file,
        "LogFileName(file_slice.file_id, self.commit.requested",
        "LogFileName(file_slice.file_id, file_slice.base_instant",
    )


@mutant(breaks="LF-003")
def logs_get_a_file_id_of_their_own(patch: Patch) -> None:
    """Gives each log file a new file id."""
    patch.edit(Writer.append_log_file, "LogFileName(file_slice.file_id", "LogFileName(self.commit.table.ids.file_id()")


@mutant(breaks=("META-003", "META-004"))
def carried_rows_get_the_new_commit_time(patch: Patch) -> None:
    """Stamps all rows of a rewritten base file with the commit that rewrote it."""
    patch.edit(Writer.rewrite_base_file, "in_file(merged, str(name))", "stamp(merged, self.commit.requested, 0, str(name))")


@mutant(breaks=("META-010", "META-011"))
def carried_rows_keep_the_old_file_name(patch: Patch) -> None:
    """Copies rows into a new base file with the name of the previous one."""
    patch.edit(Writer.rewrite_base_file, "in_file(merged, str(name))", "merged")


@mutant(breaks="META-005")
def one_sequence_number_for_all(patch: Patch) -> None:
    """Gives all rows of a file the same sequence number."""
    patch.edit(rows.stamp, "np.arange(count)", "np.zeros(count, int)")


@mutant(breaks="TYP-003")
def deletes_stay_in_the_base_file(patch: Patch) -> None:
    """Leaves the rows of deleted keys in the next base file of a copy-on-write table."""
    patch.edit(Writer._as_batch, "if by_key else rows", "if False else rows")


@mutant(breaks="LAY-007")
def partition_columns_left_out_of_the_files(patch: Patch) -> None:
    """Writes nulls into the partition columns of the files, since the folder has the value."""
    patch.edit(
        rows.prepare,
        "columns = [*meta.values(), *data.columns]",
        "columns = [*meta.values(), *(pa.nulls(rows.num_rows, f.type) if f.name in properties.partition_fields"
        " else data.column(f.name) for f in data.schema)]",
    )
