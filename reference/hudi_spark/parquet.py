"""Base files for Spark's own Parquet reader: which ones it reads as the reference does, and reading them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from hudi_reference import Table
from hudi_reference.errors import UnsupportedSchema, missing_data_file
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileSlice, Span
from hudi_reference.query.pruning.predicates import PREFIX, Comparison, constants
from hudi_reference.query.table import View
from hudi_reference.schema.avro import arrow_schema, parse_schema
from hudi_reference.schema.fields import type_at
from hudi_reference.storage import LocalStorage

#: Paths without parts that only Hadoop interprets (globs, drive letters).
_PLAIN_PATH = re.compile(r"[\w/=.,%+@ -]+")

#: Types whose values Spark's Parquet reader and the reference read alike.
_NATIVE: tuple[Callable[[pa.DataType], bool], ...] = (
    pt.is_boolean, pt.is_int32, pt.is_int64, pt.is_float32, pt.is_float64, pt.is_string, pt.is_binary, pt.is_decimal,
    pt.is_date32, lambda kind: pt.is_timestamp(kind) and kind.tz is not None,
)  # fmt: skip


def base_files_for_spark(
    table: Table, view: View, slices: list[FileSlice], spans: Mapping[str, Sequence[Span]], *, logs: bool
) -> dict[FileSlice, str]:
    """The slices that Spark's Parquet reader reads as the reference does, with the absolute paths of their base files.

    These are the slices without log files whose base file was written under a schema that needs no conversion. That schema is
    in the metadata of the file's commit; without it, the reference reads the file. The reference also reads files without
    bytes, and files of another length than in commit metadata (`spans`, by path), because Spark would ignore this damage, and
    it refuses files of a bootstrap.
    """
    schema = arrow_schema(view.schema)
    if not isinstance(table.storage, LocalStorage) or not all(_is_native(field.type) for field in schema):
        return {}
    texts = {instant.requested: commit.schema for instant, commit in view.groups.commits.items()}
    fitting = {text for text in set(texts.values()) if text is not None and _fits(text, schema)}
    named = [
        (candidate, candidate.path(candidate.base_file))
        for candidate in slices
        if candidate.base_file is not None
        and not candidate.lacks_columns
        and not (logs and candidate.log_files)
        and texts.get(candidate.base_instant) in fitting
    ]
    found = {}
    sizes = _sizes(table.storage, {candidate.partition for candidate, _ in named})
    for candidate, name in named:
        if candidate.base_file in candidate.missing or name not in sizes:
            raise missing_data_file(name)
        path, size = f"{table.storage.root}/{name}", sizes[name]
        length = max((end for _, end in spans.get(name, ())), default=0) or size  # 0 if no metadata has it
        if _PLAIN_PATH.fullmatch(path) and path.endswith(".parquet") and size == length > 0:
            found[candidate] = path
    return found


def _sizes(storage: LocalStorage, partitions: Iterable[str]) -> dict[str, int]:
    """The sizes of the files of these partitions by path, from listings: asking for each file takes five times as long."""
    return {info.path: info.size for partition in partitions for info in storage.list(partition, skip=META_FOLDER)}


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


def from_parquet(spark: SparkSession, files: Sequence[str], schema: StructType) -> DataFrame:
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


def condition_of(where: Sequence[Comparison], fields: pa.Schema) -> Column:
    """Comparisons of columns of `fields`, or of fields of its structs, as one condition."""
    return reduce(Column.__and__, [_condition(type_at(fields, c), *(c, o, v)) for c, o, v in where], F.lit(True))


#: Methods of a Spark column; `in` takes several constants.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "=": Column.__eq__,
    "!=": Column.__ne__,
    "<": Column.__lt__,
    "<=": Column.__le__,
    ">": Column.__gt__,
    ">=": Column.__ge__,
    "in": Column.isin,
    PREFIX: Column.startswith,
}
_TESTS: dict[str, Callable[[Column], Column]] = {"is": Column.isNull, "is not": Column.isNotNull}


def _condition(kind: pa.DataType, name: str, operator: str, value: object) -> Column:
    """A comparison like that of the reference: only `!=` holds for a NaN, which Spark treats as the greatest number."""
    column = F.col(name)
    if operator in _TESTS:
        return _TESTS[operator](column)
    given = constants(kind, operator, value)
    if not pt.is_floating(kind) or operator == "!=":
        return _compared(column, operator, given)
    return _compared_numbers(column, operator, given) & ~F.isnan(column)


def _compared_numbers(column: Column, operator: str, given: Sequence[Any]) -> Column:
    """The same for both zeros: Parquet's filters order -0.0 before 0.0, and would leave out row groups with the other one."""
    others = [one for one in given if one != 0]
    if len(others) == len(given):
        return _compared(column, operator, given)
    if operator in ("=", "in"):
        zeros = (column >= F.lit(-0.0)) & (column <= F.lit(0.0))
        return zeros | _compared(column, "in", others) if others else zeros
    return _compared(column, operator, [-0.0 if operator in (">", ">=") else 0.0])


def _compared(column: Column, operator: str, given: Sequence[Any]) -> Column:
    found: Column = _OPERATORS[operator](column, *map(F.lit, given))
    return found
