"""Base files of completed writes that no metadata names: left by a failed attempt, or lost from the metadata.

An attempt that failed is followed by one that stores the same rows. Rows that no file of the write has are lost.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.validator.checks.deep.files.base_files import COMMIT_TIME, PATH, keys_of_rows
from hudi_conformance.validator.checks.deep.files.log_files import DATA_BLOCKS
from hudi_conformance.validator.checks.deep.groups import has_all_rows
from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.file_views import DataFile
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.log.content import decode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import BaseFileName


def unnamed_files_of(table: StoredTable) -> Sequence[str]:
    """The base files of completed writes of the active timeline that their metadata does not name."""
    if not has_all_rows(table) or not table.properties.populates_meta_fields:
        return ()
    completed = {instant.requested for instant in table.commits}
    gone = table.removals.cleaned.keys() | table.removals.rolled_back.keys()
    files = (path for path in table.data_files if path not in table.named_files and path not in gone)
    return table.scope.chosen(tuple(path for path in files if _is_base_file_of(table.data_files[path], completed)))


def _is_base_file_of(file: DataFile, writes: set[str]) -> bool:
    return isinstance(file.name, BaseFileName) and file.name.instant in writes


def examine_unnamed(table: StoredTable, path: str, tally: Tally) -> Iterator[Finding]:
    """TL-007: each row of the write in the file is in a file that the metadata of the write names."""
    file = table.data_files[path]
    try:
        mine, others = _written(table, path, file.name.instant, file.partition), _of_the_write(table, file)
    except HudiError:
        return  # a file of a failed attempt may be damaged
    if others is None:
        return
    tally.looked("TL-007", at=len(mine))
    lost = sorted(set(mine.to_pylist()) - others)
    if lost:
        more = f" and {len(lost) - 1} more keys" if len(lost) > 1 else ""
        yield Finding(
            "TL-007", "data-lost", path, "Queries lack the rows of this file: the metadata of its write does not name it.",
            f"the rows of the write {file.name.instant} in the files that its metadata names",
            f"no row of {lost[0]!r}{more} in them", "restore the completed file of the write from another copy of the table",
            key=lost[0],
        )  # fmt: skip


def _written(table: StoredTable, path: str, requested: str, partition: str) -> pa.Array:
    """The keys of the rows in a base file that the write of that time stored: all of a clustering, which copies rows.

    Rows of another partition are left out: the file is a copy of one in another folder, or was moved.
    """
    rows = read_base_file(table.storage, path)
    if PATH in rows.column_names:
        rows = rows.filter(pc.equal(rows.column(PATH).cast(pa.string()), partition))
    if COMMIT_TIME in rows.column_names and table.opened.operations.get(requested) != "CLUSTER":
        rows = rows.filter(pc.equal(rows.column(COMMIT_TIME).cast(pa.string()), requested))
    return keys_of_rows(table.opened, rows).drop_null()


def _logged(table: StoredTable, path: str) -> Iterator[str]:
    """The keys of the rows in a log file."""
    for block in read_log_file(table.storage, path):
        if block.kind in DATA_BLOCKS:
            yield from keys_of_rows(table.opened, decode_rows(block)).drop_null().to_pylist()


def _of_the_write(table: StoredTable, file: DataFile) -> set[str] | None:
    """The keys that the write stored in the partition; None if one of its files is gone."""
    commits = (commit for instant, commit in table.commits.items() if instant.requested == file.name.instant)
    found: set[str] = set()
    for path in (stat.path for commit in commits for stat in commit.stats if stat.partition == file.partition and stat.path):
        if path not in table.data_files:
            return None
        is_base = isinstance(table.data_files[path].name, BaseFileName)
        found.update(_written(table, path, file.name.instant, file.partition).to_pylist() if is_base else _logged(table, path))
    return found


UNNAMED_FILES = Check("rows.unnamed-files", ("TL-007",), "deep", examine_unnamed, unnamed_files_of, tables="data")
