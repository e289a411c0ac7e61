"""Where releases of PySpark differ: 4.0 and 4.1 lack some classes and parameters of the newest one.

What a release cannot do is told in `docs/spark-engine.md`. Imports PySpark alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import pyspark.sql.datasource as classes
import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StringType, StructType


def _available_now() -> type:
    """The class of stream readers with the trigger `availableNow`; before 4.2, whose trigger is of Spark alone, none."""
    try:
        from pyspark.sql.streaming import datasource
    except ImportError:
        return object
    return datasource.SupportsTriggerAvailableNow  # type: ignore[no-any-return]


#: Whether the writer of a stream gets Arrow batches (4.1), or the rows one by one (4.0).
WRITES_BATCHES = hasattr(classes, "DataSourceStreamArrowWriter")
#: Whether Spark passes filters to a Python source (4.1).
PUSHES_FILTERS = hasattr(classes, "Filter")

SupportsTriggerAvailableNow = _available_now()
#: The class of the writer of a stream.
StreamWriterBase: type = classes.DataSourceStreamArrowWriter if WRITES_BATCHES else classes.DataSourceStreamWriter

#: Rows that are converted to one batch.
_ROWS = 10_000


def arrow_batches(rows: Iterable[Any], schema: StructType) -> Iterator[pa.RecordBatch]:
    """What the writer of a stream gets, as Arrow batches: they are passed on, and rows are converted as PySpark does it."""
    if WRITES_BATCHES:
        yield from rows
        return
    from pyspark.sql.conversion import LocalDataToArrowConversion

    left = iter(rows)
    while some := list(islice(left, _ROWS)):
        yield from LocalDataToArrowConversion.convert(some, schema, use_large_var_types=False).to_batches()


def with_text(rows: DataFrame, name: str, compute: Callable[..., pa.Array], given: Sequence[Column]) -> DataFrame:
    """The rows with one more column: the texts that a function computes of Arrow columns. Before 4.1 it costs whole rows."""
    if hasattr(F, "arrow_udf"):
        return rows.withColumn(name, F.arrow_udf(compute, "string")(*given))
    names = [f"{name}{number}" for number in range(len(given))]

    def append(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            texts = compute(*(batch.column(each) for each in names))
            yield batch.drop_columns(names).append_column(name, texts)

    passed = rows.select(*rows.columns, *(one.alias(each) for one, each in zip(given, names, strict=True)))
    return passed.mapInArrow(append, StructType([*rows.schema.fields]).add(name, StringType()))
