"""Appending rows through the format: each task stores its rows in new file groups, and one commit publishes them."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from hudi_reference.query.table import Table
from hudi_reference.schema.avro import with_meta_columns
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.write.column_ids import version_entry
from hudi_reference.write.commit import begin
from hudi_reference.write.placement.bucket_layout import check_placement
from hudi_reference.write.write import check_write
from hudi_reference.write.write_context import WriteContext
from hudi_spark.tasks import FilesTask
from hudi_spark.write import remove_failed_attempts


@dataclass
class _Written(WriterCommitMessage):  # type: ignore[misc]  # pyspark is not checked
    """What one task wrote."""

    stats: list[WriteStat]


class Appender(DataSourceArrowWriter):  # type: ignore[misc]  # pyspark is not checked
    """One commit. It begins with the plan and completes on the driver; a failed one stays inflight and invisible.

    `abort` is not defined, because Spark also calls it after a commit with an unknown result.
    """

    def __init__(self, table: Table, operation: str, incoming: pa.Schema) -> None:
        check_write(table)
        context = WriteContext.for_operation(table, operation, incoming)
        check_placement(table, context.view.groups)
        intake, self.view = context.intake(), context.view
        intake.prepare(incoming.empty_table())
        commit = begin(table, operation, context.view.timeline)
        self.task = FilesTask(commit, context.reader, with_meta_columns(self.view.schema), (), intake)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """The rows of one task."""
        return _Written(self.task.add(list(iterator)))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Complete the action with what all tasks wrote."""
        commit = self.task.commit
        written = [stat for message in messages if isinstance(message, _Written) for stat in message.stats]
        commit.stats.extend(sorted(written, key=lambda stat: stat.path))
        remove_failed_attempts(commit)
        commit.complete(self.view.schema, version_entry(self.view, commit.table.properties, commit.requested))
