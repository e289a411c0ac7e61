"""What readers of base files do not compare: the first bytes, and statistics in footers of Parquet files against the rows.

The statistics are those of whole numbers and texts, whose order all engines share.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from hudi_conformance.validator.checks.deep.files.base_files import BaseFile
from hudi_conformance.validator.checks.finding import Finding, Tally
from hudi_conformance.validator.stored.opened import Opened
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
        for column in map(group.column, range(group.num_columns)):
            name = column.path_in_schema
            # Empty texts of unfilled meta columns are nulls here.
            is_compared = name in rows.column_names and (opened.properties.populates_meta_fields or name not in META_COLUMNS)
            found = _excluded(column, rows) if is_compared else None
            tally.looked("TYP-014")
            if found is not None:
                yield file.finding(
                    "TYP-014", "wrong-answers", "Queries with a filter on the column leave rows out.",
                    f"statistics of {column.path_in_schema} that contain {found[0]}", found[1],
                )  # fmt: skip


def sizes_of_columns(opened: Opened, path: str) -> dict[str, tuple[int, int]]:
    """The bytes of each column of a Parquet file, as stored and as decoded."""
    with opened.storage.open(path) as source:
        metadata = pq.read_metadata(source)
    found: dict[str, tuple[int, int]] = {}
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            stored, decoded = found.get(column.path_in_schema, (0, 0))
            found[column.path_in_schema] = stored + column.total_compressed_size, decoded + column.total_uncompressed_size
    return found


def _excluded(column: pq.ColumnChunkMetaData, rows: pa.Table) -> tuple[str, str] | None:
    """A value that the statistics of a column exclude, and the statistics; None if they hold, or cannot be compared."""
    stored, values = column.statistics, rows.column(column.path_in_schema)
    if stored is None or not (pt.is_integer(values.type) or pt.is_string(values.type)):
        return None
    if stored.has_null_count and stored.null_count == 0 and values.null_count and stored.has_min_max:
        return "a null", "0 nulls"
    if not stored.has_min_max or values.null_count == len(values) or not isinstance(stored.min, int | str):
        return None
    least, greatest = pc.min_max(values).as_py().values()
    if not isinstance(stored.min, type(least)) or (stored.min <= least and greatest <= stored.max):
        return None
    return f"{least!r} to {greatest!r}"[:200], f"{stored.min!r} to {stored.max!r}"[:200]
