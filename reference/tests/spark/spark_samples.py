"""Comparing rows of DataFrames with rows of the reference."""

from typing import Any

import pyarrow as pa

from hudi_reference.schema.evolution import conform


def rows_of_frame(frame: Any, schema: pa.Schema) -> list[dict[str, Any]]:
    """The rows of a DataFrame in the reference's types, sorted; its columns must be those of `schema`, in order."""
    assert frame.columns == schema.names
    return in_order(conform(frame.toArrow(), schema, "rows of a frame"))


def in_order(rows: pa.Table) -> list[dict[str, Any]]:
    """Rows in an order of their own."""
    return sorted(rows.to_pylist(), key=repr)
