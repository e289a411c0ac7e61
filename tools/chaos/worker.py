"""A process that works on the table until it is killed, and records each operation before and after it.

A record is one line of JSON in the journal of the process. Times are those of the monotonic clock of the machine, which all
processes share.
"""

import json
import os
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa

from hudi_conformance.engines.reference.services import Order, run
from hudi_conformance.mutants import apply_mutant
from hudi_conformance.processes.object_store import client_environment
from hudi_reference import create_table, open_table
from hudi_reference.clock import SystemClock
from hudi_reference.errors import HudiError, WriteConflict
from hudi_reference.locks.file_system import FileLease
from hudi_reference.locks.lease import Lease, LeasedLock
from hudi_reference.locks.storage_based import StoredLease
from hudi_reference.locks.timeout import LockTimeout
from hudi_reference.services.rollback.failed_writes import roll_back_failed
from hudi_reference.storage import Storage, storage_of
from hudi_reference.storage.wrapped import FolderStorage

LOCK_FILE = ".hoodie/lock"
#: Keys that all writers update, by partition.
SHARED = {"p0": ("a", "b", "c"), "p1": ("d", "e", "f")}
#: Milliseconds between two heartbeats. A writer is expired after three of them, and the lease of a lock after `LEASE` ms.
HEARTBEAT, LEASE = 1_000, 3_000
SCHEMA = {"type": "record", "name": "row", "fields": [{"name": name, "type": "string"} for name in ("part", "key", "value")]}


@dataclass(frozen=True)
class Setting:
    """One table of a run: where it is, what it is, its lock provider, the mutants of its processes, and the seed.

    `folder` has the journals, and the table unless `uri` is in an object store, whose endpoint is `endpoint`.
    """

    folder: Path
    version: int
    kind: str
    provider: str
    mutants: Sequence[str]
    seed: int
    uri: str
    endpoint: str | None = None

    def __str__(self) -> str:
        place = " in an object store" if self.endpoint else ""
        return f"version {self.version}, {self.kind}{place}, {self.provider} lock"


class Journal:
    """The records of one process."""

    def __init__(self, path: Path, process: str) -> None:
        self._file, self._process, self._number = path.open("a", encoding="utf-8", buffering=1), process, 0

    def begin(self, **facts: Any) -> None:
        """Begin an operation."""
        self._number += 1
        self.add(process=self._process, invoked=time.monotonic_ns(), **facts)

    def add(self, **facts: Any) -> None:
        """Add facts to the operation; a fact of an earlier line is replaced."""
        self._file.write(json.dumps({"id": f"{self._process}-{self._number}", **facts}) + "\n")


@dataclass(frozen=True)
class RecordedStorage(FolderStorage):
    """The table's storage; records which instant an operation completes, before it does."""

    journal: Journal

    def create(self, path: str, data: bytes) -> None:
        """Create an object."""
        folder, _, name = path.rpartition("/")
        completes = folder == ".hoodie/timeline" and "_" in name
        if completes:
            self.journal.add(completed=name, publishing=time.monotonic_ns())
        super().create(path, data)
        if completes:
            self.journal.add(published=time.monotonic_ns())


