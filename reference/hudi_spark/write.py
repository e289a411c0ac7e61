"""A DataFrame as one commit, through the reference's commit protocol.

The driver begins the action and completes it. Executors compute keys, look them up in the file slices, and write the data
files. The driver gets the partitions of the rows, and the write stats. Files of failed task attempts, which have the instant
of the write, are deleted before its completion.

A write that fails after its begin stays inflight and invisible, as that of a crashed writer, until it is rolled back.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StringType

from hudi_reference import Table
from hudi_reference.errors import Misuse
from hudi_reference.layout.merge_settings import check_unchanged
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import View
from hudi_reference.records.changes import KEY
from hudi_reference.records.mergers.merger import RecordMerger
from hudi_reference.schema.avro import with_meta_columns
from hudi_reference.schema.evolution import conform
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import INSERT_OVERWRITE, INSERT_OVERWRITE_TABLE
from hudi_reference.write.column_ids import version_entry
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency.config import Concurrency
from hudi_reference.write.concurrency.conflict_resolution import apply_update_strategy
from hudi_reference.write.insert_overwrite import partitions_of
from hudi_reference.write.placement.bucket_layout import check_placement
from hudi_reference.write.placement.global_index import is_global
from hudi_reference.write.placement.rows import PARTITION, Intake
from hudi_reference.write.write import MOVES_KEY, begin_write, check_unchanged_since, replaced_slices, run_with_retries, write
from hudi_reference.write.write_context import PARTIAL_UPDATE, LogOptions, WriteContext, columns_of_update, log_options
from hudi_spark.arrow import arrow_schema_of, spark_schema, times_of_other_kind
from hudi_spark.errors import errors_of_executors
from hudi_spark.read import Options, open_with
from hudi_spark.tasks import GROUP, POSITION, STATS, Batches, FilesTask, IndexTask, KeysTask, Shared, check_session, frame_of

#: Mergers of the caller, as for `hudi_reference.open_table`.
Mergers = Sequence[RecordMerger]
#: Which rows of a write are records of the table that keep their key and partition path.
Stored = Literal["none", "some", "all"]


def bulk_insert(df: DataFrame, uri: str, *, options: Options = None, mergers: Mergers = ()) -> str:
    """Append rows to new base files, at least one for each task and partition; the requested time of the instant."""
    return _run_write(df, uri, "BULK_INSERT", options, mergers, _Write.append)


def insert(df: DataFrame, uri: str, *, options: Options = None, mergers: Mergers = ()) -> str:
    """Append rows without looking their keys up; duplicates stay. The requested time of the instant."""
    return _run_write(df, uri, "INSERT", options, mergers, _Write.append)


def upsert(df: DataFrame, uri: str, *, new_groups: int = 1, options: Options = None, mergers: Mergers = ()) -> str:
    """Merge rows into the table; the requested time of the instant.

    Known keys are changed by the merge mode, new keys are inserts, flagged rows are deletes. Of several rows with one key the
    merge mode decides, later rows of the DataFrame counting as newer. New keys of a partition go to `new_groups` new file
    groups. The rows of one file group, and the group's newest slice, must fit into the memory of a task.
    """
    return _run_write(df, uri, "UPSERT", options, mergers, lambda write: write.change(new_groups))


def insert_overwrite(df: DataFrame, uri: str, *, options: Options = None, mergers: Mergers = ()) -> str:
    """Replace the content of the partitions of these rows by the rows; keys are not looked up. The instant's requested time."""
    return _run_write(df, uri, INSERT_OVERWRITE, options, mergers, _Write.append)


def insert_overwrite_table(df: DataFrame, uri: str, *, options: Options = None, mergers: Mergers = ()) -> str:
    """Replace the content of all partitions by the rows; keys are not looked up. The instant's requested time."""
    return _run_write(df, uri, INSERT_OVERWRITE_TABLE, options, mergers, _Write.append)


def delete_partition(df: DataFrame, uri: str, *, options: Options = None, mergers: Mergers = ()) -> str:
    """Remove all rows of the partitions of these rows, of which only the partition columns matter; the requested time."""
    table = open_with(uri, options, mergers)
    fields = dict.fromkeys(field.partition(".")[0] for field in table.properties.partition_fields)
    return table.delete_partitions(partitions_of(table, rows_on_driver(df.select(*fields).distinct())))


def delete(keys: DataFrame, uri: str, *, options: Options = None, mergers: Mergers = ()) -> str:
    """Remove records by key and partition columns, whatever their ordering value; the requested time of the instant."""
    return _run_write(keys, uri, "DELETE", options, mergers, _Write.change)


def partial_update(df: DataFrame, uri: str, *, options: Options = None, mergers: Mergers = ()) -> str:
    """Change some columns of known records; the requested time of the instant.

    Rows hold key, partition and ordering columns, and those that change; unknown and deleted keys are ignored.
    """
    return _run_write(df, uri, PARTIAL_UPDATE, options, mergers, _Write.change)


