"""Base files of compactions against the slices that they merged, as long as these are on storage."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.validator.checks.deep.files.base_files import REWRITE
from hudi_conformance.validator.checks.deep.files.compared_rows import (
    changed_columns,
    have_same_order,
    keys_without,
    rows_by_key,
)
from hudi_conformance.validator.checks.finding import Finding, Tally
from hudi_conformance.validator.stored.opened import Opened
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records.changes import KEY

_LOST = "Queries lack the row since the compaction."
_CHANGED = "Queries return another row since the compaction."


def merged_as_read(opened: Opened, older: FileSlice, newer: FileSlice, tally: Tally) -> Iterator[Finding]:
    """CMP-002 and CMP-006: the base file of a compaction has the rows that a reader of the slice before it merges.

    Files of version 6 may have blocks of later writes, with a damaged history it is not known which log files belong to the
    slice, and a clean may have deleted a part of it, so that they are not compared.
    """
    if not _is_comparable(opened, older, newer):
        return
    reader = opened.reader_of(opened.writers[newer.path(newer.base_file or "")][0])
    expected, found = rows_by_key(reader, [older]), rows_by_key(reader, [newer], logs=False)
    tally.looked("CMP-002", "CMP-006", at=expected.num_rows)
    lost, added = keys_without(expected, found), keys_without(found, expected)
    if len(added) and len(again := _keys_twice(reader, older)):
        added = added.filter(pc.invert(pc.is_in(added, again)))
    wanted = f"the rows of the slice {older.base_instant}"
    if len(lost):
        yield _finding("CMP-002", newer, _LOST, wanted, f"no row of {_listed(lost)}", lost)
    if len(added):
        yield _finding("CMP-006", newer, _CHANGED, wanted, f"a row of {_listed(added)}", added)
    if not len(lost) and not len(added) and have_same_order(expected, found):
        fills = opened.properties.partial_update_mode is not None
        yield from _changed(expected, found, older, newer, cache(partial(_versions, reader, older)) if fills else None)


def _keys_twice(reader: SliceReader, older: FileSlice) -> pa.Array:
    """The keys that inserts stored several times in the base file.

    By key only the first row of each is deleted; a reader of record positions deletes each row that they name (ER-216).
    """
    counted = pc.value_counts(rows_by_key(reader, [older], logs=False).column(KEY).combine_chunks())
    return counted.field("values").filter(pc.greater(counted.field("counts"), 1))


def _is_comparable(opened: Opened, older: FileSlice, newer: FileSlice) -> bool:
    written = opened.writers.get(newer.path(newer.base_file or ""))
    if written is None or written[1].operation != "COMPACT" or opened.had_version_6 or not opened.can_merge:
        return False
    if opened.archived is None or not older.log_files or older.missing or newer.missing:
        return False
    is_whole = written[2].previous_base_file in (None, older.base_file)
    return is_whole and opened.being_cleaned.isdisjoint(older.paths)


def _changed(
    expected: pa.Table, found: pa.Table, older: FileSlice, newer: FileSlice, versions: Callable[[], Iterable[pa.Table]] | None
) -> Iterator[Finding]:
    for name, rows in changed_columns(expected, found):
        wrong = rows if versions is None else _without_filled(versions(), found, name, rows)
        if len(wrong):
            before, after = (table.column(name)[wrong[0].as_py()].as_py() for table in (expected, found))
            wanted = f"{name}={before!r}, as a reader of the slice {older.base_instant} merges it"[:300]
            more = f", and {len(wrong) - 1} more rows" if len(wrong) > 1 else ""
            yield _finding("CMP-002", newer, _CHANGED, wanted, f"{after!r}"[:200] + more, expected.column(KEY).take(wrong[:1]))


def _versions(reader: SliceReader, older: FileSlice) -> tuple[pa.Table, pa.Table]:
    """The rows of the base file of a slice, and those in its log files."""
    return rows_by_key(reader, [older], logs=False), reader.changes_by_key(older)[1].rows


def _without_filled(versions: Iterable[pa.Table], found: pa.Table, name: str, rows: pa.Array) -> pa.Array:
    """The rows whose value in the column no version of the record in the slice has.

    In a table with a partial update mode Apache Hudi merges the versions in log files with each other first, so that another
    one fills the column (ER-177).
    """
    stored = {(key, repr(value)) for one in versions for key, value in _pairs(one, name)}
    changed = zip(rows.to_pylist(), _pairs(found.take(rows), name), strict=True)
    return pa.array([row for row, (key, value) in changed if (key, repr(value)) not in stored], rows.type)


def _pairs(rows: pa.Table, name: str) -> Iterator[tuple[Any, Any]]:
    """Key and value of each row."""
    return zip(rows.column(KEY).to_pylist(), rows.column(name).to_pylist(), strict=True)


def _finding(rule: str, newer: FileSlice, meaning: str, expected: str, found: str, keys: pa.ChunkedArray) -> Finding:
    path = newer.path(newer.base_file or "")
    return Finding(rule, "wrong-answers", path, meaning, expected, found, REWRITE, keys[0].as_py())


def _listed(keys: pa.ChunkedArray) -> str:
    return repr(keys[0].as_py()) + (f" and {len(keys) - 1} more keys" if len(keys) > 1 else "")


RULES = ("CMP-002", "CMP-006")
