"""The process with one release of Apache Hudi: makes drawn tables in one session and writes down its answers.

    PYTHON -m tools.drawn_tables.maker [--drawing NAME] [--release R] FOLDER SEED KINDS NUMBER…

Each table is in `FOLDER/<number>/table`, with `made.json`: the actions of each step, and the queries with the answers. Release
1.0.2 makes the first steps of the tables that are upgraded from it, and 1.2.0 goes on.
"""

import argparse
import json
import pickle
import shutil
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyarrow import feather
from tools.drawn_tables.drawing import Drawn
from tools.drawn_tables.drawings import DRAWINGS
from tools.drawn_tables.questions import WRITES, completed_actions, queries_of
from tools.drawn_tables.slow_writes import SlowWrite, waiting_for
from tools.drawn_tables.wide import STARTS
from tools.recipes.column_types import spark_type
from tools.recipes.interrupted_actions import stopping
from tools.recipes.producers.apache_hudi import Making, root_cause
from tools.recipes.recipe import COW, Row, Step

from hudi_conformance.engines.apache_hudi import queries
from hudi_conformance.engines.apache_hudi.jvm.session import Session

#: Settings that a step gives to all later ones.
_LASTING = ("hoodie.write.table.version", "hoodie.write.auto.upgrade")


class DrawnMaking(Making):
    """One drawn table while it is written; a step that fails is noted, and the next one follows."""

    def __init__(self, session: Session, drawn: Drawn, folder: Path) -> None:
        super().__init__(session, drawn.recipe, folder)
        self.drawn = drawn
        self.done: list[dict[str, Any]] = []
        self.slow: dict[int, SlowWrite] = {}

    def run_steps(self, steps: Sequence[Step]) -> None:
        """Run these steps."""
        if not self.done and self.drawn.axes.get("creator") == "sql":
            self._create_by_sql()
        for step in steps:
            before, error = self.completed(), None
            self.columns = step.columns or self.columns
            self.options |= {name: value for name, value in step.options.items() if name in _LASTING}
            try:
                with stopping(self.path, self.timeline, step.until):
                    self._act(step)
                if step.kind == "downgrade":
                    self.options |= {_LASTING[0]: "8", _LASTING[1]: "false"}
            except Exception as failure:
                error = root_cause(failure)
            known = {one[:2] for one in before}  # an upgrade from version 6 gives earlier actions their completion times
            new = sorted(one for one in self.completed() if one[:2] not in known)
            self.done.append({"new": new, "error": error})
            writes = [requested for requested, action, _ in new if action in WRITES]
            self.instants.append(writes[0] if writes else self.instants[-1] if self.instants else "0" * 17)
        if self.registered:
            self.spark.sql(f"DROP TABLE IF EXISTS {self.name}")

    def _create_by_sql(self) -> None:
        table = self.recipe.table
        options = {**self.options, "primaryKey": ",".join(table.record_key),
                   "type": "cow" if table.type == COW else "mor"}  # fmt: skip
        if table.ordering:
            options["preCombineField"] = ",".join(table.ordering)
        columns = ", ".join(f"`{name}` {spark_type(kind)}" for name, kind in self.columns)
        parted = f"PARTITIONED BY ({', '.join(table.partition_columns)})" if table.partition else ""
        given = ", ".join(f"'{name}' = '{value}'" for name, value in options.items() if value)
        self.spark.sql(
            f"CREATE TABLE {self.name} ({columns}) USING hudi {parted} TBLPROPERTIES ({given}) LOCATION '{self.path}'"
        )
        self.registered = True

    def _act(self, step: Step) -> None:
        if step.kind == "sql_insert":
            self._frame(step.rows, step).createOrReplaceTempView("inserted")
            parted = self.recipe.table.partition_columns
            names = [name for name, _ in self.columns if name not in parted]
            self._sql(f"INSERT INTO {{table}} SELECT {', '.join([*names, *parted])} FROM inserted")
        elif step.kind == "begin":
            self._begin(step)
        elif step.kind == "finish":
            self.slow[step.of or 0].finish()
        else:
            super()._act(step)

    def _begin(self, step: Step) -> None:
        """Start an upsert that waits, and go on as soon as it has its begin time."""
        number, known = len(self.done), self._requested_times(step)
        gate = self.path.with_name(f"gate-{number}")
        options = {**self.options, "hoodie.datasource.write.operation": "upsert"}
        rows = waiting_for(gate, "b", self._frame(step.rows, step))
        slow = SlowWrite(gate, lambda: rows.write.format("hudi").options(**options).mode("append").save(str(self.path)))
        self.slow[number] = slow
        slow.begin(lambda: bool(self._requested_times(step) - known))

    def _frame(self, rows: Sequence[Row], step: Step) -> Any:
        """The rows; those of a delete have whole columns also for fields of records."""
        names = {*self.recipe.table.record_key, *self.recipe.table.partition_columns, *self.recipe.table.ordering}
        if step.kind != "delete" or not any("." in name for name in names):
            return super()._frame(rows, step)
        tops = {name.partition(".")[0] for name in names}
        columns, self.columns = self.columns, tuple(one for one in self.columns if one[0] in tops)
        try:
            return super()._frame(rows, replace(step, kind="upsert"))
        finally:
            self.columns = columns

    def completed(self) -> set[tuple[str, str, str]]:
        """Requested time, action and completion time of what is on the active timeline."""
        return completed_actions(self.path / self.timeline)


