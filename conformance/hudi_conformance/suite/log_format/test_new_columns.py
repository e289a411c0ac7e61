"""Names of the columns that a write adds to a table."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.renamed_columns import GROWING

INT = ["null", "int"]
POINT = {"type": "record", "name": "point", "fields": [{"name": "a", "type": INT, "default": None}]}
FIELDS = [
    {"name": "id", "type": "string"},
    {"name": "ts", "type": "long"},
    {"name": "number", "type": INT, "default": None},
    {"name": "point", "type": ["null", POINT], "default": None},
]
SCHEMA = {"type": "record", "name": "row", "namespace": "hoodie.rows", "fields": FIELDS}
ROW = {"id": "k", "ts": 1, "number": 7, "point": {"a": 5}}
IDS = [pa.field("id", pa.string(), nullable=False), pa.field("ts", pa.int64(), nullable=False)]
#: Columns of a write beside those of the key, and the values of its row.
WRITES: dict[str, tuple[list[pa.Field], dict[str, Any]]] = {
    "column": (
        [pa.field("number", pa.int32()), pa.field("point", pa.struct([("a", pa.int32())])), pa.field("Number", pa.int32())],
        {"number": 8, "point": {"a": 6}, "Number": 9},
    ),
    "field": (
        [pa.field("number", pa.int32()), pa.field("point", pa.struct([("a", pa.int32()), ("A", pa.int32())]))],
        {"number": 8, "point": {"a": 6, "A": 9}},
    ),
    "field alone": (
        [pa.field("number", pa.int32()), pa.field("point", pa.struct([("A", pa.int32())]))], {"number": 8, "point": {"A": 9}},
    ),
    "two columns": (
        [pa.field("number", pa.int32()), pa.field("point", pa.struct([("a", pa.int32())])), *(
            pa.field(name, pa.int32()) for name in ("other", "Other")
        )],
        {"number": 8, "point": {"a": 6}, "other": 1, "Other": 2},
    ),
    "two fields of a new column": (
        [pa.field("number", pa.int32()), pa.field("point", pa.struct([("a", pa.int32())])),
         pa.field("other", pa.struct([("x", pa.int32()), ("X", pa.int32())]))],
        {"number": 8, "point": {"a": 6}, "other": {"x": 1, "X": 2}},
    ),
}  # fmt: skip


def has_one_name_of_each(kind: pa.Schema | pa.StructType) -> bool:
    """Whether no two columns, or fields of a struct, have names that differ in capital letters only."""
    names = [field.name.lower() for field in kind]
    return len(names) == len(set(names)) and all(
        has_one_name_of_each(field.type) for field in kind if pa.types.is_struct(field.type)
    )


@BOTH_TYPES
@pytest.mark.needs(
    "create", "write.upsert", "read.snapshot", "read.projection", "merge.event-time", "types.nested", "schema.evolution"
)
@pytest.mark.requirements("LF-038")
@pytest.mark.parametrize("added", WRITES)
def test_a_new_column_differs_not_only_in_capital_letters(
    engine: Client, new_uri: Callable[[], str], type: Any, added: str
) -> None:
    """LF-038: engines that know names without regard to capital letters cannot read a table with the columns `a` and `A`. A
    write with such a new column is refused, or its values are those of the column that the table has. Stored values stay.
    """
    uri = new_uri()
    engine.create(uri, TableSpec("rows", type, SCHEMA, ("id",), ordering=("ts",)))
    known = pa.schema([*IDS, pa.field("number", pa.int32()), pa.field("point", pa.struct([("a", pa.int32())]))])
    engine.write(uri, "upsert", pa.Table.from_pylist([ROW], schema=known))
    columns, values = WRITES[added]
    rows = pa.Table.from_pylist([{"id": "n", "ts": 2, **values}], schema=pa.schema([*IDS, *columns]))
    with suppress(ContractError):
        engine.write(uri, "upsert", rows, options=GROWING)
    assert has_one_name_of_each(engine.read(uri, Query()).schema)
    found = {one["id"]: one for one in engine.read(uri, Query(columns=tuple(ROW))).to_pylist()}
    assert found["k"] == ROW
