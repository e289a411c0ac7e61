"""Avro values that the codec accepts and the specification does not allow."""

import fastavro
import pytest

from hudi_reference.schema.avro_codec import DAMAGE, decode_datum

SCHEMA = fastavro.parse_schema(
    {
        "type": "record", "name": "r",
        "fields": [{"name": "u", "type": ["null", "long"]},
                   {"name": "e", "type": {"type": "enum", "name": "e", "symbols": ["x", "y"]}},
                   {"name": "l", "type": {"type": "array", "items": ["null", {"type": "record", "name": "in", "fields": []}, "string"]}},
                   {"name": "m", "type": {"type": "map", "values": "e"}}],
    }
)  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [
        bytes.fromhex("01 00 00 00"),
        bytes.fromhex("05 00 00 00"),
        bytes.fromhex("00 01 00 00"),
        bytes.fromhex("00 03 00 00"),
        bytes.fromhex("02 ffffffffffffffffffff01 00 00 00"),
        bytes.fromhex("02 ffffffffffffffffff03 00 00 00"),
        bytes.fromhex("00 00 02 01 00 00"),
    ],
    ids=["branch -1", "branch -3", "symbol -1", "symbol -2", "eleven bytes", "65 bits", "branch -1 in a list"],
)
def test_invalid_branches_and_numbers_are_an_error(data):
    """BLK-022: values that the library decodes by a negative index or with lost bits are invalid."""
    with pytest.raises(DAMAGE):
        decode_datum(data, SCHEMA)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("00 00 00 00", {"u": None, "e": "x", "l": [], "m": {}}),
        ("02 03 02 04 00 04 02 61 00 02 02 6b 02 00", {"u": -2, "e": "y", "l": [None, "a"], "m": {"k": "y"}}),
        ("00 00 01 06 04 02 61 00 00", {"u": None, "e": "x", "l": ["a"], "m": {}}),
        ("00 00 02 00 02 00 00 00", {"u": None, "e": "x", "l": [None, None], "m": {}}),
        ("02 82 00 00 00 00", {"u": 1, "e": "x", "l": [], "m": {}}),
        ("00 00 00 01 06 02 6b 00 00", {"u": None, "e": "x", "l": [], "m": {"k": "x"}}),
    ],
    ids=["least", "most", "list with a size", "list in two blocks", "number with a byte to spare", "map with a size"],
)
def test_every_valid_form_of_a_value_is_decoded(data, expected):
    """BLK-022: also lists and maps in forms that the library does not write."""
    assert decode_datum(bytes.fromhex(data), SCHEMA) == expected
