"""Base files and changes with all combinations of versions."""

import datetime
import itertools
import math
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from hudi_reference.files.log.content import Delete
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.records.changes import IS_DELETED, KEY, Changes
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging.fast import merge_columns
from hudi_reference.records.merging.merge_slice import select

EVENT: MergeMode = "EVENT_TIME_ORDERING"
COMMIT: MergeMode = "COMMIT_TIME_ORDERING"


def select_by_columns(base: pa.Table, changes: Changes, merging: Merging) -> tuple[pa.Array, pa.Array]:
    """The result of the fast code; that of the plain code where the fast code leaves the merge to it."""
    return merge_columns.select_by_columns(base, changes, merging) or select(base, changes, merging)


VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "long": (pa.int64(), st.integers(-2, 2) | st.sampled_from([-(2**63), 2**63 - 1])),
    "int": (pa.int32(), st.integers(-2, 2)),
    "string": (pa.string(), st.sampled_from(["", "a", "b", "é", "🚲", "\uffff"])),
    "double": (pa.float64(), st.sampled_from([-1.5, -0.0, 0.0, 2.5, math.nan, math.inf])),
    "boolean": (pa.bool_(), st.booleans()),
    "date": (pa.date32(), st.dates(max_value=datetime.date(2, 1, 5))),
    "bytes": (pa.binary(), st.sampled_from([b"", b"a", b"\xff"])),
    "decimal": (pa.decimal128(10, 2), st.decimals(-1, 1, places=2, allow_nan=False)),
}


@st.composite
def merges(draw: st.DrawFn) -> tuple[pa.Table, Changes, Merging]:
    """A base file and changes with few keys and few ordering values, so that all combinations of versions occur."""
    kind, values = VALUES[draw(st.sampled_from(sorted(VALUES)))]
    ordering = ("o",) if draw(st.booleans()) else ()
    with_flags = draw(st.booleans())
    fields = [pa.field(KEY, pa.string()), pa.field("o", kind), pa.field("tag", pa.string())]
    schema = pa.schema([*fields, pa.field(IS_DELETED, pa.bool_())] if with_flags else fields)
    count = itertools.count()

    def rows(flags: st.SearchStrategy[Any]) -> pa.Table:
        key = st.sampled_from(["a", "b", "c", ""])
        row = st.fixed_dictionaries({KEY: key, "o": st.none() | values, IS_DELETED: flags})
        drawn = [{**found, "tag": str(next(count))} for found in draw(st.lists(row, max_size=6))]
        return pa.Table.from_pylist([{name: found[name] for name in schema.names} for found in drawn], schema=schema)

    def deletes() -> list[Delete]:
        column = pa.array(draw(st.lists(values, max_size=4)), kind)
        stored = (column.cast(pa.int32()) if kind == pa.date32() else column).to_pylist()
        return [Delete(draw(st.sampled_from(["a", "b", "d"])), None, draw(st.none() | st.just(value))) for value in stored]

    base = rows(st.just(False))
    batches = [rows(st.none() | st.booleans()) if draw(st.booleans()) else deletes() for _ in range(draw(st.integers(1, 4)))]
    return base, Changes(batches, schema), Merging(draw(st.sampled_from([EVENT, COMMIT])), ordering)


def table(*rows: tuple[str, int | None, str]) -> pa.Table:
    """Key, ordering value and a tag."""
    names = (KEY, "o", "tag")
    schema = pa.schema([(KEY, pa.string()), ("o", pa.int64()), ("tag", pa.string())])
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=schema)
