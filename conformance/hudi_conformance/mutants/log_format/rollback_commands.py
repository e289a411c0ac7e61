"""Mutants of command blocks."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import reader
from hudi_reference.query.log_scanner import LogScanner


@mutant(breaks="BLK-001")
def command_blocks_read_as_deletes(patch: Patch) -> None:
    """Takes type 0 for the first type with content, a delete block."""
    patch.edit(reader._BlockParser.block, "return Block(BlockType(kind)", "return Block(BlockType(kind or 1)")


@mutant(breaks="BLK-002")
def command_block_with_content(patch: Patch) -> None:
    """Expects a command to have content."""
    patch.edit(
        reader._BlockParser.block,
        'self._skip(self._long(), "the content")',
        'self._skip(self._long() or -(kind == 0), "the content")',
    )


@mutant(breaks="BLK-003")
def command_block_headers_ignored(patch: Patch) -> None:
    """Ignores the header of a command block."""
    patch.edit(reader._BlockParser.block, "Block(BlockType(kind), header,", "Block(BlockType(kind), header if kind else {},")


@mutant(breaks="BLK-004")
def rollback_commands_skipped(patch: Patch) -> None:
    """Skips rollback commands."""
    patch.edit(LogScanner.blocks, "if queued.instant != target]", "]")


@mutant(breaks="BLK-004")
def rollback_command_keeps_deletes(patch: Patch) -> None:
    """Rolls back the rows of a failed action, and not its deletes."""
    patch.edit(LogScanner.blocks, "queued.instant != target]", "queued.instant != target or queued.kind is BlockType.DELETE]")


@mutant(breaks="BLK-004")
def rollback_command_removes_later_blocks(patch: Patch) -> None:
    """Ignores all blocks of an instant that a rollback command names, also those after the command."""
    patch.edit(
        LogScanner.blocks,
        "elif self._is_applied(block):",
        "elif self._is_applied(block) and block.instant not in {rollback_target(b) for n in file_slice.log_files\n"
        "                    for b in self._file_blocks(file_slice.path(n)) if b.kind is BlockType.COMMAND}:",
    )


@mutant(breaks="BLK-004")
def rollback_command_skips_own_file(patch: Patch) -> None:
    """Rolls back blocks of earlier files only."""
    patch.edit(LogScanner.blocks, "queued.instant != target]", "queued.instant != target or queued.path == block.path]")


@mutant(breaks=("BLK-005", "LF-037"))
def rollback_command_removes_previous_block(patch: Patch) -> None:
    """Removes the one block before a rollback command, whatever its instant is."""
    patch.edit(LogScanner.blocks, "[queued for queued in queue if queued.instant != target]", "queue[:-1]")
