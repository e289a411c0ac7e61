"""Run recipes on Apache Hudi; `golden_tables.py` starts this module with the Python of that engine's environment.

    python -m tools.recipes.producers.apache_hudi --version VERSION --out FOLDER RECIPE...

One Spark session writes all tables. For each recipe `FOLDER/<name>/table` is the table and `FOLDER/<name>/made.json`
holds the requested time of each step and the engine's own answer to each check.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyarrow import feather
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import _parse_datatype_string
from tools.recipes import catalogue
from tools.recipes.column_types import spark_type
from tools.recipes.interrupted_actions import stopping
from tools.recipes.recipe import Check, Recipe, Row, Step, Table
from tools.recipes.table_edits import PROPERTIES, strip

from hudi_conformance.engines.apache_hudi.jvm.session import Session
from hudi_conformance.engines.apache_hudi.maintenance import run
from hudi_conformance.engines.apache_hudi.orders import Order
from hudi_conformance.engines.apache_hudi.services import log_compaction
from hudi_conformance.engines.support.columns import META_COLUMNS

#: Bloom filters of few keys, so that base files are small.
SMALL_FILTERS = {"hoodie.bloom.index.filter.type": "SIMPLE", "hoodie.index.bloom.num_entries": "10"}

#: Small files, no automatic services, no metadata table, so that a table has only the actions of its recipe.
QUIET = {
    "hoodie.metadata.enable": "false",
    "hoodie.write.auto.upgrade": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.compact.schedule.inline": "false",
    **SMALL_FILTERS,
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.insert.shuffle.parallelism": "1",
    "hoodie.bulkinsert.shuffle.parallelism": "1",
    "hoodie.delete.shuffle.parallelism": "1",
}

#: Steps that are stored procedures: name and arguments of each call; {of} is the requested time of an earlier step.
PROCEDURES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "compact": (("run_compaction", "op => 'schedule'"), ("run_compaction", "op => 'run'")),
    "schedule_compaction": (("run_compaction", "op => 'schedule'"),),
    "cluster": (("run_clustering", ""),),
    "schedule_clustering": (("run_clustering", "op => 'schedule'"),),
    "clean": (("run_clean", "clean_policy => 'KEEP_LATEST_FILE_VERSIONS', file_versions_retained => 1"),),
    "savepoint": (("create_savepoint", "commit_time => '{of}'"),),
    "restore": (("rollback_to_savepoint", "instant_time => '{of}'"),),
    "rollback": (("rollback_to_instant", "instant_time => '{of}'"),),
}

#: A user-defined index, which needs the metadata table.
INDEX = "CREATE INDEX by_year ON {table} USING column_stats(ts) OPTIONS (expr='from_unixtime', format='yyyy')"


def writer_options(name: str, table: Table) -> dict[str, str]:
    """Options of the data source for `table`."""
    options = {
        **QUIET,
        "hoodie.write.table.version": str(table.version),
        "hoodie.table.name": name,
        "hoodie.datasource.write.table.type": table.type,
        "hoodie.datasource.write.partitionpath.field": ",".join(table.partition),
        "hoodie.datasource.write.hive_style_partitioning": str(table.hive_style).lower(),
        "hoodie.datasource.write.partitionpath.urlencode": str(table.url_encode).lower(),
    }
    if table.record_key:
        options["hoodie.datasource.write.recordkey.field"] = ",".join(table.record_key)
    if table.ordering:
        options["hoodie.datasource.write.precombine.field"] = ",".join(table.ordering)
    if table.merge_mode:
        options["hoodie.write.record.merge.mode"] = table.merge_mode
    return {**options, **table.options}


class Making:
    """One table while it is written."""

    def __init__(self, session: Session, recipe: Recipe, folder: Path) -> None:
        self.session = session
        self.spark: SparkSession = session.spark
        self.recipe = recipe
        self.path = folder / "table"
        self.name = recipe.name.replace("-", "_").replace(".", "_")
        self.options = writer_options(self.name, recipe.table)
        self.columns = recipe.table.columns
        self.instants: list[str] = []
        self.registered = False

    def run(self) -> list[str]:
        """Run all steps; return the requested time of each."""
        if "hoodie.timeline.path" in self.options:
            self._create()
        for step in self.recipe.steps:
            before = self._requested_times(step)
            self.columns = step.columns or self.columns
            with stopping(self.path, self.timeline, step.until):
                self._act(step)
            new = sorted(self._requested_times(step) - before)
            self.instants.append(new[-1] if new else self._shared_instant(step))
        if self.registered:
            self.spark.sql(f"DROP TABLE {self.name}")
        return self.instants

    def _create(self) -> None:
        """Create the table before the first write, because a write ignores the setting of the timeline folder."""
        table = self.recipe.table
        builder = self.session.hudi.common.table.HoodieTableMetaClient.newTableBuilder()
        builder = builder.setTableName(self.name).setTableType(table.type).setTableVersion(table.version)
        builder = builder.setRecordKeyFields(",".join(table.record_key)).setPartitionFields(",".join(table.partition))
        builder = builder.setPreCombineField(",".join(table.ordering)).setKeyGeneratorType("SIMPLE")
        builder = builder.setTimelinePath(self.options["hoodie.timeline.path"])
        builder = builder.setTimelineHistoryPath(self.options["hoodie.timeline.history.path"])
        builder.initTable(self.session.storage, str(self.path))

    def answer(self, check: Check) -> DataFrame:
        """The answer of this engine to `check`."""
        reader = self.spark.read.format("hudi").option("hoodie.metadata.enable", "false")
        if check.kind == "read-optimized":
            reader = reader.option("hoodie.datasource.query.type", "read_optimized")
        if check.as_of is not None:
            reader = reader.option("as.of.instant", catalogue.as_of_text(check.as_of, self.instants))
        found = reader.load(str(self.path))
        for column, operator, value in check.where:
            found = found.where(COMPARISONS[operator](found[column], value))
        return found.select(*(check.columns or [c for c in found.columns if c not in META_COLUMNS]))

    def _act(self, step: Step) -> None:
        if step.kind in PROCEDURES:
            for procedure, arguments in PROCEDURES[step.kind]:
                self._call(procedure, arguments.format(of=self._instant_of(step) if "{of}" in arguments else ""))
        elif step.kind == "log_compact":
            self._register()
            log_compaction(self.session, f"file://{self.path}", {**self.options, **step.options})
        elif step.kind == "client_compact":
            run(Order(self.session, f"file://{self.path}", "run", None, SMALL_FILTERS), "compaction")
        elif step.kind == "downgrade":
            settings = {**SMALL_FILTERS, "hoodie.write.table.version": "8"}  # the procedure takes no settings
            run(Order(self.session, f"file://{self.path}", "run", None, settings), "migrate")
        elif step.kind == "rollback_pending":
            self._rollback_pending(self._instant_of(step))
        elif step.kind == "create_index":
            self._sql(step.statement or INDEX)
        elif step.kind == "sql":
            self._run_statements(step)
        elif step.kind == "sql_delete":
            self._sql_delete(step)
        elif step.kind == "merge_into":
            self._merge_into(step)
        elif step.kind == "delete_partition":
            self._delete_partition(step)
        else:
            self._write(step)

    def _write(self, step: Step) -> None:
        options = {**self.options, **step.options, "hoodie.datasource.write.operation": step.kind}
        self._frame(step.rows, step).write.format("hudi").options(**options).mode("append").save(str(self.path))

    def _frame(self, rows: Sequence[Row], step: Step) -> DataFrame:
        columns = self.columns
        if step.kind == "delete":
            table = self.recipe.table
            rows = [{**dict.fromkeys(table.ordering), **row} for row in rows]
            columns = tuple(c for c in columns if c[0] in {*table.record_key, *table.partition_columns, *table.ordering})
        schema = _parse_datatype_string(", ".join(f"`{name}` {spark_type(kind)}" for name, kind in columns))
        return self.spark.createDataFrame([tuple(row.get(n) for n, _ in columns) for row in rows], schema)

    def _delete_partition(self, step: Step) -> None:
        options = {
            **self.options,
            "hoodie.datasource.write.operation": "delete_partition",
            "hoodie.datasource.write.partitions.to.delete": ",".join(self._partition_path(row) for row in step.rows),
        }
        frame = self._frame([], step)
        frame.write.format("hudi").options(**options).mode("append").save(str(self.path))

    def _partition_path(self, row: Row) -> str:
        hive = self.recipe.table.hive_style
        return "/".join(f"{n}={row[n]}" if hive else str(row[n]) for n in self.recipe.table.partition_columns)

    def _run_statements(self, step: Step) -> None:
        """Run the statements of a step, of which the first of a table may create it."""
        for statement in (step.statement or "").split(";"):
            self.registered |= "CREATE TABLE" in statement
            self._sql(statement.replace("{path}", str(self.path)))

    def _sql_delete(self, step: Step) -> None:
        for row in step.rows:
            self._sql("DELETE FROM {table} WHERE " + " AND ".join(f"{n} = {v!r}" for n, v in row.items()))

    def _merge_into(self, step: Step) -> None:
        given = [column for column in self.columns if column[0] in step.rows[0]]
        schema = _parse_datatype_string(", ".join(f"`{name}` {spark_type(kind)}" for name, kind in given))
        rows = [tuple(row[name] for name, _ in given) for row in step.rows]
        self.spark.createDataFrame(rows, schema).createOrReplaceTempView("changes")
        keys = self.recipe.table.record_key
        condition = " AND ".join(f"t.{name} = s.{name}" for name in keys)
        assigned = ", ".join(f"{name} = s.{name}" for name, _ in given if name not in keys)
        self._sql(f"MERGE INTO {{table}} t USING changes s ON {condition} WHEN MATCHED THEN UPDATE SET {assigned}")

    def _call(self, procedure: str, arguments: str) -> None:
        self._sql(f"CALL {procedure}(table => '{self.name}'{', ' if arguments else ''}{arguments})")

    def _sql(self, statement: str) -> None:
        self._register()
        for name, value in self.options.items():
            self.spark.conf.set(name, value)
        try:
            self.spark.sql(statement.replace("{table}", self.name)).collect()
        finally:
            for name in self.options:
                self.spark.conf.unset(name)

    def _register(self) -> None:
        """Give the table a name in the catalog."""
        if not self.registered:
            self.spark.sql(f"CREATE TABLE {self.name} USING hudi LOCATION '{self.path}'")
            self.registered = True

    def _shared_instant(self, step: Step) -> str:
        """The requested time of the protected commit for a savepoint, of the last step for a downgrade.

        Any other step without a new instant is an error.
        """
        if step.kind == "downgrade":
            return self.instants[-1]
        if step.kind != "savepoint":
            raise RuntimeError(f"step {len(self.instants)} ({step.kind}) of {self.recipe.name} left no instant")
        return self._instant_of(step)

    def _instant_of(self, step: Step) -> str:
        assert step.of is not None, f"{step.kind} concerns an earlier step"
        return self.instants[step.of]

    def _rollback_pending(self, instant: str) -> None:
        """Roll back a pending instant with Hudi's client, because the procedure only rolls back completed instants."""
        settings = {**self.options, "hoodie.datasource.compaction.async.enable": "false"}
        create = self.session.hudi.DataSourceUtils.createHoodieClient
        client = create(self.spark._jsc, "", str(self.path), self.name, settings)
        try:
            client.rollback(instant)
        finally:
            client.close()

    @property
    def timeline(self) -> str:
        """The folder of the active timeline below the table."""
        properties = self.path / PROPERTIES
        if properties.is_file() and "hoodie.timeline.layout.version=1" in properties.read_text():
            return ".hoodie"
        return f".hoodie/{self.options.get('hoodie.timeline.path', 'timeline')}"

    def _requested_times(self, step: Step) -> set[str]:
        """The requested times of all actions on the timeline, without cleans that a write runs."""
        timeline = self.path / self.timeline
        names = [f.name for f in timeline.iterdir()] if timeline.is_dir() else []
        return {n.split(".")[0].split("_")[0] for n in names if n[:1].isdigit() and (step.kind == "clean" or ".clean" not in n)}


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda column, value: column == value,
    "!=": lambda column, value: column != value,
    "<": lambda column, value: column < value,
    "<=": lambda column, value: column <= value,
    ">": lambda column, value: column > value,
    ">=": lambda column, value: column >= value,
}


