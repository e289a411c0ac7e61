"""The Spark session for Apache Hudi: one for each process, configured for many small tables on one machine."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_conformance.engines.apache_hudi.jvm.bundle import bundle, s3a
from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_conformance.engines.support.columns import NULLS
from hudi_conformance.engines.support.environments import Progress, ensure_java, to_stderr
from hudi_conformance.engines.support.large_tables import is_large, session_options

#: The C1 compiler and the serial collector halve the start time; the work is too short to need the others.
JVM_FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djdk.attach.allowAttachSelf=true"
#: For many rows.
_FLAGS_FOR_LARGE_TABLES = "-XX:+UseSerialGC -Djdk.attach.allowAttachSelf=true"

SPARK_OPTIONS: Mapping[str, str] = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.driver.memory": "1500m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.default.parallelism": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}


def object_store_options() -> dict[str, str]:
    """Hadoop's settings for the object store of the environment variables, if they are set."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if not endpoint:
        return {}
    found = {
        "endpoint": endpoint,
        "access.key": os.environ.get("AWS_ACCESS_KEY_ID", ""),
        "secret.key": os.environ.get("AWS_SECRET_ACCESS_KEY", ""),
        "path.style.access": "true",
        "connection.ssl.enabled": str(endpoint.startswith("https")).lower(),
    }
    return {f"spark.hadoop.fs.s3a.{key}": value for key, value in found.items()}


class Session(JavaBridge):
    """A running Spark with the bundle of one version, through Py4J; with Hadoop's s3a if there is an object store."""

    keeps_numbers = False  # a small long would go back as an int

    def __init__(self, version: str, progress: Progress = to_stderr) -> None:
        self.version = version
        ensure_java()
        stores = object_store_options()
        self.has_object_store = bool(stores)
        jars = [bundle(version, progress), *(jar.fetched(progress) for jar in (s3a(version) if stores else ()))]
        self._folder = tempfile.TemporaryDirectory(prefix="hudi-conformance-spark-")
        os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName(f"apache-hudi-{version}")
        flags = _FLAGS_FOR_LARGE_TABLES if is_large() else JVM_FLAGS
        here = {
            "spark.jars": ",".join(map(str, jars)),
            "spark.sql.warehouse.dir": self._folder.name,
            # The files of the JVM, and its report if it crashes, are deleted with this folder.
            "spark.driver.extraJavaOptions": (
                f"{flags} -Djava.io.tmpdir={self._folder.name} -XX:ErrorFile={self._folder.name}/hs_err.log"
            ),
        }
        for key, value in {**SPARK_OPTIONS, **session_options(), **here, **stores}.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.jvm = self.spark._jvm
        self.hudi = self.jvm.org.apache.hudi
        hadoop = self.spark._jsc.hadoopConfiguration()
        self.storage = self.hudi.storage.hadoop.HadoopStorageConfiguration(hadoop)
        self.without_checksums(hadoop)

    def upgrade_helper(self) -> Any:
        """What makes the write client and the table while the version changes."""
        return self.hudi.table.upgrade.SparkUpgradeDowngradeHelper.getInstance()

    def engine_context(self) -> Any:
        """Hudi's context on this Spark."""
        return self.hudi.client.common.HoodieSparkEngineContext(self.spark._jsc)

    def write_client(self, table: str, name: str, schema: str | None, settings: Mapping[str, str]) -> Any:
        """The write client that the datasource creates from its options."""
        return self.hudi.DataSourceUtils.createHoodieClient(self.spark._jsc, schema, table, name, settings)

    def records_of(self, records: Iterable[Any]) -> Any:
        """An RDD of one partition."""
        return self.spark._jsc.parallelize(self.list_of(records), 1)

    def stored(self, statuses: Any) -> tuple[Iterable[Any], Any]:
        """Evaluate the write statuses once, which stores the files; an RDD of the results is committed."""
        found = statuses.collect()
        return found, self.spark._jsc.parallelize(found, 1)

    def data_frame(self, rows: pa.Table, avro: Mapping[str, Any]) -> Any:
        """`rows` as a Spark DataFrame whose columns allow nulls where the Avro record schema `avro` does.

        The rows are passed in a Parquet file, because PySpark 3.5 does not keep all types of Arrow.
        """
        path = Path(self._folder.name) / "rows.parquet"
        pq.write_table(rows, path)
        return self.with_nulls_of(self.spark.read.parquet(str(path)), avro)

    def with_nulls_of(self, read: Any, avro: Mapping[str, Any]) -> Any:
        """The DataFrame with columns that allow nulls where the Avro record schema `avro` does."""
        from pyspark.sql import DataFrame

        json = with_nullability(read.schema, avro).json()
        java_type = self.jvm.org.apache.spark.sql.types.DataType.fromJson(json)
        strict = self.spark._jsparkSession.createDataFrame(read._jdf.toJavaRDD(), java_type)
        return DataFrame(strict, self.spark)

    @contextmanager
    def settings(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Settings of the session during one statement or write: SQL has no other way to pass Hudi's options."""
        conf = self.spark.conf
        before = {key: conf.get(key, None) for key in settings}
        try:
            for key, value in settings.items():
                conf.set(key, value)
            yield
        finally:
            for key, former in before.items():
                if former is None:
                    conf.unset(key)
                else:
                    conf.set(key, former)

    def collect(self, frame: Any) -> pa.Table:
        """The rows of a DataFrame as Arrow; timestamps in UTC."""
        from pyspark.sql.pandas.types import to_arrow_schema

        return pa.Table.from_batches(frame._collect_as_arrow(), to_arrow_schema(frame.schema))

    def stop(self) -> None:
        """Stop the session and its JVM."""
        self.spark.stop()
        self._folder.cleanup()


def of_spark(options: Mapping[str, str]) -> dict[str, str]:
    """The options of a request that are settings of Spark's SQL, as the time zone; a write does not pass them on."""
    return {key: value for key, value in options.items() if key.startswith("spark.sql.")}


def with_nullability(found: Any, avro: Any) -> Any:
    """The Spark type `found` with nulls allowed where the Avro type `avro` allows them.

    Spark reads every Parquet column as nullable, and Hudi writes the schema of the DataFrame into its files. What
    `avro` does not mention stays nullable.
    """
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType

    avro, _ = _plain(avro)
    if isinstance(found, StructType):
        known = {f["name"]: f["type"] for f in avro.get("fields", ())}
        fields = []
        for field in found.fields:
            of_field, nullable = _plain(known.get(field.name, ["null"]))
            fields.append(StructField(field.name, with_nullability(field.dataType, of_field), nullable))
        return StructType(fields)
    if isinstance(found, ArrayType):
        items, nullable = _plain(avro.get("items", ["null"]))
        return ArrayType(with_nullability(found.elementType, items), nullable)
    if isinstance(found, MapType):
        values, nullable = _plain(avro.get("values", ["null"]))
        return MapType(found.keyType, with_nullability(found.valueType, values), nullable)
    return found


def _plain(avro: Any) -> tuple[Mapping[str, Any], bool]:
    """An Avro type without its null branch, always as an object, and whether it had one."""
    branches = avro if isinstance(avro, list) else [avro]
    named = [b for b in branches if b not in NULLS]
    chosen = named[0] if named else {}
    return (chosen if isinstance(chosen, Mapping) else {"type": chosen}), len(named) < len(branches)
