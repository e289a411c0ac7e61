"""Makes drawn tables with the reference, so that many are compared with the model in little time."""

import json
import pickle
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from tools.drawn_tables.drawing import Drawn
from tools.drawn_tables.questions import WRITES, completed_actions, queries_of
from tools.recipes.column_types import arrow_schema, avro_record
from tools.recipes.recipe import Step

from hudi_conformance.suite.support.concurrent.slow_writers import InterruptedLock
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
from hudi_reference.locks import InProcessLock

#: 2026-01-01T00:00:00Z. Each reading of the clock is a second later than the one before.
START = 1767225600000
#: Write operations by kind of step. Steps of other kinds, such as SQL statements, are not taken.
WRITE_OPERATIONS: Mapping[str, str] = {
    **{name: name for name in ("insert", "upsert", "bulk_insert", "delete", "insert_overwrite", "delete_partition")},
    "merge_into": "partial_update", "finish": "upsert",
}  # fmt: skip
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
    making.take_all(drawn.recipe.steps)
    steps = making.done
    asked = [{"query": query.to_json()} for query in queries_of(drawn, steps)]
    (folder / "made.json").write_text(json.dumps({"axes": drawn.axes, "steps": steps, "asked": asked}))


class _Making:
    """A table while it is written."""

    def __init__(self, drawn: Drawn, path: Path, version: int) -> None:
        self.drawn, self.path = drawn, path
        self.instants: list[str] = []
        self.done: list[dict[str, Any]] = []
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

    def take_all(self, steps: Sequence[Step]) -> None:
        """Take these steps, and note what each has done. A step `begin` contains those up to its `finish`."""
        place = 0
        while place < len(steps):
            if steps[place].kind == "begin":
                number = len(self.done)
                last = next(n for n in range(place, len(steps)) if steps[n].kind == "finish" and steps[n].of == number)
                self._take_slowly(steps[last], steps[place + 1 : last])
                place = last
            else:
                self.done.append(self.take(steps[place]))
            place += 1

    def _take_slowly(self, step: Step, between: Sequence[Step]) -> None:
        """Write; before the write completes, take other steps."""
        self.done.append({"new": [], "error": None})
        self.instants.append((self.instants or [""])[-1])

        def write() -> None:
            table = self._opened(step)
            lock = InterruptedLock(table.lock or InProcessLock(), "complete", lambda: self.take_all(between))
            self._write(replace(table, lock=lock), step)

        self.done.append(self._noted(write))

    def take(self, step: Step) -> dict[str, Any]:
        """Take one step; the actions that it completed, and the error if it failed."""
        self.columns = step.columns or self.columns
        if step.until is not None or (step.kind not in SERVICES and step.kind not in WRITE_OPERATIONS):
            self.instants.append((self.instants or [""])[-1])
            return {"new": [], "error": "the reference does not take this step"}
        return self._noted(lambda: self._act(step))

    def _noted(self, act: Callable[[], None]) -> dict[str, Any]:
        """Act; the actions that were completed and that no other step had completed, and the error."""
        before, error = self._completed(), None
        try:
            act()
        except HudiError as failure:
            error = f"{type(failure).__name__}: {failure}".replace("\n", " ")
        noted = {tuple(one) for done in self.done for one in done["new"]}
        new = sorted(self._completed() - before - noted)
        writes = [requested for requested, action, _ in new if action in WRITES]
        self.instants.append(writes[0] if writes else (self.instants or [""])[-1])
        return {"new": new, "error": error}

    def _completed(self) -> set[tuple[str, str, str]]:
        return completed_actions(self.path / ".hoodie" / "timeline")

    def _opened(self, step: Step) -> WritableTable:
        return open_table(self.path.as_uri(), clock=self.clock, ids=self.ids, options={**self.options, **step.options})

    def _act(self, step: Step) -> None:
        if step.kind in SERVICES:
            SERVICES[step.kind](self._opened(step), self.instants[step.of] if step.of is not None else "")
        else:
            self._write(self._opened(step), step)

    def _write(self, table: WritableTable, step: Step) -> None:
        if step.kind == "delete_partition":
            names = self.drawn.recipe.table.partition_columns
            hive = self.options.get("hoodie.datasource.write.hive_style_partitioning") == "true"
            table.delete_partitions("/".join(f"{n}={row[n]}" if hive else str(row[n]) for n in names) for row in step.rows)
            return
        columns = tuple(one for one in self.columns if any(one[0] in row for row in step.rows))
        rows = pa.Table.from_pylist([dict(row) for row in step.rows], schema=arrow_schema(columns))
        getattr(table, WRITE_OPERATIONS[step.kind])(rows)
