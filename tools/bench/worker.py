"""One engine in one process: reads tasks as JSON lines, runs them, and answers after each."""

import hashlib
import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

Task = dict[str, Any]


def digest(rows: pa.Table) -> dict[str, Any]:
    """The number of rows and a hash of each column in the order of the ids, which must be equal for all engines."""
    ordered = rows.sort_by("id")
    return {"rows": rows.num_rows, **{name: _hash(ordered.column(name)) for name in sorted(rows.column_names)}}


def _hash(column: pa.ChunkedArray) -> str:
    """A hash of the values as texts; of times in microseconds."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    texts = pa.concat_arrays(column.cast(pa.large_string()).fill_null("null").chunks)
    return hashlib.sha256(b"".join(texts.buffers()[1:])).hexdigest()


def read_with_reference(task: Task) -> Any:
    """The reference, on plain Python and Arrow."""
    from hudi_reference import open_table
    from hudi_reference.services.compaction.compaction import compact

    if task["do"] == "decode":
        return _decoded(task["log"])
    table = open_table(task["table"], options=task.get("options"))
    match task["do"]:
        case "upsert":
            return table.upsert(pq.read_table(task["rows"]))
        case "compact":
            return compact(table)
        case "read-optimized":
            return table.read_optimized(columns=task["columns"])
        case _:
            return table.snapshot(columns=task["columns"])


def _decoded(path: str) -> pa.Table:
    """The rows of every block of a log file."""
    from hudi_reference.files.log.content import decode_rows
    from hudi_reference.files.log.reader import read_log_file
    from hudi_reference.storage import storage_of

    folder, _, name = path.rpartition("/")
    return pa.concat_tables([decode_rows(block) for block in read_log_file(storage_of(folder), name)])


def read_with_polars(task: Task) -> Any:
    """Read the same records from an Avro container with polars."""
    import polars as pl

    return pl.read_avro(task["container"]).to_arrow()


def read_with_datafusion(task: Task) -> Any:
    """Read the same records from an Avro container with DataFusion."""
    from datafusion import SessionContext

    return pa.Table.from_batches(SessionContext().read_avro(task["container"]).collect())


def read_with_fastavro(task: Task) -> Any:
    """Read the same records from an Avro container with fastavro, as Python dictionaries."""
    import fastavro

    with Path(task["container"]).open("rb") as file:
        records = list(fastavro.reader(file))
    return pa.Table.from_pylist(records) if task["compare"] else records


def read_with_arrow(task: Task) -> Any:
    """Read the base files of the table as an Arrow dataset, without merging: a lower limit."""
    from hudi_reference import open_table

    table = open_table(task["table"])
    files = [Path(task["table"].removeprefix("file://"), s.path(s.base_file)) for s in table.file_groups().latest_slices]
    return ds.dataset([str(file) for file in files], format="parquet").to_table(columns=task["columns"])


def read_with_hudi_rs(task: Task) -> Any:
    """hudi-rs through its Python package."""
    from hudi import HudiReadOptions, HudiTableBuilder

    table = HudiTableBuilder.from_base_uri(task["table"]).build()
    options = HudiReadOptions(projection=task["columns"]) if task["columns"] else HudiReadOptions()
    return pa.Table.from_batches(table.read(options))


class ApacheHudi:
    """Apache Hudi on Spark; a read writes to Spark's `noop` sink, so that no row leaves the JVM."""

    def __init__(self, version: str) -> None:
        from hudi_conformance.engines.apache_hudi.jvm.session import Session

        self.session = Session(version)
        self.spark = self.session.spark

    def __call__(self, task: Task) -> Any:
        """Run one task."""
        match task["do"]:
            case "upsert":
                return self._upsert(task)
            case "compact":
                return self._compact(task)
        frame = self.spark.read.format("hudi").load(task["table"])
        frame = frame.select(*(task["columns"] or [c for c in frame.columns if not c.startswith("_hoodie")]))
        if task["compare"]:
            return self.session.collect(frame)
        frame.write.format("noop").mode("overwrite").save()
        return None

    def _upsert(self, task: Task) -> None:
        options = {
            "hoodie.table.name": "bench",
            "hoodie.datasource.write.operation": "upsert",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "city",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.write.table.version": "8",
            "hoodie.write.auto.upgrade": "false",
            "hoodie.metadata.enable": "false",
            "hoodie.upsert.shuffle.parallelism": "2",
            **task["options"],
        }
        self.spark.read.parquet(task["rows"]).write.format("hudi").options(**options).mode("append").save(task["table"])

    def _compact(self, task: Task) -> None:
        from hudi_conformance.engines.apache_hudi.maintenance import run
        from hudi_conformance.engines.apache_hudi.orders import Order

        run(Order(self.session, task["table"], "run", None, task["options"]), "compaction")


def main() -> None:
    """Serve one engine until standard input ends."""
    name = sys.argv[1]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    engines: dict[str, Callable[[], Callable[[Task], Any]]] = {
        "reference": lambda: read_with_reference,
        "arrow": lambda: read_with_arrow,
        "hudi-rs": lambda: read_with_hudi_rs,
        "polars": lambda: read_with_polars,
        "datafusion": lambda: read_with_datafusion,
        "fastavro": lambda: read_with_fastavro,
        "apache-hudi": lambda: ApacheHudi(sys.argv[2]),
    }
    engine = engines[name]()
    for line in sys.stdin:
        task = json.loads(line)
        found = engine(task)
        answer: dict[str, Any] = {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        if task["compare"] and isinstance(found, pa.Table):
            answer["digest"] = digest(found)
        if isinstance(found, pa.Table):
            answer["bytes"] = found.nbytes
        del found
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
