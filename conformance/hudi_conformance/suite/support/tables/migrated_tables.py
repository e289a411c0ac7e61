"""Tables of version 8 and 9 in memory that are migrated to the other version, and everything that queries answer about them."""

from collections.abc import Callable
from typing import Any, Literal

import pyarrow as pa

from hudi_reference import Migration, WritableTable, create_table, migrate, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.layout.properties import read_properties
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.storage.wrapped import FolderStorage

Type = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
TYPES: tuple[Type, ...] = ("COPY_ON_WRITE", "MERGE_ON_READ")
URI = "memory:///migrated"
PACKAGE = "org.apache.hudi.common.model."
#: The classes that version 9 replaces, and the ordering fields of their tables at version 8.
REPLACED = {
    "OverwriteWithLatestAvroPayload": (),
    "DefaultHoodieRecordPayload": ("ts",),
    "EventTimeAvroPayload": ("ts",),
    "OverwriteNonDefaultsWithLatestAvroPayload": ("ts",),
    "PartialUpdateAvroPayload": ("ts",),
    "debezium.PostgresDebeziumAvroPayload": ("_event_lsn",),
    "debezium.MySqlDebeziumAvroPayload": ("_event_seq",),
    "AWSDmsAvroPayload": ("ts",),
}
_TEXTS = ("id", "p", "name", "note", "Op", "_change_operation_type", "_event_seq", "_event_bin_file")
_NUMBERS = ("ts", "_event_lsn", "_event_pos")
SCHEMA: dict[str, Any] = {
    "type": "record", "name": "changes", "namespace": "hoodie.changes",
    "fields": [
        {"name": name, "type": ["null", kind], "default": None}
        for kind, names in (("string", _TEXTS), ("long", _NUMBERS)) for name in names
    ],
}  # fmt: skip
INDEXED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
#: 2026-01-01T00:00:00Z
_START = 1_767_225_600_000
PLACEHOLDER = "__debezium_unavailable_value"


def change(key: str, number: int, name: str | None, note: str | None = "n", p: str = "x", kind: str = "u") -> dict[str, Any]:
    """A row whose ordering value is `number` in each of the columns that a payload class may compare."""
    return {
        "id": key, "p": p, "name": name, "note": note, "Op": kind.upper(), "_change_operation_type": kind, "ts": number,
        "_event_lsn": number, "_event_seq": f"7.{number}", "_event_bin_file": "7", "_event_pos": number,
    }  # fmt: skip


#: Later and late rows, columns without values, the placeholder of PostgreSQL, and marked deletes.
BATCHES = (
    (change("a", 2, "a2"), change("b", 2, "b2"), change("c", 2, "c2", p="y"), change("d", 2, "d2"), change("e", 2, "e2")),
    (
        change("a", 3, None, "n3"),
        change("b", 1, "late", None),
        change("d", 3, "d3", kind="d"),
        change("e", 1, "late", kind="d"),
    ),
    (change("a", 4, "a4", PLACEHOLDER), change("f", 1, "new", p="y"), change("b", 5, "b5", None)),
)


def written(type: Type, version: int = 8, *, batches: int = 3, **settings: Any) -> WritableTable:
    """A table with the first batches of rows, of this version."""
    table = create_table(
        URI, name="changes", schema=SCHEMA, record_key=["id"], **{"partition": ["p"], **settings}, table_type=type,
        version=version, storage=MemoryStorage(), clock=_on(0), ids=SeededIds(0),
    )  # fmt: skip
    for rows in BATCHES[:batches]:
        table.upsert(as_rows(*rows))
    return table


def with_payload(type: Type, name: str, **more: Any) -> WritableTable:
    """A table of version 8 that merges by a payload class."""
    properties = {"hoodie.compaction.payload.class": f"{PACKAGE}{name}"}
    return written(type, ordering=REPLACED.get(name, ("ts",)), properties=properties, **more)


def as_rows(*rows: dict[str, Any]) -> pa.Table:
    """Return these rows as a table."""
    kinds = [(name, pa.int64() if name in _NUMBERS else pa.string()) for name in (*_TEXTS, *_NUMBERS)]
    return pa.Table.from_pylist(list(rows), schema=pa.schema(kinds))


def migrated(version: int | None, day: int = 10) -> Callable[[Storage], Migration]:
    """Return the migration to a version on a day after the first writes, with ids that are the same each time."""
    return lambda storage: migrate(URI, version=version, storage=storage, clock=_on(day), ids=SeededIds(day))


def opened(storage: Storage, day: int = 99) -> WritableTable:
    """Return the table as another process opens it on a day after the first writes."""
    return open_table(URI, storage=storage, clock=_on(day), ids=SeededIds(day))


def _on(day: int) -> ManualClock:
    return ManualClock(_START + day * 86_400_000)


def versions(storage: Storage) -> tuple[int, int | None]:
    """Return the versions of a table and of its metadata table."""
    metadata = FolderStorage(storage, ".hoodie/metadata")
    has_one = metadata.head(".hoodie/hoodie.properties") is not None
    return read_properties(storage).version, read_properties(metadata).version if has_one else None


def properties(storage: Storage) -> dict[str, str]:
    """Return the entries of the properties of a table, without the checksum."""
    return {key: value for key, value in read_properties(storage).entries.items() if key != "hoodie.table.checksum"}


def snapshot(storage: Storage) -> list[dict[str, Any]]:
    """Return the rows of a table with meta columns, except the file name: a compaction moves rows to another file."""
    return _sorted(opened(storage).snapshot())


def answers(storage: Storage, *, times: bool = True) -> dict[str, Any]:
    """Return what a table answers: to a snapshot, to filters, and with `times` also as of each write and since each write."""
    table = opened(storage)
    found: dict[str, Any] = {
        "snapshot": snapshot(storage),
        "by key": _sorted(table.snapshot(where=[("id", "=", "a")])),
        "by value": _sorted(table.snapshot(where=[("ts", ">", 2)])),
    }
    for instant in table.timeline.completed if times else ():
        if instant.action in ("commit", "deltacommit") and instant.requested < "20260102":
            found[f"as of {instant.requested}"] = _sorted(table.as_of(instant.requested))
            found[f"since {instant.requested}"] = _sorted(table.incremental(instant.completion))
    return found


def _sorted(rows: pa.Table) -> list[dict[str, Any]]:
    if "_hoodie_file_name" in rows.column_names:
        rows = rows.drop_columns(["_hoodie_file_name"])
    return sorted(rows.to_pylist(), key=lambda one: str(one["id"]))
