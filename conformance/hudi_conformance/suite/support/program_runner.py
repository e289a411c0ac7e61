"""Runs a program of writes and services on engines in turn and on the model, with a query after each step.

Steps that the model does not define are skipped: a rollback of a savepointed write, times whose files may be cleaned, an insert
of a key that was written before (which of its file groups counts is not specified).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hudi_conformance.cases.rows import canonical_rows, compare_rows
from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.model import Model
from hudi_conformance.model.windows import Window, change_rows, incremental_rows
from hudi_conformance.suite.support.programs.table_programs import DrawnQuery, Program, Row, Step
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.tables_under_services import keep_commits
from hudi_conformance.suite.support.tables.written_tables import completion_time, table_folder

#: A compaction, or a log compaction, is due as soon as there is something to do.
DUE = {
    "compaction": {"hoodie.compact.inline.max.delta.commits": "1"},
    "log-compaction": {"hoodie.log.compaction.enable": "true", "hoodie.log.compaction.blocks.threshold": "2"},
}
#: Services that merge the logs of all file groups into base files.
REWRITES = ("compaction", "clustering")
SERVICES = (*REWRITES, "log-compaction")
#: Cleans keep two commits, archiving keeps three actions once there are more than four.
KEPT, FEWEST, MOST = 2, 3, 4


@dataclass(frozen=True)
class Action:
    """A completed write, compaction or clustering of the timeline."""

    does: str
    requested: str
    completion: str


@dataclass(frozen=True)
class Question:
    """A query, and the expected rows."""

    query: Query
    rows: Sequence[Row]


@dataclass
class ProgramRun:
    """A table, its model, and the actions on its timeline. The engines write in turn; after each step the next engine reads."""

    program: Program
    uri: str
    engines: Sequence[Client]
    model: Model = field(init=False)
    actions: list[Action] = field(default_factory=list)
    savepoints: set[str] = field(default_factory=set)
    #: Position of the first action whose state can still be read without a savepoint.
    oldest: int = 0
    turn: int = 0

    def __post_init__(self) -> None:
        """Create the table."""
        self.model = self.program.shape.model()
        self.engines[0].create(self.uri, self.program.shape.spec())

    @property
    def writer(self) -> Client:
        """The engine that writes now."""
        return self.engines[self.turn % len(self.engines)]

    @property
    def reader(self) -> Client:
        """The engine that reads after the writer."""
        return self.engines[(self.turn + 1) % len(self.engines)]

    def run(self) -> None:
        """Take every step; after each compare the snapshot and one further query with the model."""
        for number, step in enumerate(self.program.steps, 1):
            self.take(step)
            for ask in dict.fromkeys((DrawnQuery("snapshot"), step.ask)):
                self.check(ask, f"after step {number} of {self.program}")
            self.turn += 1

    def take(self, step: Step) -> None:
        """Take one step."""
        if step.rows:
            self._write(step)
        else:
            getattr(self, "_" + step.does.replace(" ", "_").replace("-", "_"))()

    def _write(self, step: Step) -> None:
        rows = [self.program.shape.row(row, step.columns) for row in step.rows]
        if step.does in ("insert", "bulk_insert"):
            rows = [row for row in rows if not self.model.has_key(row)]
        if rows:
            instant = self.writer.write(self.uri, step.does, self.program.shape.arrow(rows))  # type: ignore[arg-type]
            self._done(step.does, instant, rows)

    def _done(self, does: Any, instant: str, rows: Sequence[Row] = ()) -> None:
        action = Action(does, instant, completion_time(self.uri, instant))
        self.actions.append(action)
        if does != "log-compaction":  # it merges log blocks, and changes no answer
            self.model.apply("compact" if does in REWRITES else does, rows, instant, action.completion)

    def _compaction(self) -> None:
        if (instant := self.writer.service(self.uri, "compaction", options=DUE["compaction"])) is not None:
            self._done("compaction", instant)

    def _log_compaction(self) -> None:
        if (instant := self.writer.service(self.uri, "log-compaction", options=DUE["log-compaction"])) is not None:
            self._done("log-compaction", instant)

    def _clustering(self) -> None:
        if (instant := self.writer.service(self.uri, "clustering")) is not None:
            self._done("clustering", instant)

    def _clean(self) -> None:
        self.writer.service(self.uri, "clean", options=keep_commits(KEPT))
        self.oldest = max(self.oldest, len(self.actions) - KEPT)

    def _archive(self) -> None:
        self.writer.service(self.uri, "archive", options=archive_limits(MOST, FEWEST))
        self.oldest = max(self.oldest, len(self.actions) - FEWEST)

    def _savepoint(self) -> None:
        newest = self.actions[-1].requested
        if newest not in self.savepoints:
            self.writer.service(self.uri, "savepoint", instant=newest)
            self.savepoints.add(newest)

    def _delete_savepoint(self) -> None:
        if self.savepoints:
            oldest = min(self.savepoints)
            self.writer.service(self.uri, "savepoint", instant=oldest, options={"delete": "true"})
            self.savepoints.remove(oldest)

    def _restore(self) -> None:
        if self.savepoints:
            newest = max(self.savepoints)
            self.writer.service(self.uri, "restore", instant=newest)
            self.model.restore(newest)
            self.actions = [action for action in self.actions if action.requested <= newest]
            self.oldest = len(self.actions) - 1

    def _rollback(self) -> None:
        newest, is_kept = self.actions[-1], len(self.actions) - 2 >= self.oldest
        if is_kept and newest.requested not in self.savepoints and newest.does not in SERVICES:
            self.writer.service(self.uri, "rollback", instant=newest.requested)
            self.model.undo(newest.requested)
            self.actions.pop()

    def check(self, ask: DrawnQuery, when: str) -> None:
        """Send the query to the reader and compare the answer with the model. Raises AssertionError with the differences."""
        question = self.question(ask)
        if question is None:
            return
        found = self.reader.read(self.uri, question.query)
        expect(found, question, self.program, f"{self.reader.name}, {question.query.to_json()}\n{when}")

    def question(self, ask: DrawnQuery) -> Question | None:
        """Return the query and the expected rows; None if the query cannot be asked now."""
        columns = tuple(self.program.shape.types)
        match ask.kind:
            case "snapshot":
                return self._chosen(ask, columns)
            case "read-optimized":
                return None if self._are_rewritten() else Question(Query("read-optimized", columns=columns),
                                                                   self.model.read_optimized())  # fmt: skip
            case "as-of":
                readable = [a.requested for place, a in enumerate(self.actions)
                            if place >= self.oldest or a.requested in self.savepoints]  # fmt: skip
                instant = readable[ask.first % len(readable)]
                return Question(Query("as-of", as_of=instant, columns=columns), self.model.as_of(instant))
            case "incremental":
                return self._incremental(ask, columns)
            case "cdc":
                return self._changes(ask)

    def _chosen(self, ask: DrawnQuery, columns: tuple[str, ...]) -> Question:
        """Return a query for all rows and columns if `first` is 0, for some otherwise."""
        rows = self.model.snapshot()
        where: tuple[tuple[str, str, Any], ...] = ()
        if ask.first and self.reader.hello.features >= {"read.filter"}:
            where = (("size", ">=", 2),) if ask.first % 2 else (("name", "=", "x"),)
            rows = [r for r in rows if (r["size"] == 2 if ask.first % 2 else r["name"] == "x")]
        if ask.second:
            columns = columns[ask.second % 3 :: 2]
        return Question(Query(columns=columns, where=where), rows)

    def _are_rewritten(self) -> bool:
        """Return whether a write put changes of merge-on-read into a base file. Writers may, and then base files are not
        predictable.
        """
        compactions = {action.requested for action in self.actions if action.does in REWRITES}
        by_writes = [file.name.split("_")[0] for file in table_folder(self.uri).rglob("*.parquet")
                     if ".hoodie" not in file.parts and file.stem.split("_")[-1] not in compactions]  # fmt: skip
        return self.program.shape.type == "MERGE_ON_READ" and len(set(by_writes)) < len(by_writes)

    def _incremental(self, ask: DrawnQuery, columns: tuple[str, ...]) -> Question:
        """Return a query for a window that begins when an action was requested: no completion has this time, so that bounds are
        clear.
        """
        ends = range(self.oldest, len(self.actions))
        end = ends[ask.second % len(ends)]
        begin = ask.first % (end + 1)
        bounds = (self.actions[begin].requested if begin else None, self.actions[end].completion if ask.second else None)
        return Question(Query("incremental", None, *bounds, columns=columns), incremental_rows(self.model, Window(*bounds)))

    def _changes(self, ask: DrawnQuery) -> Question | None:
        """Return a query for a window between two completions, all of whose states can still be read."""
        ends = range(self.oldest, len(self.actions))
        first, second = sorted((ends[ask.first % len(ends)], ends[ask.second % len(ends)]))
        if first == second:
            return None
        bounds = self.actions[first].completion, self.actions[second].completion
        return Question(Query("cdc", None, *bounds), change_rows(self.model, Window(*bounds)))


def expect(found: pa.Table, question: Question, program: Program, when: str) -> None:
    """Check that the rows are the expected ones."""
    types = program.shape.types
    if question.query.kind == "cdc":
        right, answer = (_images(rows, types) for rows in (question.rows, found.to_pylist()))
        assert right == answer, f"changes differ\n{when}\nexpected {right}\nfound    {answer}"
        return
    columns = {name: types[name] for name in question.query.columns or types}
    wanted = canonical_rows(program.shape.arrow([{n: row.get(n) for n in types} for row in question.rows]), columns)
    different = compare_rows(wanted, canonical_rows(found, columns), tuple(n for n in ("id", "city") if n in columns))
    pairs = "\n".join(f"expected {wanted}\nfound    {got}" for wanted, got in different.pairs())
    assert not different, f"{different.summary()}\n{when}\n{pairs}"


def _images(rows: Sequence[Row], columns: Any) -> list[str]:
    """Return the changes with the relevant columns of their images, sorted."""

    def image(row: Row | None) -> Any:
        return None if row is None else tuple(row.get(name) for name in columns)

    return sorted(repr((c["op"], c["ts_ms"], image(c["before"]), image(c["after"]))) for c in rows)


def run_program(program: Program, uri: str, *engines: Client) -> None:
    """Run the program on these engines in turn. Raises AssertionError if one differs from the model."""
    ProgramRun(program, uri, engines).run()
