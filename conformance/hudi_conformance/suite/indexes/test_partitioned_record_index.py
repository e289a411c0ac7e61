"""The partitioned record index as writers of version 9 store it: file groups for each partition, and a record for each key."""

import re
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import LISTED, PREFIX, WRITES, IndexedTable, values_where

pytestmark = [pytest.mark.versions(9), pytest.mark.needs(*WRITES, "create.table-version.9")]

LEVEL = f"{PREFIX}record.level.index."
NAME = re.compile(r"\.?record-index-(.*)-(\d{4})-0_.*")


def groups_of_partitions(table: IndexedTable) -> dict[str, int]:
    """Return the number of file groups of the index for each escaped partition in their file ids."""
    names = {match.groups() for path in table.metadata_files("record_index/*") if (match := NAME.fullmatch(path.split("/")[1]))}
    return {part: sum(other == part for other, _ in names) for part, _ in names}


def settings_of(fewest: int, most: int) -> dict[str, Any]:
    """Return the settings of a writer with the index, for these numbers of file groups in a partition."""
    return {
        **LISTED, f"{LEVEL}enable": "true", "hoodie.index.type": "RECORD_LEVEL_INDEX",
        f"{LEVEL}min.filegroup.count": str(fewest), f"{LEVEL}max.filegroup.count": str(most),
    }  # fmt: skip


def write_table(engine: Client, uri: str, type: Type, fewest: int, most: int) -> IndexedTable:
    """Return a table with one key in two partitions, and one key in a partition whose name has separators."""
    table = IndexedTable(engine, uri, type, settings_of(fewest, most), version=9)
    rows = (row("a", 1, "x"), row("a", 1, "x", "rio"), row("b", 1, "x", "la_paz-1"))
    return table.write(Step("upsert", rows), Step("upsert", (row("a", 2, "y", "rio"), row("c", 1, "z"))))


@BOTH_TYPES
@pytest.mark.parametrize(("fewest", "most"), [(1, 10), (3, 10), (3, 3)])
@pytest.mark.requirements("IDX-047", "IDX-009")
def test_each_partition_has_its_own_groups(engine: Client, new_uri: NewUri, type: Type, fewest: int, most: int) -> None:
    """IDX-047: a partitioned record index has the least number of file groups for each partition of the data, and the escaped
    partition is in their file ids.
    """
    table = write_table(engine, new_uri(), type, fewest, most)
    assert groups_of_partitions(table) == {"oslo": fewest, "rio": fewest, "la%5Fpaz%2D1": fewest}


