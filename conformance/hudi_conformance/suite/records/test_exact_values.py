"""Texts, names and numbers that are nearly the same: an engine compares and returns them as they were written."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.keyed_rows import WRITES
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, expect_rows, row

Type = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
#: Texts that are equal after blanks are removed, letters are normalized, lowered or converted to numbers, or after a cut.
TEXTS = ("x", " x", "x ", "x\t", "X", "\u00e9", "e\u0301", "7", "07", "7.0", "10", "9", "x\x00", "x\x00y", "\ufb01", "fi")
#: The second number of each pair is the first one as a double.
LONGS = (2**53 + 1, 2**53, 2**62 + 1, 2**62, -(2**53) - 1, -(2**53))
WIDE = pa.decimal128(38, 10)
#: Numbers of 38 digits that differ in the last one, on both sides of zero and of 64 bits.
DECIMALS = tuple(
    Decimal(f"{sign}{digits}")
    for sign in ("", "-")
    for digits in (
        "1234567890123456789012345678.1234567891",
        "1234567890123456789012345678.1234567892",
        "1844674407.3709551616",
    )
)
VALUES: dict[str, tuple[Any, pa.DataType, Sequence[Any]]] = {
    "text": ("string", pa.string(), TEXTS),
    "long": ("long", pa.int64(), LONGS),
    "decimal": ({"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10}, WIDE, DECIMALS),
}  # fmt: skip
KINDS = pytest.mark.parametrize("kind", ["text", "long", pytest.param("decimal", marks=pytest.mark.needs("types.decimal"))])


@BOTH_TYPES
@pytest.mark.needs(*WRITES, "write.delete", "merge.event-time", "partition.none", "read.projection")
@pytest.mark.requirements("META-007", "BLK-009", "MRG-028")
def test_similar_texts_are_different_keys(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """META-007: keys differ in blanks, capital letters, Unicode form, leading zeros, or after a NUL. An upsert of every
    other one changes these rows alone, a delete of two removes these alone.
    """
    uri = new_uri()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", False).spec())
    rows = {text: row(text, 1, f"old {number}") for number, text in enumerate(TEXTS)}
    engine.write(uri, "upsert", as_arrow([*rows.values()]))
    rows |= {text: row(text, 2, f"new {number}") for number, text in enumerate(TEXTS) if number % 2}
    engine.write(uri, "upsert", as_arrow([one for one in rows.values() if one["ts"] == 2]))
    expect_rows(engine, uri, list(rows.values()), "after the upsert")
    engine.write(uri, "delete", as_arrow([rows.pop(" x"), rows.pop("\u00e9")]))
    expect_rows(engine, uri, list(rows.values()), "after the delete")


@BOTH_TYPES
@KINDS
@pytest.mark.needs("create", "write.upsert", "merge.commit-time", "partition.none", "read.filter", "read.projection")
@pytest.mark.requirements("MRG-015", "MDT-010")
def test_a_filter_tells_similar_values_apart(engine: Client, new_uri: Callable[[], str], type: Type, kind: str) -> None:
    """MRG-015: values differ as texts but not as numbers, or in digits that a double does not have. A filter on a value returns
    its row alone, one on a range returns the rows in the order of texts by code points, or of numbers.
    """
    uri, (_, _, values) = new_uri(), VALUES[kind]
    make = create(engine, uri, type, kind)
    engine.write(uri, "upsert", make({f"k{number}": values[0] for number in range(len(values))}))
    engine.write(uri, "upsert", make({f"k{number}": value for number, value in enumerate(values)}))
    for value in values:
        assert found_where(engine, uri, "=", value) == [value]
        assert found_where(engine, uri, "<", value) == sorted(one for one in values if one < value)


@BOTH_TYPES
@KINDS
@pytest.mark.needs("create", "write.upsert", "merge.event-time", "partition.none", "read.snapshot", "read.projection")
@pytest.mark.requirements("MRG-028")
def test_similar_ordering_values_are_compared(engine: Client, new_uri: Callable[[], str], type: Type, kind: str) -> None:
    """MRG-028: of two versions of a record the one with the greater ordering value stays, whichever was written later. The
    values differ as texts but not as numbers, or in digits that a double does not have.
    """
    uri, (_, _, values) = new_uri(), VALUES[kind]
    make = create(engine, uri, type, kind, ordering=("value",))
    pairs = {f"{one!r} {other!r}": (one, other) for one in values[:6] for other in values[:6] if one != other}
    for number in (0, 1):
        engine.write(uri, "upsert", make({key: pair[number] for key, pair in pairs.items()}))
    found = engine.read(uri, Query(columns=("id", "value"))).to_pylist()
    assert {one["id"]: one["value"] for one in found} == {key: max(pair) for key, pair in pairs.items()}


@BOTH_TYPES
@pytest.mark.needs("create", "write.upsert", "merge.commit-time", "partition.none", "read.filter", "read.projection")
@pytest.mark.requirements("LF-038", "MRG-015")
def test_columns_keep_their_capital_letters(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """LF-038: columns whose names have capital letters are returned under these names, with the values of the latest writes."""
    uri, fields = new_uri(), [{"name": name, "type": "string"} for name in ("Id", "firstName", "ZIP")]
    schema = {"type": "record", "name": "row", "namespace": "hoodie.rows", "fields": fields}
    engine.create(uri, TableSpec("rows", type, schema, ("Id",), merge_mode="COMMIT_TIME_ORDERING"))
    for name in ("Ada", "Eve"):
        columns = pa.schema([pa.field(one["name"], pa.string(), nullable=False) for one in fields])
        rows = [{"Id": "a", "firstName": name, "ZIP": "1"}, {"Id": name, "firstName": "x", "ZIP": "2"}]
        engine.write(uri, "upsert", pa.Table.from_pylist(rows, schema=columns))
    assert engine.read(uri, Query()).schema.names[-3:] == ["Id", "firstName", "ZIP"]
    found = engine.read(uri, Query(columns=("firstName", "Id"), where=(("firstName", "=", "Eve"),)))
    assert found.to_pylist() == [{"firstName": "Eve", "Id": "a"}]


def create(
    engine: Client, uri: str, type: Type, kind: str, ordering: tuple[str, ...] = ()
) -> Callable[[dict[str, Any]], pa.Table]:
    """Create a table of keys and values of this kind; return what makes rows of it."""
    avro, arrow, _ = VALUES[kind]
    fields = [{"name": "id", "type": "string"}, {"name": "value", "type": avro}]
    schema = {"type": "record", "name": "row", "namespace": "hoodie.rows", "fields": fields}
    mode: Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"] = "EVENT_TIME_ORDERING" if ordering else "COMMIT_TIME_ORDERING"
    engine.create(uri, TableSpec("rows", type, schema, ("id",), ordering=ordering, merge_mode=mode))
    columns = pa.schema([pa.field("id", pa.string(), nullable=False), pa.field("value", arrow, nullable=False)])
    return lambda rows: pa.Table.from_pylist([{"id": key, "value": value} for key, value in rows.items()], schema=columns)


def found_where(engine: Client, uri: str, operator: Any, value: Any) -> list[Any]:
    """Return the values of the rows for which the comparison holds, in ascending order."""
    constant = str(value) if isinstance(value, Decimal) else value
    return sorted(engine.read(uri, Query(columns=("value",), where=(("value", operator, constant),))).column(0).to_pylist())
