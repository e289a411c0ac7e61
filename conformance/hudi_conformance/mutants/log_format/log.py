"""Mutants in log files: envelope, blocks, what counts, and damage."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import block, content, reader
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records import changes
from hudi_reference.records.merging import merge_rows


@mutant(breaks=("LF-015", "BLK-018"))
def block_types_of_the_text(patch: Patch) -> None:
    """Numbers block types from 1, as the text does."""
    patch.edit(block.encode_block, "version, kind)", "version, kind + 1)")


@mutant(breaks=("LF-023", "LF-024"))
def trailer_repeats_the_leading_length(patch: Patch) -> None:
    """Writes the leading length into the trailer."""
    patch.edit(block.encode_block, "length + len(MAGIC))", "length)")


@mutant(breaks="BLK-021")
def record_lengths_of_eight_bytes(patch: Patch) -> None:
    """Writes eight bytes before each record, as the text says."""
    patch.edit(content._encode_avro, '">i"', '">q"')


@mutant(breaks=("LF-024", "BLK-015"))
def trailer_not_compared(patch: Patch) -> None:
    """Trusts the leading length alone."""
    patch.edit(reader._wrong_length, "trailer != length + len(MAGIC)", "False")


@mutant(breaks="LF-012")
def magic_skipped_unseen(patch: Patch) -> None:
    """Skips six bytes where a block begins."""
    patch.edit(reader._read_block, "(found := bytes(file.read(offset, len(MAGIC)))) != MAGIC", "found := None")


@mutant(breaks=("BLK-015", "BLK-016"))
def damage_in_committed_bytes_is_passed_over(patch: Patch) -> None:
    """Drops a damaged block that a completed action wrote, and with it its rows."""
    patch.edit(LogScanner._file_blocks, "elif not spans or any(", "elif False and any(")


@mutant(breaks=("LF-025", "BLK-016"))
def damage_behind_committed_bytes_is_fatal(patch: Patch) -> None:
    """Fails on what a crashed append left behind the committed blocks."""
    patch.edit(LogScanner._file_blocks, "elif not spans or any(", "elif True or any(")


@mutant(breaks=("LF-014", "LF-027"))
def every_block_version_accepted(patch: Patch) -> None:
    """Reads a block of a version that it does not know as if it were version 1."""
    known = "(version := version if version in FORMAT_VERSIONS else 1) > 1"
    patch.edit(reader._Body.block, "version not in FORMAT_VERSIONS", known)


@mutant(breaks="BLK-004")
def commands_are_skipped(patch: Patch) -> None:
    """Passes over rollback commands."""
    patch.edit(LogScanner.blocks, "if queued.instant != target]", "]")


@mutant(breaks=("BLK-005", "LF-037"))
def commands_undo_the_block_before(patch: Patch) -> None:
    """Undoes the one block before a command, whoever wrote it."""
    patch.edit(LogScanner.blocks, "[queued for queued in queue if queued.instant != target]", "queue[:-1]")


@mutant(breaks=("BLK-006", "BLK-009"))
def delete_blocks_are_ignored(patch: Patch) -> None:
    """Reads over delete blocks."""
    patch.edit(SliceReader._batches, "yield decode_deletes(block)", "yield []")


@mutant(breaks=("BLK-009", "BLK-012"))
def ordering_of_deletes_is_ignored(patch: Patch) -> None:
    """Takes every delete for one without ordering value."""
    patch.edit(changes.version_of, "if delete.ordering is None else", "if True else")


@mutant(breaks="RDR-017")
def records_only_in_logs_are_dropped(patch: Patch) -> None:
    """Joins logs to base rows and drops log records without one."""
    patch.edit(merge_rows.select, "if key not in met]", "if key in met]")
