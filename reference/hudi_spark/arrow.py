"""Rows between the reference's Arrow tables and Spark.

Spark matches the columns of an Arrow batch by position and accepts one Arrow type for each of its own types, so every batch is
converted to the exact schema before it goes to the JVM.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.types as pt
from pyspark.errors import PySparkTypeError
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import DataType, StructType, TimestampNTZType, TimestampType

from hudi_reference.errors import UnsupportedSchema
from hudi_reference.query.table import Table
from hudi_reference.schema.avro import arrow_schema
from hudi_reference.schema.evolution import conform

#: Rows of one batch for the JVM.
ROWS_PER_BATCH = 65_536


def spark_schema(fields: pa.Schema) -> StructType:
    """The Spark columns for Arrow columns; raises UnsupportedSchema for a type that Spark lacks.

    Times of day in milliseconds become Spark's type of times, which PySpark makes of microseconds only.
    """
    try:
        return from_arrow_schema(with_times_in_microseconds(fields), prefer_timestamp_ntz=True)
    except PySparkTypeError as error:
        raise UnsupportedSchema("Spark has no type for a column", rule="LF-038", found=str(error)) from error


def with_times_in_microseconds(fields: pa.Schema) -> pa.Schema:
    """The columns with times of day in microseconds, which both Spark and tables have."""
    return pa.schema([_in_microseconds(field) for field in fields])


def _in_microseconds(field: pa.Field) -> pa.Field:
    """The field with times of day in microseconds, also in nested types."""
    kind = field.type
    if pt.is_time(kind):
        return field.with_type(pa.time64("us"))
    if pt.is_struct(kind):
        return field.with_type(pa.struct([_in_microseconds(part) for part in kind]))
    if pt.is_list(kind):
        return field.with_type(pa.list_(_in_microseconds(kind.value_field)))
    if pt.is_map(kind):
        return field.with_type(pa.map_(kind.key_type, _in_microseconds(kind.item_field)))
    return field


def arrow_schema_of(schema: StructType) -> pa.Schema:
    """The Arrow columns in which Spark exchanges rows of `schema`: timestamps in microseconds and UTC."""
    return to_arrow_schema(schema, timezone="UTC")


def times_of_other_kind(incoming: StructType, table: Table) -> dict[str, DataType]:
    """The timestamps that the table has with a zone where `incoming` has none, or the other way, with their types there.

    Spark converts these by the time zone of the session, Arrow in UTC.
    """
    found = {one.name: type(one.dataType) for one in incoming if isinstance(one.dataType, TimestampType | TimestampNTZType)}
    if not found:
        return {}
    stored = ((one.name, one.type) for one in arrow_schema(table.view().schema) if pt.is_timestamp(one.type))
    wanted = {name: TimestampNTZType() if kind.tz is None else TimestampType() for name, kind in stored if name in found}
    return {name: kind for name, kind in wanted.items() if type(kind) is not found[name]}


def batches(rows: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """`rows` with exactly the columns of `schema`, in batches for the JVM."""
    yield from conform(rows, schema, "rows for Spark").to_batches(max_chunksize=ROWS_PER_BATCH)
