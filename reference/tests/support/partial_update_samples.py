"""Whole rows and rows with only some columns, and random series of writes of such rows."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from hudi_reference.files.log.content import Delete
from hudi_reference.records.changes import IS_DELETED, KEY

FIELDS = [(KEY, pa.string()), ("ts", pa.int64()), ("a", pa.string()), ("b", pa.string()), (IS_DELETED, pa.bool_())]
SCHEMA = pa.schema(FIELDS)
Row = dict[str, Any]
#: What is written at once: whole rows, partial rows (with the columns that they hold), or deletes.
Batch = tuple[tuple[str, ...] | None, Sequence[Row] | Sequence[Delete]]


def rows(*found: Row) -> pa.Table:
    """Rows; missing columns are null."""
    return pa.Table.from_pylist([{name: row.get(name) for name in SCHEMA.names} for row in found], schema=SCHEMA)


def whole(ts: int | None, a: str | None, b: str | None) -> Row:
    """A whole row of the one key."""
    return {KEY: "k", "ts": ts, "a": a, "b": b, IS_DELETED: None}


keys, orders, texts = st.sampled_from("kl"), st.integers(1, 4), st.none() | st.sampled_from("xyz")
columns = st.sampled_from([("a",), ("b",), ("a", "b"), ("ts", "a"), ("ts", "b"), ("ts",), ("ts", "a", "b")])


@st.composite
def histories(draw: st.DrawFn) -> list[Batch]:
    """Whole rows, partial rows and deletes by key of two records."""
    count = draw(st.integers(1, 5))
    found: list[Batch] = []
    for _ in range(count):
        key, row = draw(keys), {"ts": draw(orders), "a": draw(texts), "b": draw(texts)}
        names = draw(st.none() | columns)
        if draw(st.integers(0, 5)) == 0:
            found.append((None, [Delete(key, "", None)]))
        elif names is None:
            found.append((None, [{KEY: key, **row}]))
        else:
            found.append((names, [{KEY: key, **{name: row[name] for name in names}}]))
    return found
