"""Rows of Avro data blocks: encoding and decoding of every type, by rows and by columns, also with damaged bytes."""

import json
from typing import Any

import pyarrow as pa
import pytest
from avro_rows import LEAVES, damaged, schemas_and_rows, types_and_values
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import HudiError
from hudi_reference.fast_paths import VARIABLE
from hudi_reference.files.log.block import Block, BlockType
from hudi_reference.files.log.content import _encode_avro, decode_rows, encode_rows
from hudi_reference.files.log.fast.decode_columns import decode_avro_columns
from hudi_reference.files.log.fast.encode_columns import encode_avro_columns
from hudi_reference.schema.avro import arrow_schema


def block_of(content: bytes, schema: dict[str, Any]) -> Block:
    """An Avro data block with this content; so few rows are decoded one by one."""
    return Block(BlockType.AVRO_DATA, {0: "20250101000000001", 2: json.dumps(schema)}, content, "f.log")


def by_columns(content: bytes, schema: dict[str, Any], count: int) -> pa.Table | None:
    """The rows that the fast code decodes."""
    return decode_avro_columns(memoryview(content)[8:], schema, count)


@bounded(80)
@given(schemas_and_rows())
def test_rows_of_every_type_are_unchanged(drawn: tuple[dict[str, Any], pa.Table]) -> None:
    """BLK-022, LF-038: decoding gives the rows that were encoded, with types and nulls, for any nested schema."""
    schema, rows = drawn
    assert types_and_values(decode_rows(block_of(encode_rows(rows, schema), schema))) == types_and_values(rows)


@bounded(80)
@given(schemas_and_rows())
def test_decoding_by_columns_equals_decoding_by_rows(drawn: tuple[dict[str, Any], pa.Table]) -> None:
    """BLK-022: the fast code gives the same rows and types for any nested schema."""
    schema, rows = drawn
    fast = by_columns(encode_rows(rows, schema), schema, rows.num_rows)
    assert fast is not None
    assert types_and_values(fast) == types_and_values(rows)


@bounded(80)
@given(schemas_and_rows(depth=1))
def test_encoding_by_columns_equals_encoding_by_rows(drawn: tuple[dict[str, Any], pa.Table]) -> None:
    """BLK-021, BLK-022: the fast code writes the same bytes, or leaves the rows to the plain code."""
    schema, rows = drawn
    assert encode_avro_columns(rows, schema) in (encode_rows(rows, schema)[8:], None)


@bounded(80)
@given(st.lists(st.sampled_from(LEAVES[:15]), min_size=1, max_size=4), st.data())
def test_simple_columns_are_encoded_by_columns(leaves: list[tuple[Any, Any]], draw: st.DataObject) -> None:
    """BLK-021, BLK-022: with and without nulls, the null first or last, in one piece and in several: the same bytes."""
    unions = st.sampled_from([lambda kind: kind, lambda kind: ["null", kind], lambda kind: [kind, "null"]])
    fields = [{"name": f"f{place}", "type": draw.draw(unions)(kind)} for place, (kind, _) in enumerate(leaves)]
    schema = {"type": "record", "name": "top", "fields": fields}
    drawn = [(st.none() | values) if isinstance(field["type"], list) else values
             for field, (_, values) in zip(fields, leaves, strict=True)]  # fmt: skip
    columns, count = arrow_schema(schema), draw.draw(st.integers(1, 5))
    arrays = [pa.array(draw.draw(st.lists(values, min_size=count, max_size=count)), field.type)
              for values, field in zip(drawn, columns, strict=True)]  # fmt: skip
    rows = pa.table(arrays, schema=columns)
    content = encode_rows(rows, schema)[8:]
    assert encode_avro_columns(rows, schema) == content
    assert encode_avro_columns(pa.concat_tables([rows.slice(0, 1), rows.slice(1)]), schema) == content


def test_many_rows_are_encoded_in_parts_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """BLK-020, BLK-021: a block of more rows than are encoded together is decoded to the same rows."""
    monkeypatch.delenv(VARIABLE, raising=False)
    schema = {
        "type": "record",
        "name": "top",
        "fields": [{"name": "f", "type": ["null", "long"]}, {"name": "g", "type": "string"}],
    }
    numbers = [None if n % 7 == 0 else (-3) ** (n % 40) for n in range(40_000)]
    rows = pa.table([pa.array(numbers, pa.int64()), [str(n) * (n % 90) for n in range(40_000)]], schema=arrow_schema(schema))
    content = encode_rows(rows, schema)
    assert decode_rows(block_of(content, schema)).equals(rows)
    assert content[8:] == _encode_avro(rows, schema)


@bounded(80)
@given(schemas_and_rows(depth=1), st.data())
def test_damaged_rows_are_other_rows_or_a_typed_error(drawn: tuple[dict[str, Any], pa.Table], draw: st.DataObject) -> None:
    """BLK-022: any bytes give rows or a typed error, and never another number of rows."""
    schema, rows = drawn
    content = encode_rows(rows, schema)
    try:
        found = decode_rows(block_of(content[:8] + damaged(draw, content[8:]), schema))
    except HudiError:
        return
    assert found.num_rows == rows.num_rows
    types_and_values(found)


@bounded(40)
@given(schemas_and_rows(), st.data())
def test_skipped_columns_do_not_change_others(drawn: tuple[dict[str, Any], pa.Table], draw: st.DataObject) -> None:
    """BLK-022: skipping values does not change those of the wanted columns."""
    schema, rows = drawn
    wanted = draw.draw(st.sets(st.sampled_from(rows.column_names)))
    fast = decode_avro_columns(encode_rows(rows, schema)[8:], schema, rows.num_rows, wanted)
    assert fast is not None
    assert wanted <= set(fast.column_names)
    assert types_and_values(fast.select(sorted(wanted))) == types_and_values(rows.select(sorted(wanted)))
    assert fast.num_rows == rows.num_rows
