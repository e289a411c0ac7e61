"""Spark sessions for tables of millions of rows, and digests of their rows: what `run --scale` needs of an adapter on Spark.

Sessions for the cases of the suite are configured for few rows: one task, little memory, the fast compiler of the JVM.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hudi_conformance.contract.digests import DIGITS, NULL, SEPARATOR, Digest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The environment variable with which the suite starts engines for large tables.
VARIABLE = "HUDI_CONFORMANCE_LARGE_TABLES"

_OPTIONS = {
    "spark.driver.memory": "4g",
    "spark.default.parallelism": "8",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.codegen.wholeStage": "true",
}


def is_large() -> bool:
    """Whether the session is for large tables."""
    return bool(os.environ.get(VARIABLE))


def session_options() -> Mapping[str, str]:
    """Options of the session for large tables; none for those of the cases."""
    return _OPTIONS if is_large() else {}


def digests_of_frame(frame: "DataFrame", group_by: str) -> list[Digest]:
    """The digests of the rows of a DataFrame, computed by executors; `contract.digests` defines them."""
    from pyspark.sql import functions as f

    texts = [f.coalesce(f.col(name).cast("string"), f.lit(NULL)) for name in frame.columns]
    digits = f.substring(f.md5(f.encode(f.concat_ws(SEPARATOR, *texts), "UTF-8")), 1, DIGITS)
    hashed = frame.select(f.col(group_by).alias("group"), f.conv(digits, 16, 10).cast("decimal(20,0)").alias("hash"))
    found = hashed.groupBy("group").agg(f.count("*").alias("rows"), f.sum("hash").alias("sum")).collect()
    return [Digest(row["group"], row["rows"], int(row["sum"])) for row in found]
