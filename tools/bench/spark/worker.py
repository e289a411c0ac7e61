"""One engine in a Spark session: reads tasks as JSON lines, runs them, and answers after each.

`python -m tools.bench.spark.worker spark` is the Spark engine of the project, `apache-hudi VERSION` Apache Hudi's
datasource. All sessions have the same settings; the session of Apache Hudi also has the settings that Hudi requires.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import DataFrame, SparkSession

from hudi_conformance.engines.support.environments import ensure_java

Task = dict[str, Any]

SETTINGS = {
    "spark.driver.memory": "3g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.default.parallelism": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.sql.catalogImplementation": "in-memory",
}
ASKED_BY_HUDI = {
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
}


def make_session(**further: str) -> SparkSession:
    """A session on two cores with the common settings and further ones."""
    ensure_java()
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").appName("bench")
    for key, value in {**SETTINGS, **further}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def make_session_with_hudi(version: str) -> SparkSession:
    """A session with the bundle of a release of Apache Hudi."""
    from hudi_conformance.engines.apache_hudi.jvm.bundle import bundle

    return make_session(**ASKED_BY_HUDI, **{"spark.jars": str(bundle(version))})


def make_frame(spark: SparkSession, task: Task) -> DataFrame:
    """The DataFrame of a task, read by the reference on Spark, by Apache Hudi, or by Spark's Parquet reader."""
    if task["by"] == "apache-hudi":
        return spark.read.format("hudi").load(task["table"]).select(*task["columns"])
    import hudi_spark

    if task["by"] == "spark":
        return hudi_spark.read(spark, task["table"], columns=task["columns"])
    return _base_files(spark, task["table"]).select(*task["columns"])


def _base_files(spark: SparkSession, uri: str) -> DataFrame:
    """The base files of the newest slices; the schema is given, so that no file is opened to find it."""
    from hudi_spark.arrow import spark_schema
    from hudi_spark.read import make_plan, open_shared

    slices = open_shared(uri).file_groups().latest_slices
    files = [str(Path(uri.removeprefix("file://"), s.path(s.base_file))) for s in slices if s.base_file is not None]
    return spark.read.schema(spark_schema(make_plan(uri).fields)).parquet(*files)


def checksum(frame: DataFrame) -> list[str]:
    """The number of rows and the sum of their hashes, which must be equal for all engines."""
    of_rows = F.sum(F.xxhash64(*sorted(frame.columns)).cast("decimal(20,0)"))
    (found,) = frame.agg(F.count(F.lit(1)), of_rows).collect()
    return [str(value) for value in found]


def main() -> None:
    """Serve one engine until standard input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    spark = make_session_with_hudi(sys.argv[2]) if sys.argv[1] == "apache-hudi" else make_session()
    for line in sys.stdin:
        task = json.loads(line)
        answer = {}
        if task["compare"]:
            answer["checksum"] = checksum(make_frame(spark, task))
        else:
            make_frame(spark, task).write.format("noop").mode("overwrite").save()
        print(json.dumps(answer), file=out, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
