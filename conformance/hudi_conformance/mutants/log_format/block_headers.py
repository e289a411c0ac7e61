"""Mutants of block headers: instants, commands, and compacted blocks."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_conformance.mutants.log_format.partial_updates import _lost
from hudi_reference.files.log import reader
from hudi_reference.files.log.block import HeaderKey


@mutant(breaks="LF-035")
def block_instant_dropped(patch: Patch) -> None:
    """Drops the instant of a block."""
    patch.edit(reader._BlockParser._map, "return entries", _lost(HeaderKey.INSTANT_TIME))
