"""Mutants of block headers: instants, commands, and compacted blocks."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_conformance.mutants.log_format.partial_updates import _lost
from hudi_reference.files.log import content, reader
from hudi_reference.files.log.block import HeaderKey
from hudi_reference.query import log_scanner
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.write.writer import Writer


@mutant(breaks="LF-035")
def block_instant_dropped(patch: Patch) -> None:
    """Drops the instant of a block."""
    patch.edit(reader._BlockParser._map, "return entries", _lost(HeaderKey.INSTANT_TIME))


@mutant(breaks="LF-035")
def block_instant_of_base_file(patch: Patch) -> None:
    """Writes the instant of the base file into the blocks that change it."""
    patch.edit(Writer._blocks, "BlockWriter(self.commit.requested,", "BlockWriter(base_instant,")


@mutant(breaks="LF-036")
def block_instant_ignored(patch: Patch) -> None:
    """Counts every block of a file whose own instant completed, whatever instant the block names."""
    patch.edit(LogScanner._is_applied, "return self.timeline.completion_of(block.instant) is not None", "return True")


@mutant(breaks="LF-039")
def command_type_not_read(patch: Patch) -> None:
    """Reads every command block as a rollback, whatever command it names."""
    patch.edit(
        content.rollback_target,
        "_header(block, HeaderKey.COMMAND_BLOCK_TYPE)",
        "'0'",
    )


@mutant(breaks=("LF-039", "BLK-003"))
def commands_all_applied_as_rollback(patch: Patch) -> None:
    """Rolls back whatever the command is."""
    patch.edit(content.rollback_target, 'if command != "0":', "if False:")


@mutant(breaks="LF-040")
def compacted_block_first_and_last_instant_only(patch: Patch) -> None:
    """Takes only the first and the last of the instants that a compacted block lists."""
    patch.edit(
        log_scanner._inputs_of_log_compactions,
        'update(times.split(","))',
        'update(times.split(",")[:: max(1, times.count(","))])',
    )


@mutant(breaks="LF-040")
def compacted_block_instants_as_range(patch: Patch) -> None:
    """Takes the instants that a compacted block lists for a range."""
    patch.edit(
        log_scanner._inputs_of_log_compactions,
        'update(times.split(","))',
        "update(b.instant for b in queue if min(times.split(',')) <= b.instant <= max(times.split(',')))",
    )
