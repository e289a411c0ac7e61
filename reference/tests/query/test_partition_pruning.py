"""Partition pruning: the files that a query with a filter on partition columns reads; pruning changes no answer."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hudi_reference import create_table, open_table
from hudi_reference.errors import InvalidQuery
from hudi_reference.query.pruning.predicates import matching_rows
from hudi_reference.storage import MemoryStorage, ObjectInfo
from hudi_reference.tables import WritableTable

TYPES = {"string": pa.string(), "int": pa.int32(), "boolean": pa.bool_()}
COMPARES: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


class Watched(MemoryStorage):
    """A storage that records which data files were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[str] = set()
        self.listed: list[str] = []

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """As any storage."""
        self._note(path)
        return super().get(path, start, length)

    def open(self, path: str) -> pa.NativeFile:
        """As any storage."""
        self._note(path)
        return super().open(path)

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """As any storage."""
        self.listed.append(prefix)
        return super().list(prefix, skip=skip)

    def _note(self, path: str) -> None:
        if not path.startswith(".hoodie"):
            self.read.add(path)


def table_of(values: list[Any], kind: str, *, hive: bool = False, url: bool = False, **more: Any) -> WritableTable:
    """A merge-on-read table with one row, changed in a log, for each value of the partition column `p`."""
    fields = [{"name": "id", "type": "string"}, {"name": "p", "type": ["null", kind], "default": None}]
    table = create_table(
        "x:", name="t", schema={"type": "record", "name": "t", "fields": fields}, record_key=("id",), partition=("p",),
        table_type="MERGE_ON_READ", hive_style=hive, url_encode=url, storage=Watched(), **more,
    )  # fmt: skip
    rows = pa.table({"id": [str(place) for place in range(len(values))], "p": pa.array(values, TYPES[kind])})
    table.upsert(rows)
    table.upsert(rows)
    return table


def read_partitions(table: WritableTable) -> set[str]:
    """The partitions whose files were read since the last time."""
    assert isinstance(table.storage, Watched)
    found = {path.rpartition("/")[0] for path in table.storage.read}
    table.storage.read.clear()
    return found


@pytest.mark.parametrize("hive", [False, True])
@pytest.mark.parametrize(
    ("where", "partitions"),
    [
        ([("p", "=", "b")], {"b"}),
        ([("p", "!=", "b")], {"a", "c"}),
        ([("p", ">", "a"), ("p", "<", "c")], {"b"}),
        ([("p", "=", "z")], set()),
        ([("id", "=", "1")], {"a", "b", "c"}),
        ([("p", "=", "c"), ("id", "=", "0")], {"c"}),
    ],
)
def test_only_partitions_that_may_hold_the_rows_are_read(where: Any, partitions: set[str], hive: bool) -> None:
    """LAY-008: files of other partitions are not opened, neither base files nor logs."""
    table = table_of(["a", "b", "c"], "string", hive=hive)
    for query in (table.snapshot, table.read_optimized, lambda **q: list(table.batches(**q))):
        read_partitions(table)
        query(where=where)
        assert read_partitions(table) == {f"p={name}" if hive else name for name in partitions}


def test_as_of_and_windows_are_pruned_too() -> None:
    """LAY-008, TYP-008: for each query type, partitions that cannot match are not read."""
    table = table_of(["a", "b"], "string")
    for query in (table.incremental, lambda **q: table.as_of("29990101000000000", **q)):
        read_partitions(table)
        assert query(columns=["p"], where=[("p", "=", "a")]).to_pylist() == [{"p": "a"}]
        assert read_partitions(table) == {"a"}


TEXTS = st.one_of(
    st.text("ab/%=+ ü.2F", min_size=1, max_size=4).filter(lambda text: all(step not in ("", ".", "..") for step in text.split("/"))),
    st.sampled_from(["", "__HIVE_DEFAULT_PARTITION__", "%2F", "p=a", "default"]), st.none(),
)  # fmt: skip
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXTS, "int": st.one_of(st.integers(-3, 12), st.none()), "boolean": st.sampled_from([True, False, None]),
}  # fmt: skip


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data(), hive=st.booleans(), url=st.booleans(), operator=st.sampled_from(list(COMPARES)))
def test_pruning_does_not_change_answers(data: st.DataObject, hive: bool, url: bool, operator: str) -> None:
    """MRG-015: for any values and forms of folders, the rows are those that the filter selects from all rows."""
    kind = data.draw(st.sampled_from(list(VALUES)))
    values = data.draw(st.lists(VALUES[kind], min_size=1, max_size=4))
    constant = data.draw(st.one_of(st.sampled_from(values), VALUES[kind]).filter(lambda value: value is not None))
    found = table_of(values, kind, hive=hive, url=url).snapshot(columns=["p"], where=[("p", operator, constant)])
    right = [value for value in values if value is not None and _compare(operator, value, constant)]
    assert sorted(found.column("p").to_pylist()) == sorted(right)


