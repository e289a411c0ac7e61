"""Mutants of table and query types: snapshot, time travel, incremental, change, read-optimized."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import cdc, file_system_view
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.records import row_diff
from hudi_reference.services.compaction import compaction
from hudi_reference.timeline.instants import time_parsing
from hudi_reference.write import cdc_writer


@mutant(breaks="TYP-004")
def cdc_files_in_other_folder(patch: Patch) -> None:
    """Puts change-capture files into a folder of their own."""
    old = "path = join_path(partition, str(log))"
    patch.edit(cdc_writer.write_change_log, old, f"partition = 'changes'\n    {old}")


@mutant(breaks="TYP-005")
def cdc_files_read_as_data(patch: Patch) -> None:
    """Reads every log file of a slice as data."""
    patch.edit(file_system_view._collect_data_files, " or (isinstance(parsed, LogFileName) and parsed.cdc)", "")
    patch.edit(LogScanner._is_applied, "block.kind is BlockType.CDC_DATA", "False")


@mutant(breaks="TYP-008")
def time_without_milliseconds_is_start_of_second(patch: Patch) -> None:
    """Reads a time without milliseconds as the start of its second, and excludes instants requested in it."""
    patch.set(time_parsing, "_FORMS", tuple((form, rest.replace("999", "000")) for form, rest in time_parsing._FORMS))


@mutant(breaks="TYP-011")
def compaction_stamps_rows(patch: Patch) -> None:
    """Stamps the rows that a compaction rewrites with its own time."""
    stamp = "__import__('hudi_reference.write.placement.rows', fromlist=['stamp']).stamp"
    stamped = f"{stamp}(merged, self.requested, number, str(name))"
    patch.edit(compaction.Compactor.merge, "with_file_name(merged, str(name))", f"with_file_name({stamped}, str(name))")


@mutant(breaks="TYP-012")
def cdc_of_replacement_first_partition_only(patch: Patch) -> None:
    """Reports the rows that a replacement removes in the first of its partitions only."""
    old = "sorted(commit.replaced.items())"
    patch.edit(cdc.ChangePlan._changes_of_write, f"{old}:", f"{old}[:1]:")


@mutant(breaks="TYP-013")
def cdc_delete_with_after_image(patch: Patch) -> None:
    """Also reports a deleted row as its image after the change."""
    new = "image(self.after.rows, new, count)"
    patch.edit(row_diff.RowDiff._changes_of_kind, new, f"({new} if new is not None else image(self.before.rows, old, count))")


@mutant(breaks="TYP-016")
def compaction_omits_last_log(patch: Patch) -> None:
    """Omits the last log file of a slice."""
    without = "__import__('dataclasses').replace(file_slice, log_files=file_slice.log_files[:-1])"
    patch.edit(compaction.Compactor.merge, "reader.read(file_slice, ", f"reader.read({without}, ")
