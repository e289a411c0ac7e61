"""The format `hudi-reference`: tables in `spark.read.format(...)`, in writers, in streams, and in SQL.

    hudi_spark.register(spark)
    spark.read.format("hudi-reference").option("as.of.instant", "20260101000000000").load(uri)
    spark.read.format("hudi-reference").option("query", "cdc").option("begin", "20260101000000000").load(uri)
    CREATE TEMPORARY VIEW trips USING `hudi-reference` OPTIONS (path 'file:///data/trips')

`source.options` has the options. Python reads every slice, with one partition for each. The options `columns` and `where`
choose what is read; Spark passes no columns, and its filters only where `register` is told so. `hudi_spark.read` lets Spark
read base files and is faster.
"""

from collections.abc import MutableMapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyspark
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
)
from pyspark.sql.types import StructType

from hudi_reference import WritableTable
from hudi_reference.errors import InvalidRows, Misuse
from hudi_reference.layout.merge_settings import check_unchanged
from hudi_spark.arrow import arrow_schema_of, spark_schema, times_of_other_kind
from hudi_spark.read import make_plan
from hudi_spark.save import create_for, operation_of
from hudi_spark.source.append import Appender
from hudi_spark.source.batch import PlainReader
from hudi_spark.source.options import path_of, read_arguments
from hudi_spark.source.releases import PUSHES_FILTERS
from hudi_spark.source.staged import Stage, StagedWriter
from hudi_spark.source.streams import StreamReader, StreamWriter, name_of_stream
from hudi_spark.source.table_function import register_function
from hudi_spark.source.write_options import Operation, WriteOptions
from hudi_spark.write import places_by_lookup, speculates, speculation

#: The setting under which Spark passes filters to a Python source.
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


class HudiReference(DataSource):  # type: ignore[misc]  # pyspark is not checked
    """A table at the option `path`; Spark evaluates the filters of a query. See `register`."""

    reader_class: type[PlainReader] = PlainReader
    #: Whether the session that registered the format has speculative tasks. Spark does not tell a Python source.
    speculates = False

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.uri = path_of(options)

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "hudi-reference"

    def schema(self) -> StructType:
        """The columns of the query; all columns of the table, meta columns first, unless the option `columns` names some."""
        plan = make_plan(self.uri, **read_arguments(self.options), native=False)
        return spark_schema(plan.result)

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader of the columns of `schema`."""
        return self.reader_class(self.uri, read_arguments(self.options), schema.names, arrow_schema_of(schema))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """A writer of the operation that the options name; the table is created if there is none."""
        table, operation, incoming = self._target(schema, overwrite)
        if operation in ("insert", "bulk_insert") and places_by_lookup(table):
            return Appender(table, operation.upper(), incoming)
        return StagedWriter(table, operation, incoming)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - PySpark's name
        """A stream of what is written: rows, or changes."""
        return StreamReader(self.uri, read_arguments(self.options), schema.names, arrow_schema_of(schema))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        """A sink that writes each batch once."""
        table, operation, incoming = self._target(schema, overwrite)
        return StreamWriter(table, operation, name_of_stream(self.options), schema, Stage.of(table, incoming))

    def _target(self, schema: StructType, overwrite: bool) -> tuple[WritableTable, Operation, pa.Schema]:
        if self.speculates:
            raise speculation()
        asked, incoming = WriteOptions.parse(self.options), arrow_schema_of(schema)
        table = asked.table_at(self.uri) or create_for(asked, self.uri, incoming)
        check_unchanged(table.properties, asked.settings)
        if others := times_of_other_kind(schema, table):
            name, kind = next(iter(others.items()))
            raise InvalidRows(
                f"the column {name} does not fit the table", rule="LF-038", expected=kind.simpleString(),
                found=schema[name].dataType.simpleString(), remedy="cast the column: Spark knows the time zone of the session",
            )  # fmt: skip
        return replace(table, options=dict(asked.settings)), operation_of(asked, table, overwrite=overwrite), incoming


def register(spark: SparkSession, *, pushdown: bool = False) -> None:
    """Register the format and the table function `hudi_read` in a session.

    With `pushdown`, Spark pushes filters to the format (`spark.sql.python.filterPushdown.enabled`). Spark keeps what was pushed
    last with the frame of `load`, or the view, and reads it for every other scan, too: a self-join, or a second query of this
    frame, has wrong rows without an error. So use it only where each frame is loaded for one scan.
    """
    changed: dict[str, Any] = {"speculates": True} if speculates(spark) else {}
    if pushdown:
        changed["reader_class"] = _pushing_reader()
        spark.conf.set(PUSHDOWN, "true")
    spark.dataSource.register(type(HudiReference.__name__, (HudiReference,), changed) if changed else HudiReference)
    register_function(spark)


def _pushing_reader() -> type[PlainReader]:
    """The reader with filters. Raises Misuse on a release that passes none."""
    if not PUSHES_FILTERS:
        raise Misuse(
            "filter pushdown", expected="PySpark 4.1 or newer", found=pyspark.__version__, remedy="use the option where"
        )
    from hudi_spark.source.pushing import PushingReader

    return PushingReader
