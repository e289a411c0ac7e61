"""A key in several partitions or file groups of a table: inserts do not look keys up, and a record index may be global or not."""

from typing import Any

import deep_damage_samples as d
import pyarrow as pa
import pytest

WRONG, COSMETIC = "wrong-answers", "cosmetic"
_INDEX = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.index.min.filegroup.count": "2"}
GLOBAL = {**_INDEX, "hoodie.metadata.record.index.enable": "true"}
PARTITIONED = {**_INDEX, "hoodie.metadata.record.level.index.enable": "true"}


def row(partition: str) -> pa.Table:
    """A row of one key in a partition."""
    rows = d.rows(0)
    return rows.set_column(rows.column_names.index("p"), "p", pa.array([partition]))


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize(
    ("options", "partitions", "expected"),
    [
        (GLOBAL, "xy", {("IDX-010", COSMETIC)}),
        (GLOBAL, "xx", {("LAY-021", COSMETIC)}),
        (PARTITIONED, "xy", set()),
        (PARTITIONED, "xx", {("LAY-021", COSMETIC)}),
        ({}, "xy", set()),
        ({}, "xx", {("LAY-021", COSMETIC)}),
    ],
)
def test_a_key_that_was_inserted_twice(
    table_type: str, options: dict[str, str], partitions: str, expected: set[tuple[str, str]]
) -> None:
    """ER-058: inserts do not look keys up, and a partitioned index has each key of each partition."""
    table = d._create(table_type, {**options, "hoodie.parquet.small.file.limit": "0"})
    for partition in partitions:
        table.insert(row(partition))
    assert _found(table) == expected


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_later_update_of_one_of_the_rows_changes_nothing(table_type: str) -> None:
    """ER-216: also if the update wrote one of the two file groups alone, inserts made the second row."""
    table = d._create(table_type, GLOBAL)
    for partition in "xy":
        table.insert(row(partition))
    for partition in "xyx":
        d._reopened(table, GLOBAL).upsert(row(partition))
        assert _found(table) == {("IDX-010", COSMETIC)}


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_global_index_of_keys_of_partitions(table_type: str) -> None:
    """Upserts without a global index made two records; an index that was built later finds one of them."""
    table = d._create(table_type, {})
    for partition in "xy":
        d._reopened(table, {}).upsert(row(partition))
    assert _found(table) == set()
    d._reopened(table, GLOBAL).upsert(d.rows(2))  # builds the index
    assert _found(table) == {("IDX-010", WRONG)}
    reader = d._reopened(table, {})
    assert len(reader.snapshot(where=(("id", "=", "k00"),))) < len(reader.snapshot())


def _found(table: Any) -> set[tuple[str, str]]:
    return {(one.rule, one.severity) for one in d.found_in(table.storage)}
