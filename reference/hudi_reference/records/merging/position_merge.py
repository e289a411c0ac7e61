"""Matching log records to base rows by record positions, spec "Log Format > Headers > RECORD_POSITIONS".

A block may name the rows of the base file that its records change. If every block of a slice does so for the base file at
hand, records are matched by row number, and the key column need not be read. Otherwise all records are matched by key.
"""

from collections.abc import Iterable, Sequence

import pyarrow as pa

from hudi_reference.files.log.block import Block, HeaderKey
from hudi_reference.files.log.content import Delete, count_records
from hudi_reference.files.log.positions import usable_positions
from hudi_reference.requirement import implements


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


def has_usable_positions(block: Block, base_instant: str, base_rows: int) -> bool:
    """Whether a block names the base row of each of its records; its rows are not decoded."""
    return names_base_file(block, base_instant) and (
        usable_positions(block, base_instant, base_rows, count_records(block)) is not None
    )
