"""A slow writer of the reference, beside whom something else happens at a moment that the test chooses.

The moments are those at which a writer asks for the lock of the table: to request its action, and to complete it. By then it
has read the table, or stored its files; what happens meanwhile has come to its end when the slow writer goes on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from hudi_conformance.suite.support.programs.write_programs import Row, as_arrow
from hudi_conformance.suite.support.tables.written_tables import folder_of
from hudi_reference import WritableTable, open_table
from hudi_reference.errors import HudiError
from hudi_reference.locks import InProcessLock, Lock

Moment = Literal["request", "complete"]
#: The settings of a writer beside others, by how it gets along with them.
OPTIMISTIC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
NON_BLOCKING = {"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL", **BUCKETS}
LAZY = {"hoodie.clean.failed.writes.policy": "LAZY"}


@dataclass
class Interrupted:
    """A lock: when it is asked for at the moment, something else happens first, once."""

    lock: Lock
    moment: Moment
    meanwhile: Callable[[], object]
    done: bool = False
    in_process: bool = True

    def acquire(self, owner: str) -> None:
        """As the lock does, after what happens meanwhile."""
        if owner.startswith(f"{self.moment} ") and not self.done:
            self.done = True
            self.meanwhile()
        self.lock.acquire(owner)

    def release(self, owner: str) -> None:
        """As the lock does."""
        self.lock.release(owner)

    def check(self, owner: str) -> None:
        """As the lock does."""
        self.lock.check(owner)


@dataclass
class SlowWriter:
    """A writer of the table at `uri`; its lock waits for a moment only, so that one which nobody gives back is noticed."""

    uri: str
    meanwhile: Callable[[], object]
    moment: Moment = "complete"
    options: Mapping[str, str] | None = None

    def upsert(self, rows: Sequence[Row]) -> str:
        """One write, in the midst of which something else happens."""
        return self.table.upsert(as_arrow(rows))

    def outcome(self, rows: Sequence[Row]) -> str | HudiError:
        """The instant of the same write, or what kept it from completing."""
        try:
            return self.upsert(rows)
        except HudiError as error:
            return error

    @property
    def table(self) -> WritableTable:
        """The table as the slow writer has it."""
        opened = open_table(self.uri, options=self.options)
        return replace(opened, lock=Interrupted(InProcessLock(timeout=0.5), self.moment, self.meanwhile))


def group_of(uri: str, instant: str) -> set[str]:
    """The ids of the file groups to which an action wrote."""
    return {id_of(path.name) for path in folder_of(uri).rglob(f"*_{instant}*") if is_data(path)}


def is_data(path: Path) -> bool:
    """Whether this is a data file."""
    return ".hoodie" not in path.parts and path.suffix != ".crc"


def id_of(name: str) -> str:
    """The file id in the name of a data file."""
    return name.removeprefix(".").partition("_")[0]
