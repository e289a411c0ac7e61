"""Model-based tests: drawn programs of writes, services and rollbacks; then every past state is asked for.

A query of a state or a window is answered with the rows of the model, or, if a clean or archiving ran, with an error.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example
from hypothesis import strategies as st

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import EngineError, Refused
from hudi_conformance.contract.messages import Service
from hudi_conformance.engines.registry import find
from hudi_conformance.suite.support.concurrent.pending_writes import begin_write
from hudi_conformance.suite.support.programs import write_programs
from hudi_conformance.suite.support.programs.drawn_checks import check_for_all
from hudi_conformance.suite.support.programs.history_programs import (
    CITIES,
    COLUMNS,
    WRITES_ONLY,
    History,
    Program,
    Row,
    Rows,
    Step,
    draw_programs,
)
from hudi_conformance.suite.support.programs.table_programs import Budget
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.metadata_tables import COMPACTED_AFTER, EVERY_INDEX
from hudi_conformance.suite.support.tables.tables_under_services import instant_files, keep_commits, keep_versions
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, completion_time

#: No service runs by itself.
BY_HAND = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.metadata.enable": "false"}
#: A writer that maintains the metadata table, and compacts it often.
METADATA = {**EVERY_INDEX, COMPACTED_AFTER: "2"}
#: The number of programs drawn for an engine in this process, and for one whose steps take seconds.
MANY, FEW = 20, 2


@dataclass
class ProgramRun:
    """A table, its model, and how many queries of each kind were answered and refused."""

    engine: Client
    program: Program
    uri: str
    history: History = field(default_factory=History)
    savepoints: list[str] = field(default_factory=list)
    #: Whether files or actions may be gone.
    may_refuse: bool = False
    answered: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    #: Whether a service ran after the last write, so that a rollback of the write may be refused.
    served: bool = False

    @property
    def options(self) -> dict[str, str]:
        """The options of writers."""
        return {**BY_HAND, **self.more}

    @property
    def more(self) -> Mapping[str, str]:
        """The options of writers and services that maintain the metadata table."""
        return METADATA if self.program.metadata else {}

    def run(self) -> None:
        """Create the table, take every step, and ask for every state and window."""
        spec = write_programs.Program(self.program.type, "COMMIT_TIME_ORDERING", True).spec()
        if self.program.captures:
            mode = {"hoodie.table.cdc.supplemental.logging.mode": self.program.captures}
            spec = replace(spec, properties={**CAPTURED, **mode})
        self.engine.create(self.uri, spec)
        for step in (Step("upsert", ("a", "c"), 1), *self.program.steps):
            self.take(step)
        self.check()

    def take(self, step: Step) -> None:
        """Take one step."""
        match step.does:
            case "upsert" | "delete" | "insert_overwrite" | "delete_partition":
                self.write(step)
            case "clean by commits" | "clean by versions":
                keep = keep_commits if step.does == "clean by commits" else keep_versions
                self.may_refuse = True
                self.serve("clean", keep(step.number))
            case "archive" | "archive, also beyond savepoints":
                beyond = "false" if step.does == "archive" else "true"
                self.may_refuse = True
                self.serve(
                    "archive", archive_limits(step.number + 1, step.number, **{"hoodie.archive.beyond.savepoint": beyond})
                )
            case "savepoint":
                self.savepoint(step.number)
            case "delete savepoint":
                if self.savepoints:
                    self.engine.service(self.uri, "savepoint", instant=self.savepoints.pop(0), options={"delete": "true"})
            case "compaction":
                if self.program.type == "MERGE_ON_READ":
                    self.serve("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
            case "clustering":
                self.serve("clustering", {})
            case "rollback":
                self.roll_back()
            case "restore":
                self.restore()
            case "failed write":
                crashed = begin_write(self.uri, list(self.history.new_rows(step.keys).values()))
                self.engine.service(self.uri, "rollback", instant=crashed.instant, options=self.more)

    def serve(self, service: Service, options: Mapping[str, str]) -> None:
        """Run a service."""
        self.engine.service(self.uri, service, options={**options, **self.more})
        self.served = True

    def roll_back(self) -> None:
        """Roll back the newest write, unless it is the only one. After a service it may be refused."""
        *before, newest = self.history.states
        if len(before) < 2:
            return
        try:
            self.engine.service(self.uri, "rollback", instant=newest.requested, options=self.more)
        except (EngineError, Refused) as error:
            assert self.served or newest.requested in self.savepoints, f"no rollback of {newest.requested}: {error}"
        else:
            self.history.undo_after(before[-1].requested)
            self.served = True

    def restore(self) -> None:
        """Restore the newest state with a savepoint."""
        saved = [state.requested for state in self.history.states if state.requested in self.savepoints]
        if not saved:
            return
        try:
            self.engine.service(self.uri, "restore", instant=saved[-1], options=self.more)
        except (EngineError, Refused) as error:
            assert self.may_refuse, f"no restore of {saved[-1]}: {error}"
        else:
            self.history.undo_after(saved[-1])
            self.served = True

    def write(self, step: Step) -> None:
        """Write, and add the state to the model."""
        rows: Iterable[Row] = self.history.new_rows(step.keys).values()
        if step.does == "insert_overwrite":
            rows = self.history.new_rows(step.keys_of_city).values()
        elif step.does == "delete_partition":
            rows = self.history.new_rows(step.keys_of_city[:1]).values()
        elif step.does == "delete":
            rows = [row for key, row in self.history.rows.items() if key in step.keys]
            if not rows:
                return
        given = write_programs.as_arrow(list(rows))
        given = given.select(["id", "city"]) if step.does == "delete" else given
        after = self.history.rows_after(step)
        instant = self.engine.write(self.uri, step.does, given, options=self.options)  # type: ignore[arg-type]
        self.history.add(instant, completion_time(self.uri, instant), after)
        self.served = False

    def savepoint(self, back: int) -> None:
        """Protect the files of an active write; a savepoint of a state whose files may be gone may be refused."""
        names = instant_files(self.uri)
        active = [state.requested for state in self.history.states[1:] if any(n.startswith(state.requested) for n in names)]
        chosen = active[-min(back, len(active))]
        if chosen in self.savepoints:
            return
        try:
            self.engine.service(self.uri, "savepoint", instant=chosen)
        except (EngineError, Refused):
            assert self.may_refuse, f"no savepoint of {chosen}"
        else:
            self.savepoints.append(chosen)

    def check(self) -> None:
        """Ask for the rows now, and for every past state and window that the engine can be asked for."""
        now, features = in_order(self.history.rows.values()), self.engine.hello.features
        assert in_order(self.engine.read(self.uri, Query(columns=COLUMNS)).to_pylist()) == now, "snapshot"
        if self.program.metadata and "read.filter" in features:
            self.check_filters()
        if "read.read-optimized" in features and self.program.type == "COPY_ON_WRITE":
            self.expect(Query("read-optimized", columns=COLUMNS), now)
        for state in self.history.states[1:]:
            self.expect(Query("as-of", as_of=state.requested, columns=COLUMNS), in_order(state.rows.values()))
        for begin, end in self.history.windows():
            bounds = self.history.states[begin].completion or None, self.history.states[end].completion
            if "read.incremental" in features:
                rows = in_order(self.history.changed(begin, end))
                self.expect(Query("incremental", None, *bounds, columns=COLUMNS), rows)
            if self.program.captures:
                self.expect_changes(begin, end, Query("cdc", None, *bounds))

    def check_filters(self) -> None:
        """Ask for the row of each key, and for the rows since each write, which statistics and the record index narrow down."""
        rows = self.history.rows
        for key in CITIES:
            found = self.engine.read(self.uri, Query(columns=COLUMNS, where=(("id", "=", key),))).to_pylist()
            assert found == [row for row in rows.values() if row["id"] == key], f"the row of {key}"
        for number in range(1, self.history.number):
            found = self.engine.read(self.uri, Query(columns=COLUMNS, where=(("ts", ">=", number),))).to_pylist()
            assert in_order(found) == in_order(row for row in rows.values() if row["ts"] >= number), f"rows since {number}"

    def expect(self, query: Query, rows: list[Row]) -> None:
        """Check that the answer has these rows, if there is one."""
        found = self.ask(query)
        right = found is None or in_order(found.to_pylist()) == rows
        assert right, f"other rows, {query.kind}\n{query.to_json()}: {found and found.to_pylist()} for {rows}"

    def expect_changes(self, begin: int, end: int, query: Query) -> None:
        """Check that the changes, if they are answered, lead from one state to the other."""
        if (found := self.ask(query)) is not None:
            after: Rows = self.history.replay(begin, found.to_pylist())
            assert after == self.history.states[end].rows, f"other changes\n{query.to_json()}: {found.to_pylist()}"

    def ask(self, query: Query) -> pa.Table | None:
        """Return the answer; None for an error, which must have a reason."""
        try:
            found = self.engine.read(self.uri, query)
        except (EngineError, Refused) as error:
            assert self.may_refuse, f"nothing was cleaned or archived, and {query.to_json()} is refused: {error}"
            self.refused[query.kind] += 1
            return None
        self.answered[query.kind] += 1
        return found


def in_order(rows: Iterable[dict[str, Any]]) -> list[Row]:
    """Return rows by key."""
    return sorted(({name: row[name] for name in COLUMNS} for row in rows), key=lambda row: str(row["id"]))


@pytest.mark.needs(
    "create", "write.upsert", "read.snapshot", "read.as-of", "read.projection", "service.clean", "copy-on-write",
    "merge.commit-time", "partition.plain",
)  # fmt: skip
@pytest.mark.requirements("CLN-003", "TYP-007", "TYP-008", "TYP-009", "TYP-012", "RDR-010")
@pytest.mark.long
def test_past_states_are_right_or_refused(engine: Client, new_uri: Callable[[], str], budget: Budget) -> None:
    """CLN-003: after any program of writes, cleans, savepoints, archiving and services, a snapshot has the rows of the model; a
    read as of each write, an incremental query and a change query have those of the model or are refused.
    """
    check_programs(engine, new_uri, budget, draw_programs(engine.hello.features))


@pytest.mark.needs(
    "create", "write.upsert", "read.snapshot", "read.as-of", "read.projection", "service.rollback", "copy-on-write",
    "merge.commit-time", "partition.plain",
)  # fmt: skip
@pytest.mark.requirements("TL-019", "TL-023")
@pytest.mark.long
def test_writes_that_are_rolled_back_leave_no_row(engine: Client, new_uri: Callable[[], str], budget: Budget) -> None:
    """TL-019: after any program of writes, rollbacks, restores, failed writes and services, with and without metadata table, no
    query has a row of a write that was rolled back, and each has all rows of the others, or is refused.
    """
    check_programs(engine, new_uri, budget, draw_programs(engine.hello.features, rolls_back=True))


def check_programs(
    engine: Client,
    new_uri: Callable[[], str],
    budget: Budget,
    programs: st.SearchStrategy[Program],
) -> None:
    """Run drawn programs, and check that queries of past states are answered at all."""
    answered, refused = Counter[str](), Counter[str]()

    def check(program: Program) -> None:
        driven = ProgramRun(engine, program, new_uri())
        try:
            driven.run()
        except AssertionError as error:
            raise AssertionError(f"{error}\n{program}") from error
        answered.update(driven.answered)
        refused.update(driven.refused)

    in_process = find(engine.name).factory is not None
    check_for_all(budget(MANY, FEW, engine), example(WRITES_ONLY)(check), programs, shrinks=in_process)
    asked = {kind for kind in ("as-of", "incremental") if f"read.{kind}" in engine.hello.features}
    assert all(answered[kind] > 0 for kind in asked), f"answered {answered}, refused {refused}"
