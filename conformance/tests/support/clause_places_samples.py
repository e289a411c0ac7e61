"""Places in tables of any writer, and edits of them, for the damages of `clauses_samples`.

An edit raises `NotPossible` if the table has no place for it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import validated_tables_samples as t

from hudi_conformance.validator.stored.table import StoredTable, load_table
from hudi_reference.clock import ManualClock
from hudi_reference.files.base_file import read_base_file
from hudi_reference.layout.java_properties import load
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.instants.instant import Instant

#: After all golden tables were made, so that no writer is at work.
LATER = 2_000_000_000_000
WRONG, LOST, SPACE, COSMETIC = "wrong-answers", "data-lost", "lost-space", "cosmetic"


class NotPossible(Exception):
    """The table has no place for the damage."""


@dataclass(frozen=True)
class Clause:
    """A damage. One of `rules` must be found with that severity, and no rule of these before the damage."""

    name: str
    rules: tuple[str, ...]
    severity: str
    edit: Callable[[Storage], object]

    def __str__(self) -> str:
        return self.name


def copied(folder: Path) -> Storage:
    """The table in a folder, in memory, with the times of its files."""
    storage = MemoryStorage()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            storage.put(path.relative_to(folder).as_posix(), path.read_bytes())
    return storage


def stored(storage: Storage) -> StoredTable:
    """The table as the validator finds it."""
    return load_table("memory:///clauses", storage=storage, clock=ManualClock(LATER))


def first(found: Any) -> Any:
    """The first of several. Raises NotPossible if there is none."""
    for one in found:
        return one
    raise NotPossible


def last(found: Any) -> Any:
    """The last of several. Raises NotPossible if there is none."""
    return first(reversed(list(found)))


# Places.


def writes(storage: Storage) -> list[Instant]:
    """The completed writes of the active timeline whose metadata names data files, by requested time."""
    table = stored(storage)
    return [instant for instant, commit in table.commits.items() if any(stat.path for stat in commit.stats)]


def path_of(storage: Storage, instant: Instant) -> str:
    """The path of the file of an instant."""
    return stored(storage).path_of(instant)


def latest_base_files(storage: Storage) -> list[str]:
    """The base files of the latest slices that the active timeline names."""
    table = stored(storage)
    named = {path for commit in table.commits.values() for path in commit.paths}
    found = (one.path(one.base_file) for one in table.groups.latest_slices if one.base_file)
    return sorted(path for path in found if path in named)


def older_base_files(storage: Storage) -> list[str]:
    """Base files of earlier slices that the active timeline names."""
    table = stored(storage)
    latest = set(latest_base_files(storage))
    named = {path for commit in table.commits.values() for path in commit.paths}
    slices = (one for group in table.groups for one in group.slices if one.base_file)
    found = {one.path(one.base_file or "") for one in slices} - latest
    return sorted(path for path in found if path in named and path in table.listing.files)


def latest_log_files(storage: Storage) -> list[str]:
    """The log files of the latest slices that the active timeline names."""
    table = stored(storage)
    named = {path for commit in table.commits.values() for path in commit.paths}
    return sorted(path for one in table.groups.latest_slices for path in map(one.path, one.log_files) if path in named)


def change_record(storage: Storage, instant: Instant, change: Callable[[Any], object]) -> None:
    """Change the record in the completed file of an action."""
    table = stored(storage)
    path = table.path_of(instant)
    record = read_action(storage.get(path), path, instant)
    change(record)
    if storage.get(path).lstrip()[:1] == b"{":
        storage.put(path, json.dumps(record).encode())
    else:
        storage.put(path, write_action(instant, record, bytes(16)))


def properties(**changes: str | None) -> Callable[[Storage], None]:
    """Change properties, with a right checksum; `__` stands for a point."""
    given = {key.replace("__", "."): value for key, value in changes.items()}
    return lambda storage: t.change_properties(storage, given)


def entry(storage: Storage, key: str) -> str | None:
    """The value of a property."""
    return load(storage.get(PROPERTIES_PATH)).get(key)


def needs(key: str, edit: Callable[[Storage], object]) -> Callable[[Storage], object]:
    """An edit of tables that have a property."""

    def checked(storage: Storage) -> object:
        if not entry(storage, key):
            raise NotPossible
        return edit(storage)

    return checked


def rewrite(storage: Storage, path: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Store a base file with changed rows, the same footer entries, and commit metadata that has its size."""
    metadata = pq.read_schema(pa.BufferReader(storage.get(path))).metadata
    sink = pa.BufferOutputStream()
    pq.write_table(change(read_base_file(storage, path)).replace_schema_metadata(metadata), sink)
    storage.put(path, sink.getvalue().to_pybytes())
    resize(storage, path)


def resize(storage: Storage, path: str) -> None:
    """The metadata of the write of a file has its present size."""
    for instant in writes(storage):
        if path in stored(storage).commits[instant].paths:

            def change(record: Any) -> None:
                for stat in t.stats_of(record):
                    if stat["path"] == path:
                        stat["fileSizeInBytes"] = stat["totalWriteBytes"] = len(storage.get(path))

            change_record(storage, instant, change)


def with_value(name: str, value: Any, row: int = 0) -> Callable[[pa.Table], pa.Table]:
    """Changes one value of a column."""

    def change(table: pa.Table) -> pa.Table:
        if name not in table.column_names or table.num_rows <= row:
            raise NotPossible
        number, field = table.column_names.index(name), table.schema.field(name)
        values = table.column(name).to_pylist()
        values[row] = value
        return table.set_column(number, field.with_nullable(True), pa.array(values, field.type))

    return change


def in_base(change: Callable[[pa.Table], pa.Table]) -> Callable[[Storage], None]:
    """Changes the rows of a latest base file that is Parquet and has at least one row."""

    def edit(storage: Storage) -> None:
        path = last(p for p in latest_base_files(storage) if p.endswith(".parquet") and read_base_file(storage, p).num_rows)
        rewrite(storage, path, change)

    return edit
