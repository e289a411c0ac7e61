"""The table function `hudi_read` of SQL: time travel, incremental and change queries.

    SELECT * FROM hudi_read(path => 'file:///data/trips', as_of => '20260101000000000')
    SELECT * FROM hudi_read(path => '...', query => 'cdc', begin_instant => '000')

One task reads all slices, because Spark gives a table function without a table argument one task. `hudi_spark.create_view`
makes a view that reads in parallel.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult

from hudi_reference.errors import Misuse
from hudi_reference.schema.evolution import conform
from hudi_spark.arrow import arrow_schema_of, spark_schema
from hudi_spark.read import ReadPlan, make_plan
from hudi_spark.source.options import path_of, read_arguments

#: Argument of the function -> option. `begin` and `end` are words of SQL.
_OPTIONS = {"begin_instant": "begin", "end_instant": "end"}


class HudiRead:
    """The rows of one query; the arguments are named, and constant texts."""

    @staticmethod
    def analyze(**given: AnalyzeArgument) -> AnalyzeResult:
        """The columns. Raises Misuse for an argument that is not constant, and what planning the query raises."""
        for name, argument in given.items():
            if not argument.isConstantExpression or not isinstance(argument.value, str):
                raise Misuse("an argument is not a constant text", expected=f"{name} => 'text'", found=str(argument.dataType))
        return AnalyzeResult(spark_schema(_plan({name: argument.value for name, argument in given.items()}).result))

    def eval(self, **given: str) -> Iterator[tuple[Any, ...]]:
        """The rows, slice by slice."""
        plan = _plan(given)
        query: Callable[[Any], pa.Table] = plan.query
        schema = arrow_schema_of(spark_schema(plan.result))
        for part in plan.merged:
            rows = conform(query(part), schema, "rows for Spark")
            columns = [column.to_pylist(maps_as_pydicts="strict") for column in rows.columns]
            yield from zip(*columns, strict=True)


def _plan(given: Mapping[str, str]) -> ReadPlan:
    options = {_OPTIONS.get(name, name): value for name, value in given.items()}
    return make_plan(path_of(options), **read_arguments(options), native=False)


def register_function(spark: SparkSession) -> None:
    """Register the function in a session."""
    from pyspark.sql.functions import udtf

    spark.udtf.register("hudi_read", udtf(HudiRead))
