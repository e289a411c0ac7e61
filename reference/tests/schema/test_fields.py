"""Columns and fields of structs by name."""

import pyarrow as pa
import pytest

from hudi_reference.errors import InvalidQuery
from hudi_reference.query.pruning.predicates import columns_compared, matching_rows
from hudi_reference.schema.fields import column_at, type_at

#: A null struct whose field has a value in its place, as a sliced or masked array may have.
STRUCTS = pa.StructArray.from_arrays(
    [pa.array([1, 2, 3]), pa.array(["x", "y", None])], names=["n", "t"], mask=pa.array([False, True, False])
)
ROWS = pa.table({"id": ["a", "b", "c"], "s": STRUCTS, "d.o": [7, 8, 9], "l": [[1], [], None]})


def test_a_field_of_a_null_struct_is_null() -> None:
    """MRG-015: the value that a null struct hides is not compared."""
    found = column_at(ROWS, "s.n")
    assert found is not None
    assert found.to_pylist() == [1, None, 3]
    assert matching_rows(ROWS, [("s.n", ">=", 2)]).column("id").to_pylist() == ["c"]


def test_a_column_with_a_dot_comes_before_a_field() -> None:
    """TYP-007: the whole name is looked for first."""
    assert type_at(ROWS.schema, "d.o") == pa.int64()
    assert columns_compared([("d.o", "=", 7), ("s.t", "=", "x"), ("id", "!=", "")], ROWS.schema) == ["d.o", "s", "id"]


@pytest.mark.parametrize("name", ["x", "s.x", "id.x", "l.item", "s.n.x", "", "s."])
def test_names_without_a_field(name: str) -> None:
    """TYP-007: neither a column nor a field of a struct; members of lists have no name."""
    assert type_at(ROWS.schema, name) is None and column_at(ROWS, name) is None
    with pytest.raises(InvalidQuery, match="no such column"):
        columns_compared([(name, "=", 1)], ROWS.schema)
    with pytest.raises(InvalidQuery, match="no such column"):
        matching_rows(ROWS, [(name, "=", 1)])


def test_a_comparison_of_a_whole_struct_is_refused() -> None:
    """TYP-007: a struct is no single value."""
    with pytest.raises(InvalidQuery, match="does not fit"):
        columns_compared([("s", "=", 1)], ROWS.schema)