def _run_write(
    df: DataFrame,
    uri: str,
    operation: str,
    options: Options,
    mergers: Mergers,
    carry_out: Callable[["_Write"], str],
    stored: Stored = "none",
) -> str:
    """One write of `df` to the table at `uri`, repeated after a conflict as often as its settings say.

    `stored` says which rows are records of the table, with key and partition path in their meta columns.
    Raises Misuse for a setting that no writer has, and the errors of the reference for invalid rows, settings and tables.
    """
    table = open_with(uri, options, mergers)
    check_unchanged(table.properties, table.options)
    _check_no_speculation(df)
    df = df.withColumns({name: F.col(name).cast(kind) for name, kind in times_of_other_kind(df.schema, table).items()})
    if not places_by_lookup(table):
        return write(table, operation, rows_on_driver(df))
    return run_with_retries(table, lambda: carry_out(_Write.for_operation(df, table, operation, stored)))


def change_unchanged(
    rows: DataFrame, uri: str, operation: str, options: Options, base: Timeline, *, inserts: bool = False
) -> str:
    """An UPSERT or DELETE of rows that were computed from the table at `base`; its requested time.

    Rows with a partition path are records of the table, and stay there; the others, which may be among them if `inserts`, are
    new. With a global index, the index and its settings decide where records are and go, and the driver writes.
    Raises ConcurrentChange if a write completed since then.
    """
    table = open_with(uri, options)
    if not places_by_lookup(table):
        check_unchanged(table.properties, table.options)
        _check_no_speculation(rows)
        return write(table, operation, rows_on_driver(rows.drop(KEY, PARTITION)), base=base)

    def carry_out(attempt: _Write) -> str:
        check_unchanged_since(base, attempt.view.timeline)
        return attempt.change()

    return _run_write(rows, uri, operation, options, (), carry_out, stored="some" if inserts else "all")


def rows_on_driver(df: DataFrame) -> pa.Table:
    """All rows in the memory of the driver. Spark refuses more than `spark.driver.maxResultSize`."""
    with errors_of_executors():
        return conform(df.toArrow(), arrow_schema_of(df.schema), "rows to write")


