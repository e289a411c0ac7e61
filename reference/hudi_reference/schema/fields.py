"""Columns and fields of structs by their names: `a.b` is field b of the struct column a."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt


def path_of(columns: pa.Schema, name: str) -> list[str]:
    """The names of a column and of the fields inside of it. A column whose own name has dots comes first."""
    return [name] if columns.get_field_index(name) >= 0 else name.split(".")


def type_at(columns: pa.Schema, name: str) -> pa.DataType | None:
    """The type of a column, or of a field of a struct; None if there is none of that name."""
    top, *inner = path_of(columns, name)
    kind = columns.field(top).type if columns.get_field_index(top) >= 0 else None
    for step in inner:
        if kind is None or not pt.is_struct(kind) or kind.get_field_index(step) < 0:
            return None
        kind = kind.field(step).type
    return kind


def column_at(rows: pa.Table, name: str) -> pa.ChunkedArray | None:
    """A column, or a field of a struct, null where the struct is null; None if there is none of that name."""
    if type_at(rows.schema, name) is None:
        return None
    top, *inner = path_of(rows.schema, name)
    column = rows.column(top)
    return pc.struct_field(column, inner) if inner else column
