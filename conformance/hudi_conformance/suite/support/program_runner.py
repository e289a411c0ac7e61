"""A program of everything, carried out on engines in turn and on the model, with a query after each step.

What the model forbids or leaves open is left out: undoing what a savepoint protects, times whose files may be gone, inserting a
key that was written before (which of its file groups then counts is not settled).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hudi_conformance.cases.rows import canonical, differences
from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.model import Model
from hudi_conformance.model.windows import Window, changes, written
from hudi_conformance.suite.support.programs.table_programs import Ask, Program, Row, Step
from hudi_conformance.suite.support.tables.archived_tables import limits
from hudi_conformance.suite.support.tables.tables_under_services import keep_commits
from hudi_conformance.suite.support.tables.windows import completion_of
from hudi_conformance.suite.support.tables.written_tables import folder_of

#: A compaction, or a log compaction, is due as soon as there is something to do.
DUE = {
    "compaction": {"hoodie.compact.inline.max.delta.commits": "1"},
    "log-compaction": {"hoodie.log.compaction.enable": "true", "hoodie.log.compaction.blocks.threshold": "2"},
}
#: Services that merge what the logs of all file groups say into base files.
REWRITES = ("compaction", "clustering")
SERVICES = (*REWRITES, "log-compaction")
#: Cleans keep two states, archiving three actions once there are more than four.
KEPT, FEWEST, MOST = 2, 3, 4


@dataclass(frozen=True)
class Action:
    """A completed write, compaction or clustering of the timeline."""

    does: str
    requested: str
    completion: str


@dataclass(frozen=True)
class Question:
    """A query, and the rows that are right."""

    query: Query
    rows: Sequence[Row]


@dataclass
class Driven:
    """A table, its model, and what is on its timeline. The engines take turns at writing; the next one reads."""

    program: Program
    uri: str
    engines: Sequence[Client]
    model: Model = field(init=False)
    actions: list[Action] = field(default_factory=list)
    savepoints: set[str] = field(default_factory=set)
    #: Place of the first action whose state can still be asked for, by others than savepoints.
    oldest: int = 0
    turn: int = 0

    def __post_init__(self) -> None:
        """Create the table."""
        self.model = self.program.shape.model()
        self.engines[0].create(self.uri, self.program.shape.spec())

    @property
    def writer(self) -> Client:
        """Whose turn it is."""
        return self.engines[self.turn % len(self.engines)]

    @property
    def reader(self) -> Client:
        """Who reads what the writer left."""
        return self.engines[(self.turn + 1) % len(self.engines)]

    def run(self) -> None:
        """Take every step; after each compare the snapshot and one further query with the model."""
        for number, step in enumerate(self.program.steps, 1):
            self.take(step)
            for ask in dict.fromkeys((Ask("snapshot"), step.ask)):
                self.check(ask, f"after step {number} of {self.program}")
            self.turn += 1

    def take(self, step: Step) -> None:
        """One step."""
        if step.rows:
            self._write(step)
        else:
            getattr(self, "_" + step.does.replace(" ", "_").replace("-", "_"))()

    def _write(self, step: Step) -> None:
        rows = [self.program.shape.row(row, step.columns) for row in step.rows]
        if step.does in ("insert", "bulk_insert"):
            rows = [row for row in rows if not self.model.knows(row)]
        if rows:
            instant = self.writer.write(self.uri, step.does, self.program.shape.arrow(rows))  # type: ignore[arg-type]
            self._done(step.does, instant, rows)

    def _done(self, does: Any, instant: str, rows: Sequence[Row] = ()) -> None:
        action = Action(does, instant, completion_of(self.uri, instant))
        self.actions.append(action)
        if does != "log-compaction":  # it joins log blocks, and changes nothing that a query can show
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
        self.writer.service(self.uri, "archive", options=limits(MOST, FEWEST))
        self.oldest = max(self.oldest, len(self.actions) - FEWEST)

    def _savepoint(self) -> None:
        newest = self.actions[-1].requested
        if newest not in self.savepoints:
            self.writer.service(self.uri, "savepoint", instant=newest)
            self.savepoints.add(newest)

    def _give_free(self) -> None:
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

    def check(self, ask: Ask, when: str) -> None:
        """Ask the reader, and compare with the model. Raises AssertionError with the differences."""
        question = self.question(ask)
        if question is None:
            return
        found = self.reader.read(self.uri, question.query)
        expect(found, question, self.program, f"{self.reader.name}, {question.query.to_json()}\n{when}")

    def question(self, ask: Ask) -> Question | None:
        """The query and what is right; None where there is nothing to be asked now."""
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

    def _chosen(self, ask: Ask, columns: tuple[str, ...]) -> Question:
        """All rows and columns for `first` 0, otherwise some."""
        rows = self.model.snapshot()
        where: tuple[tuple[str, str, Any], ...] = ()
        if ask.first and self.reader.hello.features >= {"read.filter"}:
            where = (("size", ">=", 2),) if ask.first % 2 else (("name", "=", "x"),)
            rows = [r for r in rows if (r["size"] == 2 if ask.first % 2 else r["name"] == "x")]
        if ask.second:
            columns = columns[ask.second % 3 :: 2]
        return Question(Query(columns=columns, where=where), rows)

    def _are_rewritten(self) -> bool:
        """Whether a write put changes of merge-on-read into a base file. It may; what base files hold is then its affair."""
        compactions = {action.requested for action in self.actions if action.does in REWRITES}
        by_writes = [file.name.split("_")[0] for file in folder_of(self.uri).rglob("*.parquet")
                     if ".hoodie" not in file.parts and file.stem.split("_")[-1] not in compactions]  # fmt: skip
        return self.program.shape.type == "MERGE_ON_READ" and len(set(by_writes)) < len(by_writes)

    def _incremental(self, ask: Ask, columns: tuple[str, ...]) -> Question:
        """A window that begins when an action was requested: no completion is just there, so that nobody counts it."""
        ends = range(self.oldest, len(self.actions))
        end = ends[ask.second % len(ends)]
        begin = ask.first % (end + 1)
        bounds = (self.actions[begin].requested if begin else None, self.actions[end].completion if ask.second else None)
        return Question(Query("incremental", None, *bounds, columns=columns), written(self.model, Window(*bounds)))

    def _changes(self, ask: Ask) -> Question | None:
        """A window between two completions, all of whose states are still there."""
        ends = range(self.oldest, len(self.actions))
        first, second = sorted((ends[ask.first % len(ends)], ends[ask.second % len(ends)]))
        if first == second:
            return None
        bounds = self.actions[first].completion, self.actions[second].completion
        return Question(Query("cdc", None, *bounds), changes(self.model, Window(*bounds)))


def expect(found: pa.Table, question: Question, program: Program, when: str) -> None:
    """The rows that were found are the right ones."""
    types = program.shape.types
    if question.query.kind == "cdc":
        right, answer = (_images(rows, types) for rows in (question.rows, found.to_pylist()))
        assert right == answer, f"changes differ\n{when}\nexpected {right}\nfound    {answer}"
        return
    columns = {name: types[name] for name in question.query.columns or types}
    wanted = canonical(program.shape.arrow([{n: row.get(n) for n in types} for row in question.rows]), columns)
    different = differences(wanted, canonical(found, columns), tuple(n for n in ("id", "city") if n in columns))
    pairs = "\n".join(f"expected {wanted}\nfound    {got}" for wanted, got in different.pairs())
    assert not different, f"{different.summary()}\n{when}\n{pairs}"


def _images(rows: Sequence[Row], columns: Any) -> list[str]:
    """Changes with the columns that count of their images, in no order."""

    def image(row: Row | None) -> Any:
        return None if row is None else tuple(row.get(name) for name in columns)

    return sorted(repr((c["op"], c["ts_ms"], image(c["before"]), image(c["after"]))) for c in rows)


def run(program: Program, uri: str, *engines: Client) -> None:
    """Carry the program out on these engines in turn. Raises AssertionError where one differs from the model."""
    Driven(program, uri, engines).run()
