"""Record positions of a log block: which rows of the base file its records replace or delete, spec "Log Format > Headers".

The header holds the Base64 text of a 64-bit Roaring bitmap in the portable form, little-endian. The i-th smallest position
belongs to the i-th record of the block; nothing else links the two.
"""

import base64
from collections.abc import Iterable

from pyroaring import BitMap64

from hudi_reference.errors import MalformedLogBlock
from hudi_reference.files.log.block import Block, HeaderKey
from hudi_reference.requirement import implements


@implements("LF-041", "LF-042")
def positions_of(block: Block) -> BitMap64:
    """Row numbers in the base file, from 0; empty for a block without positions. Raises MalformedLogBlock.

    The bitmap is not unfolded: a few bytes can stand for more positions than fit into memory.
    """
    text = block.header.get(HeaderKey.RECORD_POSITIONS)
    if text is None:
        return BitMap64()
    try:
        return _decode(base64.b64decode(text, validate=True))
    except (ValueError, IndexError) as error:
        raise MalformedLogBlock(
            "the record positions cannot be decoded", rule="LF-041", path=block.path, offset=block.offset,
            expected="a portable 64-bit Roaring bitmap in Base64", found=str(error),
        ) from error  # fmt: skip


def _decode(data: bytes) -> BitMap64:
    bitmap = BitMap64.deserialize(data)
    if len(bitmap.serialize()) != len(data):
        raise ValueError("bytes after the end of the bitmap")
    return bitmap


@implements("LF-041")
def encode_positions(positions: Iterable[int]) -> str:
    """The header text of a set of positions, run-optimized as deployed writers make it."""
    bitmap = BitMap64(positions)
    bitmap.run_optimize()
    return base64.b64encode(bitmap.serialize()).decode()
