"""Rows between the reference's Arrow tables and Spark.

Spark matches the columns of an Arrow batch by position and accepts one Arrow type for each of its own types, so every batch is
converted to the exact schema before it goes to the JVM.
"""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from hudi_reference.errors import UnsupportedSchema
from hudi_reference.schema.evolution import conform

#: Rows of one batch for the JVM.
ROWS_PER_BATCH = 65_536


def spark_schema(fields: pa.Schema) -> StructType:
    """The Spark columns for Arrow columns; raises UnsupportedSchema for a type that Spark lacks (times in milliseconds)."""
    try:
        return from_arrow_schema(fields)
    except PySparkTypeError as error:
        raise UnsupportedSchema("Spark has no type for a column", rule="LF-038", found=str(error)) from error


def arrow_schema_of(schema: StructType) -> pa.Schema:
    """The Arrow columns in which Spark exchanges rows of `schema`: timestamps in microseconds and UTC."""
    return to_arrow_schema(schema, timezone="UTC")


def batches(rows: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """`rows` with exactly the columns of `schema`, in batches for the JVM."""
    yield from conform(rows, schema, "rows for Spark").to_batches(max_chunksize=ROWS_PER_BATCH)
