"""The tasks that run on executors. A task is a value with everything that it needs; it does not communicate with the driver.

Tasks over file slices get them pickled as the rows of a DataFrame, one slice in each partition.
"""

import gc
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Broadcast, TaskContext, cloudpickle
from pyspark.sql import DataFrame, SparkSession

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.evolution import conform
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.write.commit import Commit
from hudi_reference.write.placement.rows import PARTITION, Incoming, Intake, merge_duplicates
from hudi_reference.write.write_context import DEFAULTS, LogOptions
from hudi_reference.write.writer import Writer
from hudi_spark.arrow import batches

Batches = Iterable[pa.RecordBatch]

#: The position of a row in its DataFrame.
POSITION = "__position"
#: The target of a row in its partition: the number of a file slice, or a negative number for a new file group.
GROUP = "__group"
STATS = pa.schema([("stat", pa.binary())])

#: The maximum number of tasks of a DataFrame of parts, unless the session runs more at once: beyond, the work of Spark for each
#: task is more than that for a small slice.
MOST_TASKS_OF_PARTS = 1000

#: The maximum number of tasks of a write. Below it, tasks have distinct write tokens and sequence numbers.
MOST_TASKS = 100_000


def frame_of(spark: SparkSession, slices: Sequence[Any], tasks: int | None = None) -> DataFrame:
    """A DataFrame of pickled slices, or of other parts of a table, in so many `tasks`.

    By default each is in a partition of its own, unless there are more than `MOST_TASKS_OF_PARTS`. A task reads one after the
    other.

    Made from an RDD so that Spark does not know its size: from a few slices it would estimate few rows and choose a broadcast.
    Its rows are the unchanged bytes of the RDD, pickled lists, so that no Python process is needed to make them.
    """
    check_session(spark)
    most = max(MOST_TASKS_OF_PARTS, spark.sparkContext.defaultParallelism)
    pickled = spark.sparkContext.parallelize(slices, tasks or min(most, len(slices)))._jrdd.rdd()
    return DataFrame(spark._jsparkSession.createDataset(pickled, spark._jvm.Encoders.BINARY()), spark)


def check_session(spark: Any) -> None:
    """Raises UnsupportedTableFeature for a session of Spark Connect, whose driver is another process."""
    if not hasattr(spark, "_jsparkSession"):
        raise UnsupportedTableFeature(
            "sessions of Spark Connect have no driver in this process", found=type(spark).__module__,
            expected="a session with a driver", remedy="use the format hudi-reference, which runs on the server",
        )  # fmt: skip


@cache
def freeze_imported_modules() -> None:
    """Exclude imported modules from garbage collection, once in each worker.

    Spark collects garbage after every task, and scanning the modules takes longer than reading a small slice.
    """
    gc.freeze()


def unpickled(given: Batches) -> Iterator[Any]:
    """The parts that a task is given by a DataFrame of `frame_of`."""
    freeze_imported_modules()
    for batch in given:
        yield from chain.from_iterable(map(pickle.loads, batch.column(0).to_pylist()))


T = TypeVar("T")


@dataclass(frozen=True)
class Shared(Generic[T]):
    """A value that each worker gets and unpickles once.

    Spark gives a worker the function of a DataFrame with each task, and what the function refers to. A reader of file slices
    knows all files of its plan, so that a plan of twice as many slices would cost four times as much.
    """

    pickled: Broadcast[bytes]

    @classmethod
    def of(cls, spark: SparkSession, value: T) -> "Shared[T]":
        """The value for the workers of a session."""
        return cls(spark.sparkContext.broadcast(cloudpickle.dumps(value)))

    @property
    def value(self) -> T:
        """The value, in a worker."""
        found: T = _unpickled_once(self.pickled)
        return found

    def run(self, given: Batches) -> Iterator[pa.RecordBatch]:
        """What the value, a task, makes of the batches."""
        return self.value.run(given)  # type: ignore[attr-defined, no-any-return]


@lru_cache(maxsize=2)
def _unpickled_once(pickled: Broadcast[bytes]) -> Any:
    """The value of a broadcast variable, which a worker has as the same object in each task."""
    return pickle.loads(pickled.value)


@dataclass(frozen=True)
class MergeTask:
    """Reads slices, or the changes of file groups by writes."""

    query: Callable[[Any], pa.Table]
    schema: pa.Schema

    def run(self, given: Batches) -> Iterator[pa.RecordBatch]:
        """The rows of the slices, in `schema`."""
        for found in unpickled(given):
            yield from batches(self.query(found), self.schema)


