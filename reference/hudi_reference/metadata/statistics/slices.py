"""The statistics of the files of a slice.

Rows of a slice are merged before a query filters them. If a record has columns from several files, no file alone has all its
values: a reader that prunes file by file would lose it. So a log file of partial updates gets, for the columns that its rows do
not store, the statistics of the files before it. The last file that changes a record then covers all of its values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hudi_reference.metadata.records import ColumnStats
from hudi_reference.metadata.statistics.files import combine_statistics, statistics_of
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage


@implements("MDT-010", "MDT-014")
def slice_statistics(storage: Storage, found: FileSlice, columns: Sequence[str]) -> dict[str, Mapping[str, ColumnStats]]:
    """The statistics of the columns in each file of a slice, by the name of the file."""
    known: dict[str, ColumnStats] = {}
    result: dict[str, Mapping[str, ColumnStats]] = {}
    for name in found.files:
        if name not in found.missing:
            own = statistics_of(storage, found.path(name), columns)
            result[name] = fill_missing_columns(own.columns, own.partial, known, name) if own.is_log else own.columns
            known |= {
                column: combine_statistics(known[column], one) if column in known else one
                for column, one in result[name].items()
            }
    return result


def fill_missing_columns(
    whole: Mapping[str, ColumnStats], partial: Mapping[str, ColumnStats], earlier: Mapping[str, ColumnStats], name: str
) -> dict[str, ColumnStats]:
    """The statistics of a log file, in which columns that some rows lack have the statistics of earlier files added."""
    added = {column: replace(one, file_name=name) for column, one in earlier.items() if column not in whole}
    mixed = {column: combine_statistics(added[column], one) if column in added else one for column, one in partial.items()}
    return {**added, **mixed, **whole}
