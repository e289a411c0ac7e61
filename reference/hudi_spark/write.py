"""A DataFrame as one commit, through the reference's commit protocol.

The driver begins the action and completes it. Executors give rows their keys, look the keys up in the file slices, and write
the data files; what comes back to the driver is which partitions are touched, and the write stats. Attempts of a task that were
lost have left files under the instant that is about to complete: these are deleted before it does.

A write that fails once it has begun stays inflight and invisible, as that of a crashed writer does, until it is rolled back.
"""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StringType

from hudi_reference import Table
from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.records.changes import KEY
from hudi_reference.schema.avro import with_meta_columns
from hudi_reference.table.basis import PARTIAL_UPDATE, Basis, held_by_update
from hudi_reference.table.commit import Commit, begin
from hudi_reference.table.concurrency import Concurrency
from hudi_reference.table.file_groups import FileSlice
from hudi_reference.table.rows import PARTITION
from hudi_reference.table.slice_reader import SliceReader
from hudi_reference.table.table import View
from hudi_reference.table.write import BEFOREHAND, MOVES_KEY
from hudi_spark.arrow import arrow_schema_of, spark_schema
from hudi_spark.errors import errors_of_executors
from hudi_spark.read import open_shared
from hudi_spark.tasks import GROUP, POSITION, STATS, Batches, FilesTask, IndexTask, KeysTask, frame_of

#: Settings of the writer by Hudi's names.
Options = Mapping[str, str] | None


def bulk_insert(df: DataFrame, uri: str, *, options: Options = None) -> str:
    """Append rows to new base files, at least one for each task and partition; the requested time of the instant."""
    return _Write.of(df, uri, "BULK_INSERT", options).append()


def insert(df: DataFrame, uri: str, *, options: Options = None) -> str:
    """Append rows without looking their keys up; duplicates stay. The requested time of the instant."""
    return _Write.of(df, uri, "INSERT", options).append()


def upsert(df: DataFrame, uri: str, *, new_groups: int = 1, options: Options = None) -> str:
    """Merge rows into the table; the requested time of the instant.

    Known keys are changed by the merge mode, new keys are inserts, flagged rows are deletes. Of several rows with one key the
    merge mode decides, later rows of the DataFrame counting as newer. New keys of a partition go to `new_groups` new file
    groups. The rows of one file group, and the group's newest slice, fit into the memory of a task.
    """
    return _Write.of(df, uri, "UPSERT", options).change(new_groups)


def delete(keys: DataFrame, uri: str, *, options: Options = None) -> str:
    """Remove records by key and partition columns, whatever their ordering value; the requested time of the instant."""
    return _Write.of(keys, uri, "DELETE", options).change(new_groups=1)


def partial_update(df: DataFrame, uri: str, *, options: Options = None) -> str:
    """Change some columns of known records; the requested time of the instant.

    Rows hold key, partition and ordering columns, and those that change; unknown and deleted keys are passed over.
    """
    return _Write.of(df, uri, PARTIAL_UPDATE, options).change(new_groups=1)


