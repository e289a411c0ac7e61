"""Shared by the tests: a small schema, tables whose bytes do not depend on time or chance, and views of them."""

import os
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, settings

from hudi_reference import WritableTable, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.schema.avro import META_COLUMNS, arrow_schema
from hudi_reference.storage import MemoryStorage, Storage

#: 2026-01-01T00:00:00Z
START = 1_767_225_600_000

SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "trips_record",
    "namespace": "hoodie.trips",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "name", "type": ["null", "string"], "default": None},
        {"name": "ts", "type": ["null", "long"], "default": None},
        {"name": "p", "type": ["null", "string"], "default": None},
    ],
}
FLAGGED_SCHEMA: dict[str, Any] = {
    **SCHEMA,
    "fields": [*SCHEMA["fields"], {"name": "_hoodie_is_deleted", "type": ["null", "boolean"], "default": None}],
}

TABLE_TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")


def bounded(examples: int) -> settings:
    """This number of examples, without a time limit; the same ones on every run in CI."""
    return settings(
        max_examples=examples, deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
    )


def new_table(storage: Storage | None = None, **options: Any) -> WritableTable:
    """An empty table in memory unless told otherwise, with a clock and ids that are the same each time."""
    given: dict[str, Any] = {"name": "trips", "schema": SCHEMA, "record_key": ("id",), **options}
    store = MemoryStorage() if storage is None else storage
    return create_table("memory:///unused", storage=store, clock=ManualClock(START), ids=SeededIds(7), **given)


def reopened(table: WritableTable, seed: int = 8) -> WritableTable:
    """The same table as another process sees it, a day later."""
    return open_table("memory:///unused", storage=table.storage, clock=ManualClock(START + 86_400_000), ids=SeededIds(seed))


def rows_of(schema: dict[str, Any], *rows: dict[str, Any]) -> pa.Table:
    """Rows of a schema; columns that are not given are null."""
    return pa.Table.from_pylist(list(rows), schema=arrow_schema(schema))


def trip(key: str, name: str | None = None, ts: int | None = None, p: str | None = None, **more: Any) -> dict[str, Any]:
    """One row of SCHEMA or FLAGGED_SCHEMA."""
    return {"id": key, "name": name, "ts": ts, "p": p, **more}


def trips(*rows: dict[str, Any]) -> pa.Table:
    """Rows of SCHEMA."""
    return rows_of(SCHEMA, *rows)


def flagged(*rows: dict[str, Any]) -> pa.Table:
    """Rows of FLAGGED_SCHEMA."""
    return rows_of(FLAGGED_SCHEMA, *rows)


def keys(*names: str, **columns: list[Any]) -> pa.Table:
    """Key rows for a delete."""
    return pa.table({"id": pa.array(names, pa.string()), **columns})


def data_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows without meta columns, sorted by all their values."""
    plain = table.drop_columns([name for name in table.column_names if name in META_COLUMNS])
    return sorted(plain.to_pylist(), key=lambda row: [(value is None, str(value)) for value in row.values()])


def names(table: WritableTable) -> dict[str, str | None]:
    """Key -> name of a snapshot of SCHEMA; no key may occur twice."""
    found = table.snapshot(["id", "name"]).to_pylist()
    assert len({row["id"] for row in found}) == len(found), found
    return {row["id"]: row["name"] for row in found}


def contents(storage: Storage) -> dict[str, bytes]:
    """Every object with its bytes."""
    return {info.path: storage.get(info.path) for info in storage.list()}


def data_files(table: WritableTable, ending: str = "") -> list[str]:
    """Paths of base and log files."""
    paths = [info.path for info in table.storage.list(skip=".hoodie")]
    return [path for path in paths if not path.endswith(".hoodie_partition_metadata") and ending in path]


def timeline_files(table: WritableTable) -> list[str]:
    """Names in the timeline folder."""
    return [info.path.rpartition("/")[2] for info in table.storage.list(table.properties.timeline_folder)]


def completed_path(table: WritableTable) -> str:
    """Path of the last completed instant's file."""
    return f"{table.properties.timeline_folder}/{table.timeline.completed[-1].file_name}"


def set_property(storage: Storage, key: str, value: str | None) -> None:
    """Change one line of `hoodie.properties` directly in the file; None removes it."""
    from hudi_reference.layout.java_properties import dump, load

    entries = load(storage.get(PROPERTIES_PATH))
    entries.pop(key, None)
    if value is not None:
        entries[key] = value
    storage.put(PROPERTIES_PATH, dump(entries, "changed by a test"))