def number_of_old_steps(drawn: Drawn) -> int:
    """The steps that 1.0.2 makes."""
    steps = drawn.recipe.steps
    if not STARTS[drawn.axes.get("start", "9")][1]:
        return 0
    return next(number for number, step in enumerate(steps) if step.options.get(_LASTING[0]) == "9")


def make_first_steps(session: Session, drawn: Drawn, folder: Path) -> None:
    """Write the part of a table that the older release makes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    making = DrawnMaking(session, drawn, folder)
    making.run_steps(drawn.recipe.steps[: number_of_old_steps(drawn)])
    (folder / "first.pickle").write_bytes(pickle.dumps((making.done, making.instants)))


def make(session: Session, drawn: Drawn, folder: Path, kinds: Sequence[str]) -> None:
    """Write one table, and the answers of Apache Hudi to the queries of these kinds that are not limited."""
    first = number_of_old_steps(drawn)
    if not first:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    (folder / "drawn.pickle").write_bytes(pickle.dumps(drawn))
    making = DrawnMaking(session, drawn, folder)
    if first:
        making.done, making.instants = pickle.loads((folder / "first.pickle").read_bytes())
        making.columns = ([step.columns for step in drawn.recipe.steps[:first] if step.columns] or [making.columns])[-1]
    making.run_steps(drawn.recipe.steps[first:])
    add_completions(making)
    asked = []
    for number, query in enumerate(queries_of(drawn, making.done)):
        answer: dict[str, Any] = {"query": query.to_json()}
        asked.append(answer)
        if query.kind not in kinds or query.begin is not None or query.where:
            continue
        try:
            rows = session.collect(queries.frame(session, f"file://{making.path}", query))
            feather.write_feather(rows, str(folder / f"answer-{number}.arrow"))
        except Exception as error:
            answer["error"] = root_cause(error)
    made = {"axes": drawn.axes, "steps": making.done, "asked": asked}
    (folder / "made.json").write_text(json.dumps(made, indent=1))


def add_completions(making: DrawnMaking) -> None:
    """The completion times that an upgrade from version 6 gave to earlier actions."""
    known = {(requested, action): completion for requested, action, completion in making.completed()}
    for step in making.done:
        step["new"] = [(one, action, completion or known.get((one, action), "")) for one, action, completion in step["new"]]


def main() -> None:
    """Make the tables that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--drawing", choices=sorted(DRAWINGS), default="usual")
    parser.add_argument("--release", default="1.2.0")
    parser.add_argument("folder", type=Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("kinds")
    parser.add_argument("numbers", nargs="+", type=int)
    given = parser.parse_args()
    session = Session(given.release)
    for number in given.numbers:
        drawn = DRAWINGS[given.drawing](number, given.seed)
        folder = given.folder / str(number)
        try:
            if given.release == "1.2.0":
                make(session, drawn, folder, given.kinds.split(","))
            else:
                make_first_steps(session, drawn, folder)
            print(f"made {number}", flush=True)
        except Exception:
            print(f"failed {number}: {traceback.format_exc(limit=-3)}", flush=True)
    session.stop()


if __name__ == "__main__":
    main()
