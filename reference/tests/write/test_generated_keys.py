"""Tables without record key fields: rows get generated keys, which they keep through changes and services."""

import pyarrow as pa
import pytest
from reference_samples import SCHEMA, TABLE_TYPES, contents, new_table, trip, trips

from hudi_reference import WritableTable, open_table
from hudi_reference.errors import InvalidRows, UnsupportedTableFeature
from hudi_reference.services.clustering.clustering import cluster
from hudi_reference.services.compaction.compaction import compact

BOTH = pytest.mark.parametrize("kind", TABLE_TYPES)
KEY = "_hoodie_record_key"
INDEXED = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.index.enable": "true"}


def keyless(kind: str = "COPY_ON_WRITE", partition: tuple[str, ...] = ("p",), **more: object) -> WritableTable:
    return new_table(record_key=(), partition=partition, table_type=kind, **more)


def rows(table: WritableTable) -> list[tuple[str, str, str]]:
    found = table.snapshot([KEY, "id", "name"]).to_pylist()
    return sorted((r[KEY], r["id"], r["name"]) for r in found)


def changed(table: WritableTable, key: str, name: str) -> pa.Table:
    """The row of that key with another name, as an engine changes the result of a query."""
    found = table.snapshot([KEY, *(field["name"] for field in SCHEMA["fields"])])
    row = found.filter(pa.compute.equal(found.column(KEY), key))
    return row.set_column(row.column_names.index("name"), "name", pa.array([name]))


@BOTH
def test_each_row_gets_a_key(kind: str) -> None:
    """META-007: equal rows are two records; a key is commit time, number of the file and row, as deployed writers make it."""
    table = keyless(kind)
    assert table.properties.get("hoodie.table.recordkey.fields") == ""
    assert "hoodie.table.recordkey.fields" not in table.properties.entries
    assert table.properties.get("hoodie.table.keygenerator.type") == "SIMPLE"
    first = table.insert(trips(trip("a", p="x"), trip("a", p="x"), trip("b", p="y")))
    second = table.bulk_insert(trips(trip("a", p="x")))
    assert [key for key, _, _ in rows(table)] == [f"{first}_0_0", f"{first}_0_1", f"{first}_1_0", f"{second}_0_0"]


@BOTH
def test_changes_keep_keys(kind: str) -> None:
    """META-007: an update and a delete name the record by its key; compaction and clustering keep the keys."""
    table = keyless(kind, options=INDEXED)
    time = table.insert(trips(trip("a", "1", p="x"), trip("a", "2", p="x"), trip("b", "1", p="y")))
    table.upsert(changed(table, f"{time}_0_1", "changed"))
    table.delete(changed(table, f"{time}_1_0", "gone").select([KEY, "p"]))
    expected = [(f"{time}_0_0", "a", "1"), (f"{time}_0_1", "a", "changed")]
    assert rows(table) == expected
    if kind == "MERGE_ON_READ":
        assert compact(table, {"hoodie.compact.inline.max.delta.commits": "1"}) is not None
    assert cluster(table) is not None
    assert rows(table) == expected
    table.insert_overwrite(trips(trip("z", "new", p="x")))
    assert [(key, name) for _, key, name in rows(table)] == [("z", "new")]


def test_new_rows_in_logs_get_keys() -> None:
    """META-007: rows that are stored in a log file have generated keys, too."""
    table = keyless("MERGE_ON_READ", partition=())
    time = table.insert(trips(trip("a"), trip("a")), new_keys_in_logs=True)
    assert [key for key, _, _ in rows(table)] == [f"{time}_0_0", f"{time}_0_1"]


@pytest.mark.parametrize("given", ["no key", "a null", "an unknown key"])
def test_a_change_without_a_record_changes_nothing(given: str) -> None:
    """PROP-007: a row that names no record is refused; it is not inserted under a key of its own."""
    table = keyless()
    time = table.insert(trips(trip("a", "1", p="x")))
    row = changed(table, f"{time}_0_0", "new")
    if given == "no key":
        row = row.drop_columns([KEY])
    else:
        row = row.set_column(0, KEY, pa.array([None if given == "a null" else "elsewhere"], pa.string()))
    before = contents(table.storage)
    with pytest.raises(InvalidRows):
        table.upsert(row)
    assert contents(table.storage) == before


def test_keys_need_meta_columns() -> None:
    """META-012: a table that leaves its meta columns empty has no place for generated keys."""
    table = keyless(properties={"hoodie.populate.meta.fields": "false"})
    with pytest.raises(UnsupportedTableFeature):
        table.insert(trips(trip("a", p="x")))


def test_keys_among_inserted_rows_are_ignored() -> None:
    """META-007: rows of a query are inserted again as new records."""
    table = keyless()
    time = table.insert(trips(trip("a", "1", p="x")))
    again = open_table("x:", storage=table.storage, clock=table.clock, ids=table.ids).insert(changed(table, f"{time}_0_0", "2"))
    assert rows(table) == [(f"{time}_0_0", "a", "1"), (f"{again}_0_0", "a", "2")]
