"""One engine in a Spark session: takes the steps of the benchmark of ratios, as JSON lines, and answers after each.

`python -m tools.bench.spark.ratios_worker spark` is the Spark engine of the project, `apache-hudi VERSION` Apache Hudi's
datasource. All sessions have the same settings; that of Apache Hudi also has the settings that Hudi requires.
"""

import json
import os
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import DataFrame, SparkSession
from tools.bench.spark.generated_rows import BULK_INSERT, COLUMNS, OPTIONS, expected_rows, inserted_rows, updated_rows
from tools.bench.spark.worker import checksum, make_frame, make_session, make_session_with_hudi

#: Both engines maintain the listing of files and the statistics of columns, as Hudi does by default.
INDEXES = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}


@dataclass
class Engine(ABC):
    """An engine with the table of the benchmark."""

    spark: SparkSession
    table: str
    rows: int
    groups: int

    @abstractmethod
    def save(self, rows: DataFrame, mode: str, options: dict[str, str]) -> None:
        """Write rows to the table, which the first write creates."""

    @abstractmethod
    def frame(self) -> DataFrame:
        """The snapshot."""

    @abstractmethod
    def compact(self) -> None:
        """Plan a compaction and execute it."""

    def take(self, step: str) -> list[str]:
        """Take a step. For `check` and `expected` the number of rows and the sum of their hashes, otherwise nothing."""
        match step:
            case "bulk insert":
                rows = inserted_rows(self.spark, self.rows, self.groups)
                self.save(rows, "overwrite", {**BULK_INSERT, **INDEXES})
            case "upsert 10 %":
                self.save(updated_rows(self.spark, self.rows), "append", {**OPTIONS, **INDEXES})
            case "snapshot" | "snapshot after the compaction":
                self.frame().write.format("noop").mode("overwrite").save()
            case "aggregate" | "aggregate after the compaction":
                self.frame().groupBy("ts").agg(F.sum("fare"), F.max("name"), F.count(F.lit(1))).collect()
            case "compaction":
                self.compact()
            case "Spark's Parquet reader":
                task = {"by": "parquet", "table": self.table, "columns": COLUMNS}
                make_frame(self.spark, task).write.format("noop").mode("overwrite").save()
            case "check":
                return checksum(self.frame())
            case "expected":
                return checksum(expected_rows(self.spark, self.rows, self.groups))
            case _:
                raise ValueError(step)
        return []


class Reference(Engine):
    """The Spark engine of the project."""

    def save(self, rows: DataFrame, mode: str, options: dict[str, str]) -> None:
        """Write."""
        import hudi_spark

        hudi_spark.save(rows, self.table, mode=mode, options=options)  # type: ignore[arg-type]

    def frame(self) -> DataFrame:
        """Read."""
        return make_frame(self.spark, {"by": "spark", "table": self.table, "columns": COLUMNS})

    def compact(self) -> None:
        """Compact."""
        import hudi_spark

        hudi_spark.services.run(self.spark, self.table, "compaction", options=INDEXES)


class ApacheHudi(Engine):
    """The datasource of Apache Hudi."""

    def save(self, rows: DataFrame, mode: str, options: dict[str, str]) -> None:
        """Write."""
        rows.write.format("hudi").options(**options).mode(mode).save(self.table)

    def frame(self) -> DataFrame:
        """Read."""
        return make_frame(self.spark, {"by": "apache-hudi", "table": self.table, "columns": COLUMNS})

    def compact(self) -> None:
        """Compact by the SQL procedure, which ends without an error if no plan is due."""
        self.spark.sql("SET hoodie.compact.inline.max.delta.commits=1")
        for step in ("schedule", "run"):
            self.spark.sql(f"CALL run_compaction(op => '{step}', path => '{self.table}')").collect()


def main() -> None:
    """Serve one engine until standard input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    spark = make_session_with_hudi(sys.argv[2]) if sys.argv[1] == "apache-hudi" else make_session()
    kind = ApacheHudi if sys.argv[1] == "apache-hudi" else Reference
    for line in sys.stdin:
        task: dict[str, Any] = json.loads(line)
        step = task.pop("step")
        print(json.dumps({"found": kind(spark, **task).take(step)}), file=out, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