@BOTH_TYPES
@pytest.mark.needs("read.filter", "read.projection")
@pytest.mark.requirements("IDX-047", "IDX-011")
def test_a_partition_keeps_its_number_of_groups(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-011: the number of file groups of a partition follows from the records of the write that is the first one to it. A
    later write with more records adds none: the keys of before would be looked up in other file groups.
    """
    small = {f"{PREFIX}record.index.max.filegroup.size": "48"}  # the bytes of one record
    table = IndexedTable(engine, new_uri(), type, {**settings_of(1, 10), **small}, version=9)
    table.write(Step("upsert", (row("a", 1, "x"),)))
    made = groups_of_partitions(table)
    more = [row(f"k{number}", 1, "x") for number in range(12)]
    table.write(Step("upsert", tuple(more)), Step("delete", (row("k3", 0, ""),)), Step("upsert", (row("a", 2, "y"),)))
    assert groups_of_partitions(table) == made
    for key in ("a", "k0", "k11"):
        assert values_where(engine, table.uri, ("id", "=", key)) == [key]
    table.check_rows("after three writes")


@BOTH_TYPES
@pytest.mark.requirements("IDX-048", "IDX-011")
def test_a_key_in_two_partitions_is_two_records(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-048: an update changes the record of its partition alone; the same key in another partition keeps its values."""
    table = write_table(engine, new_uri(), type, 2, 2)
    table.check_rows("after updates")
    assert len(table.records("record_index")) == 4
    table.write(Step("delete", (row("a", 0, "", "rio"),)))
    table.check_rows("after a delete")


@BOTH_TYPES
@pytest.mark.needs("service.index", "service.index.named", "read.filter", "read.projection")
@pytest.mark.requirements("IDX-048", "IDX-024")
def test_a_value_is_found_beside_a_secondary_index(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-048: a secondary index leads to keys, each of which may be in several partitions. A filter on a value finds the rows
    of each partition.
    """
    table = write_table(engine, new_uri(), type, 2, 2)
    table.index_values()
    for value, keys in (("x", ["a", "b"]), ("y", ["a"]), ("z", ["c"])):
        assert values_where(engine, table.uri, ("value", "=", value)) == keys, value


@BOTH_TYPES
@pytest.mark.needs("service.index", "service.index.named", "read.filter", "read.projection")
@pytest.mark.requirements("IDX-021", "IDX-030", "IDX-048")
def test_an_entry_of_two_rows_stays_until_both_have_gone(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-030: rows of two partitions with one key and one value share an entry of a secondary index. It stays valid when one
    of the rows is updated or deleted, and goes with the other one.
    """
    table = IndexedTable(engine, new_uri(), type, settings_of(1, 1), version=9)
    table.write(Step("upsert", tuple(row(key, 1, "x", city) for key in "ab" for city in ("oslo", "rio"))))
    table.index_values()
    steps = (
        (Step("upsert", (row("a", 2, "y", "rio"),)), {"x": ["a", "b", "b"], "y": ["a"]}),
        (Step("delete", (row("b", 0, "", "oslo"),)), {"x": ["a", "b"], "y": ["a"]}),
        (Step("upsert", (row("a", 2, "y"),)), {"x": ["b"], "y": ["a", "a"]}),
        (Step("delete", (row("b", 0, "", "rio"),)), {"x": [], "y": ["a", "a"]}),
    )
    for step, expected in steps:
        table.write(step)
        pairs = {f"{value}${key}" for value, keys in expected.items() for key in keys}
        assert set(table.records("secondary_index_by_value")) == pairs, step
        for value, keys in expected.items():
            assert values_where(engine, table.uri, ("value", "=", value)) == keys, (step, value)


@BOTH_TYPES
@pytest.mark.needs("service.rollback", "read.filter", "read.projection")
@pytest.mark.requirements("IDX-047", "IDX-011", "TL-019")
def test_a_rolled_back_write_created_the_groups_of_a_partition(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-011: the first write to a partition crashed when the metadata table had its entries, and another write has added
    entries to the file groups that it created. After the rollback the partition has all its groups, and each key is found.
    """
    table = write_table(engine, new_uri(), type, 4, 4)
    crashed = engine.write(table.uri, "upsert", as_arrow([row("z", 1, "crashed", "lima")]), options=table.settings)
    for path in (table.folder / ".hoodie" / "timeline").glob(f"{crashed}_*"):
        path.unlink()
    table.write(Step("upsert", (row("m", 1, "added", "lima"),)))
    if any((table.folder / ".hoodie" / "timeline").glob(f"{crashed}.*")):  # an engine may roll it back before its next write
        # The markers are gone: they were deleted after the completion that the case has taken away.
        options = {**table.settings, "hoodie.rollback.using.markers": "false"}
        engine.service(table.uri, "rollback", instant=crashed, options=options)
    table.write(Step("upsert", tuple(row(f"n{number}", 1, "x", "lima") for number in range(6)))).write(
        Step("upsert", (row("m", 2, "updated", "lima"),))
    )
    assert groups_of_partitions(table)["lima"] == 4
    for key in ("m", "n0", "n5"):
        assert values_where(engine, table.uri, ("id", "=", key)) == [key]
    table.check_rows("after the rollback and two writes")
