"""Rows that Spark makes, for tables of the benchmarks of growth and of ratios."""

import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import DataFrame, SparkSession

#: The settings of writers, by Hudi's names.
OPTIONS = {
    "hoodie.table.name": "grown",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
}
BULK_INSERT = {**OPTIONS, "hoodie.datasource.write.operation": "bulk_insert"}
COLUMNS = ["id", "ts", "name", "fare"]
#: An upsert changes the keys that are divisible by this number.
STEP = 10


def made_rows(spark: SparkSession, rows: int, tasks: int, time: int, step: int = 1) -> DataFrame:
    """Rows with the keys 0, step, 2*step, ... of this version."""
    numbers = spark.range(0, rows, step, tasks)
    name = F.concat(F.lit(f"version {time} of "), F.hex(F.xxhash64("id", F.lit(time))))
    return numbers.select(
        F.format_string("%012d", "id").alias("id"), F.lit(time).cast("long").alias("ts"), name.alias("name"),
        (F.xxhash64("id") % 100_000 / 100).alias("fare"),
    )  # fmt: skip


def inserted_rows(spark: SparkSession, rows: int, groups: int) -> DataFrame:
    """What the bulk insert writes: one task for each file group."""
    return made_rows(spark, rows, groups, 1)


def updated_rows(spark: SparkSession, rows: int) -> DataFrame:
    """What the upsert writes."""
    return made_rows(spark, rows, 2, 2, STEP)


def expected_rows(spark: SparkSession, rows: int, groups: int) -> DataFrame:
    """The rows of the table after the upsert."""
    unchanged = inserted_rows(spark, rows, groups).where(F.col("id").cast("long") % STEP != 0)
    return unchanged.unionByName(updated_rows(spark, rows))
