"""A local Spark session for tests, examples and small tables."""

import os
import sys

from pyspark.sql import SparkSession

#: Options that are fast for few rows: the C1 compiler, the serial collector, few partitions, no code generation, no adaptive
#: plans. Other machines cannot connect.
OPTIONS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "1500m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.default.parallelism": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}


def local_session(master: str = "local[2]", **options: str) -> SparkSession:
    """A session on two cores whose workers run this Python. Options with dots go in as `**{"spark.x": "y"}`."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.appName("hudi-reference").master(master)
    for key, value in {**OPTIONS, **options}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark
