"""Writing a DataFrame with Hudi's options: the modes of Spark's writers, and every operation, spread over the executors."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import pyarrow as pa
from pyspark.sql import DataFrame

from hudi_reference import WritableTable
from hudi_reference.errors import Misuse, TableExists, TableNotFound
from hudi_spark import write
from hudi_spark.arrow import arrow_schema_of
from hudi_spark.source.write_options import Operation, WriteOptions

Mode = Literal["append", "overwrite", "ignore", "errorifexists"]

_WRITES: Mapping[Operation, Callable[..., str]] = {
    "upsert": write.upsert,
    "insert": write.insert,
    "bulk_insert": write.bulk_insert,
    "delete": write.delete,
    "partial_update": write.partial_update,
    "insert_overwrite": write.insert_overwrite,
    "insert_overwrite_table": write.insert_overwrite_table,
    "delete_partition": write.delete_partition,
}


def save(df: DataFrame, uri: str, *, mode: Mode = "errorifexists", options: Mapping[str, str] | None = None) -> str | None:
    """Write `df` as `df.write.format("hudi").options(...).mode(...).save(uri)` does; the requested time of the instant.

    Args:
        df: the rows; for `delete` key and partition columns, for `delete_partition` the partition columns.
        uri: the base path. Where there is no table, one is created from the options and the columns of `df`.
        mode: what happens to a table that exists: `append` runs the operation, `overwrite` replaces all rows by one action
            (or the partitions of the rows, with the operation `insert_overwrite`), `ignore` does nothing and returns None,
            `errorifexists` raises TableExists.
        options: Hudi's options, see docs/spark-engine.md.

    Raises:
        Misuse: unknown or contradictory options; there is no table, and the operation creates none.
    """
    asked = WriteOptions.parse(options or {})
    if mode not in get_args(Mode):
        raise Misuse("unknown mode", expected=", ".join(get_args(Mode)), found=mode)
    table = asked.table_at(uri)
    if table is not None and mode == "errorifexists":
        raise TableExists("there is a table already", rule="LAY-013", path=uri, remedy="mode append or overwrite")
    if table is not None and mode == "ignore":
        return None
    if table is None:
        table = create_for(asked, uri, arrow_schema_of(df.schema))
    chosen: dict[str, Any] = {"options": dict(asked.settings)}
    return _WRITES[operation_of(asked, table, overwrite=mode == "overwrite")](df, uri, **chosen)


def create_for(asked: WriteOptions, uri: str, columns: pa.Schema) -> WritableTable:
    """Create the table of a first write. Raises TableNotFound for an operation that adds no rows."""
    if asked.operation in ("delete", "partial_update", "delete_partition"):
        raise TableNotFound("there is no table", rule="LAY-001", path=uri, expected="a table", found=asked.operation)
    return asked.create(uri, columns)


def operation_of(asked: WriteOptions, table: WritableTable, *, overwrite: bool) -> Operation:
    """The operation of a write in a mode. Raises Misuse for an operation that cannot overwrite."""
    if not overwrite:
        return asked.operation or ("upsert" if table.properties.record_key else "insert")
    if asked.operation in ("delete", "partial_update", "delete_partition"):
        raise Misuse("this operation does not overwrite", expected="mode append", found=asked.operation)
    return "insert_overwrite" if asked.operation == "insert_overwrite" else "insert_overwrite_table"
