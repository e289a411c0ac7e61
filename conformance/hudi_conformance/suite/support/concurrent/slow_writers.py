"""A slow writer of the reference, during whose write a test runs another action.

The action runs when the writer acquires the lock of the table: to request its action, or to complete it. At that time the
writer has read the table, or stored its files; the other action ends before the writer continues. A service acquires it to
publish its plan, or to revert an execution.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from hudi_conformance.suite.support.programs.write_programs import Row, as_arrow
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import WritableTable, open_table
from hudi_reference.errors import HudiError
from hudi_reference.locks import InProcessLock, Lock

Moment = Literal["request", "complete", "plan", "revert"]
#: Settings of concurrent writers, by the concurrency mode.
OPTIMISTIC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
NON_BLOCKING = {"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL", **BUCKETS}
LAZY = {"hoodie.clean.failed.writes.policy": "LAZY"}


@dataclass
class InterruptedLock:
    """A lock that runs an action once, before it is acquired at the chosen moment."""

    lock: Lock
    moment: Moment
    meanwhile: Callable[[], object]
    done: bool = False
    in_process: bool = True

    def acquire(self, owner: str) -> None:
        """Run the action if it is due, then acquire the lock."""
        if owner.startswith(f"{self.moment} ") and not self.done:
            self.done = True
            self.meanwhile()
        self.lock.acquire(owner)

    def release(self, owner: str) -> None:
        """Release the lock."""
        self.lock.release(owner)

    def check(self, owner: str) -> None:
        """Check the lock."""
        self.lock.check(owner)


@dataclass
class SlowWriter:
    """A writer of the table at `uri`; its lock times out soon, so that a lock that is never released is noticed."""

    uri: str
    meanwhile: Callable[[], object]
    moment: Moment = "complete"
    options: Mapping[str, str] | None = None

    def upsert(self, rows: Sequence[Row]) -> str:
        """Write once, with the other action in between; return the instant."""
        return self.table.upsert(as_arrow(rows))

    def outcome(self, rows: Sequence[Row]) -> str | HudiError:
        """Return the instant of the same write, or its error."""
        try:
            return self.upsert(rows)
        except HudiError as error:
            return error

    @property
    def table(self) -> WritableTable:
        """The table as the slow writer opens it."""
        opened = open_table(self.uri, options=self.options)
        return replace(opened, lock=InterruptedLock(InProcessLock(timeout=0.5), self.moment, self.meanwhile))


def group_of(uri: str, instant: str) -> set[str]:
    """Return the ids of the file groups to which an action wrote."""
    return {id_of(path.name) for path in table_folder(uri).rglob(f"*_{instant}*") if is_data(path)}


def is_data(path: Path) -> bool:
    """Return whether this is a data file."""
    return ".hoodie" not in path.parts and path.suffix != ".crc"


def id_of(name: str) -> str:
    """Return the file id in the name of a data file."""
    return name.removeprefix(".").partition("_")[0]
