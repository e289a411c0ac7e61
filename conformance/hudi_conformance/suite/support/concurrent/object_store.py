"""Tables in an object store behind the proxy, and processes of the reference, each with its own client name.

A process is a thread: between two requests it depends only on their answers and on a shared clock, so that the same schedule
gives the same run.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hudi_conformance.explorer.s3.proxy import Proxy
from hudi_conformance.processes.object_store import REGION, Store, client_environment
from hudi_conformance.suite.support.programs.write_programs import TYPES, Program, Row, as_arrow
from hudi_reference import WritableTable, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.locks import PROVIDER_KEY
from hudi_reference.storage import MemoryStorage, ObjectStorage, RetryPolicy, s3_storage

BUCKET = "tables"
#: Processes share the lease in the table itself.
LOCKED = {
    PROVIDER_KEY: "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider",
    "hoodie.write.lock.wait_time_ms_between_retry": "50",
    "hoodie.write.lock.max_wait_time_ms_between_retry": "200",
}
#: A request is retried without a wait, at most four times.
AT_ONCE = RetryPolicy((0.0,) * 4)


class ObjectStore:
    """The store, its proxy, and the tables of tests."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.proxy = Proxy(store.host, store.port)
        self._numbers = itertools.count(1)
        store.create_bucket(BUCKET)

    def close(self) -> None:
        """Stop the proxy and the server."""
        self.proxy.stop()
        self.store.stop()

    def new_table(self) -> str:
        """Return the name of a new table."""
        return f"table-{next(self._numbers)}"

    def uri(self, table: str) -> str:
        """Return the URI for engines."""
        return f"s3://{BUCKET}/{table}"

    def variables(self, client: str) -> Mapping[str, str]:
        """Return the environment of an engine that connects to the proxy as `client`."""
        return client_environment(self.proxy.endpoint, client)

    def storage(self, client: str, table: str, **options: Any) -> ObjectStorage:
        """Return the table's storage for `client`."""
        keys = {"access_key_id": client, "secret_access_key": "secret", "region": REGION, "endpoint": self.proxy.endpoint}
        return s3_storage(BUCKET, table, retries=AT_ONCE, **(keys | options))

    def open_table(self, client: str, table: str, clock: ManualClock, options: Mapping[str, str] = LOCKED) -> WritableTable:
        """Open the table as `client`."""
        ids = SeededIds(sum(client.encode()))
        return open_table(self.uri(table), storage=self.storage(client, table), clock=clock, ids=ids, options=options)

    def create_table(
        self, program: Program, *batches: Sequence[Row], prepare: Callable[[WritableTable], object] | None = None
    ) -> tuple[str, ManualClock]:
        """Create a table with these rows; return its name and the clock of all its processes. `prepare` changes it before it is
        stored.

        The table is made in memory and copied object by object, which takes a tenth of the requests.
        """
        memory, clock, spec = MemoryStorage(), ManualClock(1_800_000_000_000, 1), program.spec()
        table = create_table(
            "memory:///made", name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=spec.partition,
            table_type=spec.type, ordering=spec.ordering, merge_mode=spec.merge_mode, clock=clock, ids=SeededIds(0),
            storage=memory, options={"hoodie.archive.automatic": "false", "hoodie.clean.automatic": "false"},
        )  # fmt: skip
        for batch in batches:
            table.upsert(as_arrow(batch))
        if prepare is not None:
            prepare(table)
        name = self.new_table()
        there = self.storage("suite", name)
        for info in memory.list():
            there.put(info.path, memory.get(info.path))
        return name, clock

    def upsert(self, client: str, table: str, clock: ManualClock, rows: Sequence[Row]) -> Callable[[], str]:
        """Return a process that writes these rows."""
        return lambda: self.open_table(client, table, clock).upsert(as_arrow(rows))

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a read without faults."""
        return rows_of(open_table(self.uri(table), storage=self.storage("suite", table)))

    def completed(self, table: str) -> list[str]:
        """Return the names of the completed instants, by completion."""
        names = self.storage("suite", table).names(".hoodie/timeline")
        return sorted((name for name in names if "_" in name), key=lambda name: name.partition("_")[2])

    def values(self, table: str) -> dict[str, str]:
        """Return the value of each key."""
        return {row["id"]: row["value"] for row in self.rows(table)}


def rows_of(table: WritableTable) -> list[Row]:
    """Return the rows of a snapshot, by key."""
    return sorted(table.snapshot(tuple(TYPES)).to_pylist(), key=lambda row: (row["id"], str(row["city"])))
