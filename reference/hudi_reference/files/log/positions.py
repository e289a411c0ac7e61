"""Record positions of a log block: the rows of the base file that its records update or delete, spec "Log Format > Headers".

The header has the Base64 text of a 64-bit Roaring bitmap in the portable form, little-endian. The i-th smallest position
belongs to the i-th record of the block. A second header names the instant of the base file whose rows are counted (ER-014);
positions are not valid for any other base file.

If every block of a slice names the rows of the base file at hand, records are matched by row number, and the key column need
not be read. Otherwise all records are matched by key.
"""

import base64
import binascii
from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyroaring import BitMap64

from hudi_reference.errors import MalformedLogBlock
from hudi_reference.files.log.block import Block, HeaderKey
from hudi_reference.files.log.content import Delete, count_records
from hudi_reference.requirement import implements


@implements("LF-041")
def positions_of(block: Block) -> BitMap64:
    """Row numbers in the base file, from 0; empty for a block without positions. Raises MalformedLogBlock.

    The bitmap is not expanded: a few bytes can encode more positions than fit into memory.
    """
    text = block.header.get(HeaderKey.RECORD_POSITIONS)
    return BitMap64() if text is None else decode_positions(text, block.path, block.offset)


@implements("LF-041")
def decode_positions(text: str, path: str, offset: int | None = None) -> BitMap64:
    """Decode the text of a header; `path` and `offset` are for the error. Raises MalformedLogBlock.

    The library checks counts and order of the bitmap; that no bytes follow it is checked here.
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
    """Raises ValueError if bytes follow the bitmap: then it can be decoded without its last byte."""
    try:
        BitMap64.deserialize(data[:-1])
    except (ValueError, IndexError):
        return
    raise ValueError("bytes after the end of the bitmap")


@implements("LF-043")
def usable_positions(block: Block, base_instant: str, base_rows: int, records: int | None = None) -> Sequence[int] | None:
    """The row of the base file that each record of a block changes; None if records must be matched by key.

    `records` is the number of records; None if it is not known, then it is read from the block without decoding its rows.

    Positions are not usable if the block names no base file or another one, if their number is not that of the records, or if
    one is beyond the rows of the base file. Raises MalformedLogBlock.
    """
    if block.header.get(HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS) != base_instant:
        return None
    records, positions = count_records(block) if records is None else records, positions_of(block)
    if len(positions) != records or (records and positions.max() >= base_rows):
        return None
    return positions.to_array()


@implements("LF-043")
def names_base_file(block: Block, base_instant: str) -> bool:
    """Whether the positions of a block, if it has any, are rows of the base file that the instant wrote."""
    return block.header.get(HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS) == base_instant


@implements("LF-043")
def positions_of_all(
    blocks: Iterable[Block], batches: Iterable[pa.Table | Sequence[Delete]], base_instant: str, base_rows: int
) -> list[Sequence[int]] | None:
    """The base rows that the records of each block change; None if one block does not name them.

    Args:
        blocks: the blocks in merge order.
        batches: the decoded records of each block.
        base_instant: the instant that wrote the base file.
        base_rows: the number of its rows.
    """
    found = []
    for block, batch in zip(blocks, batches, strict=True):
        positions = usable_positions(block, base_instant, base_rows, len(batch))
        if positions is None:
            return None
        found.append(positions)
    return found


@implements("LF-042")
def position_headers(base_instant: str, positions: Iterable[int]) -> dict[HeaderKey, str]:
    """The headers of a block whose records change these rows, in ascending order, of the base file of the instant."""
    return {
        HeaderKey.RECORD_POSITIONS: encode_positions(positions),
        HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: base_instant,
    }


@implements("LF-041")
def encode_positions(positions: Iterable[int]) -> str:
    """The header text of a set of positions, run-optimized like that of deployed writers."""
    bitmap = BitMap64(positions)
    bitmap.run_optimize()
    return base64.b64encode(bitmap.serialize()).decode()