@dataclass(frozen=True)
class KeysTask:
    """Checks rows and adds keys, partition paths and positions."""

    intake: Intake
    schema: pa.Schema

    def run(self, given: Batches) -> Iterator[pa.RecordBatch]:
        """The rows of one task. Positions are ordered by task number, then by row."""
        place = TaskContext.get().partitionId() << 33
        for batch in given:
            incoming = self.intake.prepare(pa.Table.from_batches([batch]))
            places = pa.array(range(place, place + batch.num_rows), pa.int64())
            place += batch.num_rows
            yield from batches(incoming.rows.append_column(POSITION, places), self.schema)


@dataclass(frozen=True)
class IndexTask:
    """Lists the keys in numbered slices, with the number; with `living` without the keys of deleted records."""

    reader: SliceReader
    schema: pa.Schema
    living: bool = False

    def run(self, given: Batches) -> Iterator[pa.RecordBatch]:
        """The keys of the pickled slices."""
        for place, found in unpickled(given):
            keys = (self.reader.current_keys(found) if self.living else self.reader.all_keys(found)).unique()
            number = pa.repeat(pa.scalar(place, pa.int32()), len(keys))
            rows = pa.table([pa.repeat(found.partition, len(keys)), keys, number], schema=self.schema)
            yield from batches(rows, self.schema)


@dataclass(frozen=True)
class FilesTask:
    """Writes data files and returns their stats.

    `slices` are the file slices that rows may change, by their number in the column of groups.
    """

    commit: Commit
    reader: SliceReader
    schema: AvroSchema
    slices: tuple[FileSlice, ...]
    intake: Intake
    logs: LogOptions = DEFAULTS

    @property
    def by_key(self) -> bool:
        """Whether the rows are keys of records to remove."""
        return self.intake.needs == "identity"

    def append(self, given: Batches) -> Iterator[pa.RecordBatch]:
        """Store all rows of the task in new file groups, in the order of the DataFrame."""
        yield stats_batch(self.add(list(given)))

    def add(self, parts: Sequence[pa.RecordBatch]) -> list[WriteStat]:
        """Store these rows in new file groups, one for each partition path."""
        writer = self.writer()
        if parts:
            for partition, rows in self.intake.prepare(pa.Table.from_batches(parts)).by_partition():
                writer.add(partition, rows)
        return writer.commit.stats

    def change(self, given: Batches) -> Iterator[pa.RecordBatch]:
        """Store rows that are sorted by partition path and group, one group at a time."""
        writer = self.writer()
        for (partition, group), runs in groupby(chain.from_iterable(map(_runs, given)), itemgetter(0)):
            incoming = merge_duplicates(Incoming(self._rows([part for _, part in runs])), self.reader.merging)
            if group >= 0:
                nothing = incoming.rows.slice(0, 0)
                changes, removed = (nothing, incoming.rows) if self.by_key else (incoming.rows, nothing)
                writer.change(self.slices[group], changes, removed)
            elif not self.by_key and self.intake.partial_columns is None:
                writer.add(partition, incoming.rows)
        yield stats_batch(writer.commit.stats)

    def writer(self) -> Writer:
        """The writer of this attempt of this task; other attempts write files of other names."""
        context, commit = TaskContext.get(), replace(self.commit, stats=[])
        attempt = f"{context.stageId()}-{context.taskAttemptId()}"
        return Writer(
            commit, self.reader, self.schema, context.partitionId(), MOST_TASKS, attempt, self.logs, self.intake.partial_columns
        )

    def _rows(self, parts: list[pa.RecordBatch]) -> pa.Table:
        return conform(pa.Table.from_batches(parts), self.reader.schema, "rows to write")


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, int], pa.RecordBatch]]:
    """The consecutive rows of a batch with the same group."""
    ends = (pc.run_end_encode(batch.column(name)).run_ends.to_pylist() for name in (PARTITION, GROUP))
    start = 0
    for end in sorted(set(chain.from_iterable(ends))):
        identity = (batch.column(PARTITION)[start].as_py(), batch.column(GROUP)[start].as_py())
        yield identity, batch.slice(start, end - start)
        start = end


def stats_batch(stats: Sequence[WriteStat]) -> pa.RecordBatch:
    """Write stats as a batch, for the transfer to the driver."""
    return pa.record_batch([pa.array([pickle.dumps(stat) for stat in stats], pa.binary())], schema=STATS)