def answers(session: Session, making: Making, folder: Path) -> dict[str, dict[str, str]]:
    """The engine's answer to each check: a Feather file of rows, or the cause of its error."""
    found: dict[str, dict[str, str]] = {}
    for number, check in enumerate(making.recipe.checks):
        if check.timeline or check.windows:
            continue
        try:
            target = folder / f"answer-{number}.arrow"
            feather.write_feather(session.collect(making.answer(check)), str(target))
            found[check.name] = {"rows": target.name}
        except Exception as error:
            found[check.name] = {"error": root_cause(error)}
    return found


def root_cause(error: Exception) -> str:
    """The innermost cause that a Java stack trace names, on one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.startswith("Caused by:") or "Exception" in line]
    causes = [line for line in lines if line.startswith("Caused by:")]
    return (causes or lines or [f"{type(error).__name__}: {error}"])[-1][:300]


def make(session: Session, recipe: Recipe, out: Path) -> None:
    """Write the table of `recipe` below `out`, and record times and answers."""
    folder = out / recipe.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    making = Making(session, recipe, folder)
    making.run()
    strip(making.path)
    for edit in recipe.edits:
        edit(making.path, making.instants)
    made = {"requested_times": making.instants, "answers": answers(session, making, folder)}
    (folder / "made.json").write_text(json.dumps(made, indent=1))


def main() -> int:
    """Write the tables that the command line names; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("recipes", nargs="+")
    arguments = parser.parse_args()
    session = Session(arguments.version)
    failed = 0
    for name in arguments.recipes:
        try:
            make(session, catalogue.find(name), arguments.out)
            print(f"made {name}", flush=True)
        except Exception as error:
            failed += 1
            print(f"failed {name}: {root_cause(error)}", flush=True)
    session.stop()
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
