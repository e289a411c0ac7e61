"""A key in several partitions or file groups of a table: inserts do not look keys up, and a record index may be global or not."""

from typing import Any

import deep_damage_samples as d
import pyarrow as pa
import pytest

from hudi_reference.files.base_file import read_base_file

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


def test_a_key_in_two_file_groups_beside_a_lost_file() -> None:
    """LAY-021: the keys of the other slices of a partition are compared if a file of one of them is lost."""
    table = d._create("COPY_ON_WRITE", {"hoodie.parquet.small.file.limit": "0"})
    for number in (0, 2):
        table.upsert(d.rows(number))
    first, lost = d.base_files(table.storage)
    d.copied_group(table.storage)
    table.storage.delete(
        next(one for one in (first, lost) if _keys(table, one) != _keys(table, d.base_files(table.storage)[-1]))
    )
    assert ("LAY-021", WRONG) in _found(table)


def _keys(table: Any, path: str) -> list[str]:
    keys: list[str] = read_base_file(table.storage, path, ["id"]).column("id").to_pylist()
    return keys


def test_the_keys_of_log_files_that_foreign_code_merges_are_not_known() -> None:
    """LAY-021: a key that a file group with such log files and another one have may be deleted in the first one."""
    storage = d.merge_on_read()
    d.copied_group(storage)
    assert "LAY-021" in {one.rule for one in d.found_in(storage)}
    storage = d.with_foreign_merger(d.merge_on_read)
    d.copied_group(storage)
    assert "LAY-021" not in {one.rule for one in d.found_in(storage)}


@pytest.mark.parametrize(
    ("edit", "rule", "meaning", "other"),
    [
        (d.copied_group, "LAY-021", "of which at most one is", True),
        (d.duplicate_in_file, "PROP-017", "of which at most one is", False),
    ],
)
def test_what_is_said_of_a_copied_row(edit: d.Edit, rule: str, meaning: str, other: bool) -> None:
    """LAY-021, PROP-017: a finding names the files that have the key, and whether inserts stored it."""
    storage = d.copy_on_write()
    edit(storage)
    found = next(one for one in d.found_in(storage) if one.rule == rule)
    assert meaning in found.meaning
    assert (" and " in found.found.partition(" in ")[2]) == other


def test_what_is_said_of_a_key_that_was_inserted_twice() -> None:
    """ER-058: inserts do not look keys up."""
    table = d._create("MERGE_ON_READ", {"hoodie.parquet.small.file.limit": "0"})
    for _ in "xx":
        table.insert(row("x"))
    (found,) = [one for one in d.found_in(table.storage) if one.rule == "LAY-021"]
    assert "inserts do not look keys up" in found.meaning
    assert found.path in found.found
