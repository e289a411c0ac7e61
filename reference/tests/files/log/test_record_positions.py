"""Record positions against texts that Apache Hudi 1.0.2 wrote."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_reference.errors import MalformedLogBlock
from hudi_reference.files.log.block import Block, BlockType, HeaderKey
from hudi_reference.files.log.positions import encode_positions, positions_of

#: Sets of positions and their header texts, seen in tables of Apache Hudi 1.0.2.
SEEN = [
    ([], "AAAAAAAAAAA="),
    ([0], "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAAAA"),
    ([0, 2, 5], "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAAAAgAFAA=="),
    (list(range(99)), "AQAAAAAAAAAAAAAAOzAAAAEAAGIAAQAAAGIA"),
    ([1, 70000], "AQAAAAAAAAAAAAAAOjAAAAIAAAAAAAAAAQAAABgAAAAaAAAAAQBwEQ=="),
]


def block_with(text):
    return Block(BlockType.AVRO_DATA, {HeaderKey.RECORD_POSITIONS: text}, b"", "f", 7)


@pytest.mark.parametrize(("positions", "text"), SEEN)
def test_positions_are_those_that_the_deployed_writer_meant(positions, text):
    """LF-041: decoding and encoding agree with the deployed bytes, runs included."""
    assert list(positions_of(block_with(text))) == positions
    assert encode_positions(positions) == text


@given(st.sets(st.integers(0, 2**40), max_size=50))
def test_positions_are_decoded_as_they_were_encoded(positions):
    """LF-041: any set, beyond 32 bits too, comes back in ascending order."""
    assert list(positions_of(block_with(encode_positions(positions)))) == sorted(positions)


def test_a_block_without_positions_has_none():
    """LF-041: the header is optional."""
    assert not positions_of(Block(BlockType.DELETE, {}, b""))


@pytest.mark.parametrize(
    "text", ["", "?", "AQ==", SEEN[2][1][:-8], base64.b64encode(base64.b64decode(SEEN[1][1]) + b"x").decode()]
)
def test_damaged_positions_are_an_error_that_names_the_block(text):
    """LF-041: cut, garbled or followed by more: never other positions."""
    with pytest.raises(MalformedLogBlock, match="LF-041") as caught:
        positions_of(block_with(text))
    assert caught.value.offset == 7


def test_a_hostile_bitmap_takes_no_memory():
    """LF-041: a bitmap of a billion positions in a few bytes is not expanded."""
    assert len(positions_of(block_with(encode_positions(range(0, 1 << 30))))) == 1 << 30
