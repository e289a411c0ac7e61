"""Partial updates of records that another process has deleted: key and partition fields follow from the record key and folder."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from reference_samples import SCHEMA, contents, new_table, reopened

from hudi_reference import WritableTable, compact
from hudi_reference.records.keys.fields_of_key import known_fields
from hudi_reference.storage import MemoryStorage

TYPES: Mapping[str, Any] = {
    "string": "string", "long": "long", "int": "int", "boolean": "boolean",
    "date": {"type": "int", "logicalType": "date"},
    "decimal": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2},
    "timestamp": {"type": "long", "logicalType": "timestamp-micros"},
}  # fmt: skip
ARROW = {
    "string": pa.string(), "long": pa.int64(), "int": pa.int32(), "boolean": pa.bool_(), "date": pa.date32(),
    "decimal": pa.decimal128(6, 2), "timestamp": pa.timestamp("us", "UTC"),
}  # fmt: skip


def updated_after_delete(keys: Mapping[str, str], row: Mapping[str, Any], **options: Any) -> WritableTable:
    """A table with a row that was deleted, of which a writer that did not see it then stored only the column `name`.

    Args:
        keys: the names and types of its key fields.
        row: their values, and the partition.
        options: settings of the table.
    """
    types = {**keys, "p": "string", "name": "string", "note": "string"}
    schema = {**SCHEMA, "fields": [{"name": n, "type": ["null", TYPES[k]], "default": None} for n, k in types.items()]}
    table = new_table(schema=schema, record_key=tuple(keys), partition=("p",), table_type="MERGE_ON_READ", **options)

    def rows(**values: str) -> pa.Table:
        names = {**row, **values}
        return pa.table({name: pa.array([value], ARROW[types[name]]) for name, value in names.items()})

    table.upsert(rows(name="old", note="old"))
    other = MemoryStorage()
    for path, data in contents(table.storage).items():
        other.put(path, data)
    table.delete(rows())
    reopened(replace(table, storage=other)).partial_update(rows(name="new"))
    for path, data in contents(other).items():
        if table.storage.head(path) is None:
            table.storage.put(path, data)
    return reopened(table, 9)


@pytest.mark.parametrize(("keys", "values"), [
    ({"id": "string"}, {"id": "a"}),
    ({"id": "long"}, {"id": -7}),
    ({"id": "int"}, {"id": 7}),
    ({"id": "date"}, {"id": date(2026, 2, 28)}),
    ({"id": "decimal"}, {"id": Decimal("1.50")}),
    ({"id": "timestamp"}, {"id": datetime(2026, 2, 28, 1, 2, 3, 400, UTC)}),
    ({"id": "string", "n": "long", "yes": "boolean"}, {"id": "a b", "n": 5, "yes": True}),
    ({"id": "string", "n": "long"}, {"id": None, "n": 5}),
    ({"id": "string", "n": "long"}, {"id": "", "n": 5}),
])  # fmt: skip
def test_key_fields_have_the_values_of_the_record_key(keys: dict[str, str], values: dict[str, Any]) -> None:
    """META-007, META-009: no block has the key fields; queries return them, and so does the compaction that stores the row."""
    table = updated_after_delete(keys, {**values, "p": "x"})
    wanted = [{**values, "p": "x", "name": "new", "note": None}]
    assert table.snapshot(list(wanted[0])).to_pylist() == wanted
    assert table.snapshot(["p"]).to_pylist() == [{"p": "x"}]
    assert compact(table, {"hoodie.compact.inline.max.delta.commits": "1"})
    assert reopened(table, 10).snapshot(list(wanted[0])).to_pylist() == wanted


@pytest.mark.parametrize("values", [["a,n:b", "c"], ["a", "b,n:c"]])
def test_a_key_of_several_meanings_tells_nothing(values: Sequence[str]) -> None:
    """META-007: nothing is escaped in composite keys; both of these rows have the key `id:a,n:b,n:c`."""
    table = updated_after_delete({"id": "string", "n": "string"}, {"id": values[0], "n": values[1], "p": "x"})
    assert table.snapshot(["id", "n", "name"]).to_pylist() == [{"id": None, "n": None, "name": "new"}]


def test_generated_keys_tell_nothing() -> None:
    """META-007: a table without key fields has no column that follows from its keys."""
    table = new_table(record_key=(), table_type="MERGE_ON_READ")
    assert known_fields(table.properties, None) is None
