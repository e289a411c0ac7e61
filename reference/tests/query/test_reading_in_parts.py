"""Reading slice by slice: the same rows as the snapshot, with at most two slices in memory."""

import weakref
from typing import Any

import pyarrow as pa
import pytest
from reference_samples import new_table, trip, trips

from hudi_reference.errors import InvalidQuery
from hudi_reference.query.slice_reader import SliceReader

MOR: Any = {"table_type": "MERGE_ON_READ", "ordering": ("ts",), "partition": ("p",)}
IDS = [str(number) for number in range(6)]


def table_of_six_slices() -> Any:
    """One row in each of six partitions, every second one changed in a log."""
    made = new_table(**MOR)
    made.insert(trips(*(trip(key, "old", 1, f"city {key}") for key in IDS)))
    made.upsert(trips(*(trip(key, "new", 2, f"city {key}") for key in IDS[::2])))
    return made


def sorted_rows(rows: pa.Table) -> list[dict[str, Any]]:
    """Rows in the order of their ids."""
    return rows.sort_by("id").to_pylist()


@pytest.mark.parametrize("where", [[], [("id", ">", "2")]])
def test_parts_equal_the_snapshot(where: list[Any]) -> None:
    """RDR-001: one part for each slice, with the columns of the query, also for parts without rows."""
    made = table_of_six_slices()
    parts = list(made.batches(["name", "id"], where))
    assert len(parts) == len(made.view().groups.latest_slices) == len(IDS)
    assert {tuple(part.column_names) for part in parts} == {("name", "id")}
    assert sorted_rows(pa.concat_tables(parts)) == sorted_rows(made.snapshot(["name", "id"], where))


def test_parts_of_other_queries() -> None:
    """TYP-016, TYP-008: read-optimized and as-of queries."""
    made = table_of_six_slices()
    first = made.timeline.completed[0].requested
    assert sorted_rows(pa.concat_tables(made.batches(logs=False))) == sorted_rows(made.read_optimized())
    assert sorted_rows(pa.concat_tables(made.batches(as_of=first))) == sorted_rows(made.as_of(first))


def test_at_most_two_slices_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """RDR-001: nothing is read ahead, and previous parts are released."""
    tables: list[weakref.ref[pa.Table]] = []
    read, most = SliceReader.read, 0

    def counted(self: SliceReader, *args: Any, **options: Any) -> pa.Table:
        nonlocal most
        rows = read(self, *args, **options)
        tables.append(weakref.ref(rows))
        most = max(most, sum(part() is not None for part in tables))
        return rows

    monkeypatch.setattr(SliceReader, "read", counted)
    seen = 0
    for part in table_of_six_slices().batches():
        seen += part.num_rows
    assert seen == len(IDS)
    assert 1 <= most <= 2


def test_a_table_without_slices_has_columns() -> None:
    """RDR-001: a table without rows tells the columns; a column that is not there is told before anything is read."""
    (part,) = new_table(**MOR).batches(["id"])
    assert part.column_names == ["id"]
    assert part.num_rows == 0
    with pytest.raises(InvalidQuery):
        new_table(**MOR).batches(["nothing"])
