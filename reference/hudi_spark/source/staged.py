"""Writes through the format that change rows: tasks store the rows below `.hoodie/.temp`, and the commit writes them.

Spark gives a Python writer the rows of one task, in the distribution that they happen to have, and no shuffle. So rows of one
key may be in several tasks, and only the commit, one process on the driver's machine, can merge them. It reads the stored rows
and writes them with the reference. `hudi_spark.save` distributes the same operations.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from hudi_reference import WritableTable
from hudi_reference.errors import Misuse
from hudi_reference.storage import Storage
from hudi_reference.write.insert_overwrite import partitions_of
from hudi_spark.source.write_options import Operation

FOLDER = ".hoodie/.temp"
#: The most bytes of stored rows that one commit reads into memory.
MOST_BYTES = 2 << 30


@dataclass
class Stored(WriterCommitMessage):  # type: ignore[misc]  # pyspark is not checked
    """Where one attempt of a task stored its rows: a path below the base path, bytes, and the number of the task."""

    path: str
    size: int
    task: int


@dataclass(frozen=True)
class Stage:
    """The folder with the rows of one write."""

    storage: Storage
    schema: pa.Schema
    folder: str

    @classmethod
    def of(cls, table: WritableTable, schema: pa.Schema) -> "Stage":
        """A new folder of the table."""
        return cls(table.storage, schema, f"{FOLDER}/rows-{uuid4()}")

    def store(self, rows: Iterable[pa.RecordBatch]) -> Stored:
        """Store the rows of this attempt of a task."""
        context, sink = TaskContext.get(), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.schema) as stream:
            for batch in rows:
                stream.write_batch(batch.cast(self.schema))
        path, data = f"{self.folder}/{context.partitionId()}-{context.taskAttemptId()}", sink.getvalue().to_pybytes()
        self.storage.create(path, data)
        return Stored(path, len(data), context.partitionId())

    def rows(self, messages: Iterable[WriterCommitMessage | None]) -> pa.Table:
        """The rows of all tasks in their order. Raises Misuse for more bytes than fit into memory."""
        stored = sorted((one for one in messages if isinstance(one, Stored)), key=lambda one: one.task)
        if (size := sum(one.size for one in stored)) > MOST_BYTES:
            raise Misuse(
                "too many rows for the one process that commits", expected=f"up to {MOST_BYTES} bytes", found=str(size),
                remedy="use hudi_spark.save, which distributes the write, or write in parts",
            )  # fmt: skip
        parts = [pa.ipc.open_stream(self.storage.get(one.path)).read_all() for one in stored]
        return pa.concat_tables([self.schema.empty_table(), *parts])

    def clear(self, messages: Iterable[WriterCommitMessage | None] = ()) -> None:
        """Delete the stored rows, also those of failed attempts."""
        folders = {one.path.rpartition("/")[0] for one in messages if isinstance(one, Stored)} | {self.folder}
        for folder in folders:
            for info in self.storage.list(folder):
                self.storage.delete(info.path)


def write_rows(table: WritableTable, operation: Operation, rows: pa.Table, extra: Mapping[str, str] | None = None) -> str:
    """One operation of the reference; `extra` is stored in the metadata of the commit. The requested time."""
    chosen = replace(table, options={**table.options, **(extra or {})})
    if operation == "delete_partition":
        return chosen.delete_partitions(partitions_of(chosen, rows))
    instant: str = getattr(chosen, operation)(rows)
    return instant


class StagedWriter(DataSourceArrowWriter):  # type: ignore[misc]  # pyspark is not checked
    """One commit of any operation."""

    def __init__(self, table: WritableTable, operation: Operation, incoming: pa.Schema) -> None:
        self.table, self.operation = table, operation
        self.stage = Stage.of(table, incoming)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Store the rows of one task."""
        return self.stage.store(iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Write the rows of all tasks as one action."""
        try:
            write_rows(self.table, self.operation, self.stage.rows(messages))
        finally:
            self.stage.clear(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Delete the stored rows."""
        self.stage.clear(messages)
