"""What readers of base files do not compare: the first bytes, and the footers of Parquet files against rows and other files.

The statistics are those of whole numbers and texts, whose order all engines share.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from hudi_conformance.validator.checks.deep.files.base_files import BaseFile, are_between
from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.opened import Opened
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.files.base_file import read_footer
from hudi_reference.parquet_statistics import chunk_statistics, has_type_of
from hudi_reference.schema.avro import META_COLUMNS

RULES = ("BF-002", "TYP-014")
#: The first bytes of a base file by its extension.
_HEADS = {"parquet": b"PAR1", "orc": b"ORC"}


def begins_as_its_format(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """BF-002: a Parquet or ORC file begins with the magic bytes of its format, too. Readers begin at its end."""
    wanted = _HEADS.get(file.name.rpartition(".")[2])
    if wanted is None:
        return
    if (head := opened.storage.get(file.path, 0, len(wanted))) != wanted:
        meaning = "Readers begin at the end of the file and do not notice; programs that recognize files by their begin do."
        yield file.finding("BF-002", "cosmetic", meaning, f"{wanted!r} at the begin of the file", repr(head))


def statistics_hold(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """TYP-014: the statistics of a Parquet file hold for its rows; readers leave out row groups and pages by them."""
    if not file.path.endswith(".parquet"):
        return
    with opened.storage.open(file.path) as source:
        metadata = pq.read_metadata(source)
    begin = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        rows = file.rows.slice(begin, group.num_rows)
        begin += group.num_rows
        for place, chunk in enumerate(map(group.column, range(group.num_columns))):
            column = metadata.schema.column(place)
            name = column.path
            if (stored := _path_of(chunk)) != name:
                yield file.finding(
                    "BF-002", "wrong-answers", "Readers that look for columns by this path do not find the values.",
                    f"{name} as the path of column {place} in row group {number}", stored,
                )  # fmt: skip
            if not has_type_of(chunk, column):
                yield file.finding(
                    "BF-002", "wrong-answers", "Readers refuse the column, or take its bytes for values of another type.",
                    f"{column.physical_type} as the type of {name} in row group {number}", chunk.physical_type,
                )  # fmt: skip
            # Empty texts of unfilled meta columns are nulls here.
            is_compared = name in rows.column_names and (opened.properties.populates_meta_fields or name not in META_COLUMNS)
            found = _excluded(chunk_statistics(chunk, column), rows.column(name)) if is_compared else None
            tally.looked("TYP-014")
            if found is not None:
                yield file.finding(
                    "TYP-014", "wrong-answers", "Queries with a filter on the column leave rows out.",
                    f"statistics of {name} that contain {found[0]}", found[1],
                )  # fmt: skip


def sizes_of_columns(opened: Opened, path: str) -> dict[str, tuple[int, int]]:
    """The bytes of each column of a Parquet file, as stored and as decoded."""
    with opened.storage.open(path) as source:
        metadata = pq.read_metadata(source)
    found: dict[str, tuple[int, int]] = {}
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for place, column in enumerate(map(group.column, range(group.num_columns))):
            name = metadata.schema.column(place).path
            stored, decoded = found.get(name, (0, 0))
            found[name] = stored + column.total_compressed_size, decoded + column.total_uncompressed_size
    return found


def _path_of(chunk: pq.ColumnChunkMetaData) -> str:
    try:
        return str(chunk.path_in_schema)
    except UnicodeDecodeError as error:
        return f"bytes that are no text: {error.object!r}"[:200]


def _excluded(stored: pq.Statistics | None, values: pa.ChunkedArray) -> tuple[str, str] | None:
    """A value that the statistics of a column exclude, and the statistics; None if they hold, or cannot be compared."""
    if stored is None or not (pt.is_integer(values.type) or pt.is_string(values.type)):
        return None
    if stored.has_null_count and stored.null_count == 0 and values.null_count and stored.has_min_max:
        return "a null", "0 nulls"
    return _out_of_bounds(stored, values) if stored.has_min_max and values.null_count < len(values) else None


def _out_of_bounds(stored: pq.Statistics, values: pa.ChunkedArray) -> tuple[str, str] | None:
    """The range of the values, and the bounds that exclude some of them or that are no texts; None if they hold."""
    try:
        low, high = stored.min, stored.max
    except UnicodeDecodeError as error:
        least, greatest = pc.min_max(values).as_py().values()
        return f"{least!r} to {greatest!r}"[:200], f"bytes that are no text: {error.object!r}"[:200]
    if pt.is_string(values.type) and isinstance(low, str) and are_between(values, low, high):
        return None
    least, greatest = pc.min_max(values).as_py().values()
    if not isinstance(low, type(least)) or (low <= least and greatest <= high):
        return None
    return f"{least!r} to {greatest!r}"[:200], f"{low!r} to {high!r}"[:200]


def examine_filters(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """IDX-004: the base files of a snapshot have bloom filters in their footers if one of them has. A writer may store none."""
    slices = (one for one in table.opened.groups.latest_slices if one.base_file is not None and not one.missing)
    paths = [one.path(one.base_file or "") for one in slices if not one.lacks_columns]
    lacking, has_filters = [], False
    for path in table.scope.chosen(tuple(path for path in paths if not path.endswith(".hfile"))):
        try:
            has_filter = read_footer(table.storage, path).filter_text is not None
        except HudiError:
            continue  # others report it
        tally.looked("IDX-004")
        has_filters = has_filters or has_filter
        lacking += [] if has_filter else [path]
    for path in lacking if has_filters else ():
        yield Finding(
            "IDX-004", "cosmetic", path, "An upsert of Apache Hudi with a bloom index fails at the file (ER-076).",
            "a bloom filter in the footer, as other base files have it", "none",
            "restore the file from another copy of the table, or cluster or compact its file group",
        )  # fmt: skip


FILTERS = Check("rows.filters", ("IDX-004",), "deep", examine_filters, tables="data")
