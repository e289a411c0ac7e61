"""Mutants of corrupt log blocks and of the reserved block type."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import reader
from hudi_reference.query.log_scanner import LogScanner


@mutant(breaks="BLK-014")
def reserved_block_type_accepted(patch: Patch) -> None:
    """Reads a stored block of the reserved type like any other."""
    patch.edit(reader._BlockParser.block, " or kind == BlockType.CORRUPT", "")


@mutant(breaks=("BLK-015", "BLK-016"))
def committed_corrupt_block_skipped(patch: Patch) -> None:
    """Skips a corrupt block that a completed action wrote, and with it its rows."""
    patch.edit(LogScanner._file_blocks, "elif not spans or any(", "elif False and any(")


@mutant(breaks="BLK-015")
def corrupt_blocks_skipped_silently(patch: Patch) -> None:
    """Continues after a corrupt block as if it did not exist."""
    patch.edit(
        reader._walk,
        "        yield block\n",
        "        if not isinstance(block, CorruptBlock):\n            yield block\n",
    )


@mutant(breaks="BLK-017")
def log_reading_stops_at_corrupt_block(patch: Patch) -> None:
    """Stops reading a log file at its first corrupt block."""
    patch.edit(
        LogScanner._file_blocks,
        "        end = block.end\n",
        "        end = block.end\n        if isinstance(block, CorruptBlock):\n            return\n",
    )


@mutant(breaks="BLK-017")
def corrupt_block_extends_to_end(patch: Patch) -> None:
    """Takes the rest of a file after a corrupt block for corrupt."""
    patch.edit(reader._corrupt, "_next_magic(file, offset + 1) - offset", "file.size - offset")
