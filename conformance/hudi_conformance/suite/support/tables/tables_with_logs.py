"""Merge-on-read tables that an engine writes and compacts, with the model, and the files in their folders."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Service
from hudi_conformance.suite.support.programs.write_programs import Program, Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.tables_under_services import data_file_names, sort_rows
from hudi_conformance.suite.support.tables.written_tables import base_files

Mode = Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"]
NewUri = Callable[[], str]

WRITES = ("create", "write.upsert", "write.delete", "merge-on-read", "partition.plain", "read.snapshot", "read.projection")
COMPACTING = (*WRITES, "service.compaction", "merge.event-time")
COMPACTS = pytest.mark.needs(*COMPACTING)
RELAYS = pytest.mark.needs(*COMPACTING, writer=COMPACTING)
JOINS = pytest.mark.needs(*WRITES, "service.log-compaction", "merge.event-time")
MODES = pytest.mark.parametrize("mode", ["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"])
#: A compaction, or a log compaction, is due as soon as there is something to do.
DUE = {"hoodie.compact.inline.max.delta.commits": "1"}
JOIN = {"hoodie.log.compaction.enable": "true", "hoodie.log.compaction.blocks.threshold": "2"}

FIRST = Step("upsert", (row("a", 10, "first"), row("b", 10, "first"), row("c", 10, "first", "rio")))
#: Later, late and equal ordering values.
ROWS = (
    FIRST,
    Step("upsert", (row("a", 20, "second"), row("b", 5, "late"))),
    Step("upsert", (row("a", 15, "between"), row("b", 10, "equal"), row("c", 30, "second", "rio"))),
    Step("upsert", (row("a", 20, "equal"), row("c", 10, "late", "rio"))),
)
#: The same with deletes by key and by flag, and keys that are inserted again.
DELETES = (
    FIRST,
    Step(
        "upsert", (row("a", 20, "second"), row("b", 20, "gone", deleted=True), row("c", 5, "late delete", "rio", deleted=True))
    ),
    Step("delete", (row("a", 0, "gone"),)),
    Step("upsert", (row("a", 30, "back"), row("b", 15, "late"), row("c", 40, "second", "rio"))),
)


class LoggedTable:
    """A merge-on-read table that an engine writes, and its model."""

    def __init__(self, engine: Client, uri: str, mode: Mode = "EVENT_TIME_ORDERING") -> None:
        self.engine, self.uri = engine, uri
        program = Program("MERGE_ON_READ", mode, True)
        engine.create(uri, program.spec())
        self.model = program.model()
        self.times: list[str] = []

    def write(self, *steps: Step, options: dict[str, str] | None = None) -> "LoggedTable":
        """Carry out these writes."""
        for step in steps:
            self.times.append(self.engine.write(self.uri, step.operation, as_arrow(step.rows), options=options))
            self.model.apply(step.operation, step.rows, self.times[-1])
        return self

    def run(self, service: Service, engine: Client | None = None, **more: Any) -> str | None:
        """Run a service, by another engine if one is given."""
        options = DUE if service == "compaction" else JOIN
        return (engine or self.engine).service(self.uri, service, options=options, **more)

    def schedule(self, service: Service = "compaction", engine: Client | None = None) -> str:
        """Schedule a service; return the requested time of the plan."""
        instant = self.run(service, engine, phase="schedule")
        assert instant is not None
        return instant

    def compact(self) -> str:
        """Run a compaction; return its requested time."""
        instant = self.run("compaction")
        assert instant is not None
        return instant

    def check_rows(self, when: str, reader: Client | None = None) -> None:
        """Check that a snapshot returns the rows of the model."""
        expect_rows(reader or self.engine, self.uri, self.model.snapshot(), when)


def log_file_names(uri: str) -> list[str]:
    """Return the names of all log files, by instant."""
    return sorted((name for name in data_file_names(uri) if ".log." in name), key=lambda name: name.split("_")[1])


def base_files_of_instant(uri: str, instant: str) -> list[Path]:
    """Return the base files of one instant."""
    return [path for path in base_files(uri) if f"_{instant}." in path.name]


def read_base_file(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a base file, with meta columns."""
    return sort_rows(pq.ParquetFile(path).read())
