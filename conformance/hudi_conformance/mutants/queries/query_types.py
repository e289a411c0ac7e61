"""Mutants of table and query types: snapshot, time travel, incremental, change, read-optimized."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import cdc, file_groups, incremental, retention, table
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table
from hudi_reference.records import row_diff
from hudi_reference.services.compaction import compaction
from hudi_reference.timeline.instants import time_parsing
from hudi_reference.write import cdc_writer, write_context
from hudi_reference.write.writer import Writer


@mutant(breaks="TYP-001")
def log_files_in_copy_on_write_tables(patch: Patch) -> None:
    """Writes log files whatever the type of the table is."""
    patch.edit(
        Writer.change, "self.append_log_file if self.commit.table.properties.is_merge_on_read else", "self.append_log_file or"
    )


@mutant(breaks="TYP-002")
def copy_on_write_writes_logs(patch: Patch) -> None:
    """Writes log files whatever the table's type."""
    patch.edit(Writer.change, "if self.commit.table.properties.is_merge_on_read", "if True")


@mutant(breaks="TYP-003")
def deleted_rows_carried_to_next_base_file(patch: Patch) -> None:
    """Leaves the rows of deleted keys in the next base file of a copy-on-write table."""
    patch.edit(Writer._as_batch, "if by_key else rows", "if False else rows")


@mutant(breaks="TYP-004")
def cdc_files_in_other_folder(patch: Patch) -> None:
    """Puts change-capture files into a folder of their own."""
    old = "path = join_path(partition, str(log))"
    patch.edit(cdc_writer.write_change_log, old, f"partition = 'changes'\n    {old}")


@mutant(breaks="TYP-005")
def cdc_files_read_as_data(patch: Patch) -> None:
    """Reads every log file of a slice as data."""
    patch.edit(file_groups._data_files, " or (isinstance(parsed, LogFileName) and parsed.cdc)", "")
    patch.edit(LogScanner._is_applied, "block.kind is BlockType.CDC_DATA", "False")


@mutant(breaks="TYP-006")
def snapshot_ignores_logs(patch: Patch) -> None:
    """Answers a snapshot query from base files alone."""
    patch.edit(SliceReader.read, "if logs and file_slice.log_files:", "if False:")


@mutant(breaks="TYP-007")
def slice_read_twice(patch: Patch) -> None:
    """Reads the first file slice twice."""
    patch.edit(
        Table._read,
        "self._in_parallel(plan.read, plan.slices)",
        "self._in_parallel(plan.read, [*plan.slices, *plan.slices[:1]])",
    )


@mutant(breaks="TYP-008")
def time_without_milliseconds_is_start_of_second(patch: Patch) -> None:
    """Takes a time without milliseconds for the start of its second, and excludes instants requested in it."""
    patch.set(time_parsing, "_FORMS", tuple((form, rest.replace("999", "000")) for form, rest in time_parsing._FORMS))


@mutant(breaks="TYP-008")
def time_travel_past_pending_write(patch: Patch) -> None:
    """Answers a time-travel query at a time after a pending write."""
    patch.edit(table._as_of, 'instant.action in ("commit", "deltacommit", "replacecommit")', "False")


@mutant(breaks="TYP-008")
def time_travel_refused_with_pending_writes(patch: Patch) -> None:
    """Refuses time travel whenever some write is pending, also a later one."""
    patch.edit(table._as_of, "for instant in before.pending:", "for instant in timeline.pending:")


@mutant(breaks="TYP-008")
def time_travel_reads_later_blocks(patch: Patch) -> None:
    """Includes later blocks of a log file that existed at the requested time."""
    patch.edit(
        LogScanner._is_applied,
        "block.instant > self.timeline.read_time or ",
        "",
    )


@mutant(breaks="TYP-008")
def time_travel_returns_latest(patch: Patch) -> None:
    """Answers a query as of an instant with the latest rows."""
    patch.edit(Table.view, "timeline if as_of is None else _as_of(timeline, as_of)", "timeline")


@mutant(breaks="TYP-008")
def time_travel_refused_before_active_timeline(patch: Patch) -> None:
    """Refuses a read as of an archived instant, as if the table had not existed."""
    patch.edit(retention.check_begun, "timeline.requested_between()", "timeline.completed")


