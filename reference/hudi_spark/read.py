"""A table as a DataFrame.

Slices with log files are merged on the executors, one task for each, by the reference's own reader. Slices that are a base file
alone go through Spark's Parquet reader where that gives the same values: columns are pruned and filters pushed by Spark.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import reduce
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.types as pt
import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from hudi_reference import Table, open_table
from hudi_reference.errors import InvalidQuery, Misuse, UnsupportedSchema, missing_data_file
from hudi_reference.query.cdc import ChangePlan, ChangeQuery, GroupChange
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.incremental import Window, plan_incremental
from hudi_reference.query.plan import SliceQuery, check_columns
from hudi_reference.query.pruning.partition_pruning import prune_partitions
from hudi_reference.query.pruning.predicates import Comparison, compare, constants, matching_rows
from hudi_reference.query.table import View, check_readable
from hudi_reference.schema.avro import arrow_schema, parse_schema
from hudi_reference.storage import LocalStorage
from hudi_reference.timeline.instants.time_parsing import instant_of
from hudi_spark.arrow import arrow_schema_of, spark_schema
from hudi_spark.tasks import MergeTask, frame_of

Query = Literal["snapshot", "read-optimized", "as-of", "incremental", "cdc"]

#: Paths without parts that only Hadoop interprets (globs, drive letters).
_PLAIN_PATH = re.compile(r"[\w/=.,%+@ -]+")

#: Types whose values Spark's Parquet reader and the reference read alike.
_NATIVE: tuple[Callable[[pa.DataType], bool], ...] = (
    pt.is_boolean, pt.is_int32, pt.is_int64, pt.is_float32, pt.is_float64, pt.is_string, pt.is_binary, pt.is_decimal,
    pt.is_date32, lambda kind: pt.is_timestamp(kind) and kind.tz is not None,
)  # fmt: skip


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
) -> DataFrame:
    """The rows of a query, as `hudi_reference.Table` answers it; all columns, meta columns first, if `columns` is None.

    `begin` and `end` are the window of an incremental query (the table's rows) or of a change query (`cdc`: op, ts_ms, before,
    after). What one write changed in one file group is a task.

    The plan is made now: later commits do not change the DataFrame. Errors in the plan are raised here, those in data files
    by the action that runs the DataFrame (see `errors_of_executors`).
    """
    plan = make_plan(uri, query=query, columns=columns, where=where, as_of=as_of, begin=begin, end=end)
    schema = spark_schema(plan.fields)
    parts = []
    if plan.merged:
        parts.append(_read_merged(spark, plan, schema))
    if plan.native:
        parts.append(from_parquet(spark, plan.native, schema).where(conditions(plan)))
    empty = [] if parts else [spark.createDataFrame([], schema)]
    found = reduce(DataFrame.unionByName, parts + empty)
    return found if plan.columns == plan.fields.names else found.select(plan.columns)


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
    native: list[Path]


@dataclass(frozen=True)
class ChangesOfGroups:
    """Reads and filters what one write changed in one file group."""

    query: ChangeQuery
    where: list[Comparison]

    def __call__(self, change: GroupChange) -> pa.Table:
        """The changes."""
        return matching_rows(self.query(change), self.where)


def make_plan(
    uri: str,
    *,
    query: str = "snapshot",
    columns: Sequence[str] | None = None,
    where: Iterable[Comparison] = (),
    as_of: str | None = None,
    begin: str | None = None,
    end: str | None = None,
    native: bool = True,
) -> ReadPlan:
    """The plan of a query. Raises what `hudi_reference` raises; with `native` False all slices are read by the reference."""
    table = open_shared(uri)
    check_readable(table.properties)
    zone = table.properties.zone
    view, window = table.view(_instant(query, as_of, zone)), _window(query, begin, end, zone)
    if query == "cdc":
        return _plan_of_changes(table, view, window, columns, list(where))
    found = view.groups.latest_slices
    if query == "incremental":
        changed = plan_incremental(window, table.storage, table.properties, view.timeline, view.groups)
        view, found, native = replace(view, timeline=changed.timeline, groups=changed.groups), changed.slices, False
        window = changed.window
    reader, logs = view.reader(table), query != "read-optimized"
    names = list(reader.schema.names if columns is None else columns)
    comparisons = list(where)
    needed = _needed(names, comparisons, reader.schema)
    slices = [s for s in found if s.base_file is not None or (logs and s.log_files)]
    if reader.merging.merger is None:
        slices = prune_partitions(slices, comparisons, table.properties, reader.schema)
    direct = _base_files_for_spark(table, view, slices, logs=logs) if native and reader.dropped is None else {}
    merged = [found for found in slices if found not in direct]
    paths = (found.path(name) for found in merged for name in found.log_files)
    sizes = {path: reader.scanner.committed[path] for path in paths if path in reader.scanner.committed}
    of_window = window if query == "incremental" else None
    tasks = SliceQuery(replace(reader, scanner=replace(reader.scanner, committed=sizes)), needed, comparisons, logs, of_window)
    fields = pa.schema([reader.schema.field(name) for name in needed])
    return ReadPlan(tasks, fields, names, merged, list(direct.values()))


def _plan_of_changes(
    table: Table, view: View, window: Window, columns: Sequence[str] | None, where: list[Comparison]
) -> ReadPlan:
    query = ChangeQuery(view.reader(table))
    names = list(query.schema.names if columns is None else columns)
    _needed(names, where, query.schema)
    changes = ChangePlan(view.timeline, view.groups, table.properties.is_legacy).changes(window)
    return ReadPlan(ChangesOfGroups(query, where), query.schema, names, changes, [])


def _needed(names: Sequence[str], where: Sequence[Comparison], schema: pa.Schema) -> list[str]:
    """The columns of the result and of the filters, which fit the schema. Raises InvalidQuery."""
    needed = list(dict.fromkeys([*names, *(column for column, _, _ in where)]))
    check_columns(needed, schema)
    for column, operator, value in where:
        compare(pa.chunked_array([], schema.field(column).type), operator, value)
    return needed


def open_shared(uri: str) -> Table:
    """The table at a URI that refers to the same storage in every process."""
    if uri.startswith("memory:"):
        raise Misuse("executors cannot access the memory of this process", expected="a file or s3 URI", found=uri)
    is_path = "://" not in uri and not uri.startswith("file:/")  # as Spark's catalog writes it
    return open_table(str(Path(uri).absolute()) if is_path else uri)


def _instant(query: str, as_of: str | None, zone: tzinfo | None) -> str | None:
    if query not in get_args(Query):
        raise InvalidQuery("unknown query", rule="TYP-016", expected=", ".join(get_args(Query)), found=query)
    if (query == "as-of") != (as_of is not None):
        raise InvalidQuery(
            "an as-of query needs a time, and other queries have none", rule="TYP-008", found=f"{query}, as_of={as_of}"
        )
    return None if as_of is None else instant_of(as_of, zone)


def _window(query: str, begin: str | None, end: str | None, zone: tzinfo | None) -> Window:
    if query not in ("incremental", "cdc") and (begin is not None or end is not None):
        raise InvalidQuery("only an incremental or change query has a window", rule="TYP-009", found=query)
    return Window.between(begin, end, zone=zone)


def _base_files_for_spark(table: Table, view: View, slices: list[FileSlice], *, logs: bool) -> dict[FileSlice, Path]:
    """The slices that Spark's Parquet reader reads as the reference does, with the paths of their base files.

    These are the slices without log files whose base file was written under a schema that needs no conversion. That schema is
    in the metadata of the file's commit; without it, the reference reads the file. The reference also reads files without
    bytes, because Spark would ignore this damage.
    """
    schema = arrow_schema(view.schema)
    if not isinstance(table.storage, LocalStorage) or not all(_is_native(field.type) for field in schema):
        return {}
    texts = {instant.requested: commit.schema for instant, commit in view.groups.commits.items()}
    fitting = {text for text in set(texts.values()) if text is not None and _fits(text, schema)}
    found = {}
    for candidate in slices:
        if candidate.base_file is None or (logs and candidate.log_files) or texts.get(candidate.base_instant) not in fitting:
            continue
        if candidate.base_file in candidate.missing:
            raise missing_data_file(candidate.path(candidate.base_file))
        path, stat = table.storage.existing(candidate.path(candidate.base_file))
        if _PLAIN_PATH.fullmatch(str(path)) and path.suffix == ".parquet" and stat.st_size:
            found[candidate] = path
    return found


def _fits(text: str, schema: pa.Schema) -> bool:
    """Whether every column stored under the Avro schema `text` has the type of this column in `schema`."""
    try:
        stored = arrow_schema(parse_schema(text, "schema"))
    except UnsupportedSchema:
        return False
    return all(field.type == schema.field(field.name).type for field in stored if field.name in schema.names)


def _is_native(kind: pa.DataType) -> bool:
    if pt.is_list(kind) or pt.is_map(kind) or pt.is_struct(kind):
        return all(_is_native(kind.field(i).type) for i in range(kind.num_fields))
    return any(is_of_kind(kind) for is_of_kind in _NATIVE)


def _read_merged(spark: SparkSession, plan: ReadPlan, schema: StructType) -> DataFrame:
    """One task for each slice."""
    task = MergeTask(plan.query, arrow_schema_of(schema))
    return frame_of(spark, plan.merged).mapInArrow(task.run, schema)


def from_parquet(spark: SparkSession, files: Sequence[Path], schema: StructType) -> DataFrame:
    """The rows of base files only. Dates and timestamps are read as stored, columns in paths are not added, and missing or
    damaged files are errors regardless of the settings of the session.
    """
    options = {
        "datetimeRebaseMode": "CORRECTED",
        "int96RebaseMode": "CORRECTED",
        "recursiveFileLookup": "true",
        "ignoreCorruptFiles": "false",
        "ignoreMissingFiles": "false",
    }
    return spark.read.schema(schema).options(**options).parquet(*(f"file://{file}" for file in files))


def conditions(plan: ReadPlan) -> Column:
    """The comparisons of the query as one condition."""
    return reduce(
        Column.__and__, [_condition(plan.fields.field(c).type, *(c, o, v)) for c, o, v in plan.query.where], F.lit(True)
    )


#: Methods of a Spark column; `in` takes several constants.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "=": Column.__eq__,
    "!=": Column.__ne__,
    "<": Column.__lt__,
    "<=": Column.__le__,
    ">": Column.__gt__,
    ">=": Column.__ge__,
    "in": Column.isin,
}


def _condition(kind: pa.DataType, name: str, operator: str, value: object) -> Column:
    """A comparison like that of the reference: only `!=` holds for a NaN, which Spark treats as the greatest number."""
    column = F.col(name)
    compared: Column = _OPERATORS[operator](column, *map(F.lit, constants(kind, operator, value)))
    return compared & ~F.isnan(column) if pt.is_floating(kind) and operator != "!=" else compared
