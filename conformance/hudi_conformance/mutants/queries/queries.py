"""Mutants in incremental and change queries, in what writers log of changes, and in how queries choose their files."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import locks
from hudi_reference.query import cdc, file_groups, incremental, table
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.records import row_diff
from hudi_reference.services.compaction import compaction
from hudi_reference.timeline import active
from hudi_reference.timeline.instants import time_parsing
from hudi_reference.write import cdc_writer, log_options
from hudi_reference.write.writer import Writer


@mutant(breaks="TYP-004")
def changes_are_logged_elsewhere(patch: Patch) -> None:
    """Puts change-capture files into a folder of their own."""
    old = "path = join_path(partition, str(log))"
    patch.edit(cdc_writer.write_change_log, old, f"partition = 'changes'\n    {old}")


@mutant(breaks="TYP-005")
def change_logs_are_merged(patch: Patch) -> None:
    """Takes every log file of a slice for data."""
    patch.edit(file_groups.load_file_groups, " or (isinstance(parsed, LogFileName) and parsed.cdc)", "")
    patch.edit(LogScanner._is_applied, "block.kind is BlockType.CDC_DATA", "False")


@mutant(breaks="TYP-009")
def windows_go_by_requested_times(patch: Patch) -> None:
    """Misses what was requested before a window and completed in it."""
    patch.edit(incremental.written_in, "window.holds(timeline.completion_of(time))", "window.holds(time)")


@mutant(breaks="TYP-010")
def every_version_in_a_window(patch: Patch) -> None:
    """Returns one row for each change, from all slices of the window."""
    patch.edit(incremental._slices, "for found in groups.latest_slices if", "for group in groups for found in group.slices if")


@mutant(breaks="TYP-011")
def compactions_stamp_rows(patch: Patch) -> None:
    """Stamps the rows that a compaction rewrites with its own time."""
    stamp = "__import__('hudi_reference.write.rows', fromlist=['stamp']).stamp"
    stamped = f"{stamp}(merged, self.requested, number, str(name))"
    patch.edit(compaction.Compactor.merge, "in_file(merged, str(name))", f"in_file({stamped}, str(name))")


@mutant(breaks="TYP-012")
def only_the_net_change(patch: Patch) -> None:
    """Collapses the changes of a file group into the last of them."""
    patch.edit(
        cdc.ChangePlan.changes,
        "return [change for i, commit in commits if not commit.is_service for change in self._of_write(i, commit)]",
        "return list({(c.after or c.before).file_id: c for i, commit in commits for c in self._of_write(i, commit)}.values())",
    )


@mutant(breaks="TYP-012")
def replacements_tell_of_one_partition(patch: Patch) -> None:
    """Reports the rows that a replacement takes away in the first of its partitions alone."""
    old = "sorted(commit.replaced.items())"
    patch.edit(cdc.ChangePlan._of_write, f"{old}:", f"{old}[:1]:")


@mutant(breaks="TYP-013")
def deleted_rows_are_images_after(patch: Patch) -> None:
    """Reports a deleted row as its image after the change, too."""
    new = "image(self.after.rows, new, count)"
    patch.edit(row_diff.Difference._part, new, f"({new} if new is not None else image(self.before.rows, old, count))")


@mutant(breaks=("TYP-012", "MRG-029"))
def changes_are_what_was_written(patch: Patch) -> None:
    """Calls each record a change that a write touched, whether its row became another one or not."""
    patch.edit(row_diff.same_rows, "return same", "return pa.repeat(pa.scalar(False), one.num_rows)")


@mutant(breaks="TYP-014")
def deleted_rows_stay_in_base_files(patch: Patch) -> None:
    """Leaves deleted rows in the base file of a copy-on-write table, for readers to filter."""
    patch.edit(Writer.rewrite_base_file, "merged = merge_changes(", "merged = base if by_key else merge_changes(")


@mutant(breaks="TYP-016")
def compaction_forgets_the_last_log(patch: Patch) -> None:
    """Leaves out what the last log file says."""
    without = "__import__('dataclasses').replace(found, log_files=found.log_files[:-1])"
    patch.edit(compaction.Compactor.merge, "reader.read(found, ", f"reader.read({without}, ")


@mutant(breaks="TYP-018")
def one_size_of_files(patch: Patch) -> None:
    """Writes base files of one size, whatever was asked for."""
    patch.edit(Writer.rows_per_file, "if size is None", "if True")


@mutant(breaks="TYP-019")
def logs_are_columnar(patch: Patch) -> None:
    """Stores records of logs in columns, whatever was asked for."""
    patch.edit(log_options._block_format, '"avro": "avro"', '"avro": "parquet"')


@mutant(breaks="RDR-004")
def readers_take_the_lock(patch: Patch) -> None:
    """Takes the lock of the table to look at its timeline."""
    patch.set(locks.InProcessLock.__init__, "__defaults__", (0.2,))
    patch.edit(
        table.Table.view,
        "earlier = None",
        "from hudi_reference.locks import held, lock_of\n"
        "    with held(lock_of(self.storage), 'a reader'):\n"
        "        pass\n"
        "    earlier = None",
    )


@mutant(breaks="RDR-005")
def the_timeline_is_read_again(patch: Patch) -> None:
    """Looks at the timeline once more to find the files."""
    patch.edit(
        table.Table.view,
        "load_file_groups(self.storage, self.properties, timeline,",
        "load_file_groups(self.storage, self.properties, self.timeline,",
    )


@mutant(breaks="RDR-006")
def the_past_goes_by_requested_times(patch: Patch) -> None:
    """Counts what was requested before a window's end as its state, also what completed later."""
    patch.edit(active.Timeline.completion_of, "found >= self.limit", "requested >= self.limit")


@mutant(breaks="RDR-007")
def groups_are_told_by_write_tokens(patch: Patch) -> None:
    """Puts files with one write token into one file group."""
    patch.edit(
        file_groups.load_file_groups,
        "files.setdefault((partition, parsed.file_id), [])",
        "files.setdefault((partition, parsed.write_token), [])",
    )


@mutant(breaks="TYP-008")
def seconds_are_their_first_millisecond(patch: Patch) -> None:
    """Takes a text without milliseconds for the beginning of its second, and leaves out what was requested in it."""
    patch.set(time_parsing, "_FORMS", tuple((form, rest.replace("999", "000")) for form, rest in time_parsing._FORMS))
