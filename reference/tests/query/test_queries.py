"""What queries return of written tables: time travel, columns, filters, and base files alone."""

from dataclasses import replace
from typing import Any

import pytest
from reference_samples import (
    TABLE_TYPES,
    data_rows,
    keys,
    names,
    new_table,
    trip,
    trips,
)

from hudi_reference.errors import InvalidQuery, UnsupportedTableFeature

COW, MOR = TABLE_TYPES
both_types = pytest.mark.parametrize("table_type", TABLE_TYPES)
EVENT: dict[str, Any] = {"ordering": ("ts",)}


@both_types
def test_time_travel_shows_what_was_there(table_type: str) -> None:
    """TYP-008, law 7: as of each instant, the rows are those of the snapshot taken right after it; before the first is nothing to be read."""
    table = new_table(table_type=table_type, **EVENT)
    states: dict[str, list[dict[str, Any]]] = {}
    for write in (lambda: table.insert(trips(trip("1", "a", 1), trip("2", "a", 1))), lambda: table.upsert(trips(trip("1", "b", 2))),
                  lambda: table.delete(keys("2")), lambda: table.upsert(trips(trip("2", "c", 1), trip("1", "late", 1)))):  # fmt: skip
        instant = write()
        states[instant] = data_rows(table.snapshot())
    assert {instant: data_rows(table.as_of(instant)) for instant in states} == states
    assert data_rows(table.as_of("2027-01-01")) == list(states.values())[-1]
    first = min(states)
    assert (
        data_rows(table.as_of(f"{first[:4]}-{first[4:6]}-{first[6:8]} {first[8:10]}:{first[10:12]}:{first[12:14]}"))
        == states[first]
    )
    assert (
        data_rows(
            table.as_of(f"{first[:4]}-{first[4:6]}-{first[6:8]} {first[8:10]}:{first[10:12]}:{first[12:14]}.{first[14:]}")
        )
        == states[first]
    )
    for early in ("20250101000000000", "2026-01-01", first[:14]):  # compared as text: milliseconds of a second come later
        with pytest.raises(InvalidQuery, match=first):
            table.as_of(early)


def test_time_travel_to_before_the_first_instant_is_refused() -> None:
    """TYP-008: whichever way it is asked. Where nothing has completed no row is the answer."""
    table, early = new_table(), "20200101000000000"
    assert table.as_of(early).num_rows == 0
    first = table.insert(trips(trip("1", "a")))
    for ask in (table.as_of, table.file_groups, lambda time: list(table.batches(as_of=time))):
        with pytest.raises(InvalidQuery, match=first):
            ask(early)


def test_time_travel_past_a_pending_write_is_refused() -> None:
    """TYP-008: its completion would change the answer afterwards; before it there is no such doubt."""
    table = new_table()
    first = table.insert(trips(trip("1", "a")))
    table.storage.put(".hoodie/timeline/20260301000000000.commit.requested", b"")
    with pytest.raises(InvalidQuery) as raised:
        table.as_of("20260401000000000")
    assert raised.value.path == "20260301000000000.commit.requested"
    assert names(table) == {"1": "a"}
    assert table.as_of(first).num_rows == 1


@both_types
def test_columns_and_filters_do_not_change_the_merge(table_type: str) -> None:
    """MRG-015, TYP-007: key and ordering take part unseen; a filter comes after the merge and never brings an old version back."""
    table = new_table(table_type=table_type, **EVENT)
    table.insert(trips(trip("1", "old", 5), trip("2", "old", 5)))
    table.upsert(trips(trip("1", "new", 6), trip("2", "late", 4)))
    assert sorted(table.snapshot(["name"]).column("name").to_pylist()) == ["new", "old"]
    assert table.snapshot(["p", "id"], [("ts", "<=", 5)]).to_pylist() == [{"p": None, "id": "2"}]
    assert table.snapshot(["id"], [("name", "=", "old"), ("id", "=", "1")]).num_rows == 0
    assert table.snapshot(["name"], [("ts", ">", "5")]).to_pylist() == [{"name": "new"}]
    assert table.snapshot(["name"], [("p", "!=", "x")]).num_rows == 0
    assert table.snapshot(["_hoodie_record_key"], [("id", "!=", "1")]).to_pylist() == [{"_hoodie_record_key": "2"}]


@both_types
def test_no_columns_are_still_rows(table_type: str) -> None:
    """TYP-007: a projection to nothing keeps the number of rows."""
    table = new_table(table_type=table_type)
    table.insert(trips(trip("1"), trip("2")))
    table.upsert(trips(trip("2"), trip("3")))
    found = table.snapshot([])
    assert (found.num_columns, found.num_rows) == (0, 3)


def test_read_optimized_queries_see_base_files_alone() -> None:
    """TYP-016, TYP-017: changes in logs are not seen; on copy-on-write it is the snapshot."""
    for table_type, expected in ((COW, {"1": "b", "2": "b"}), (MOR, {"1": "a", "2": "b"})):
        table = new_table(table_type=table_type)
        table.insert(trips(trip("1", "a")))
        table.upsert(trips(trip("1", "b"), trip("2", "b")))
        assert {row["id"]: row["name"] for row in table.read_optimized().to_pylist()} == expected


def test_a_file_of_a_bootstrap_of_metadata_is_refused() -> None:
    """COMPAT-004: the columns of its rows are outside of the table; a query never returns nulls for them."""
    table = new_table(table_type=COW, **EVENT)
    table.insert(trips(trip("1", "a", 1)))
    view = table.view()
    (whole,) = view.groups.latest_slices
    name = f"{whole.file_id}_0-0-0_00000000000001.parquet"
    table.storage.put(whole.path(name), table.storage.get(whole.path(whole.base_file or "")))
    with pytest.raises(UnsupportedTableFeature, match="LAY-007"):
        view.reader(table).read(replace(whole, base_instant="00000000000001", base_file=name), ["id", "name"])
