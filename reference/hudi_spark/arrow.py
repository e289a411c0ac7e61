"""Rows between the reference's Arrow tables and Spark.

Spark matches the columns of an Arrow batch by position and accepts one Arrow type for each of its own types, so every batch is
converted to the exact schema before it goes to the JVM.
"""

from collections.abc import Iterator
from inspect import signature

import pyarrow as pa
import pyarrow.types as pt
from pyspark.errors import PySparkTypeError
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType, TimestampNTZType, TimestampType

from hudi_reference.errors import UnsupportedSchema
from hudi_reference.query.table import Table
from hudi_reference.schema.avro import arrow_schema
from hudi_reference.schema.evolution import conform

#: Rows of one batch for the JVM.
ROWS_PER_BATCH = 65_536
#: PySpark before 4.2 knows no other zone.
_IN_UTC = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}


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
    return to_arrow_schema(schema, **_IN_UTC)


def times_of_other_kind(incoming: StructType, table: Table) -> dict[str, DataType]:
    """The columns with timestamps with a zone where the table has local times, or the other way, and their types in the table.

    Spark converts these by the time zone of the session, Arrow in UTC. Timestamps are also found in structs, arrays and maps.
    """
    if "timestamp" not in incoming.simpleString():
        return {}
    stored = arrow_schema(table.view().schema)
    wanted = {
        one.name: _with_times_of(one.dataType, stored.field(one.name).type) for one in incoming if one.name in stored.names
    }
    return {one.name: wanted[one.name] for one in incoming if one.name in wanted and wanted[one.name] != one.dataType}


def _with_times_of(found: DataType, stored: pa.DataType) -> DataType:
    """The type `found` with timestamps of the kinds that `stored` has in the same places."""
    if isinstance(found, TimestampType | TimestampNTZType) and pt.is_timestamp(stored):
        return TimestampNTZType() if stored.tz is None else TimestampType()
    if isinstance(found, ArrayType) and pt.is_list(stored):
        return ArrayType(_with_times_of(found.elementType, stored.value_type), found.containsNull)
    if isinstance(found, MapType) and pt.is_map(stored):
        key, value = _with_times_of(found.keyType, stored.key_type), _with_times_of(found.valueType, stored.item_type)
        return MapType(key, value, found.valueContainsNull)
    if isinstance(found, StructType) and pt.is_struct(stored):
        kinds = {part.name: part.type for part in stored}
        return StructType(
            [
                StructField(one.name, _with_times_of(one.dataType, kinds.get(one.name, pa.null())), one.nullable, one.metadata)
                for one in found
            ]
        )
    return found


def batches(rows: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """`rows` with exactly the columns of `schema`, in batches for the JVM."""
    yield from conform(rows, schema, "rows for Spark").to_batches(max_chunksize=ROWS_PER_BATCH)
