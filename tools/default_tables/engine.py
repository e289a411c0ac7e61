"""One process with Apache Hudi on Spark, with its default settings; `python -m tools.default_tables` starts it.

    PYTHON -m tools.default_tables.engine VERSION

Requests and answers are JSON, one a line. Rows travel as JSON too: only texts, numbers and nulls are compared.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hudi_conformance.engines.apache_hudi.jvm.bundle import bundle
from hudi_conformance.engines.apache_hudi.jvm.session import Session
from hudi_conformance.engines.support.environments import to_stderr

COLUMNS = "id string, ts long, p string, name string, n int, d double, day date, big decimal(10,2), s struct<a:int>"
#: Version 8 is not the default of 1.2.0; everything else is.
VERSION_8 = {"hoodie.write.table.version": "8", "hoodie.write.auto.upgrade": "false"}
SKIPPING = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
LISTING = {"hoodie.metadata.enable": "false", "hoodie.enable.data.skipping": "false"}

Json = Mapping[str, Any]


class Hudi:
    """The operations of the process, one method for each."""

    def __init__(self, version: str) -> None:
        # In the class path and not only in `spark.jars`: delete blocks of several entries are read in threads of the common
        # pool of Java, which have the class loader of the application.
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-class-path {bundle(version, to_stderr)} pyspark-shell"
        self.session = Session(version)
        self.spark = self.session.spark

    def write(self, path: str, rows: Sequence[str], options: Json, operation: str, mode: str = "append") -> None:
        """One write of the data source; `rows` are SQL expressions of values."""
        frame = self.spark.sql(f"SELECT * FROM VALUES {', '.join(rows)}").toDF(*[c.split()[0] for c in COLUMNS.split(", ")])
        cast = [f"cast({part.split(' ', 1)[0]} as {part.split(' ', 1)[1]}) {part.split()[0]}" for part in COLUMNS.split(", ")]
        writer = frame.selectExpr(*cast).write.format("hudi").options(**{**VERSION_8, **options})
        writer.option("hoodie.datasource.write.operation", operation).mode(mode).save(path)

    def read(self, path: str, filters: Sequence[str]) -> list[list[list[str]]]:
        """For each filter the rows that it selects: with data skipping, and with a listing of the storage."""
        self.spark.catalog.clearCache()
        frames = [self.spark.read.format("hudi").options(**options).load(path) for options in (SKIPPING, LISTING)]
        return [[self._rows(frame.filter(found) if found else frame) for frame in frames] for found in filters]

    @staticmethod
    def _rows(frame: Any) -> list[str]:
        names = [name for name in frame.columns if not name.startswith("_hoodie")]
        return sorted(row[0] for row in frame.selectExpr(f"to_json(struct({', '.join(names)}))").collect())


def main() -> None:
    """Answer requests until the input ends."""
    hudi = Hudi(sys.argv[1])
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"value": getattr(hudi, request["do"])(**request["with"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:2000]}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
