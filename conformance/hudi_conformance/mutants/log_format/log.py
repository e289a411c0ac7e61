"""Planted bugs in log files: envelope, blocks, what counts, and damage."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.files.log import block, content, reader
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records import changes
from hudi_reference.records.merging import merge_rows


@planted(breaks=("LF-015", "BLK-018"))
def block_types_of_the_text(bug: Bug) -> None:
    """Numbers block types from 1, as the text does."""
    bug.edit(block.encode_block, "version, kind)", "version, kind + 1)")


@planted(breaks=("LF-023", "LF-024"))
def trailer_repeats_the_leading_length(bug: Bug) -> None:
    """Writes the leading length into the trailer."""
    bug.edit(block.encode_block, "length + len(MAGIC))", "length)")


@planted(breaks="BLK-021")
def record_lengths_of_eight_bytes(bug: Bug) -> None:
    """Writes eight bytes before each record, as the text says."""
    bug.edit(content._encode_avro, '">i"', '">q"')


@planted(breaks=("LF-024", "BLK-015"))
def trailer_not_compared(bug: Bug) -> None:
    """Trusts the leading length alone."""
    bug.edit(reader._wrong_length, "trailer != length + len(MAGIC)", "False")


@planted(breaks="LF-012")
def magic_skipped_unseen(bug: Bug) -> None:
    """Skips six bytes where a block begins."""
    bug.edit(reader._read_block, "(found := bytes(file.read(offset, len(MAGIC)))) != MAGIC", "found := None")


@planted(breaks=("BLK-015", "BLK-016"))
def damage_in_committed_bytes_is_passed_over(bug: Bug) -> None:
    """Drops a damaged block that a completed action wrote, and with it its rows."""
    bug.edit(SliceReader._file_blocks, "elif not spans or any(", "elif False and any(")


@planted(breaks=("LF-025", "BLK-016"))
def damage_behind_committed_bytes_is_fatal(bug: Bug) -> None:
    """Fails on what a crashed append left behind the committed blocks."""
    bug.edit(SliceReader._file_blocks, "elif not spans or any(", "elif True or any(")


@planted(breaks=("LF-014", "LF-027"))
def every_block_version_accepted(bug: Bug) -> None:
    """Reads a block of a version that it does not know as if it were version 1."""
    known = "(version := version if version in FORMAT_VERSIONS else 1) > 1"
    bug.edit(reader._Body.block, "version not in FORMAT_VERSIONS", known)


@planted(breaks="BLK-004")
def commands_are_skipped(bug: Bug) -> None:
    """Passes over rollback commands."""
    bug.edit(SliceReader.blocks, "if queued.instant != target]", "]")


@planted(breaks=("BLK-005", "LF-037"))
def commands_undo_the_block_before(bug: Bug) -> None:
    """Undoes the one block before a command, whoever wrote it."""
    bug.edit(SliceReader.blocks, "[queued for queued in queue if queued.instant != target]", "queue[:-1]")


@planted(breaks=("BLK-006", "BLK-009"))
def delete_blocks_are_ignored(bug: Bug) -> None:
    """Reads over delete blocks."""
    bug.edit(SliceReader._batches, "yield decode_deletes(block)", "yield []")


@planted(breaks=("BLK-009", "BLK-012"))
def ordering_of_deletes_is_ignored(bug: Bug) -> None:
    """Takes every delete for one without ordering value."""
    bug.edit(changes.version_of, "if delete.ordering is None else", "if True else")


@planted(breaks="RDR-017")
def records_only_in_logs_are_dropped(bug: Bug) -> None:
    """Joins logs to base rows and drops log records without one."""
    bug.edit(merge_rows.select, "if key not in met]", "if key in met]")
