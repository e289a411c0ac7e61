"""Mutants of partial updates and of blocks of several attempts."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import reader
from hudi_reference.files.log.block import HeaderKey


def _lost(key: HeaderKey) -> str:
    """Source code that returns the header map without one key."""
    return f"return {{k: v for k, v in entries.items() if k != {key.value}}}"


@mutant(breaks="LF-044")
def block_sequence_number_dropped(patch: Patch) -> None:
    """Drops the attempt and sequence number of a block."""
    patch.edit(reader._BlockParser._map, "return entries", _lost(HeaderKey.BLOCK_IDENTIFIER))


@mutant(breaks="LF-045")
def partial_flag_dropped(patch: Patch) -> None:
    """Drops the header that marks the rows of a block as partial."""
    patch.edit(reader._BlockParser._map, "return entries", _lost(HeaderKey.IS_PARTIAL))
