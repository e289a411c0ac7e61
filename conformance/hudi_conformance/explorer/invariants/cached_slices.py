"""The table of one state of an exploration. A file slice is read again only if something changed on which its rows depend.

Most states of an exploration differ in files that a slice does not have. The rows of a slice depend on its own files, on the
properties and the schema of the table, and, if it has log files, on the timeline, which decides which of their blocks count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pyarrow as pa

from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table, View
from hudi_reference.tables import WritableTable

#: The rows of slices by everything that they depend on.
SliceRows = dict[tuple[object, ...], pa.Table]

_PROPERTIES, _HISTORY = f"{META_FOLDER}/hoodie.properties", f"{META_FOLDER}/timeline/history/"


@dataclass(frozen=True, kw_only=True)
class TableOfState(WritableTable):
    """A table with these objects. `known` are the rows of slices that were read in any state."""

    bodies: Mapping[str, bytes] = field(repr=False)
    known: SliceRows = field(repr=False)

    def view(
        self,
        as_of: str | None = None,
        known: View | None = None,
        *,
        where: Sequence[tuple[str, str, Any]] | None = None,
    ) -> View:
        """The view of the table, whose reader looks up slices that were read before."""
        found = super().view(as_of, known, where=where)
        return _ViewOfState(**{each.name: getattr(found, each.name) for each in fields(found)})


class _ViewOfState(View):
    """A view of a `TableOfState`."""

    def reader(self, table: Table) -> SliceReader:
        """The reader of this view's slices."""
        found = super().reader(table)
        assert isinstance(table, TableOfState)
        values = {each.name: getattr(found, each.name) for each in fields(found)}
        return _SliceReaderOfState(**values, bodies=table.bodies, known=table.known, table_schema=repr(self.schema))


@dataclass(frozen=True, kw_only=True)
class _SliceReaderOfState(SliceReader):
    """Reads the slices of one state."""

    bodies: Mapping[str, bytes] = field(repr=False)
    known: SliceRows = field(repr=False)
    #: The text of the table's schema.
    table_schema: str = ""

    def read(self, file_slice: FileSlice, columns: Sequence[str], *, logs: bool = True) -> pa.Table:
        """The rows of a slice, from the known ones if nothing changed on which they depend. Errors are raised each time."""
        key = (file_slice, tuple(columns), logs, *self._content(file_slice), *self._timeline(file_slice))
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = super().read(file_slice, columns, logs=logs)
        return found

    def _content(self, file_slice: FileSlice) -> tuple[object, ...]:
        """The files of the slice, the properties and the schema of the table."""
        names = (file_slice.base_file, *file_slice.log_files)
        files = tuple(self.bodies.get(file_slice.path(name)) for name in names if name is not None)
        return files, self.bodies.get(_PROPERTIES), self.table_schema

    def _timeline(self, file_slice: FileSlice) -> tuple[object, ...]:
        """What decides whether a log block counts: the timeline, the history, and the files and spans of completed writes.

        Pending actions do not matter to a correct reader, but a faulty one may count their blocks.
        """
        if not file_slice.log_files:
            return ()
        timeline, scanner = self.scanner.timeline, self.scanner
        paths = [file_slice.path(name) for name in file_slice.log_files]
        return (
            (timeline.instants, timeline.start, timeline.read_time, timeline.limit),
            tuple((path, body) for path, body in self.bodies.items() if path.startswith(_HISTORY)),
            tuple(scanner.committed.spans.get(path) for path in paths),
            tuple((time, *(path in written for path in paths)) for time, written in scanner.committed.by_write.items()),
        )
