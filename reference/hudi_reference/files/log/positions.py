"""Record positions of a log block: which rows of the base file its records replace or delete, spec "Log Format > Headers".

The header holds the Base64 text of a 64-bit Roaring bitmap in the portable form, little-endian. The i-th smallest position
belongs to the i-th record of the block; nothing else links the two. A second header names the instant of the base file whose
rows are counted (ER-014): positions say nothing about any other base file.
"""

import base64
import binascii
from collections.abc import Iterable, Sequence

from pyroaring import BitMap64

from hudi_reference.errors import MalformedLogBlock
from hudi_reference.files.log.block import Block, HeaderKey
from hudi_reference.requirement import implements


@implements("LF-041")
def positions_of(block: Block) -> BitMap64:
    """Row numbers in the base file, from 0; empty for a block without positions. Raises MalformedLogBlock.

    The bitmap is not unfolded: a few bytes can stand for more positions than fit into memory.
    """
    text = block.header.get(HeaderKey.RECORD_POSITIONS)
    return BitMap64() if text is None else decode_positions(text, block.path, block.offset)


@implements("LF-041")
def decode_positions(text: str, path: str, offset: int | None = None) -> BitMap64:
    """The set of positions that a header's text is; `path` and `offset` are for the error. Raises MalformedLogBlock.

    The library checks the counts and orders of what it reads; that nothing lies behind it is checked here.
    """
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
        bitmap = BitMap64.deserialize(data)
        _check_end(data)
    except (ValueError, IndexError) as error:
        raise MalformedLogBlock(
            "the record positions cannot be decoded", rule="LF-041", path=path, offset=offset,
            expected="a portable 64-bit Roaring bitmap in Base64", found=str(error),
        ) from error  # fmt: skip
    return bitmap


def _check_end(data: bytes) -> None:
    """A whole bitmap is none without its last byte; how long it is cannot be asked, and one set has several forms."""
    try:
        BitMap64.deserialize(data[:-1])
    except (ValueError, IndexError):
        return
    raise ValueError("bytes after the end of the bitmap")


@implements("LF-043")
def usable_positions(block: Block, base_instant: str, base_rows: int, records: int) -> Sequence[int] | None:
    """The row of the base file that each of the block's `records` concerns; None where that must be found by key.

    It must be where the block names no base file or another one, or does not name one row of the base file for each record.
    """
    if block.header.get(HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS) != base_instant:
        return None
    positions = positions_of(block)
    if len(positions) != records or (records and positions.max() >= base_rows):
        return None
    return positions.to_array()


@implements("LF-042")
def position_headers(base_instant: str, positions: Iterable[int]) -> dict[HeaderKey, str]:
    """The headers of a block whose records concern these rows of the base file of that instant, in ascending order."""
    return {
        HeaderKey.RECORD_POSITIONS: encode_positions(positions),
        HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: base_instant,
    }


@implements("LF-041")
def encode_positions(positions: Iterable[int]) -> str:
    """The header text of a set of positions, run-optimized as deployed writers make it."""
    bitmap = BitMap64(positions)
    bitmap.run_optimize()
    return base64.b64encode(bitmap.serialize()).decode()