@dataclass(frozen=True)
class _Write:
    """One write on the driver."""

    df: DataFrame
    table: Table
    context: WriteContext
    operation: str
    intake: Intake
    logs: LogOptions

    @classmethod
    def for_operation(cls, df: DataFrame, table: Table, operation: str, stored: Stored = "none") -> "_Write":
        """An attempt at a write of `df`, based on the table as it is now."""
        logs = log_options(table)
        empty = arrow_schema_of(df.schema).empty_table()
        context = WriteContext.for_operation(table, operation, empty.schema)
        check_placement(table, context.view.groups)
        columns = columns_of_update(context, df.columns) if operation == PARTIAL_UPDATE else None
        intake = context.intake(columns, has_new=stored != "all")
        intake = replace(intake, is_stored=stored != "none")
        intake.prepare(empty)
        return cls(df, table, context, operation, intake, logs)

    @property
    def view(self) -> View:
        """The view of the table that the write is based on."""
        return self.context.view

    @property
    def reader(self) -> SliceReader:
        """The reader of the slices that the write is based on."""
        return self.context.reader

    def append(self) -> str:
        """Store all rows in new file groups, in one pass if their types are those of the table, after a check for absent
        values.
        """
        stored, found = self.reader.schema, arrow_schema_of(self.df.schema)
        if all(field.type == stored.field(field.name).type for field in found):
            self._check_absent()
            return self._commit(self.df, FilesTask.append, replaced=self._replaced())
        with self._prepare_rows() as (rows, partitions):
            replaced = replaced_slices(self.view.groups, self.operation, partitions)
            return self._commit(rows.drop(POSITION), FilesTask.append, replaced=replaced)

    def _replaced(self) -> Sequence[FileSlice] | None:
        """The slices that the rows replace; None if the operation replaces none."""
        if self.operation != INSERT_OVERWRITE:
            return replaced_slices(self.view.groups, self.operation, ())
        with errors_of_executors():
            partitions = {row[0] for row in self._add_keys(self.df).select(PARTITION).distinct().collect()}
        return replaced_slices(self.view.groups, self.operation, partitions)

    def change(self, new_groups: int = 1) -> str:
        """Store rows of known keys in the file groups that hold them, other rows in new ones."""
        with self._prepare_rows() as (rows, partitions):
            slices = [found for found in self.view.groups.latest_slices if found.partition in partitions]
            place = F.pmod(F.xxhash64(KEY), F.lit(new_groups)).cast("int")
            located = self._locate_rows(rows, slices)
            apply_update_strategy(self.table, self.view.timeline, self._changed_slices(located, slices))
            placed = located.withColumn(GROUP, F.coalesce(GROUP, F.lit(-1) - place))
            grouped = placed.repartition(PARTITION, GROUP).sortWithinPartitions(PARTITION, GROUP, POSITION)
            return self._commit(grouped, FilesTask.change, slices)

    def _check_absent(self) -> None:
        """Raise the errors of the reference for rows without a key or a required value, before anything is written."""
        texts = {field.name for field in self.df.schema if isinstance(field.dataType, StringType)}
        keys = self.table.properties.record_key
        absent = [F.col(name).isNull() for name in {*keys, *(n for n in self.intake.required if n in self.df.columns)}]
        absent += [F.col(name) == "" for name in keys if name in texts]
        with errors_of_executors():
            self._add_keys(self.df.where(reduce(Column.__or__, absent))).count()

    def _add_keys(self, rows: DataFrame) -> DataFrame:
        """Checked rows, with keys, partition paths and positions."""
        schema = spark_schema(self.reader.schema.append(pa.field(POSITION, pa.int64())))
        return rows.mapInArrow(KeysTask(self.intake, arrow_schema_of(schema)).run, schema)

    @contextmanager
    def _prepare_rows(self) -> Iterator[tuple[DataFrame, set[str]]]:
        """The rows with keys, partition paths and positions; and their partitions.

        The rows are persisted: all are checked before the write begins, and exactly these rows are written.
        """
        rows = self._add_keys(self.df).persist()
        try:
            with errors_of_executors():
                partitions = {row[0] for row in rows.select(PARTITION).distinct().collect()}
            yield rows, partitions
        finally:
            rows.unpersist()

    def _locate_rows(self, rows: DataFrame, slices: Sequence[FileSlice]) -> DataFrame:
        """The rows with the number of the slice that holds their key, null for new keys."""
        if not slices:
            return rows.withColumn(GROUP, F.lit(None).cast("int"))
        index = pa.schema([(PARTITION, pa.string()), (KEY, pa.string()), (GROUP, pa.int32())])
        spark = self.df.sparkSession
        task = Shared.of(spark, IndexTask(self.reader, index, living=self.intake.partial_columns is not None))
        held = frame_of(spark, list(enumerate(slices))).mapInArrow(task.run, spark_schema(index))
        first = held.groupBy(PARTITION, KEY).agg(F.min(GROUP).alias(GROUP))
        # A merge join, because a broadcast join would send the index through the driver.
        return rows.join(first.hint("merge"), [PARTITION, KEY], "left").select(*rows.columns, GROUP)

    def _changed_slices(self, located: DataFrame, slices: Sequence[FileSlice]) -> Iterator[FileSlice]:
        """The slices that hold keys of the rows; Spark computes them on iteration."""
        with errors_of_executors():
            yield from (slices[row[0]] for row in located.select(GROUP).dropna().distinct().collect())

    def _commit(
        self,
        rows: DataFrame,
        run: Callable[[FilesTask, Batches], Iterator[pa.RecordBatch]],
        slices: Sequence[FileSlice] = (),
        replaced: Sequence[FileSlice] | None = None,
    ) -> str:
        operation = "UPSERT" if self.operation == PARTIAL_UPDATE else self.operation
        commit = begin_write(self.table, operation, self.view.timeline, (), replaced)
        schema = with_meta_columns(self.view.schema)
        task = Shared.of(rows.sparkSession, FilesTask(commit, self.reader, schema, tuple(slices), self.intake, self.logs))
        with errors_of_executors():
            found = rows.mapInArrow(lambda given: run(task.value, given), spark_schema(STATS)).collect()
        commit.stats.extend(sorted((pickle.loads(row[0]) for row in found), key=lambda stat: stat.path))
        remove_failed_attempts(commit)
        return commit.complete(self.view.schema, version_entry(self.view, self.table.properties, commit.requested))


def remove_failed_attempts(commit: Commit) -> None:
    """Delete the data files under this commit's instant that none of its stats names.

    A reader counts every file of a completed instant, so a file of a failed attempt would become visible with the others.
    """
    named = {path for stat in commit.stats for path in (stat.path, *stat.changes)}
    storage = commit.table.storage
    for info in storage.list(skip=META_FOLDER):
        name = parse_data_file_name(split_path(info.path)[1])
        if name is not None and name.instant == commit.requested and info.path not in named:
            storage.delete(info.path)


def places_by_lookup(table: Table) -> bool:
    """Whether records are placed by a lookup of their keys within partitions, which executors do.

    The reference writes the others in one process: tables that generate the keys, bucket indexes and global indexes, and
    updates that move.
    """
    by_lookup = Concurrency.from_options(table.options).index is None and not is_global(table.options)
    return by_lookup and table.options.get(MOVES_KEY) != "true" and bool(table.properties.record_key)


def _check_no_speculation(df: DataFrame) -> None:
    """Raises Misuse: a speculative attempt may store files after the driver has deleted those of failed attempts."""
    check_session(df.sparkSession)
    if speculates(df.sparkSession):
        raise speculation()


def speculates(spark: SparkSession) -> bool:
    """Whether the session may run attempts of one task at the same time."""
    settings = spark.sparkContext.getConf() if hasattr(spark, "_jsparkSession") else spark.conf  # of Spark Connect
    return bool(settings.get("spark.speculation", "false") == "true")


def speculation() -> Misuse:
    """The error for a write in such a session."""
    return Misuse(
        "speculative tasks could add files to a completed commit",
        rule="TL-036", expected="spark.speculation=false", found="true", remedy="write from a session without speculation",
    )  # fmt: skip
