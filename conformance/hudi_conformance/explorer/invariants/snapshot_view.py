"""What the reference reader sees in a state of the store: timeline, file groups, rows. Equal states are read once.

Readers must not depend on the folders of markers, heartbeats and locks. The storage that is read here does not contain them, so
that a reader that needs them fails.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import pyarrow as pa

from hudi_conformance.explorer.invariants.cached_slices import SliceRows, TableOfState
from hudi_conformance.explorer.simulation.simulated_store import State, Stored
from hudi_reference import open_table
from hudi_reference.caching import cached_property
from hudi_reference.errors import HudiError, InvalidQuery
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.query.table import View
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.instant import Instant

#: Folders that readers must not need.
UNREAD = (".hoodie/.temp/", ".hoodie/.heartbeat/", ".hoodie/.locks/")
#: The columns that programs write, and the commit time of each row.
COLUMNS = ("id", "city", "ts", "value", "_hoodie_commit_time")
#: id, city, ts, value.
Row = tuple[str | None, ...]
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class SnapshotView:
    """The table in one state as a reader sees it."""

    objects: Mapping[str, Stored] = field(repr=False)
    #: The rows of slices that were read in other states.
    known: SliceRows = field(default_factory=dict, repr=False, compare=False)
    #: The results of `once`.
    found: dict[tuple[object, ...], Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def table(self) -> TableOfState:
        """The table, on a private copy."""
        storage = MemoryStorage()
        for path, stored in self.objects.items():
            storage.put(path, stored.body)
        opened = open_table("memory:///explored", storage=storage)
        values = {each.name: getattr(opened, each.name) for each in fields(opened)}
        bodies = {path: stored.body for path, stored in self.objects.items()}
        return TableOfState(**values | {"parallelism": 1}, bodies=bodies, known=self.known)

    @cached_property
    def timeline(self) -> Timeline:
        """The active timeline."""
        return self.table.timeline

    @cached_property
    def view(self) -> View:
        """Timeline, file groups and schema."""
        return self.table.view()

    @property
    def groups(self) -> FileGroups:
        """The file groups with their slices."""
        return self.view.groups

    @cached_property
    def history(self) -> tuple[Instant, ...]:
        """The archived actions."""
        return self.timeline.history

    @cached_property
    def records(self) -> tuple[tuple[Row, str], ...] | str:
        """The rows of a snapshot, sorted, each with the time of the commit that wrote it; or why the table cannot be read."""
        try:
            reader = self.view.reader(self.table)
            parts = [reader.read(found, list(COLUMNS)) for found in self.groups.latest_slices]
        except (HudiError, FileNotFoundError) as error:
            return f"the table cannot be read: {error}"
        rows = [row for part in parts for row in part.to_pylist()]
        return tuple(sorted(((comparable_row(row), row["_hoodie_commit_time"]) for row in rows), key=repr))

    @property
    def rows(self) -> tuple[Row, ...] | str:
        """The rows without their commit times."""
        return self.records if isinstance(self.records, str) else tuple(row for row, _ in self.records)

    def cached_result(self, compute: Callable[..., _Found], *given: str) -> _Found:
        """The result of a function of the view, and of what else is given. Many steps lead to one state, and each function is
        called once for it.
        """
        key = compute, given
        if key not in self.found:
            self.found[key] = compute(self, *given)
        result: _Found = self.found[key]
        return result

    def rows_as_of(self, time: str) -> tuple[Row, ...] | str:
        """The rows of a read as of that time; or why it is refused."""
        try:
            found: pa.Table = self.table.as_of(time, columns=COLUMNS[:4])
        except InvalidQuery as error:
            return f"refused: {error}"
        return tuple(sorted((comparable_row(row) for row in found.to_pylist()), key=repr))

    @cached_property
    def data_files(self) -> Mapping[str, str]:
        """The requested time of the action that wrote each data file, by path."""
        listed = ((path, parse_data_file_name(split_path(path)[1])) for path in self.objects if not path.startswith(".hoodie/"))
        return {path: name.instant for path, name in listed if name is not None}


def comparable_row(row: Mapping[str, object]) -> Row:
    """A row in the form in which rows are compared."""
    return tuple(None if row.get(name) is None else str(row[name]) for name in COLUMNS[:4])


class SnapshotViews:
    """The views of states; equal states share one view."""

    def __init__(self) -> None:
        self._known: dict[frozenset[tuple[str, bytes]], SnapshotView] = {}
        self._slices: SliceRows = {}
        self._digests: dict[int, SnapshotView] = {}

    def __call__(self, state: State) -> SnapshotView:
        """The table as it is in that state."""
        found = self._digests.get(state.digest)
        if found is None:
            objects = {path: stored for path, stored in state.objects.items() if not path.startswith(UNREAD)}
            key = frozenset((path, stored.body) for path, stored in objects.items())
            found = self._digests[state.digest] = self._known.setdefault(key, SnapshotView(objects, self._slices))
        return found

    @property
    def states_read(self) -> int:
        """How many different states were read."""
        return len(self._known)
