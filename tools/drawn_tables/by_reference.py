"""Makes drawn tables with the reference, so that many are compared with the model in little time."""

import json
import pickle
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from tools.drawn_tables.drawing import Drawn
from tools.drawn_tables.questions import WRITES, completed_actions, queries_of
from tools.recipes.column_types import arrow_schema, avro_record
from tools.recipes.recipe import Step

from hudi_reference import (
    WritableTable,
    clean,
    cluster,
    compact,
    create_table,
    log_compact,
    open_table,
    restore,
    rollback,
    savepoint,
)  # fmt: skip
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.ids import SeededIds

#: 2026-01-01T00:00:00Z. Each reading of the clock is a second later than the one before.
START = 1767225600000
Service = Callable[[WritableTable, str], object]
SERVICES: Mapping[str, Service] = {
    "client_compact": lambda table, of: compact(table, {"hoodie.compact.inline.max.delta.commits": "1"}),
    "schedule_compaction": lambda table, of: None,
    "log_compact": lambda table, of: log_compact(table),
    "cluster": lambda table, of: cluster(table),
    "clean": lambda table, of: clean(table, {"hoodie.clean.commits.retained": "1"}),
    "rollback": rollback,
    "savepoint": savepoint,
    "restore": restore,
}


def make(drawn: Drawn, folder: Path, version: int = 9) -> None:
    """Write one table, with a clock and ids that are the same each time."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "drawn.pickle").write_bytes(pickle.dumps(drawn))
    making = _Making(drawn, folder / "table", version)
    steps = [making.take(number, step) for number, step in enumerate(drawn.recipe.steps)]
    asked = [{"query": query.to_json()} for query in queries_of(drawn, steps)]
    (folder / "made.json").write_text(json.dumps({"axes": drawn.axes, "steps": steps, "asked": asked}))


class _Making:
    """A table while it is written."""

    def __init__(self, drawn: Drawn, path: Path, version: int) -> None:
        self.drawn, self.path = drawn, path
        self.instants: list[str] = []
        self.columns = drawn.recipe.table.columns
        self.clock, self.ids = ManualClock(START, 1000), SeededIds(1)
        self.options = {**drawn.recipe.table.options, "hoodie.clean.automatic": "false",
                        "hoodie.datasource.write.reconcile.schema": "true"}  # fmt: skip
        self._create(version)

    def _create(self, version: int) -> None:
        table = self.drawn.recipe.table
        hive, encoded = (
            self.options.get(f"hoodie.datasource.write.{name}") == "true"
            for name in ("hive_style_partitioning", "partitionpath.urlencode")
        )
        stored = ("hoodie.table.", "hoodie.keygen.", "hoodie.datasource.write.slash")
        create_table(
            self.path.as_uri(), name="drawn", schema=avro_record("drawn", table.columns), record_key=table.record_key,
            partition=table.partition, table_type=table.type, version=version, ordering=table.ordering,
            merge_mode=table.merge_mode, hive_style=hive, url_encode=encoded, clock=self.clock, ids=self.ids,
            properties={key: value for key, value in self.options.items() if key.startswith(stored)},
            options=self.drawn.merging.options,
        )  # fmt: skip

    def take(self, number: int, step: Step) -> dict[str, Any]:
        """Take one step; the actions that it completed, and the error if it failed."""
        timeline = self.path / ".hoodie" / "timeline"
        before, error = completed_actions(timeline), None
        self.columns = step.columns or self.columns
        try:
            table = open_table(self.path.as_uri(), clock=self.clock, ids=self.ids, options=self.options)
            if step.kind in SERVICES:
                SERVICES[step.kind](table, self.instants[step.of] if step.of is not None else "")
            else:
                self._write(table, step)
        except HudiError as failure:
            error = f"{type(failure).__name__}: {failure}".replace("\n", " ")
        new = sorted(completed_actions(timeline) - before)
        writes = [requested for requested, action, _ in new if action in WRITES]
        self.instants.append(writes[0] if writes else (self.instants or [""])[-1])
        return {"new": new, "error": error}

    def _write(self, table: WritableTable, step: Step) -> None:
        if step.kind == "delete_partition":
            names = self.drawn.recipe.table.partition_columns
            hive = self.options.get("hoodie.datasource.write.hive_style_partitioning") == "true"
            table.delete_partitions("/".join(f"{n}={row[n]}" if hive else str(row[n]) for n in names) for row in step.rows)
            return
        columns = tuple(one for one in self.columns if any(one[0] in row for row in step.rows))
        rows = pa.Table.from_pylist([dict(row) for row in step.rows], schema=arrow_schema(columns))
        kind = {"merge_into": "partial_update"}.get(step.kind, step.kind)
        getattr(table, kind)(rows)
