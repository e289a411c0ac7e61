"""Tables in memory for the tests of the validator, and edits of their files."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from hudi_conformance.validator.checks.finding import Check, Finding
from hudi_conformance.validator.stored.table import StoredTable, load_table
from hudi_conformance.validator.validation import Validation, validate
from hudi_reference import archive, clean, cluster, compact, create_table, open_table, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.ids import RandomIds
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.layout.properties_writer import with_checksum
from hudi_reference.services.clean.clean import schedule_clean
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.instants.instant import parse_instant_name

SCHEMA = {
    "type": "record",
    "name": "trip",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "city", "type": "string"},
        {"name": "fare", "type": ["null", "long"], "default": None},
    ],
}
TIMELINE = ".hoodie/timeline"
START = 1_790_000_000_000
#: A day after the last action, so that no writer can be at work.
LATER = START + 10**9
CLUSTERING = {"hoodie.clustering.plan.strategy.small.file.limit": "1000000000"}
CLEANING = {"hoodie.clean.commits.retained": "1"}

Edit = Callable[[Storage], None]


def rows(*numbers: int, fare: int = 0) -> pa.Table:
    """Rows with these keys; even ones are in the city north, odd ones in south."""
    cities = ["north" if number % 2 == 0 else "south" for number in numbers]
    return pa.table({"id": [f"k{number}" for number in numbers], "city": cities, "fare": pa.array([fare] * len(numbers))})


def _new(table_type: str, version: int | None = None, properties: Mapping[str, str] | None = None, **options: str) -> Any:
    given: dict[str, Any] = {} if version is None else {"version": version}
    return create_table(
        "memory:///sample", name="sample", schema=SCHEMA, record_key=["id"], partition=["city"], table_type=table_type,  # type: ignore[arg-type]
        storage=MemoryStorage(), clock=ManualClock(START), ids=RandomIds(), options=options, properties=properties,
        **given,  # type: ignore[arg-type]
    )  # fmt: skip


def copy_on_write(**options: str) -> Storage:
    """Three writes to the same file groups."""
    table = _new("COPY_ON_WRITE", **options)
    for fare in range(3):
        table.upsert(rows(1, 2, 3, 4, fare=fare))
    return table.storage  # type: ignore[no-any-return]


def empty(**properties: str) -> Storage:
    """A table that nothing was written to, with these properties."""
    return _new("COPY_ON_WRITE", properties=properties).storage  # type: ignore[no-any-return]


def inserted_twice(**properties: str) -> Storage:
    """Two inserts of the same keys into a table with these properties."""
    table = _new("COPY_ON_WRITE", properties=properties)
    for fare in range(2):
        table.insert(rows(1, 2, fare=fare))
    return table.storage  # type: ignore[no-any-return]


def changed(table_type: str, version: int | None = None, **properties: str) -> Storage:
    """Three upserts of the same keys into a table with these properties."""
    table = _new(table_type, version, properties)
    for fare in range(3):
        table.upsert(rows(1, 2, 3, 4, fare=fare))
    return table.storage  # type: ignore[no-any-return]


def of_version_9() -> Storage:
    """A write to a table of version 9, whose mode alone says how it merges."""
    table = _new("COPY_ON_WRITE", 9)
    table.upsert(rows(1, 2))
    return table.storage  # type: ignore[no-any-return]


def merge_on_read(**options: str) -> Storage:
    """One write of base files and two of log files."""
    table = _new("MERGE_ON_READ", **options)
    for fare in range(3):
        table.upsert(rows(1, 2, 3, 4, fare=fare))
    return table.storage  # type: ignore[no-any-return]


def with_metadata_table() -> Storage:
    """A merge-on-read table with a metadata table."""
    return merge_on_read(**{"hoodie.metadata.enable": "true"})


def compacted() -> Storage:
    """Log files that a completed compaction merged, and one more write."""
    storage = merge_on_read()
    table = reopened(storage)
    compact(table, {"hoodie.compact.inline.max.delta.commits": "1"})
    table.upsert(rows(1, 2, fare=9))
    return storage


def with_plan(service: str) -> Storage:
    """A pending compaction, clustering or clean."""
    storage = merge_on_read() if service == "compaction" else copy_on_write()
    schedule = {"compaction": schedule_compaction, "clustering": schedule_clustering, "clean": schedule_clean}[service]
    assert schedule(reopened(storage), {"hoodie.compact.inline.max.delta.commits": "1", **CLUSTERING, **CLEANING})
    return storage


def clustered() -> Storage:
    """A completed clustering and a write before it."""
    storage = copy_on_write()
    assert cluster(reopened(storage), CLUSTERING)
    return storage


def overwritten() -> Storage:
    """An overwrite of one of two partitions."""
    storage = copy_on_write()
    reopened(storage).insert_overwrite(rows(2, 6, fare=7))
    return storage


def deleted_partition() -> Storage:
    """A deletion of one of two partitions, and no metadata table."""
    storage = copy_on_write()
    reopened(storage).delete_partitions(["north"])
    return storage


def cleaned() -> Storage:
    """A savepoint of the first write, and a clean that spared its files."""
    storage = copy_on_write()
    table = reopened(storage)
    savepoint(table, table.timeline.completed[0].requested)
    table.upsert(rows(1, 2, fare=7))
    assert clean(table, CLEANING)
    return storage


def archived() -> Storage:
    """Ten writes of which most are in the history."""
    storage = copy_on_write()
    table = reopened(storage)
    for fare in range(7):
        table.upsert(rows(1, 2, fare=fare))
    assert archive(table, {"hoodie.keep.max.commits": "4", "hoodie.keep.min.commits": "3"}).instants
    return storage


def reopened(storage: Storage) -> Any:
    """The table, with a clock after the last action."""
    return open_table("memory:///sample", storage=storage, clock=ManualClock(START + 10**8))


def copy_to_folder(storage: Storage, folder: Path) -> Path:
    """Write all objects into a folder; the folder."""
    for info in storage.list(""):
        path = folder / info.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(storage.get(info.path))
    return folder


def stored(storage: Storage, now: int = LATER) -> StoredTable:
    """The table as the validator finds it."""
    return load_table("memory:///sample", storage=storage, clock=ManualClock(now))


def validated(storage: Storage, checks: tuple[Check, ...], now: int = LATER) -> Validation:
    """The result of these checks."""
    found = validate(stored(storage, now), checks)
    assert not found.broken, found.broken
    return found


def rules_of(findings: tuple[Finding, ...]) -> set[str]:
    """The rules of findings."""
    return {finding.rule for finding in findings}


# Finding and editing files.


def paths(storage: Storage, *parts: str) -> list[str]:
    """The paths of the files that contain each of these texts, sorted."""
    return [info.path for info in storage.list("") if all(part in info.path for part in parts)]


def base_files(storage: Storage) -> list[str]:
    """The paths of base files of the data table, by instant."""
    found = [path for path in paths(storage, ".parquet") if not path.startswith(".hoodie/")]
    return sorted(found, key=lambda path: path.rpartition("_")[2])


def log_files(storage: Storage) -> list[str]:
    """The paths of log files of the data table, by instant."""
    found = [path for path in paths(storage, ".log.") if not path.startswith(".hoodie/")]
    return sorted(found, key=lambda path: split_path(path)[1].split("_")[1])


def completed(storage: Storage, action: str, number: int = -1) -> str:
    """The path of one of the completed files of an action."""
    return [path for path in paths(storage, f"{TIMELINE}/", "_") if path.endswith(f".{action}")][number]


def move(storage: Storage, path: str, target: str) -> None:
    """Rename a file."""
    storage.put(target, storage.get(path))
    storage.delete(path)


def lose_action(storage: Storage, requested: str) -> None:
    """Delete all files of an action of the timeline."""
    for path in paths(storage, f"{TIMELINE}/{requested}"):
        if path.startswith(TIMELINE):
            storage.delete(path)


def change_record(storage: Storage, path: str, change: Callable[[Any], object]) -> None:
    """Change the record in the file of an action."""
    instant = parse_instant_name(split_path(path)[1])
    assert instant is not None
    record = read_action(storage.get(path), path, instant)
    change(record)
    storage.put(path, write_action(instant, record, bytes(16)))


def change_properties(storage: Storage, changes: Mapping[str, str | None], *, checksum: bool = True) -> None:
    """Change entries of the properties; None removes one. With `checksum` it is right afterwards."""
    entries = load(storage.get(PROPERTIES_PATH))
    entries |= {key: value for key, value in changes.items() if value is not None}
    for key, value in changes.items():
        if value is None:
            entries.pop(key, None)
    if checksum and "hoodie.table.name" in entries:
        entries = with_checksum(entries)
    storage.put(PROPERTIES_PATH, dump(entries, "edited"))


def flip(storage: Storage, path: str, offset: int) -> None:
    """Invert one byte; a negative offset counts from the end."""
    data = bytearray(storage.get(path))
    data[offset] ^= 0xFF
    storage.put(path, bytes(data))


def cut(storage: Storage, path: str, size: int) -> None:
    """Remove the last bytes."""
    storage.put(path, storage.get(path)[:-size])


def stats_of(record: Any) -> list[Any]:
    """All write stats in commit metadata."""
    return [stat for stats in record["partitionToWriteStats"].values() for stat in stats]


def manifest_of(storage: Storage) -> tuple[str, Any]:
    """Path and content of the valid manifest."""
    path = paths(storage, "history/manifest_")[-1]
    return path, json.loads(storage.get(path))
