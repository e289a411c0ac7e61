"""Tables in an object store behind the gate, and processes of the reference that use them under names of their own.

A process is a thread here: what it does between two requests depends on nothing but their answers and a clock that all share,
so that the same turns give the same run.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hudi_conformance.explorer.s3.proxy import Proxy
from hudi_conformance.explorer.s3.store import REGION, Store, variables
from hudi_conformance.suite.support.programs.write_programs import TYPES, Program, Row, as_arrow
from hudi_reference import WritableTable, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.locks import PROVIDER_KEY
from hudi_reference.storage import MemoryStorage, ObjectStorage, RetryPolicy, s3_storage

BUCKET = "tables"
#: Processes share the lease that lies in the table itself.
LOCKED = {
    PROVIDER_KEY: "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider",
    "hoodie.write.lock.wait_time_ms_between_retry": "50",
    "hoodie.write.lock.max_wait_time_ms_between_retry": "200",
}
#: A request is sent again at once, and no more than four times.
AT_ONCE = RetryPolicy((0.0,) * 4)


class ObjectStore:
    """The store, its gate, and tables that nobody else uses."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.proxy = Proxy(store.host, store.port)
        self._numbers = itertools.count(1)
        store.create_bucket(BUCKET)

    def close(self) -> None:
        """Close the gate and end the server."""
        self.proxy.stop()
        self.store.stop()

    def new_table(self) -> str:
        """The name of a table that is not there yet."""
        return f"table-{next(self._numbers)}"

    def uri(self, table: str) -> str:
        """As engines are told it."""
        return f"s3://{BUCKET}/{table}"

    def variables(self, client: str) -> Mapping[str, str]:
        """The environment of an engine that goes through the gate as `client`."""
        return variables(self.proxy.endpoint, client)

    def storage(self, client: str, table: str, **options: Any) -> ObjectStorage:
        """The table's place as `client` sees it."""
        keys = {"access_key_id": client, "secret_access_key": "secret", "region": REGION, "endpoint": self.proxy.endpoint}
        return s3_storage(BUCKET, table, retries=AT_ONCE, **(keys | options))

    def opened(self, client: str, table: str, clock: ManualClock, options: Mapping[str, str] = LOCKED) -> WritableTable:
        """The table as `client` opens it."""
        ids = SeededIds(sum(client.encode()))
        return open_table(self.uri(table), storage=self.storage(client, table), clock=clock, ids=ids, options=options)

    def created(
        self, program: Program, *batches: Sequence[Row], prepare: Callable[[WritableTable], object] | None = None
    ) -> tuple[str, ManualClock]:
        """A new table with these rows, and the clock of all its processes; `prepare` does more with it before it is stored.

        It is made in memory and brought here object by object: that takes a tenth of the requests.
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
        """A process that writes these rows."""
        return lambda: self.opened(client, table, clock).upsert(as_arrow(rows))

    def rows(self, table: str) -> list[Row]:
        """What a reader sees that nobody disturbs."""
        return rows_of(open_table(self.uri(table), storage=self.storage("suite", table)))

    def completed(self, table: str) -> list[str]:
        """The names of the completed instants, by completion."""
        names = self.storage("suite", table).names(".hoodie/timeline")
        return sorted((name for name in names if "_" in name), key=lambda name: name.partition("_")[2])

    def values(self, table: str) -> dict[str, str]:
        """The value of each key."""
        return {row["id"]: row["value"] for row in self.rows(table)}


def rows_of(table: WritableTable) -> list[Row]:
    """The rows of a snapshot, by key."""
    return sorted(table.snapshot(tuple(TYPES)).to_pylist(), key=lambda row: (row["id"], str(row["city"])))