@dataclass(frozen=True)
class _Write:
    """One write as the driver sees it."""

    df: DataFrame
    table: Table
    basis: Basis
    operation: str

    @classmethod
    def of(cls, df: DataFrame, uri: str, operation: str, options: Options) -> "_Write":
        """A write of `df` to the table at `uri`. Raises what the reference raises for rows and tables that do not fit."""
        table = replace(open_shared(uri), options=dict(options or {}))
        _check_no_speculation(df)
        _check_placing(table)
        for service in BEFOREHAND:
            service(table)
        empty = arrow_schema_of(df.schema).empty_table()
        basis = Basis.of(table, operation, empty.schema)
        basis.prepare(empty)
        return cls(df, table, basis, operation)

    @property
    def view(self) -> View:
        """The view of the table that the write is based on."""
        return self.basis.view

    @property
    def reader(self) -> SliceReader:
        """The reader of the slices that the write is based on."""
        return self.basis.reader

    @cached_property
    def held(self) -> frozenset[str] | None:
        """The columns that the rows of a partial update hold; None for whole rows."""
        return held_by_update(self.basis, self.df.columns) if self.operation == PARTIAL_UPDATE else None

    @property
    def by_key(self) -> bool:
        """Whether the rows are keys of records to remove."""
        return self.operation == "DELETE"

    def append(self) -> str:
        """All rows to new file groups, in one pass after a look at the keys; values that may not fit are converted first."""
        stored, found = self.reader.schema, arrow_schema_of(self.df.schema)
        if all(field.type == stored.field(field.name).type for field in found):
            self._check_keys()
            return self._commit(self.df, FilesTask.append)
        with self._prepared() as (rows, _):
            return self._commit(rows.drop(POSITION), FilesTask.append)

    def change(self, new_groups: int) -> str:
        """Rows of known keys to the file groups that hold them, the others to new ones."""
        with self._prepared() as (rows, partitions):
            slices = [found for found in self.view.groups.latest_slices if found.partition in partitions]
            place = F.pmod(F.xxhash64(KEY), F.lit(new_groups)).cast("int")
            located = self._located(rows, slices).withColumn(GROUP, F.coalesce(GROUP, F.lit(-1) - place))
            grouped = located.repartition(PARTITION, GROUP).sortWithinPartitions(PARTITION, GROUP, POSITION)
            return self._commit(grouped, FilesTask.change, slices)

    def _check_keys(self) -> None:
        """Raise what the reference says to a row without a key, if there is one, before anything is written."""
        texts = {field.name for field in self.df.schema if isinstance(field.dataType, StringType)}
        absent = [
            F.col(name).isNull() | (F.col(name) == "") if name in texts else F.col(name).isNull()
            for name in self.table.properties.record_key
        ]
        found = self.df.where(reduce(Column.__and__, absent)).limit(1).toArrow()
        self.basis.prepare(found)

    @contextmanager
    def _prepared(self) -> Iterator[tuple[DataFrame, set[str]]]:
        """The rows with keys, partition paths and their place in the DataFrame; and which partitions they lie in.

        The rows are kept: all of them are checked before the write begins, and what is written is what was checked.
        """
        stored = self.reader.schema
        schema = spark_schema(stored.append(pa.field(POSITION, pa.int64())))
        task = KeysTask(self.basis.properties, stored, self.basis.needs, arrow_schema_of(schema))
        rows = self.df.mapInArrow(task.run, schema).persist()
        try:
            with errors_of_executors():
                partitions = {row[0] for row in rows.select(PARTITION).distinct().collect()}
            yield rows, partitions
        finally:
            rows.unpersist()

    def _located(self, rows: DataFrame, slices: Sequence[FileSlice]) -> DataFrame:
        """The rows with the number of the slice that holds their key, null for new keys."""
        if not slices:
            return rows.withColumn(GROUP, F.lit(None).cast("int"))
        index = pa.schema([(PARTITION, pa.string()), (KEY, pa.string()), (GROUP, pa.int32())])
        task = IndexTask(self.reader, tuple(slices), index, living=self.held is not None)
        held = frame_of(self.df.sparkSession, slices).mapInArrow(task.run, spark_schema(index))
        first = held.groupBy(PARTITION, KEY).agg(F.min(GROUP).alias(GROUP))
        # A merge join: Spark would send a small index through the driver.
        return rows.join(first.hint("merge"), [PARTITION, KEY], "left").select(*rows.columns, GROUP)

    def _commit(
        self,
        rows: DataFrame,
        run: Callable[[FilesTask, Batches], Iterator[pa.RecordBatch]],
        slices: Sequence[FileSlice] = (),
    ) -> str:
        table = self.table
        timeline, options = self.view.timeline, table.options
        named, properties = "UPSERT" if self.held is not None else self.operation, self.basis.properties
        commit = begin(table.storage, properties, table.clock, table.ids, named, timeline, options)
        schema = with_meta_columns(self.view.schema)
        task = FilesTask(commit, self.reader, schema, tuple(slices), self.by_key, self.held, self.basis.needs)
        with errors_of_executors():
            found = rows.mapInArrow(lambda given: run(task, given), spark_schema(STATS)).collect()
        commit.stats.extend(sorted((pickle.loads(row[0]) for row in found), key=lambda stat: stat.path))
        remove_lost_attempts(commit)
        return commit.complete(self.view.schema)


def remove_lost_attempts(commit: Commit) -> None:
    """Delete the data files under this commit's instant that none of its stats names.

    A reader counts every file of a completed instant, so a file of a failed attempt would become visible with the others.
    """
    named = {path for stat in commit.stats for path in (stat.path, *stat.changes)}
    for info in commit.storage.list(skip=META_FOLDER):
        name = parse_data_file_name(split_path(info.path)[1])
        if name is not None and name.instant == commit.requested and info.path not in named:
            commit.storage.delete(info.path)


def _check_placing(table: Table) -> None:
    """Records go to the file group that holds them, or to a new one; whoever wants them elsewhere is told so."""
    if Concurrency.of(table.options).index is not None or table.options.get(MOVES_KEY) == "true":
        raise UnsupportedTableFeature(
            "tasks do not place records by buckets, nor move them with an update", rule="NBC-004",
            expected="no bucket index", cure="write with the reference itself",
        )  # fmt: skip


def _check_no_speculation(df: DataFrame) -> None:
    """A speculative attempt may still write when the driver has looked for lost files."""
    if df.sparkSession.sparkContext.getConf().get("spark.speculation", "false") == "true":
        raise Misuse(
            "speculative tasks could add rows behind the commit's back",
            rule="TL-036", expected="spark.speculation=false", found="true", cure="write from a session without speculation",
        )  # fmt: skip
