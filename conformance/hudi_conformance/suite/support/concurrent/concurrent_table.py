"""Writers and services of one engine on one table, which a test pauses and resumes by name.

The expected result is one property, however the engine resolves conflicts: the changes of all writers that reported success are
in the rows, and no other changes. The engine decides which writer aborts; at least one writer must succeed.
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
from hudi_conformance.suite.support.tables.tables_under_services import WRITES, instant_files, read_instant_file, read_snapshot
from hudi_conformance.suite.support.tables.written_tables import table_folder

#: Values of rows by their keys; c is in rio, all others are in oslo.
Change = Mapping[str, str]
NewUri = Callable[[], str]
#: Settings of a writer or a service, by Hudi's names.
Options = Mapping[str, str]
_NONE: Options = MappingProxyType({})
PAUSES = pytest.mark.needs(*WRITES, "pause.write", "merge.commit-time")
#: Settings under which a service is due whenever it finds files.
DUE: Mapping[Service, Options] = {
    "compaction": {"hoodie.compact.inline.max.delta.commits": "1"},
    "log-compaction": {"hoodie.log.compaction.enable": "true", "hoodie.log.compaction.blocks.threshold": "2"},
}
ABORTS = (Conflict, EngineError)


@dataclass
class ConcurrentTable:
    """A table with a and b in one file group and c in another, and the rows that a reader must find."""

    engine: Client
    uri: str
    rows: dict[str, str] = field(default_factory=dict)
    #: Settings of all its writers, in addition to those for several writers.
    options: Options = field(default_factory=dict)
    #: The changes of paused writers.
    changes: dict[str, Change] = field(default_factory=dict)
    #: The writers that reported success, in this order.
    done: list[str] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def create(self, type: str) -> "ConcurrentTable":
        """Create the table with its first rows."""
        self.engine.create(self.uri, Program(type, "COMMIT_TIME_ORDERING", True).spec())  # type: ignore[arg-type]
        assert self.write({"a": "x", "b": "x", "c": "x"})
        return self

    def begin(
        self, writer: str, change: Change, until: Point = "stored", *, operation: Operation = "upsert", options: Options = _NONE
    ) -> str | None:
        """Start a writer under a name and pause it at that point; return its instant, None if it has aborted."""
        self.changes[writer] = change
        return self._asked(lambda: self.engine.begin(writer, self._write(change, options, operation), until), writer)

    def resume(self, writer: str, until: Point) -> None:
        """Resume the writer and pause it at that point."""
        if writer in self.changes:
            self._asked(lambda: self.engine.resume(writer, until), writer)

    def finish(self, writer: str) -> bool:
        """Resume the writer until it ends; return whether it reported success."""
        change = self.changes.get(writer)
        if change is None or self._asked(lambda: self.engine.resume(writer), writer) is None:
            return False
        self.rows |= change
        self.done.append(writer)
        return True

    def finish_both(self, first: str, second: str) -> None:
        """Resume both until they end, in this order. At least one reports success, and the rows are as the property
        requires.
        """
        self.finish(first)
        self.finish(second)
        assert self.done
        self.check("both have ended")

    def write(self, change: Change, *, operation: Operation = "upsert", options: Options = _NONE) -> str:
        """Write without a pause; the write must succeed. Return its instant."""
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
        except ABORTS:
            self.changes.pop(writer, None)
            return None

    def run(self, service: Service, phase: Phase = "run", instant: str | None = None, options: Options = _NONE) -> str | None:
        """Run a service without a pause; return None if there is nothing to do, or if it aborts."""
        given = self.call(service, phase, instant, options).options
        try:
            return self.engine.service(self.uri, service, phase=phase, instant=instant, options=given)
        except ABORTS:
            return None

    def schedule(self, service: Service, options: Options = _NONE) -> str:
        """Schedule a service, which must be due; return the requested time of the plan."""
        given = self.call(service, options=options).options
        instant = self.engine.service(self.uri, service, phase="schedule", options=given)
        assert instant is not None, f"no {service} is due"
        return instant

    def call(self, service: Service, phase: Phase = "run", instant: str | None = None, options: Options = _NONE) -> Call:
        """Return the request for a service of a table with several writers."""
        return Call(self.uri, service, phase, instant, {**SEVERAL_WRITERS, **DUE.get(service, {}), **options})

    def start_service(self, worker: str, call: Call, until: Point = "stored") -> bool:
        """Start a service under a name and pause it at that point; return whether it has not aborted."""
        return self._asked(lambda: self.engine.begin(worker, call, until), worker) is not None

    def finish_service(self, worker: str) -> bool:
        """Resume the service until it ends; return whether it reported success."""
        return self._asked(lambda: self.engine.resume(worker), worker) is not None

    def values(self) -> list[tuple[str, str]]:
        """Return keys and values of a snapshot; a duplicate key occurs twice."""
        return [(found["id"], found["value"]) for found in read_snapshot(self.engine, self.uri)]

    def check(self, when: str) -> None:
        """Check that the rows are those of the writers that reported success."""
        assert self.values() == sorted(self.rows.items()), f"{when}; successful writers: {', '.join(self.done) or 'none'}"

    def check_published(self, instant: str, action: str) -> None:
        """Check that the action completed at most once, and that every file in its metadata exists."""
        completed = [name for name in instant_files(self.uri, action) if name.startswith(f"{instant}_")]
        assert len(completed) <= 1, f"one action, completed {len(completed)} times"
        for _ in completed:
            _, record = read_instant_file(self.uri, instant, action)
            paths = [stat["path"] for stats in record["partitionToWriteStats"].values() for stat in stats]
            assert not [path for path in paths if not (table_folder(self.uri) / path).is_file()], (
                "a file of a completed action is missing"
            )
