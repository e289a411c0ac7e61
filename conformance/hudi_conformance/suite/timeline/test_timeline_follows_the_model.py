"""Model-based tests: drawn programs of writes and table services, compared with a model of timeline and rows after each
step.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example
from hypothesis import strategies as st

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.engines.registry import find
from hudi_conformance.model.timeline import TimelineModel
from hudi_conformance.suite.support.programs.drawn_checks import check_for_all
from hudi_conformance.suite.support.programs.write_programs import TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.tables_under_services import (
    keep_commits,
    pending_actions,
    read_as_of,
    read_snapshot,
    sort_rows,
)

CITIES = {"a": "oslo", "b": "oslo", "c": "rio"}
#: Cleans keep two commits, archiving keeps three actions once there are more than four.
KEPT, FEWEST, MOST = 2, 3, 4
#: The number of programs drawn for an engine in this process, and for one whose steps take seconds.
MANY, FEW = 8, 2
STEPS = ("upsert", "upsert", "upsert", "delete", "savepoint", "delete savepoint", "restore", "clean", "archive")
#: Steps that are drawn, by kind of program: an engine that cannot roll back while other actions are pending can still run the
#: others.
KINDS = {"with rollbacks": (*STEPS, "roll back"), "without rollbacks": STEPS}
#: The shortest program of the first kind with a rollback and another service. Every engine runs it, in addition to the drawn
#: ones.
BESIDE_A_SAVEPOINT = [("savepoint", "a"), ("upsert", "c"), ("roll back", "a"), ("upsert", "a")]


@dataclass
class ProgramRun:
    """A table, its model, and the execution of each step on both."""

    engine: Client
    uri: str
    model: TimelineModel
    number: int = 0

    def take(self, step: str, key: str) -> None:
        """Take one step. What the model forbids must be refused; steps that the model does not define are skipped."""
        self.number += 1
        method = getattr(self, step.replace(" ", "_"))
        method(key)

    def upsert(self, key: str) -> None:
        """Change one row and another one, or insert them."""
        rows = {k: row(k, self.number, f"{self.number}", CITIES[k]) for k in {key, "a"}}
        after = self.model.rows_after(rows)
        self.model.write(self.engine.write(self.uri, "upsert", as_arrow(list(rows.values()))), after)

    def delete(self, key: str) -> None:
        """Delete one row by its key."""
        if key in self.model.rows:
            gone = as_arrow([row(key, self.number, "", CITIES[key])]).select(["id", "city"])
            after = self.model.rows_after({}, frozenset({key}))
            self.model.write(self.engine.write(self.uri, "delete", gone), after)

    def savepoint(self, _: str) -> None:
        """Protect the newest write, once."""
        newest = self.model.newest
        if newest is None or newest in self.model.savepoints:
            return
        self.engine.service(self.uri, "savepoint", instant=newest)
        self.model.savepoints.add(newest)

    def delete_savepoint(self, _: str) -> None:
        """Delete the oldest savepoint."""
        if self.model.savepoints:
            oldest = min(self.model.savepoints)
            self.engine.service(self.uri, "savepoint", instant=oldest, options={"delete": "true"})
            self.model.savepoints.remove(oldest)

    def roll_back(self, _: str) -> None:
        """Roll back the newest write, unless a savepoint protects it."""
        newest = self.model.newest
        if newest in self.model.savepoints:
            with pytest.raises(ContractError):
                self.engine.service(self.uri, "rollback", instant=newest)
        elif self.model.can_roll_back():
            self.engine.service(self.uri, "rollback", instant=newest)
            self.model.roll_back()

    def restore(self, _: str) -> None:
        """Restore the newest savepoint."""
        if self.model.savepoints:
            newest = max(self.model.savepoints)
            self.engine.service(self.uri, "restore", instant=newest)
            self.model.restore(newest)

    def clean(self, _: str) -> None:
        """Delete files that the last commits do not need."""
        self.engine.service(self.uri, "clean", options=keep_commits(KEPT))
        self.model.keep_states(KEPT)

    def archive(self, _: str) -> None:
        """Move old actions to the history."""
        self.engine.service(self.uri, "archive", options=archive_limits(MOST, FEWEST))
        self.model.keep_states(FEWEST)

    def check(self) -> None:
        """Check that rows, timeline and older states are those of the model."""
        assert read_snapshot(self.engine, self.uri) == in_order(self.model.rows.values())
        completed = self.engine.inspect(self.uri)["timeline"]["completed"]
        of_writes = sorted(found["requested"] for found in completed if found["action"] in ("commit", "deltacommit"))
        assert of_writes == [requested for requested, _ in self.model.commits]
        savepoints = {found["requested"] for found in completed if found["action"] == "savepoint"}
        assert savepoints == self.model.savepoints
        assert pending_actions(self.engine, self.uri) == []
        for requested, rows in self.model.readable_states().items():
            assert read_as_of(self.engine, self.uri, requested) == in_order(rows.values()), f"as of {requested}"


def in_order(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Return rows of the model in the order of a reader's."""
    return sort_rows(as_arrow([dict(found) for found in rows]).select(list(TYPES)))


def programs(kind: str) -> st.SearchStrategy[list[tuple[str, str]]]:
    """Draw lists of steps with the key of each."""
    return st.lists(st.tuples(st.sampled_from(KINDS[kind]), st.sampled_from(sorted(CITIES))), min_size=5, max_size=12)


@pytest.mark.needs(
    "create", "write.upsert", "write.delete", "read.snapshot", "read.as-of", "read.projection", "inspect.table",
    "service.savepoint", "service.rollback", "service.restore", "service.clean", "service.archive",
    "copy-on-write", "merge-on-read", "merge.commit-time", "partition.plain",
)  # fmt: skip
@pytest.mark.requirements("TL-013", "TL-019", "TL-021", "TL-023", "TL-055", "LSM-001")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.long
def test_timeline_and_rows_match_the_model(engine: Client, new_uri: Callable[[], str], kind: str) -> None:
    """LSM-001: after each step of any program of writes, savepoints, rollbacks, restores, cleans and archiving, a snapshot, the
    retained older states, and the timeline with its history are those of the model.
    """

    def check(steps: list[tuple[str, str]], type: str) -> None:
        uri = new_uri()
        engine.create(uri, Program(type, "COMMIT_TIME_ORDERING", True).spec())  # type: ignore[arg-type]
        driven = ProgramRun(engine, uri, TimelineModel())
        for number, (step, key) in enumerate([("upsert", "b"), *steps]):
            driven.take(step, key)
            try:
                driven.check()
            except AssertionError as error:
                raise AssertionError(f"{type}, after {[name for name, _ in steps[:number]]}: {error}") from error

    if kind == "with rollbacks":
        check = example(BESIDE_A_SAVEPOINT, "COPY_ON_WRITE")(check)
    types = st.sampled_from(("COPY_ON_WRITE", "MERGE_ON_READ"))
    check_for_all(MANY if find(engine.name).factory else FEW, check, programs(kind), types)