class Worker:
    """What all roles share: the table, opened anew for each operation, and the lock."""

    def __init__(self, setting: Setting, process: str) -> None:
        self.setting, self.random = setting, random.Random(f"{setting.seed}-{process}-{os.getpid()}")
        self.journal = Journal(setting.folder / f"{process}-{os.getpid()}.jsonl", f"{process}-{os.getpid()}")
        if setting.endpoint:
            os.environ.update(client_environment(setting.endpoint, "chaos"))
        self.place: Storage = storage_of(setting.uri)
        self.storage, self.clock = RecordedStorage(self.place, "", self.journal), SystemClock()
        self.number = 0

    def options(self) -> Mapping[str, str]:
        """The settings of a writer beside others."""
        return {
            "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
            "hoodie.clean.failed.writes.policy": "LAZY",
            "hoodie.client.heartbeat.interval_in_ms": str(HEARTBEAT),
            "hoodie.client.heartbeat.tolerable.misses": "2",
            "hoodie.clean.commits.retained": "6",
            "hoodie.compact.inline.max.delta.commits": "3",
            "hoodie.keep.min.commits": "20",
            "hoodie.keep.max.commits": "30",
        }

    def table(self) -> Any:
        """The table as it is now, with a lock of its own."""
        options = self.options()
        lock = self._lock()
        return open_table(self.setting.uri, storage=self.storage, options=options, lock=lock)

    def _lock(self) -> LeasedLock:
        """A lock of one of two providers, with times that suit a short run."""
        timeout = LockTimeout(wait=20_000, step=20, longest_step=200, retries=0, between=0)
        if self.setting.provider == "file-system":
            # The process is the name of the holder, so that the file of a killed process can be told and deleted.
            lease: Lease = FileLease(self.storage, f"{os.getpid()}:{uuid4()}", path=LOCK_FILE)
            return LeasedLock(lease, self.clock, timeout)
        lease = StoredLease(self.storage, self.clock, str(uuid4()), path=".hoodie/.locks/table_lock.json", validity=LEASE)
        return LeasedLock(lease, self.clock, timeout, renewed_every=LEASE // 4)

    def create(self) -> None:
        """Create the table with the shared keys."""
        table = create_table(
            self.setting.uri, name="chaos", schema=json.dumps(SCHEMA), record_key=["key"], partition=["part"],
            table_type="COPY_ON_WRITE" if self.setting.kind == "copy-on-write" else "MERGE_ON_READ",
            version=self.setting.version, storage=self.storage, options=self.options(), lock=self._lock(),
        )  # fmt: skip
        rows = {key: (part, "first") for part, keys in SHARED.items() for key in keys}
        self.journal.begin(kind="insert", wrote={key: value for key, (_, value) in rows.items()})
        table.insert(_rows(rows))
        self.journal.add(ended=time.monotonic_ns(), outcome="done")

    def work(self, role: str) -> None:
        """Do operations of a role until the process is killed."""
        with ExitStack() as applied:
            for name in self.setting.mutants:
                applied.enter_context(apply_mutant(name))
            while True:
                self.one(role)

    def one(self, role: str) -> None:
        """Do one operation; an error of the reference is an outcome, any other ends the process."""
        self.number += 1
        try:
            facts = getattr(self, role)()
        except WriteConflict:
            facts = {"outcome": "aborted"}
        except HudiError as error:
            facts = {"outcome": "unknown", "error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
        except Exception as error:
            self.journal.add(ended=time.monotonic_ns(), outcome="broken", error=f"{type(error).__name__}: {error}")
            raise
        self.journal.add(ended=time.monotonic_ns(), **facts)

    def write(self) -> dict[str, Any]:
        """Update shared keys of one partition, and sometimes insert a key of its own."""
        part = self.random.choice(sorted(SHARED))
        value = f"{os.getpid()}-{self.number}"
        rows = dict.fromkeys(self.random.sample(SHARED[part], self.random.randint(1, 2)), (part, value))
        if self.random.random() < 0.2:
            rows[f"own-{value}"] = (part, value)
        table = self.table()
        self.journal.begin(kind="upsert", wrote={key: value for key, (_, value) in rows.items()})
        table.upsert(_rows(rows))
        return {"outcome": "done"}

    def maintain(self) -> dict[str, Any]:
        """Run one table service."""
        names = ["clean", "clustering", "archive"] + (["compaction"] * 2 if self.setting.kind == "merge-on-read" else [])
        service = self.random.choice(names)
        time.sleep(self.random.random() * 0.3)
        table = self.table()
        self.journal.begin(kind=service, wrote={})
        run(table, service, Order("run", None, self.options()))  # type: ignore[arg-type]
        return {"outcome": "done"}

    def recover(self) -> dict[str, Any]:
        """Roll back the writes whose heartbeats have expired."""
        time.sleep(self.random.random() * 0.2)
        table = self.table()
        self.journal.begin(kind="recovery", wrote={})
        roll_back_failed(table)
        return {"outcome": "done"}

    def read(self) -> dict[str, Any]:
        """Read all rows."""
        self.journal.begin(kind="read")
        rows = open_table(self.setting.uri, storage=self.storage).snapshot().select(["key", "value"]).to_pylist()
        return {"outcome": "done", "rows": [[row["key"], row["value"]] for row in rows]}


def _rows(rows: Mapping[str, tuple[str, str]]) -> pa.Table:
    parts, values = zip(*rows.values(), strict=True)
    return pa.table({"part": list(parts), "key": list(rows), "value": list(values)})
