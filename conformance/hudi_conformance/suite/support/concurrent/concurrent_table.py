"""A stage: writers and services of one engine on one table, which a test moves from point to point.

What has to come of it is said by one law, whichever way an engine chose to be right: the change of who was told of success is
in the rows, and nothing of the others is. Who gives way is the engine's affair; that all do is wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType

import pytest

from hudi_conformance.contract import Call, Conflict, EngineError, Write
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Operation, Phase, Point, Service
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import WRITES, instant_files, said, snapshot
from hudi_conformance.suite.support.tables.written_tables import folder_of

#: Values of rows by their keys; c is in rio, all others are in oslo.
Change = Mapping[str, str]
NewUri = Callable[[], str]
#: Settings of a writer or a service, by Hudi's names.
Options = Mapping[str, str]
_NONE: Options = MappingProxyType({})
HALTS = pytest.mark.needs(*WRITES, "halt.write", "merge.commit-time")
#: Whatever can be compacted, or joined, is.
DUE: Mapping[Service, Options] = {
    "compaction": {"hoodie.compact.inline.max.delta.commits": "1"},
    "log-compaction": {"hoodie.log.compaction.enable": "true", "hoodie.log.compaction.blocks.threshold": "2"},
}
GIVES_WAY = (Conflict, EngineError)


@dataclass
class Stage:
    """A table with a and b in one file group and c in another, and what a reader has to find in it."""

    engine: Client
    uri: str
    rows: dict[str, str] = field(default_factory=dict)
    #: Settings of all its writers, besides that there are several.
    options: Options = field(default_factory=dict)
    #: What halting writers are about to change.
    changes: dict[str, Change] = field(default_factory=dict)
    #: The writers that were told of success, in this order.
    done: list[str] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def set(self, type: str) -> "Stage":
        """The table, with its first rows."""
        self.engine.create(self.uri, Program(type, "COMMIT_TIME_ORDERING", True).spec())  # type: ignore[arg-type]
        assert self.writes({"a": "x", "b": "x", "c": "x"})
        return self

    def begins(
        self, writer: str, change: Change, until: Point = "stored", *, operation: Operation = "upsert", options: Options = _NONE
    ) -> str | None:
        """A writer by name, up to that point; its instant, None if it has given way already."""
        self.changes[writer] = change
        return self._asked(lambda: self.engine.begin(writer, self._write(change, options, operation), until), writer)

    def goes_on(self, writer: str, until: Point) -> None:
        """The writer goes on to that point."""
        if writer in self.changes:
            self._asked(lambda: self.engine.resume(writer, until), writer)

    def ends(self, writer: str) -> bool:
        """The writer goes on to its end; whether it was told of success."""
        change = self.changes.get(writer)
        if change is None or self._asked(lambda: self.engine.resume(writer), writer) is None:
            return False
        self.rows |= change
        self.done.append(writer)
        return True

    def both_end(self, first: str, second: str) -> None:
        """Both go on to their ends, in this order. One at least is told of success, and the rows are as the law says."""
        self.ends(first)
        self.ends(second)
        assert self.done
        self.check("both have ended")

    def writes(self, change: Change, *, operation: Operation = "upsert", options: Options = _NONE) -> str:
        """A write from its beginning to its end, which has to succeed; its instant."""
        work = self._write(change, options, operation)
        instant = self.engine.write(work.table, work.operation, work.rows, options=work.options)
        self.rows |= change
        return instant

    def _write(self, change: Change, options: Options, operation: Operation = "upsert") -> Write:
        rows = [row(key, next(self._numbers), value, "rio" if key == "c" else "oslo") for key, value in change.items()]
        return Write(self.uri, operation, as_arrow(rows), {**SEVERAL_WRITERS, **self.options, **options})

    def _asked(self, ask: Callable[[], str | None], writer: str) -> str | None:
        try:
            return ask()
        except GIVES_WAY:
            self.changes.pop(writer, None)
            return None

    def runs(self, service: Service, phase: Phase = "run", instant: str | None = None, options: Options = _NONE) -> str | None:
        """A service from beginning to end; None where there is nothing to do, or where it gives way."""
        given = self.call(service, phase, instant, options).options
        try:
            return self.engine.service(self.uri, service, phase=phase, instant=instant, options=given)
        except GIVES_WAY:
            return None

    def planned(self, service: Service, options: Options = _NONE) -> str:
        """The requested time of a plan that is made now. There has to be something to do."""
        given = self.call(service, options=options).options
        instant = self.engine.service(self.uri, service, phase="schedule", options=given)
        assert instant is not None, f"no {service} is due"
        return instant

    def call(self, service: Service, phase: Phase = "run", instant: str | None = None, options: Options = _NONE) -> Call:
        """A service of a table with several writers."""
        return Call(self.uri, service, phase, instant, {**SEVERAL_WRITERS, **DUE.get(service, {}), **options})

    def starts(self, worker: str, call: Call, until: Point = "stored") -> bool:
        """A service by a worker of that name, up to that point; whether it has not given way."""
        return self._asked(lambda: self.engine.begin(worker, call, until), worker) is not None

    def finishes(self, worker: str) -> bool:
        """The worker goes on to the end; whether it was told of success."""
        return self._asked(lambda: self.engine.resume(worker), worker) is not None

    def values(self) -> list[tuple[str, str]]:
        """Keys and values that a reader gets now; a key that is there twice comes twice."""
        return [(found["id"], found["value"]) for found in snapshot(self.engine, self.uri)]

    def check(self, when: str) -> None:
        """The rows are those of the writers that were told of success."""
        assert self.values() == sorted(self.rows.items()), f"{when}; told of success: {', '.join(self.done) or 'nobody'}"

    def check_published(self, instant: str, action: str) -> None:
        """The action completed once at most, and every file that it says it stored is there."""
        completed = [name for name in instant_files(self.uri, action) if name.startswith(f"{instant}_")]
        assert len(completed) <= 1, f"one action, completed {len(completed)} times"
        for _ in completed:
            _, record = said(self.uri, instant, action)
            paths = [stat["path"] for stats in record["partitionToWriteStats"].values() for stat in stats]
            assert not [path for path in paths if not (folder_of(self.uri) / path).is_file()], "files of a completed action"