def _compare(operator: str, value: Any, constant: Any) -> bool:
    """Texts compare by their UTF-8 bytes."""
    left, right = (one.encode() if isinstance(one, str) else one for one in (value, constant))
    return COMPARES[operator](left, right)


def test_invalid_comparisons_are_refused() -> None:
    """TYP-007: pruning does not skip the check of comparisons."""
    table = table_of([1, 2], "int")
    with pytest.raises(InvalidQuery):
        table.snapshot(where=[("p", "=", "no number")])
    with pytest.raises(InvalidQuery):
        table.snapshot(where=[("p", "like", 1)])


@pytest.mark.parametrize("entry", ["hoodie.table.keygenerator.type=TIMESTAMP", "hoodie.table.keygenerator.type="])
def test_computed_folders_are_not_pruned(entry: str) -> None:
    """PROP-016: folders made by a pattern, or by an unnamed generator, are not used for pruning."""
    table = table_of(["a", "b"], "string")
    key, _, value = entry.partition("=")
    path = ".hoodie/hoodie.properties"
    lines = table.storage.get(path).decode().splitlines()
    kept = [line for line in lines if not line.startswith(key)] + ([entry] if value else [])
    table.storage.put(path, "\n".join(kept).encode())
    read_partitions(table)
    open_table("x:", storage=table.storage).snapshot(columns=["p"], where=[("p", "=", "a")])
    assert read_partitions(table) == {"a", "b"}


@pytest.mark.parametrize("hive", [False, True])
@pytest.mark.parametrize(
    ("where", "listed"),
    [
        ([("p", "=", "v07")], ["v07"]),
        ([("p", ">", "v38"), ("id", "=", "39")], ["v39"]),
        ([("p", ">=", "v38")], ["v38", "v39"]),
        ([("p", "=", "none")], []),
        ([("p", ">", "v05")], [""]),
        ([("id", "=", "7")], [""]),
    ],
)
def test_only_folders_that_may_hold_the_rows_are_listed(where: Any, listed: list[str], hive: bool) -> None:
    """LAY-009: a filter that few of 40 partitions can satisfy lists these, and one that many can satisfy lists the table."""
    table = table_of([f"v{number:02}" for number in range(40)], "string", hive=hive, url=True)
    assert isinstance(table.storage, Watched)
    table.storage.listed.clear()
    rows = table.snapshot(["id", "p"], where)
    assert [path.removeprefix("p=") for path in table.storage.listed if not path.startswith(".hoodie")] == listed
    everything = table.snapshot(["id", "p"])
    assert sorted(rows.to_pylist(), key=str) == sorted(matching_rows(everything, where).to_pylist(), key=str)


@pytest.mark.parametrize(("asked", "found"), [("a/b", ["0"]), ("a", ["1"]), ("c", ["2"]), ("a/b/c", []), ("x", [])])
def test_values_with_slashes_are_found_below_their_first_folder(asked: str, found: list[str]) -> None:
    """LAY-009: without URL encoding a value may contain `/`, so its first folder is only the beginning of the value."""
    table = table_of(["a/b", "a", "c", *(f"d{number}" for number in range(30))], "string")
    assert table.snapshot(["id"], [("p", "=", asked)]).column("id").to_pylist() == found


@pytest.mark.parametrize("dates", [True, False])
def test_dates_split_into_folders_are_pruned_by_their_values(dates: bool) -> None:
    """LAY-008: the data column holds 2026-07-03 where the folder is 2026/07/03; a filter on it reads that folder only."""
    days = ["2026-07-03", "2026-07-04", "2025-07-03"]
    kind: Any = {"type": "int", "logicalType": "date"} if dates else "string"
    fields = [{"name": "id", "type": "string"}, {"name": "p", "type": ["null", kind], "default": None}]
    table = create_table(
        "x:", name="t", schema={"type": "record", "name": "t", "fields": fields}, record_key=("id",), partition=("p",),
        storage=Watched(), properties={"hoodie.datasource.write.slash.separated.date.partitioning": "true"},
    )  # fmt: skip
    values = pa.array(days).cast(pa.date32()) if dates else pa.array(days)
    table.upsert(pa.table({"id": days, "p": values}))
    storage = table.storage
    assert isinstance(storage, Watched)
    storage.read.clear()
    found = table.snapshot(["id", "p"], [("p", "=", values[0].as_py())])
    assert found.to_pylist() == [{"id": days[0], "p": values[0].as_py()}]
    assert {path.rpartition("/")[0] for path in storage.read} == {"2026/07/03"}
    assert table.snapshot(["id"], [("p", "<", values[0].as_py())]).to_pylist() == [{"id": days[2]}]
