"""A table whose rows have several columns for keys and partitions, and the keys and paths that an engine makes of them."""

from typing import Any

import pyarrow as pa

from hudi_conformance.cases.rows import canonical_rows
from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client

#: What an engine needs to write such rows and to return their keys.
WRITES = ("create", "write.upsert", "read.snapshot", "read.projection", "read.meta-columns", "merge.commit-time")
META = ("_hoodie_record_key", "_hoodie_partition_path")
TYPES = {"id": "string", "ts": "long", "p": "long", "q": "string", "name": "string"}
ARROW = {"string": pa.string(), "long": pa.int64()}
SCHEMA = {
    "type": "record",
    "name": "row",
    "namespace": "hoodie.keyed",
    "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in TYPES.items()],
}


def make_row(key: str, p: int | None, q: str | None = "x", name: str = "old", ts: int = 1) -> dict[str, Any]:
    """Return a row in the partition that follows from p and q."""
    return {"id": key, "ts": ts, "p": p, "q": q, "name": name}


def as_arrow(*rows: dict[str, Any], columns: tuple[str, ...] = tuple(TYPES)) -> pa.Table:
    """Return rows with these columns."""
    return pa.Table.from_pylist(list(rows), schema=pa.schema([(name, ARROW[TYPES[name]]) for name in columns]))


def create_table(engine: Client, uri: str, type: Any, *, ordering: tuple[str, ...] = (), **more: Any) -> None:
    """Create a table of these columns."""
    mode: Any = "EVENT_TIME_ORDERING" if ordering else "COMMIT_TIME_ORDERING"
    engine.create(uri, TableSpec("keyed", type, SCHEMA, ordering=ordering, merge_mode=mode, **more))


def keys_and_partitions(engine: Client, uri: str) -> set[tuple[Any, ...]]:
    """Return key, path and name of each row."""
    found = engine.read(uri, Query(columns=(*META, "name")))
    return {tuple(one.values()) for one in canonical_rows(found, {**dict.fromkeys(META, "string"), "name": "string"})}
