"""Blocks of repeated task attempts, spec "Log Format > Headers > BLOCK_IDENTIFIER".

The header is `<attempt>,<sequence>`: the number of the attempt, and the number of the block within it. Writers of version 8
omit it and give each attempt its own file. Earlier writers write it, because their attempts append to one file (ER-071).
"""

import re
from collections.abc import Sequence

from hudi_reference.errors import MalformedLogBlock
from hudi_reference.files.log.block import Block, HeaderKey
from hudi_reference.requirement import implements

_IDENTIFIER = re.compile(r"(\d+),(\d+)", re.ASCII)


@implements("LF-044")
def of_one_attempt(queue: Sequence[Block]) -> list[Block]:
    """The blocks without those of failed attempts. Raises MalformedLogBlock.

    Of the attempts of one instant the one with the most blocks counts, the last of equals. Blocks without an identifier always
    count.
    """
    attempts = [attempt_of(block) for block in queue]
    sizes: dict[str, dict[int, int]] = {}
    for block, attempt in zip(queue, attempts, strict=True):
        if attempt is not None:
            found = sizes.setdefault(block.instant, {})
            found[attempt] = found.get(attempt, 0) + 1
    kept = {instant: max(found, key=lambda attempt: (found[attempt], attempt)) for instant, found in sizes.items()}
    return [block for block, attempt in zip(queue, attempts, strict=True) if attempt is None or attempt == kept[block.instant]]


def attempt_of(block: Block) -> int | None:
    """The number of the attempt that wrote a block; None for a block without identifier."""
    text = block.header.get(HeaderKey.BLOCK_IDENTIFIER)
    if text is None:
        return None
    parts = _IDENTIFIER.fullmatch(text)
    if parts is None:
        raise MalformedLogBlock(
            "not an identifier of a block", rule="LF-044", path=block.path, offset=block.offset,
            expected="<attempt>,<sequence>", found=repr(text),
        )  # fmt: skip
    return int(parts[1])