@mutant(breaks="TYP-009")
def incremental_window_by_requested_time(patch: Patch) -> None:
    """Omits instants that were requested before a window and completed in it."""
    patch.edit(incremental.rows_written_in, "window.holds(timeline.completion_of(time))", "window.holds(time)")


@mutant(breaks="TYP-010")
def incremental_query_returns_every_version(patch: Patch) -> None:
    """Returns one row for each change, from all slices of the window."""
    patch.edit(incremental._slices, "for one in groups.latest_slices if", "for group in groups for one in group.slices if")


@mutant(breaks="TYP-011")
def compaction_stamps_rows(patch: Patch) -> None:
    """Stamps the rows that a compaction rewrites with its own time."""
    stamp = "__import__('hudi_reference.write.rows', fromlist=['stamp']).stamp"
    stamped = f"{stamp}(merged, self.requested, number, str(name))"
    patch.edit(compaction.Compactor.merge, "in_file(merged, str(name))", f"in_file({stamped}, str(name))")


@mutant(breaks="TYP-012")
def cdc_net_change_only(patch: Patch) -> None:
    """Collapses the changes of a file group into the last of them."""
    patch.edit(
        cdc.ChangePlan.changes,
        "return [change for i, commit in commits if not commit.is_service for change in self._of_write(i, commit)]",
        "return list({(c.after or c.before).file_id: c for i, commit in commits for c in self._of_write(i, commit)}.values())",
    )


@mutant(breaks="TYP-012")
def cdc_of_replacement_first_partition_only(patch: Patch) -> None:
    """Reports the rows that a replacement removes in the first of its partitions only."""
    old = "sorted(commit.replaced.items())"
    patch.edit(cdc.ChangePlan._of_write, f"{old}:", f"{old}[:1]:")


@mutant(breaks=("TYP-012", "MRG-029"))
def cdc_reports_unchanged_rows(patch: Patch) -> None:
    """Reports every record that a write contains as a change, whether its row changed or not."""
    patch.edit(row_diff.same_rows, "return same", "return pa.repeat(pa.scalar(False), one.num_rows)")


@mutant(breaks="TYP-013")
def cdc_delete_with_after_image(patch: Patch) -> None:
    """Also reports a deleted row as its image after the change."""
    new = "image(self.after.rows, new, count)"
    patch.edit(row_diff.RowDiff._part, new, f"({new} if new is not None else image(self.before.rows, old, count))")


@mutant(breaks="TYP-014")
def deleted_rows_kept_in_base_files(patch: Patch) -> None:
    """Leaves deleted rows in the base file of a copy-on-write table, for readers to filter."""
    patch.edit(Writer.rewrite_base_file, "merged = merge_changes(", "merged = base if by_key else merge_changes(")


@mutant(breaks="TYP-015")
def merge_on_read_rewrites_base_files(patch: Patch) -> None:
    """Writes updates of a merge-on-read table into new base files."""
    patch.edit(Writer.change, "if self.commit.table.properties.is_merge_on_read", "if False")


@mutant(breaks="TYP-016")
def compaction_omits_last_log(patch: Patch) -> None:
    """Omits the last log file of a slice."""
    without = "__import__('dataclasses').replace(file_slice, log_files=file_slice.log_files[:-1])"
    patch.edit(compaction.Compactor.merge, "reader.read(file_slice, ", f"reader.read({without}, ")


@mutant(breaks="TYP-017")
def read_optimized_merges_logs(patch: Patch) -> None:
    """Merges logs into a read-optimized query."""
    patch.edit(Table.read_optimized, ", logs=False", "")


@mutant(breaks="TYP-018")
def target_file_size_ignored(patch: Patch) -> None:
    """Writes base files of one size, whatever size is configured."""
    patch.edit(Writer.rows_per_file, "if size is None", "if True")


@mutant(breaks="TYP-019")
def log_format_always_columnar(patch: Patch) -> None:
    """Stores records of logs in columns, whatever format is configured."""
    patch.edit(write_context._block_format, '"avro": "avro"', '"avro": "parquet"')
