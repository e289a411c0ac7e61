"""Writes of some columns, and of more columns than the table had, as DataFrames: the table is the one that the reference writes."""

from typing import Any

import pyarrow as pa
import pytest
from reference_samples import FLAGGED_SCHEMA, TABLE_TYPES, data_rows, flagged, keys, trip

from hudi_reference import create_table, open_table
from hudi_reference.errors import HudiError

pytest.importorskip("pyspark", reason="needs the extra spark")

import hudi_spark

RECONCILE = {"hoodie.datasource.write.reconcile.schema": "true"}


def changes(**columns: list[Any]) -> pa.Table:
    """Rows of a partial update of the records 1, gone and unknown."""
    return pa.table({"id": ["1", "gone", "unknown"], "ts": pa.array([5, 5, 5], pa.int64()), "p": ["a", "a", "a"], **columns})


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_dataframe_of_some_columns_changes_only_these(spark: Any, make_table: Any, tmp_path: Any, table_type: Any) -> None:
    """LF-046: late ones change nothing, unknown and deleted records are not added, and the other columns keep their values."""
    options: dict[str, Any] = {"schema": FLAGGED_SCHEMA, "table_type": table_type, "ordering": ("ts",), "partition": ("p",)}
    table = make_table(**options)
    twin = create_table(str(tmp_path / "twin"), name="trips", record_key=("id",), **options)
    first = flagged(trip("1", "old", 1, "a"), trip("2", "old", 9, "b"), trip("gone", "old", 1, "a"))
    late = pa.table({"id": ["2"], "ts": pa.array([4], pa.int64()), "p": ["b"], "name": ["late"]})
    steps = [
        ("upsert", first),
        ("delete", keys("gone", p=["a"])),
        ("partial_update", changes(name=["new", "new", "new"])),
        ("partial_update", late),
        ("partial_update", changes(name=pa.nulls(3, pa.string()))),
    ]
    for operation, rows in steps:
        getattr(twin, operation)(rows)
        getattr(hudi_spark, operation)(spark.createDataFrame(rows), table.uri)
        assert data_rows(open_table(table.uri).snapshot()) == data_rows(twin.snapshot()), operation


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_dataframe_extends_the_schema_if_configured(spark: Any, make_table: Any, table_type: Any) -> None:
    """LF-038: new, wider and missing columns are taken with the setting, and refused without."""
    table = make_table(table_type=table_type, ordering=("ts",), partition=("p",))
    hudi_spark.upsert(spark.createDataFrame(pa.table({"id": ["1", "2"], "name": ["old", "old"], "ts": [1, 1], "p": ["a", "a"]})),
                      table.uri)  # fmt: skip
    wider = spark.createDataFrame(pa.table({"id": ["1"], "ts": [2], "p": ["a"], "fare": [1.5]}))
    with pytest.raises(HudiError):
        hudi_spark.upsert(wider, table.uri)
    hudi_spark.upsert(wider, table.uri, options=RECONCILE)
    rows = {row["id"]: row for row in open_table(table.uri).snapshot().to_pylist()}
    assert (rows["1"]["name"], rows["1"]["fare"]) == (None, 1.5)
    assert (rows["2"]["name"], rows["2"]["fare"]) == ("old", None)
