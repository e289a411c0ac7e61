"""Histories put together by hand: level files, manifests, version files; and a storage that counts its requests."""

import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_reference.storage import MemoryStorage, Storage

FOLDER = ".hoodie/timeline/history"
#: Requested time, completion time, action.
Archived = tuple[str, str | None, str]


def level_file(*rows: Archived, **columns: Any) -> bytes:
    """The bytes of a level file: requested time, completion time and action of each row, and further columns.

    `columns` replaces a column by these values, or drops it where they are None.
    """
    names = ("instantTime", "completionTime", "action")
    table = pa.table({name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(names)})
    table = table.append_column("version", pa.array([1] * len(rows), pa.int32()))
    for name, values in columns.items():
        if name in table.column_names:
            table = table.drop_columns(name)
        if values is not None:
            table = table.append_column(name, pa.array(values))
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def name_of(rows: Iterable[Archived], level: int = 0) -> str:
    """The name that a level file with these rows has."""
    times = [row[0] for row in rows]
    return f"{min(times)}_{max(times)}_{level}.parquet"


def manifest(files: Mapping[str, bytes | int]) -> bytes:
    """A manifest as Jackson prints it: of files, or of the lengths that it tells of them."""
    lengths = {name: data if isinstance(data, int) else len(data) for name, data in files.items()}
    return json.dumps({"files": [{"fileName": n, "fileLen": length} for n, length in lengths.items()]}, indent=2).encode()


def put_history(storage: Storage, files: Mapping[str, bytes], number: int = 1) -> None:
    """Publish a history of these level files, by name."""
    for name, data in files.items():
        storage.put(f"{FOLDER}/{name}", data)
    storage.put(f"{FOLDER}/manifest_{number}", manifest(files))
    storage.put(f"{FOLDER}/_version_", str(number).encode())


def history_storage(*levels: tuple[Archived, ...]) -> MemoryStorage:
    """A storage whose history has one file for each group of rows, in that order."""
    storage = MemoryStorage()
    put_history(storage, {name_of(rows): level_file(*rows) for rows in levels if rows})
    return storage


class Counting:
    """A storage that counts its requests by kind and path, and answers like the one inside."""

    def __init__(self, inner: Storage) -> None:
        self.inner = inner
        self.requests: Counter[tuple[str, str]] = Counter()

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self.inner, name)

        def ask(path: str = "", *arguments: Any, **more: Any) -> Any:
            self.requests[name, path] += 1
            return asked(path, *arguments, **more)

        return ask

    def taken(self) -> dict[str, int]:
        """How many requests of each kind there were since the last time."""
        found: Counter[str] = Counter()
        for (kind, _), count in self.requests.items():
            found[kind] += count
        self.requests.clear()
        return dict(found)

    def paths(self, kind: str) -> list[str]:
        """The names of the files for which there was such a request since the last time, sorted."""
        return sorted(path.rpartition("/")[2] for asked, path in self.requests if asked == kind)
