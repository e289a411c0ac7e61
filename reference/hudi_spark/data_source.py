"""The format `hudi-reference`: tables in `spark.read.format(...)`, in writers, and in SQL.

    spark.dataSource.register(HudiReference)
    spark.read.format("hudi-reference").option("as_of", "20260101000000000").load(uri)
    spark.read.format("hudi-reference").option("query", "cdc").option("begin", "20260101000000000").load(uri)
    CREATE TEMPORARY VIEW trips USING `hudi-reference` OPTIONS (path 'file:///data/trips')

Tables of the catalog (`CREATE TABLE`) are not supported: PySpark 4.3 reads them without their options. Python reads every
slice, with one partition for each and all columns unless `.schema(...)` names fewer, because Spark passes neither columns nor,
by default, filters to a Python source. `hudi_spark.read` is faster. Writes append rows (option `operation`: `bulk_insert` or
`insert`); `hudi_spark.upsert` changes rows.
"""

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, DataSourceReader, InputPartition, WriterCommitMessage
from pyspark.sql.types import StructType

from hudi_reference.errors import Misuse
from hudi_reference.schema.avro import with_meta_columns
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.write.commit import begin
from hudi_reference.write.placement.bucket_layout import check_placement
from hudi_reference.write.write import check_write
from hudi_reference.write.write_context import WriteContext
from hudi_spark.arrow import arrow_schema_of, batches, spark_schema
from hudi_spark.read import ReadPlan, make_plan, open_shared
from hudi_spark.tasks import FilesTask
from hudi_spark.write import check_placing, remove_failed_attempts

_OPERATIONS = {"bulk_insert": "BULK_INSERT", "insert": "INSERT"}


class HudiReference(DataSource):  # type: ignore[misc]  # pyspark is not checked
    """A table at the option `path`; options for reading `query`, `as_of`, `begin` and `end`, for writing `operation`."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        if not options.get("path"):
            raise Misuse("the option path is missing", rule="LAY-001", expected="option path, or load(path)")
        self.uri = options["path"]

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "hudi-reference"

    def schema(self) -> StructType:
        """All columns, meta columns first."""
        return spark_schema(self._plan(None).fields)

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader of the columns of `schema`."""
        return _Reader(self._plan(schema.names), arrow_schema_of(schema))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """A writer that appends."""
        operation = self.options.get("operation", "bulk_insert")
        if overwrite or operation not in _OPERATIONS:
            raise Misuse(
                "this format only appends",
                expected=f"mode append, operation {' or '.join(_OPERATIONS)}",
                found="mode overwrite" if overwrite else f"operation {operation}",
                remedy="hudi_spark.upsert(df, uri) changes rows",
            )
        return _Appender(self.uri, _OPERATIONS[operation], arrow_schema_of(schema))

    def _plan(self, columns: list[str] | None) -> ReadPlan:
        as_of = self.options.get("as_of")
        begin, end = self.options.get("begin"), self.options.get("end")
        implied = "as-of" if as_of is not None else "snapshot" if begin is end is None else "incremental"
        query = self.options.get("query", implied)
        return make_plan(self.uri, query=query, columns=columns, as_of=as_of, begin=begin, end=end, native=False)


@dataclass
class _Reader(DataSourceReader):  # type: ignore[misc]  # pyspark is not checked
    """One partition for each slice."""

    plan: ReadPlan
    arrow: pa.Schema

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(found) for found in self.plan.merged]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one slice. If there are no partitions, Spark calls this with None."""
        if partition.value is not None:
            yield from batches(self.plan.query(partition.value), self.arrow)


@dataclass
class _Written(WriterCommitMessage):  # type: ignore[misc]  # pyspark is not checked
    """What one task wrote."""

    stats: list[WriteStat]


class _Appender(DataSourceArrowWriter):  # type: ignore[misc]  # pyspark is not checked
    """One commit. It begins with the plan and completes on the driver; a failed one stays inflight and invisible.

    `abort` is not defined, because Spark also calls it after a commit with an unknown result.
    """

    def __init__(self, uri: str, operation: str, incoming: pa.Schema) -> None:
        table = open_shared(uri)
        check_write(table)
        check_placing(table)
        context = WriteContext.for_operation(table, operation, incoming)
        check_placement(table, context.view.groups)
        intake, self.schema = context.intake(), context.view.schema
        intake.prepare(incoming.empty_table())
        commit = begin(table, operation, context.view.timeline)
        self.task = FilesTask(commit, context.reader, with_meta_columns(self.schema), (), intake)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """The rows of one task."""
        return _Written(self.task.add(list(iterator)))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Complete the action with what all tasks wrote."""
        commit = self.task.commit
        written = [stat for message in messages if isinstance(message, _Written) for stat in message.stats]
        commit.stats.extend(sorted(written, key=lambda stat: stat.path))
        remove_failed_attempts(commit)
        commit.complete(self.schema)
