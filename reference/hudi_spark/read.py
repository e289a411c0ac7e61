"""A table as a DataFrame.

Slices with log files are merged on the executors, one task for each, by the reference's own reader. Slices that are a base file
alone go through Spark's Parquet reader where that gives the same values: columns are pruned and filters pushed by Spark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import reduce
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from hudi_reference import Table, WritableTable, open_table
from hudi_reference.errors import InvalidQuery, Misuse
from hudi_reference.garbage_collection import collector_paused
from hudi_reference.query.cdc import ChangeQuery, GroupChange
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.incremental import Window, plan_incremental
from hudi_reference.query.plan import SliceQuery, check_columns
from hudi_reference.query.pruning.predicates import Comparison, columns_compared, matching_rows
from hudi_reference.query.table import View
from hudi_reference.records.mergers.merger import RecordMerger
from hudi_reference.services.setting_names import check_settings
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.time_parsing import instant_of
from hudi_spark.arrow import arrow_schema_of, spark_schema
from hudi_spark.parquet import base_files_for_spark, condition_of, from_parquet
from hudi_spark.tasks import MergeTask, Shared, check_session, frame_of

Query = Literal["snapshot", "read-optimized", "as-of", "incremental", "cdc"]
#: Settings of writers and services by Hudi's names.
Options = Mapping[str, str] | None
#: Queries that have a window.
_OF_WINDOWS = ("incremental", "cdc")


def read(
    spark: SparkSession,
    uri: str,
    *,
    query: Query = "snapshot",
    columns: Sequence[str] | None = None,
    where: Iterable[Comparison] = (),
    as_of: str | None = None,
    begin: str | None = None,
    end: str | None = None,
    include_begin: bool = False,
    schema_on_read: bool = False,
    mergers: Sequence[RecordMerger] = (),
) -> DataFrame:
    """The rows of a query, as `hudi_reference.Table` answers it; all columns, meta columns first, if `columns` is None.

    `begin` and `end` are the window of an incremental query (the table's rows) or of a change query (`cdc`: op, ts_ms, before,
    after). What one write changed in one file group is a task. `include_begin`, `schema_on_read` and `mergers` are those of the
    reference; mergers are shipped to the executors.

    The plan is made now: later commits do not change the DataFrame. Errors in the plan are raised here, those in data files
    by the action that runs the DataFrame (see `errors_of_executors`).
    """
    plan = make_plan(
        uri, query=query, columns=columns, where=where, as_of=as_of, begin=begin, end=end, include_begin=include_begin,
        schema_on_read=schema_on_read, mergers=mergers,
    )  # fmt: skip
    return frame_of_plan(spark, plan)


def create_view(spark: SparkSession, name: str, uri: str, **query: Any) -> None:
    """A temporary view of a query for SQL; the arguments are those of `read`. Later commits do not change the view."""
    read(spark, uri, **query).createOrReplaceTempView(name)


def frame_of_plan(spark: SparkSession, plan: "ReadPlan") -> DataFrame:
    """The rows of a plan."""
    check_session(spark)
    schema = spark_schema(plan.fields)
    parts = []
    if plan.merged:
        parts.append(_read_merged(spark, plan, schema))
    if plan.native:
        parts.append(from_parquet(spark, plan.native, schema).where(conditions(plan)))
    empty = [] if parts else [spark.createDataFrame([], schema)]
    found = reduce(DataFrame.unionByName, parts + empty)
    return found if plan.columns == plan.fields.names else found.select(plan.columns)


def explain(
    uri: str,
    *,
    query: Query = "snapshot",
    columns: Sequence[str] | None = None,
    where: Iterable[Comparison] = (),
    **chosen: Any,
) -> str:
    """What a query reads, as text: columns, filters, and how many partitions and file slices the filters leave.

    The arguments are those of `read`. No data file is read. `read(...).explain()` shows Spark's plan of the rest.
    """
    asked = list(where)
    whole = make_plan(uri, query=query, **chosen)
    plan = make_plan(uri, query=query, columns=columns, where=asked, **chosen)
    lines = {
        "query": query,
        "columns": f"{len(plan.fields)} of {len(whole.fields)}: {', '.join(plan.fields.names)}",
        "filters": " and ".join(f"{name} {operator} {value!r}" for name, operator, value in asked) or "none",
        "partitions": f"{len(plan.partitions)} of {len(whole.partitions)}",
        "slices": f"{plan.parts} of {whole.parts}",
        "readers": f"{len(plan.native)} slices by Spark's Parquet reader, {len(plan.merged)} merged by the reference",
    }
    return "\n".join(f"{name:<10} {text}" for name, text in lines.items())


def conditions(plan: "ReadPlan") -> Column:
    """The comparisons of the query as one condition."""
    return condition_of(plan.query.where, plan.fields)


@dataclass(frozen=True)
class ReadPlan:
    """The plan of a query, which the driver makes.

    `query` reads one part, a slice or what a write changed in one file group, and is shipped to the tasks; `merged` are the
    parts that it reads, `native` the absolute paths of base files for Spark's reader. `columns` are those of the result;
    `query` reads those of the filters, too, and `fields` has the reference's types of all that it reads.
    """

    query: "SliceQuery | ChangesOfGroups"
    fields: pa.Schema
    columns: list[str]
    merged: Sequence[FileSlice | GroupChange]
    native: list[str]
    #: The partitions that hold these parts.
    partitions: frozenset[str]

    #: The timeline on which the plan is based.
    timeline: Timeline

    @property
    def result(self) -> pa.Schema:
        """The columns of the result."""
        return pa.schema([self.fields.field(name) for name in self.columns])

    @property
    def parts(self) -> int:
        """The number of parts."""
        return len(self.merged) + len(self.native)


@dataclass(frozen=True)
class ChangesOfGroups:
    """Reads and filters what one write changed in one file group."""

    query: ChangeQuery
    where: list[Comparison]

    def __call__(self, change: GroupChange) -> pa.Table:
        """The changes."""
        return matching_rows(self.query(change), self.where)


@collector_paused()
def make_plan(
    uri: str,
    *,
    query: str = "snapshot",
    columns: Sequence[str] | None = None,
    where: Iterable[Comparison] = (),
    as_of: str | None = None,
    begin: str | None = None,
    end: str | None = None,
    include_begin: bool = False,
    schema_on_read: bool = False,
    mergers: Sequence[RecordMerger] = (),
    native: bool = True,
) -> ReadPlan:
    """The plan of a query. Raises what `hudi_reference` raises; with `native` False all slices are read by the reference.

    Files are listed through the metadata table where it is up to date; its indexes and the partition paths decide which
    slices the filter needs.
    """
    table = replace(open_shared(uri, mergers), schema_on_read=schema_on_read)
    zone = table.properties.zone
    time, window = _instant(query, as_of, zone), _window(query, begin, end, include_begin, zone)
    comparisons, changed = list(where), None
    view = table.view(time, where=() if query in _OF_WINDOWS else comparisons)
    if query == "cdc":
        return _plan_of_changes(table, view, window, columns, comparisons)
    if query == "incremental":
        changed = plan_incremental(window, table.storage, table.properties, view.timeline, view.groups)
        view, native = replace(view, timeline=changed.timeline, groups=changed.groups), False
    logs = query != "read-optimized"
    plan = table.plan(view, columns, comparisons, logs=logs, is_latest=time is None, changed=changed)
    reader, slices = plan.read.reader, [one for one in plan.slices if one.base_file is not None or one.log_files]
    native = native and reader.dropped is None and reader.by_id is None
    committed = reader.scanner.committed
    direct = base_files_for_spark(table, view, slices, committed.spans, logs=logs) if native else {}
    merged = [found for found in slices if found not in direct]
    paths = (path for found in merged for path in found.paths)
    committed = replace(committed, spans={path: committed.spans[path] for path in paths if path in committed.spans})
    task = replace(plan.read, reader=replace(reader, scanner=replace(reader.scanner, committed=committed)))
    fields = pa.schema([reader.schema.field(name) for name in task.columns])
    return ReadPlan(
        task, fields, plan.names, merged, list(direct.values()), frozenset(one.partition for one in slices), view.timeline
    )


def _plan_of_changes(
    table: Table, view: View, window: Window, columns: Sequence[str] | None, where: list[Comparison]
) -> ReadPlan:
    query = ChangeQuery(view.reader(table))
    names = list(query.schema.names if columns is None else columns)
    check_columns(names, query.schema)
    columns_compared(where, query.schema)  # refused as comparing rows is
    changes = view.change_plan(table).changes(window)
    partitions = frozenset(found.partition for one in changes if (found := one.after or one.before))
    return ReadPlan(ChangesOfGroups(query, where), query.schema, names, changes, [], partitions, view.timeline)


def open_shared(uri: str, mergers: Sequence[RecordMerger] = ()) -> WritableTable:
    """The table at a URI that refers to the same storage in every process."""
    return open_table(shared_uri(uri), mergers=mergers)


def open_with(uri: str, options: Options, mergers: Sequence[RecordMerger] = ()) -> WritableTable:
    """The table with settings of writers and services. Raises Misuse for a setting that none of them has."""
    check_settings(options or {})
    return replace(open_shared(uri, mergers), options=dict(options or {}))


def shared_uri(uri: str) -> str:
    """A URI that refers to the same storage in every process; a path is made absolute. Raises Misuse."""
    if uri.startswith("memory:"):
        raise Misuse("executors cannot access the memory of this process", expected="a file or s3 URI", found=uri)
    is_path = "://" not in uri and not uri.startswith("file:/")  # as Spark's catalog writes it
    return str(Path(uri).absolute()) if is_path else uri


def _instant(query: str, as_of: str | None, zone: tzinfo | None) -> str | None:
    if query not in get_args(Query):
        raise InvalidQuery("unknown query", rule="TYP-016", expected=", ".join(get_args(Query)), found=query)
    if (query == "as-of") != (as_of is not None):
        raise InvalidQuery(
            "an as-of query needs a time, and other queries have none", rule="TYP-008", found=f"{query}, as_of={as_of}"
        )
    return None if as_of is None else instant_of(as_of, zone)


def _window(query: str, begin: str | None, end: str | None, include_begin: bool, zone: tzinfo | None) -> Window:
    if query not in _OF_WINDOWS and (begin is not None or end is not None):
        raise InvalidQuery("only an incremental or change query has a window", rule="TYP-009", found=query)
    return Window.between(begin, end, include_begin, zone)


def _read_merged(spark: SparkSession, plan: ReadPlan, schema: StructType) -> DataFrame:
    """One task for each slice, of many slices one for several."""
    task = Shared.of(spark, MergeTask(plan.query, arrow_schema_of(schema)))
    return frame_of(spark, plan.merged).mapInArrow(task.run, schema)
