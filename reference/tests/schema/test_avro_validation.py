"""Avro values that the codec accepts and the specification does not allow."""

import io

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.limits import Limit, LimitExceeded
from hudi_reference.schema import avro_validation
from hudi_reference.schema.avro_codec import DAMAGE, codec_schema, decode_datum
from hudi_reference.schema.avro_validation import ValueCounts
from hudi_reference.timeline.contents.metadata import COMMIT_METADATA_SCHEMA, WriteStat, commit_record

SCHEMA = codec_schema(
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


NESTED = fastavro.parse_schema(
    {
        "type": "record", "name": "outer",
        "fields": [{"name": "rows", "type": {"type": "array", "items": {
            "type": "record", "name": "row",
            "fields": [{"name": "flags", "type": {"type": "array", "items": "boolean"}},
                       {"name": "wide", "type": {"type": "record", "name": "wide", "fields": [
                           {"name": f"n{number}", "type": "null"} for number in range(9)]}},
                       {"name": "names", "type": {"type": "map", "values": ["null", "string"]}}]}}}],
    }
)  # fmt: skip
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "flags": st.lists(st.booleans(), max_size=9),
            "wide": st.just({f"n{number}": None for number in range(9)}),
            "names": st.dictionaries(st.text(max_size=2), st.none() | st.text(max_size=2), max_size=3),
        }
    ),
    max_size=9,
)


@bounded(50)
@given(rows=ROWS, most=st.integers(0, 150))
def test_no_datum_of_too_many_values_escapes_the_bound_by_its_length(rows, most):
    """TL-002: the bound that saves the walk through a datum is never less than what the walk counts."""
    out, limit = io.BytesIO(), Limit("TEST", "values", most, "TL-002")
    fastavro.schemaless_writer(out, NESTED, {"rows": rows})
    counted = 13 * len(rows) + sum(len(row["flags"]) + len(row["names"]) for row in rows)
    if counted > most:
        with pytest.raises(LimitExceeded):
            ValueCounts(NESTED).check(out.getvalue(), limit, "p")
    else:
        ValueCounts(NESTED).check(out.getvalue(), limit, "p")


def test_the_metadata_of_many_files_is_not_walked_through(monkeypatch):
    """TL-002: 150 bytes describe a data file, so that the metadata of 100,000 files has less values than the limit."""
    stats = [
        WriteStat(f"{number:08}-0000", "p", f"p/{number:08}-0000_0-0-0_20260101000000000.parquet") for number in range(100)
    ]
    out = io.BytesIO()
    fastavro.schemaless_writer(out, COMMIT_METADATA_SCHEMA, commit_record("INSERT", stats, None))
    monkeypatch.setattr(avro_validation, "_walk_of", None)
    counts = ValueCounts(fastavro.parse_schema(COMMIT_METADATA_SCHEMA))
    counts.check(out.getvalue(), Limit("TEST", "values", 50_000, "TL-002"), "p")
