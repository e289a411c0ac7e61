"""New indexes: the number of their file groups, and the definition that the indexing service stores."""

from dataclasses import replace
from typing import Any

import pytest
from reference_samples import new_table, trip, trips

from hudi_conformance.explorer.crash_points import copy_storage
from hudi_conformance.suite.support.tables.older_tables import golden_table
from hudi_reference import WritableTable, archive, clean, migrate, open_table
from hudi_reference.errors import Misuse
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.availability import USABLE, read_definitions
from hudi_reference.metadata.indexes.all import index_of
from hudi_reference.metadata.indexes.index import groups_for_keys
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.services.indexing.indexing import create_index, execute_indexing, index, schedule_indexing
from hudi_reference.storage import LocalStorage

RECORDS = "hoodie.metadata.record.index."
LISTED = {"hoodie.metadata.enable": "true"}
INDEXED = {**LISTED, f"{RECORDS}enable": "true"}
STATISTICS = "hoodie.metadata.index.column.stats."


def of_records(**given: str) -> dict[str, str]:
    """Settings of the record index by the ends of their names."""
    names = {"least": "min.filegroup.count", "most": "max.filegroup.count", "size": "max.filegroup.size",
             "growth": "growth.factor"}  # fmt: skip
    return {f"{RECORDS}{names[name]}": value for name, value in given.items()}


#: Settings, number of records, and the number of file groups that Apache Hudi 1.0.2 creates.
DEPLOYED = [
    ({}, 0, 10),
    ({}, 1000, 10),
    (of_records(size="4800", least="1"), 0, 1),
    (of_records(size="4800", least="1"), 1000, 20),
    (of_records(size="4800", least="1", growth="3.5"), 1000, 35),
    (of_records(size="4800", least="1", most="7"), 1000, 7),
    (of_records(least="3"), 1000, 3),
    (of_records(least="5", most="5", size="480"), 1000, 5),
    (of_records(size="1000", least="1"), 999, 99),
    (of_records(size="48", least="1", most="13", growth="0.5"), 21, 11),
]


@pytest.mark.parametrize(("options", "records", "groups"), DEPLOYED)
def test_file_groups_of_a_record_index(options: dict[str, str], records: int, groups: int) -> None:
    """IDX-011: as many as Apache Hudi 1.0.2 creates."""
    assert groups_for_keys(options, records) == groups


@pytest.mark.parametrize("given", [{"size": "47"}, {"least": "0"}, {"most": "many"}, {"growth": "-1"}, {"growth": "nan"}])
def test_invalid_numbers_are_refused_before_the_write(given: dict[str, str]) -> None:
    """IDX-011: nothing is on the timeline afterwards."""
    table = new_table(options={**INDEXED, **of_records(**given)})
    with pytest.raises(Misuse, match="IDX-011"):
        table.insert(trips(trip("a", "one", 1, "x")))
    assert not table.timeline.instants


def groups_in(table: WritableTable, partition: str) -> int:
    """The number of file groups of a partition of the metadata table."""
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    return len(metadata.groups(partition))


def rows(count: int) -> Any:
    """Rows with different keys."""
    return trips(*(trip(f"k{number}", "v", 1, "x") for number in range(count)))


def test_indexes_by_key_grow_with_the_table() -> None:
    """IDX-011: an index of an existing table has file groups for its rows, whether a write or the indexing service creates
    it; so has a secondary index. Every key is found.
    """
    small = of_records(size="96", least="1")
    by_write, by_service = (new_table(options=LISTED) for _ in range(2))
    for table in (by_write, by_service):
        table.insert(rows(30))
    replace(by_write, options={**INDEXED, **small}).upsert(rows(1))
    assert index(by_service, {f"{RECORDS}enable": "true", **small}) is not None
    for table in (by_write, by_service):
        assert groups_in(table, "record_index") == 30
        found = open_table("x:", storage=table.storage)
        create_index(replace(found, options=small), "by_name", "name")
        assert groups_in(found, "secondary_index_by_name") == 30
        assert found.snapshot(["id"], [("id", "=", "k7")]).num_rows == 1


def test_the_indexing_service_defines_column_statistics() -> None:
    """IDX-022: the definition names the columns of the service's settings. Writers that go on while the index is built, without
    these settings, add entries of the same columns; so does the execution.
    """
    table = new_table(options=LISTED)
    table.insert(rows(2))
    requested = schedule_indexing(table, {f"{STATISTICS}enable": "true", f"{STATISTICS}column.list": "ts,name"})
    assert requested is not None
    open_table("x:", storage=table.storage, clock=table.clock, ids=table.ids, options=LISTED).upsert(
        trips(trip("z", "late", 7, "x"))
    )
    execute_indexing(table, requested)
    properties = read_properties(table.storage)
    (definition,) = read_definitions(table.storage, properties)
    assert definition.partition == "column_stats" and definition.columns[-2:] == ("ts", "name") and len(definition.columns) == 5
    assert properties.fields(USABLE) == ("column_stats", "files")
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    columns = {record.payload.column for record in metadata.records("column_stats", table.timeline).values()}  # type: ignore[union-attr]
    assert columns == set(definition.columns)


def test_services_keep_tables_with_statistics_up_to_date() -> None:
    """MDT-001: after cleans and archiving of the timeline, filters select the same rows as without the metadata table."""
    options = {**INDEXED, f"{STATISTICS}enable": "true", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3",
               "hoodie.clean.commits.retained": "1", "hoodie.cleaner.commits.retained": "1"}  # fmt: skip
    table = new_table(options=options)
    for number in range(8):
        table.upsert(trips(trip("a", "x", number, "x"), trip(f"k{number}", "v", number, "x")))
        clean(table)
    archive(table)
    assert len(table.timeline.completed) < 16
    indexed, plain = (
        open_table("x:", storage=table.storage, options={"hoodie.metadata.enable": on}) for on in ("true", "false")
    )
    for where in ([("ts", "=", 7)], [("ts", "<", 3)], [("id", "in", ["a", "k2"])]):
        found, wanted = (sorted(one.snapshot(["id"], where).column("id").to_pylist()) for one in (indexed, plain))
        assert found == wanted and wanted, where


@pytest.mark.parametrize("name", ["v6.cow", "v6.mor", "v6.mor.compacted"])
def test_a_migrated_table_gets_every_index(name: str) -> None:
    """MDT-001: the first write after a migration creates the metadata table; its entries are those of a new index, and filters
    select the same rows as without it.
    """
    storage = copy_storage(LocalStorage(golden_table(name)))
    migrate("x:", storage=storage)
    options = {**INDEXED, f"{STATISTICS}enable": "true", "hoodie.index.type": "RECORD_INDEX"}
    table = open_table("x:", storage=storage, options=options)
    before = table.snapshot(["id", "ts", "p", "name"])
    table.upsert(before.slice(0, 1))
    indexed, plain = (open_table("x:", storage=storage, options={"hoodie.metadata.enable": on}) for on in ("true", "false"))
    assert {"column_stats", "record_index"} <= set(indexed.properties.fields(USABLE))
    found = MetadataTable.for_table(indexed)
    assert found is not None
    for partition in ("column_stats", "record_index"):
        expected = {record.key for record in index_of(indexed, partition).whole(indexed, indexed.view())}
        assert set(found.records(partition, indexed.timeline)) == expected, partition
    for one in before.to_pylist():
        for where in ([("id", "=", one["id"])], [("ts", "<=", one["ts"])]):
            rows = [sorted(map(repr, each.snapshot(["id", "ts", "p", "name"], where).to_pylist())) for each in (indexed, plain)]
            assert rows[0] == rows[1] and rows[0], where
