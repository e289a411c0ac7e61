"""Tables for the tests of the adapters of hudi-rs, and the start of an engine."""

import apache_hudi_samples as samples
import pyarrow as pa

from hudi_conformance.contract import Engine, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.engines import registry

#: The columns of `apache_hudi_samples` without those of richer types.
SCHEMA = {**samples.SCHEMA, "fields": samples.SCHEMA["fields"][:4]}


def rows(*values: tuple[object, ...]) -> pa.Table:
    """Rows of (id, p, ts, n)."""
    return samples.rows(*values).select(list(samples.PLAIN))


#: The rows of the table of `filled`: id, p, ts, n.
NOW = [("a", "x", 10, 1), ("b", "y", 20, 2)]


def started(name: str) -> Client:
    """An engine of the suite, in its own environment."""
    info = registry.find(name)
    limits = {"start_timeout": info.start_timeout, "message_timeout": info.message_timeout}
    return Client(info.name, info.starter(lambda _: None), **limits)


def filled(writer: Engine | Client, table: str, kind: str = "MERGE_ON_READ") -> list[str]:
    """A table of two partitions with an insert, an upsert with a late record, and a delete; and their requested times."""
    spec = TableSpec("t", kind, SCHEMA, ("id",), partition=("p",), ordering=("ts",))  # type: ignore[arg-type]
    writer.create(table, spec)
    return [
        writer.write(table, "insert", rows(("a", "x", 10, 1), ("b", "y", 10, 1), ("c", "x", 10, 1))),
        writer.write(table, "upsert", rows(("a", "x", 5, 2), ("b", "y", 20, 2))),
        writer.write(table, "delete", rows(("c", "x", 0, None)).select(["id", "p"])),
    ]
