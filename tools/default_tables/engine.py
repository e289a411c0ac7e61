"""One process with Apache Hudi on Spark, with its default settings; `python -m tools.default_tables` starts it.

    PYTHON -m tools.default_tables.engine VERSION TABLE_VERSION

Requests and answers are JSON, one a line. Rows travel as JSON too: only texts, numbers and nulls are compared.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql.functions import expr, struct, to_json

from hudi_conformance.engines.apache_hudi.jvm.bundle import bundle
from hudi_conformance.engines.apache_hudi.jvm.session import Session
from hudi_conformance.engines.support.environments import to_stderr

#: The settings for a table version, by its number. Version 8 is not the default of 1.2.0, 6 of neither; everything else is.
VERSIONS = {
    **{one: {"hoodie.write.table.version": one, "hoodie.write.auto.upgrade": "false"} for one in ("6", "8")},
    "9": {},
}
SKIPPING = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
LISTING = {"hoodie.metadata.enable": "false", "hoodie.enable.data.skipping": "false"}

Json = Mapping[str, Any]


class Hudi:
    """The operations of the process, one method for each."""

    def __init__(self, version: str, table_version: str) -> None:
        self.settings = VERSIONS[table_version]
        # In the class path and not only in `spark.jars`: delete blocks of several entries are read in threads of the common
        # pool of Java, which have the class loader of the application.
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-class-path {bundle(version, to_stderr)} pyspark-shell"
        self.session = Session(version)
        self.spark = self.session.spark
        for name, value in self.settings.items():
            self.spark.conf.set(name, value)

    def _frame(self, rows: Sequence[str], columns: str) -> Any:
        """Rows, SQL expressions of values, with the names and types of the DDL `columns`."""
        schema = self.session.jvm.org.apache.spark.sql.types.StructType.fromDDL(columns)
        fields = [(field.name(), field.dataType().sql()) for field in schema.fields()]
        frame = self.spark.sql(f"SELECT * FROM VALUES {', '.join(rows)}").toDF(*[name for name, _ in fields])
        return frame.selectExpr(*[f"cast({name} as {type}) {name}" for name, type in fields])

    def write(self, path: str, rows: Sequence[str], columns: str, options: Json, operation: str, mode: str) -> None:
        """One write of the data source."""
        writer = self._frame(rows, columns).write.format("hudi").options(**{**self.settings, **options})
        writer.option("hoodie.datasource.write.operation", operation).mode(mode).save(path)

    def fail(self, path: str, rows: Sequence[str], columns: str, options: Json, operation: str) -> None:
        """A write that fails after it has begun: the last row cannot be computed on the executor."""
        doubled = self._frame(rows, columns).crossJoin(self.spark.range(0, 2, 1, 2).withColumnRenamed("id", "__copy"))
        names = [name for name in doubled.columns if name not in ("id", "__copy")]
        frame = doubled.selectExpr("if(__copy = 1, raise_error('the executor fails'), id) id", *names)
        try:
            writer = frame.write.format("hudi").options(**{**self.settings, **options})
            writer.option("hoodie.datasource.write.operation", operation).mode("append").save(path)
        except Exception as error:
            if "the executor fails" not in str(error):
                raise
        else:
            raise AssertionError("the write did not fail")

    def run(self, path: str, statement: str) -> None:
        """Run a statement in which {table} is the table."""
        self.spark.sql("DROP TABLE IF EXISTS served")
        self.spark.sql(f"CREATE TABLE served USING hudi LOCATION '{path}'")
        self.spark.sql(statement.format(table="served")).collect()

    def run_sql(
        self, path: str, type: str, partition: str, settings: Json, columns: str, views: Mapping[str, Sequence[str]],
        statements: Sequence[str],
    ) -> None:  # fmt: skip
        """Create a table with the columns of the DDL `columns`, and run statements on it and on views of the given rows."""
        for name, rows in views.items():
            self._frame(rows, columns).createOrReplaceTempView(name)
        table = path.rpartition("/")[2].replace("-", "_")
        properties = {
            "primaryKey": "id",
            "preCombineField": "ts",
            "type": "cow" if type == "COPY_ON_WRITE" else "mor",
            **self.settings,
            **settings,
        }
        given = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
        parted = f"PARTITIONED BY ({partition})" if partition else ""
        self.spark.sql(f"DROP TABLE IF EXISTS {table}")
        self.spark.sql(f"CREATE TABLE {table} ({columns}) USING hudi {parted} TBLPROPERTIES ({given}) LOCATION '{path}'")
        names = ", ".join(self.spark.table(table).drop(*_meta_columns(self.spark.table(table))).columns)
        for statement in statements:
            self.spark.sql(statement.format(table=table, columns=names))

    def validate(self, path: str, columns: Sequence[str]) -> Mapping[str, Any]:
        """What Hudi's procedures find in the metadata table: files in which it and storage differ, the partitions, for each
        partition its files, and for each file of a latest slice the bounds and the nulls of the columns.
        """
        self.spark.sql("DROP TABLE IF EXISTS validated")
        self.spark.sql(f"CREATE TABLE validated USING hudi LOCATION '{path}'")
        partitions = sorted(row[0] for row in self._call("show_metadata_table_partitions"))
        asked = {"targetColumns": ",".join(columns)}
        listed, bounds = {}, {}
        for one in partitions:
            listed[one] = sorted(row[0] for row in self._call("show_metadata_table_files", partition=one, limit=10_000))
            for name, column, *found in self._call("show_metadata_table_column_stats", partition=one, **asked):
                bounds.setdefault(f"{one}/{name}".lstrip("/"), {})[column] = found
        wrong = [str(row.asDict()) for row in self._call("validate_metadata_table_files")]
        return {"wrong": wrong, "partitions": partitions, "files": listed, "bounds": bounds}

    def _call(self, procedure: str, **arguments: Any) -> Any:
        """The rows of a procedure of Hudi for the table `validated`."""
        given = ", ".join(f"{name} => {value!r}" for name, value in {"table": "validated", **arguments}.items())
        return self.spark.sql(f"CALL {procedure}({given})").collect()

    def read(self, path: str, filters: Sequence[str]) -> list[list[list[str]]]:
        """For each filter the rows that it selects: with data skipping, and of all rows, from a listing of the storage."""
        frames = [self.spark.read.format("hudi").options(**options).load(path) for options in (SKIPPING, LISTING)]
        skipped = [self._rows(frames[0].filter(found) if found else frames[0]) for found in filters]
        # One job answers all filters as columns: none of them is passed on to Hudi.
        texts = frames[1].select(_row(frames[1]).alias("row"), *[expr(found or "true") for found in filters]).collect()
        listed = [sorted(row["row"] for row in texts if row[place]) for place in range(1, len(filters) + 1)]
        return [list(pair) for pair in zip(skipped, listed, strict=True)]

    @staticmethod
    def _rows(frame: Any) -> list[str]:
        return sorted(row[0] for row in frame.select(_row(frame)).collect())


def _row(frame: Any) -> Any:
    """A row as JSON, without the meta columns."""
    return to_json(struct(*[name for name in frame.columns if name not in _meta_columns(frame)]))


def _meta_columns(frame: Any) -> list[str]:
    return [name for name in frame.columns if name.startswith("_hoodie")]


def main() -> None:
    """Answer requests until the input ends."""
    hudi = Hudi(*sys.argv[1:])
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"value": getattr(hudi, request["do"])(**request["with"])}
        except Exception as error:
            causes = [line for line in str(error).splitlines() if line.startswith("Caused by")]
            answer = {"error": "; ".join([f"{type(error).__name__}: {error}"[:300], *causes])[:3000]}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
