"""Partition columns that are only in folder names: values that can be restored, and values that cannot."""

import datetime
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from reference_samples import SCHEMA, new_table, reopened, rows_of

from hudi_reference import create_table
from hudi_reference.errors import HudiError, MalformedFileName, UnsupportedTableFeature
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.properties import PROPERTIES_PATH, TableProperties
from hudi_reference.layout.properties_writer import with_checksum
from hudi_reference.query.pruning.partition_columns import DroppedColumns, dropped_columns
from hudi_reference.storage import MemoryStorage

STATISTICS = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
DROP = {"hoodie.datasource.write.drop.partition.columns": "true"}


def read(kind: pa.DataType, folder: str, *, hive_style: bool = False, url_encode: bool = False) -> Any:
    """The value of the column `p` of that type in a partition."""
    columns = DroppedColumns(("p",), hive_style, url_encode, {})
    rows = pa.table({"id": ["a"], "p": pa.nulls(1, kind)})
    return columns.filled(rows, folder).column("p").to_pylist()[0]


@pytest.mark.parametrize(
    ("kind", "folder", "value"),
    [
        (pa.string(), "north", "north"),
        (pa.string(), "a/b", "a/b"),
        (pa.string(), "007", "007"),
        (pa.int32(), "-7", -7),
        (pa.int64(), str(2**60), 2**60),
        (pa.bool_(), "false", False),
        (pa.float64(), "1.0E10", 1e10),
        (pa.decimal128(9, 2), "1.50", Decimal("1.50")),
        (pa.date32(), "1969-12-31", datetime.date(1969, 12, 31)),
        (pa.date32(), "__HIVE_DEFAULT_PARTITION__", None),
    ],
)
def test_values_are_restored_with_the_column_type(kind: pa.DataType, folder: str, value: Any) -> None:
    """LAY-008: for types whose values have exactly one text."""
    assert read(kind, folder) == value


def test_names_and_escapes_of_folders_are_no_part_of_the_value() -> None:
    """LAY-006: of field=value the value counts, unescaped where the table escapes."""
    assert read(pa.string(), "p=50%25%2Fa", hive_style=True, url_encode=True) == "50%/a"
    assert read(pa.string(), "50%25") == "50%25"


def test_each_folder_gives_one_of_several_columns() -> None:
    """LAY-005: the levels of the path are the columns in their order; columns that were not asked for are not made."""
    columns = DroppedColumns(("y", "p"), False, False, {})
    rows = pa.table({"id": ["a", "b"], "p": pa.nulls(2, pa.string())})
    assert columns.filled(rows, "2026/n").to_pydict() == {"id": ["a", "b"], "p": ["n", "n"]}


@pytest.mark.parametrize(
    ("kind", "folder", "hive_style"),
    [
        (pa.int32(), "north", False),
        (pa.int32(), str(2**40), False),
        (pa.int64(), "1_000", False),
        (pa.bool_(), "yes", False),
        (pa.date32(), "2026-02-30", False),
        (pa.decimal128(3, 1), "1.25", False),
        (pa.string(), "north", True),
    ],
)
def test_invalid_folder_name_is_an_error(kind: pa.DataType, folder: str, hive_style: bool) -> None:
    """LAY-008: a name that is not a value of the type is an error with its path, and not null."""
    with pytest.raises(MalformedFileName) as caught:
        read(kind, folder, hive_style=hive_style)
    assert caught.value.path == folder


def test_a_path_of_too_many_folders_is_an_error() -> None:
    """LAY-005: it is not known which of several columns contains the slash."""
    with pytest.raises(MalformedFileName):
        DroppedColumns(("y", "p"), False, False, {}).filled(pa.table({"p": pa.nulls(1, pa.string())}), "2026/n/x")


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.binary(), pa.list_(pa.string())])
def test_types_with_several_texts_are_refused(kind: pa.DataType) -> None:
    """LAY-007: the value cannot be restored from the text."""
    with pytest.raises(UnsupportedTableFeature, match="column p"):
        read(kind, "something")


@pytest.mark.parametrize(
    "entries",
    [
        {"hoodie.table.keygenerator.type": "TIMESTAMP"},
        {"hoodie.table.keygenerator.type": "CUSTOM", "hoodie.table.partition.fields": "p:SIMPLE,at:timestamp"},
        {"hoodie.table.keygenerator.type": "USER_PROVIDED", "hoodie.table.partition.fields": "p"},
    ],
)
def test_folders_of_date_patterns_are_refused(entries: dict[str, str]) -> None:
    """LAY-007: the folder of a day does not contain the hour."""
    with pytest.raises(HudiError) as caught:
        dropped_columns(TableProperties({**DROP, **entries}))
    assert isinstance(caught.value, UnsupportedTableFeature)


def test_only_a_table_that_says_so_has_dropped_columns() -> None:
    """LAY-008: everywhere else values come from the records."""
    fields = [{"name": "id", "type": "string"}, {"name": "p", "type": "string"}]
    schema = {"type": "record", "name": "r", "fields": fields}
    found = {}
    for name, properties in (("stored", {}), ("dropped", DROP)):
        table = create_table(
            "", storage=MemoryStorage(), name=name, schema=schema, record_key=["id"], partition=["p"], properties=properties
        )
        found[name] = table.view().reader(table).dropped
    assert found["stored"] is None
    assert found["dropped"] is not None


def test_types_are_those_with_which_the_table_was_created() -> None:
    """LAY-008: a column that metadata leaves out has its type from the table's creation, and else is text."""
    schema = {"type": "record", "name": "r", "fields": [{"name": "y", "type": ["int", "null"]}]}
    entries = {**DROP, "hoodie.table.partition.fields": "y,p", "hoodie.table.create.schema": json.dumps(schema)}
    columns = dropped_columns(TableProperties(entries))
    left = columns.added_to({"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}]})
    assert [(f["name"], f["type"]) for f in left["fields"]] == [
        ("id", "string"),
        ("y", ["int", "null"]),
        ("p", ["null", "string"]),
    ]


@pytest.mark.parametrize(("operator", "expected"), [("is not", ["a"]), ("is", [])])
def test_statistics_of_stored_nulls_are_not_those_of_the_column(operator: str, expected: list[str]) -> None:
    """LAY-008, MDT-010: a clustering of Apache Hudi 1.2.0 stores the columns with nulls; their values are those of the path."""
    table = new_table(partition=("name",), options=STATISTICS)
    table.upsert(rows_of(SCHEMA, {"id": "a", "name": "7"}))
    known = {**load(table.storage.get(PROPERTIES_PATH)), "hoodie.table.partition.fields": "ts", **DROP}
    table.storage.put(PROPERTIES_PATH, dump(with_checksum(known), "edited"))
    rows = reopened(table).snapshot(where=[("ts", operator, None)])
    assert rows.column("id").to_pylist() == expected
