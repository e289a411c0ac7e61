"""The table of a scenario, and what happened to it before the run.

A `Setting` describes the table and the actions before the run. `prepared` executes them on a storage in memory, outside of the
simulation, and describes the result for the checker of invariants.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

from hudi_conformance.explorer.invariants.checker import EarlierWrite, InitialTable
from hudi_conformance.explorer.scenarios.services import SERVICES
from hudi_conformance.model import Model
from hudi_reference import (
    create_table,
    open_table,
)
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.locks import InProcessLock
from hudi_reference.storage import MemoryStorage

SCHEMA: Mapping[str, Any] = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "city", "type": ["null", "string"], "default": None},
        {"name": "ts", "type": ["null", "long"], "default": None},
        {"name": "value", "type": ["null", "string"], "default": None},
    ],
}
ARROW = pa.schema([("id", pa.string()), ("city", pa.string()), ("ts", pa.int64()), ("value", pa.string())])
Row = Mapping[str, Any]
TableType = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
#: 2025-12-01: before simulated time starts.
BEFORE = 1_764_547_200_000


def make_row(id: str, value: str, city: str = "oslo", ts: int = 1) -> Row:
    """One row."""
    return {"id": id, "city": city, "ts": ts, "value": value}


def to_arrow(rows: Sequence[Row]) -> pa.Table:
    """Rows as an Arrow table."""
    return pa.Table.from_pylist([dict(make_row) for make_row in rows], ARROW)


@dataclass(frozen=True)
class Setting:
    """A table and the actions before the run: writes, and services by name."""

    type: TableType = "COPY_ON_WRITE"
    before: tuple[tuple[str, tuple[Row, ...]], ...] = (("upsert", (make_row("a", "a0"), make_row("b", "b0"))),)
    ordering: bool = False
    #: The table version.
    version: int = 8
    #: Settings of all writers and services by Hudi's names.
    options: Mapping[str, str] = field(default_factory=dict)
    #: Promises of the programs; see `Start`.
    promises: Mapping[str, bool] = field(default_factory=dict)
    #: Settings of the simulated store.
    simulated: Mapping[str, Any] = field(default_factory=dict)
    #: A write that stores its files before the run and crashes before it completes.
    crashed_write: tuple[Row, ...] = ()

    def make_model(self) -> Model:
        """An empty model of the table."""
        mode: Any = "EVENT_TIME_ORDERING" if self.ordering else "COMMIT_TIME_ORDERING"
        ordering = ("ts",) if self.ordering else ()
        return Model(record_key=("id",), partition=("city",), ordering=ordering, merge_mode=mode, table_type=self.type)


def prepare_table(setting: Setting) -> tuple[MemoryStorage, InitialTable]:
    """The table of a setting, and its description for the checker."""
    storage, clock, ids = MemoryStorage(), ManualClock(BEFORE), SeededIds(7)
    given: dict[str, Any] = {"storage": storage, "clock": clock, "ids": ids, "lock": InProcessLock(timeout=0)}
    mode: Any = "EVENT_TIME_ORDERING" if setting.ordering else "COMMIT_TIME_ORDERING"
    create_table(
        "memory:///before", name="explored", schema=dict(SCHEMA), record_key=("id",), partition=("city",),
        table_type=setting.type, ordering=("ts",) if setting.ordering else (), merge_mode=mode,
        version=setting.version, **given,
    )  # fmt: skip
    table = open_table("memory:///before", options=setting.options, **given)
    writes: list[EarlierWrite] = []
    for kind, rows in setting.before:
        if not rows:
            SERVICES[kind](table)
            continue
        requested = getattr(table, kind)(to_arrow(rows))
        completion = table.timeline.completion_of(requested) or ""
        writes.append(EarlierWrite(requested, completion, kind, rows))  # type: ignore[arg-type]
    if setting.crashed_write:
        with suppress(_Crashed):
            replace(table, storage=_CrashingStorage(storage)).upsert(to_arrow(setting.crashed_write))
    return storage, InitialTable(setting.make_model, tuple(writes), **setting.promises)


class _Crashed(BaseException):
    """The writer has crashed."""


@dataclass
class _CrashingStorage:
    """A storage whose writer crashes before it publishes the completion."""

    storage: MemoryStorage

    def __getattr__(self, name: str) -> Any:
        return getattr(self.storage, name)

    def create(self, path: str, data: bytes) -> None:
        """Create the object, unless it is a completed instant."""
        if path.startswith(".hoodie/timeline/") and "_" in path.rpartition("/")[2]:
            raise _Crashed
        self.storage.create(path, data)
