"""Deletes that are stored as rows: by the flag, by the delete marker of the table, by the operation column."""

import pyarrow as pa
import pytest

from hudi_reference.errors import InvalidProperty
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records.changes import Changes, DeleteMarker, delete_flags, without_deletes
from hudi_reference.records.merge import Kind


@pytest.mark.parametrize(
    ("column", "value", "marker", "expected"),
    [
        (pa.array(["D", "d", None, "I"]), "D", True, [True, False, False, False]),
        (pa.array([1, 10, None, 0], pa.int32()), "1", True, [True, False, False, False]),
        (pa.array([True, False, None, False]), "true", True, [True, False, False, False]),
        (pa.array([True, False, None, False]), "TRUE", True, [False] * 4),
        (pa.array(["D", "d", None, "I"]), "D", False, None),
    ],
)
def test_delete_marker(column, value, marker, expected):
    """MRG-014: case counts, a null is not a delete, and without a marker the column has no effect."""
    rows = pa.table({"op": column})
    found = delete_flags(rows, DeleteMarker("op", value) if marker else None)
    assert (None if found is None else found.to_pylist()) == expected


def test_each_kind_of_delete_row():
    """MRG-001: the flag, the marker and the operation column are independent."""
    rows = pa.table(
        {
            "_hoodie_is_deleted": [True, None, False, None, False],
            "op": ["x", "gone", "x", None, "x"],
            "_hoodie_operation": [None, "I", "D", "-U", "U"],
        }
    )
    ((*versions,),) = Changes([rows], rows.schema).by_batch((), DeleteMarker("op", "gone"))
    assert [version.kind for version in versions] == [Kind.DELETE] * 4 + [Kind.ROW]
    assert without_deletes(rows, DeleteMarker("op", "gone")).num_rows == 1


def test_a_marker_of_a_column_that_is_not_there_marks_nothing():
    """MRG-014: a table may name a column that only later rows have."""
    assert delete_flags(pa.table({"a": [1]}), DeleteMarker("op", "D")) is None


@pytest.mark.parametrize("given", [{"hoodie.payload.delete.field": "op"}, {"hoodie.payload.delete.marker": "D"}])
def test_incomplete_marker_is_refused(given):
    """MRG-014: a column without a value, or a value without a column."""
    with pytest.raises(InvalidProperty) as raised:
        _ = TableProperties(given).delete_marker
    assert raised.value.rule == "MRG-014"


def test_marker_needs_both_properties():
    """MRG-014: both properties or neither."""
    whole = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"}
    assert TableProperties(whole).delete_marker == ("op", "D")
    assert TableProperties({}).delete_marker is None
