"""What the timeline and the name of a base file say about its content: checks that the file is the one that was written.

The checks take little more than a reader of rows takes anyway: the length of the file, and meta columns of one row.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import MalformedBaseFile
from hudi_reference.layout.names import BaseFileName, parse_data_file_name, split_path
from hudi_reference.requirement import implements
from hudi_reference.schema.differences import renamed_column

_REMEDY = "restore the file from another copy of the table"
#: The meta columns that are checked.
COMMIT_TIME, OF_FILE = "_hoodie_commit_time", ("_hoodie_partition_path", "_hoodie_file_name")


@dataclass(frozen=True)
class StoredRows:
    """The rows of a base file of any format, as far as they are checked.

    Attributes:
        names: the names of its columns.
        count: the number of its rows.
        first: a table that begins with the first row and has these columns; None if the file has no row in them.
        column: all values of one column.
    """

    names: Collection[str]
    count: int
    first: Callable[[Sequence[str]], pa.Table | pa.RecordBatch | None]
    column: Callable[[str], pa.ChunkedArray]


@dataclass(frozen=True)
class WrittenFile:
    """A base file as the timeline describes it.

    Attributes:
        is_described: whether anything is known; the file may be any file otherwise.
        size: its bytes by the metadata of the action that wrote it; 0 if that is not known.
        pending: the requested times of pending writes, whose rows no base file of a completed action has.
        may_keep_names: whether rows may have the name of an earlier file of their group. Writers before release 0.12 copied the
            rows that an update did not change with all their meta columns.
        rows: how many rows the action counted when it wrote the file; 0 if that is not known.
        fills_meta_columns: whether writers of the table fill the meta columns. Otherwise only some fill the name of the file,
            and a clustering copies it.
        columns: those in the schema of the action that wrote it; None if they are not known.
        partition_values: the values of columns in all its rows, by the path of its partition. Known only if no meta column has
            the partition.
    """

    is_described: bool = False
    size: int = 0
    pending: Collection[str] = ()
    may_keep_names: bool = True
    rows: int = 0
    fills_meta_columns: bool = True
    columns: pa.Schema | None = None
    partition_values: Mapping[str, Any] = field(default_factory=dict)

    @implements("TL-005", "TL-007")
    def check_rows(self, path: str, found: int) -> None:
        """Check that the file has at least the rows that its action counted. Raises MalformedBaseFile."""
        if found < self.rows:
            raise MalformedBaseFile(
                "the file has fewer rows than its action wrote", rule="TL-007", path=path, expected=f"{self.rows} rows",
                found=f"{found} rows", remedy=_REMEDY,
            )  # fmt: skip

    @implements("TL-036", "BF-002")
    def check_size(self, path: str, found: int) -> None:
        """Check the length of the file in bytes. Raises MalformedBaseFile."""
        if self.size and found != self.size:
            raise MalformedBaseFile(
                "the file has another length than when its action wrote it", rule="TL-036", path=path,
                expected=f"{self.size} bytes", found=f"{found} bytes", remedy=_REMEDY,
            )  # fmt: skip

    @implements("TL-007")
    def check_columns(self, path: str, found: pa.Schema) -> None:
        """Check that the file has its columns under the names in the schema of its action. Raises MalformedBaseFile."""
        renamed = None if self.columns is None else renamed_column(found, self.columns)
        if renamed is not None:
            raise MalformedBaseFile(
                "the file has a column that the schema in the metadata of its action lacks", rule="TL-007", path=path,
                expected=f"the column {renamed[0]}", found=f"the column {renamed[1]}",
                remedy="restore the completed file of the action, or the base file, from another copy of the table",
            )  # fmt: skip

    def check_content(self, path: str, stored: StoredRows) -> None:
        """Check meta columns and partition columns of the first row, and all commit times. Raises MalformedBaseFile."""
        if self.is_described and stored.count and set(stored.names).issuperset(OF_FILE):
            found = stored.first(OF_FILE)
            if found is None or not found.num_rows:
                raise MalformedBaseFile(
                    "the meta columns have fewer rows than the file", rule="BF-002", path=path,
                    expected=f"{stored.count} rows", found="none", remedy=_REMEDY,
                )  # fmt: skip
            self.check_row(path, *(_text(found.column(name)[0]) for name in OF_FILE))
        names = [name for name in self.partition_values if name in stored.names] if stored.count else []
        if names and (found := stored.first(names)) is not None:
            self.check_partition(path, {name: found.column(name)[0].as_py() for name in names if found.num_rows})
        if self.pending and COMMIT_TIME in stored.names:
            self.check_times(path, pc.unique(stored.column(COMMIT_TIME)).cast(pa.string()).to_pylist())

    @implements("META-009", "META-010", "META-011", "META-012")
    def check_row(self, path: str, partition: str | None, name: str | None) -> None:
        """Check the meta columns of one row of the file at `path`: partition and name of the file. Null and empty say nothing.

        The name is one of the same file group and instant; the write token may differ. The values of one row decide, because
        they are equal in all rows of a file. Raises MalformedBaseFile.
        """
        if not self.fills_meta_columns:  # ER-212: a clustering copies the names that a write stored
            return
        folder, own = split_path(path)
        if name and name != own and not self._may_name(name, own):
            raise _foreign(path, "META-010", own, name)
        if partition and partition != folder:
            raise _foreign(path, "META-009", f"rows of partition {folder!r}", f"rows of {partition!r}")

    def _may_name(self, name: str, own: str) -> bool:
        """Whether rows of the file `own` may have this other name. What is no name of a data file says nothing."""
        found, expected = parse_data_file_name(name), parse_data_file_name(own)
        if found is None:
            return True
        if not isinstance(found, BaseFileName) or not isinstance(expected, BaseFileName) or found.file_id != expected.file_id:
            return False
        return found.instant == expected.instant or (self.may_keep_names and found.instant < expected.instant)

    @implements("LAY-018")
    def check_partition(self, path: str, row: Mapping[str, Any]) -> None:
        """Check the partition columns of one row against the path of the partition. Raises MalformedBaseFile."""
        for name, value in self.partition_values.items():
            if value is not None and row.get(name, value) not in (value, None):
                raise _foreign(path, "LAY-018", f"rows with {name} = {value!r}", f"{name} = {row[name]!r}")

    @implements("META-003")
    def check_times(self, path: str, times: Collection[str | None]) -> None:
        """Check the commit times of the rows of a completed action. Raises MalformedBaseFile."""
        time = next((time for time in times if time in self.pending), None)
        if time is not None:
            raise MalformedBaseFile(
                "a base file of a completed action has rows of a pending one", rule="META-003", path=path,
                expected="rows of completed actions", found=f"rows of {time}",
                remedy=f"restore the completed file of {time} from another copy of the table",
            )  # fmt: skip


#: A base file of which nothing is known.
UNKNOWN = WrittenFile()


def _text(value: pa.Scalar) -> str | None:
    """The text of a meta column, which is another type in damaged files."""
    found = value.as_py()
    return found if isinstance(found, str | None) else value.cast(pa.string()).as_py()


def _foreign(path: str, rule: str, expected: str, found: str) -> MalformedBaseFile:
    return MalformedBaseFile("the content is that of another base file", rule=rule, path=path, expected=expected, found=found,
                             remedy=_REMEDY)  # fmt: skip
