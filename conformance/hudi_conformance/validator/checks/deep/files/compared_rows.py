"""Two states of file groups whose rows must be the same: rows sorted by key, and what differs."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.validator.checks.deep.files.rewrites import differ
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records.changes import KEY
from hudi_reference.schema.avro import META_COLUMNS


def rows_by_key(reader: SliceReader, slices: Iterable[FileSlice], *, logs: bool = True) -> pa.Table:
    """The rows of slices, merged if `logs` is set: key and data columns, sorted by key. Raises what reading raises."""
    names = [KEY, *(name for name in reader.schema.names if name not in META_COLUMNS)]
    names += [name for name in reader.key_fields if name not in names]
    return pa.concat_tables([reader.keyed(reader.read(one, names, logs=logs)) for one in slices]).sort_by(KEY)


def keys_without(rows: pa.Table, others: pa.Table) -> pa.ChunkedArray:
    """The keys of rows that others have no row of."""
    keys = rows.column(KEY)
    return keys.filter(pc.invert(pc.is_in(keys, others.column(KEY).combine_chunks())))


def have_same_order(expected: pa.Table, found: pa.Table) -> bool:
    """Whether rows with the same keys are at the same places: keys that come several times have no order."""
    return bool(len(pc.unique(found.column(KEY))) == found.num_rows == expected.num_rows)


def changed_columns(expected: pa.Table, found: pa.Table) -> Iterator[tuple[str, pa.Array]]:
    """The columns that differ, each with the numbers of its rows; both tables have the same keys in the same order."""
    for name in expected.column_names:
        before, after = expected.column(name), found.column(name)
        other, either = differ(before, after), pc.xor(before.is_null(), after.is_null())
        rows = pc.indices_nonzero(either if other is None else pc.or_(either, other))
        if len(rows):
            yield name, rows


def first_difference(expected: pa.Table, found: pa.Table) -> tuple[str, str, str] | None:
    """Key, expected and found value of the first difference of two tables that are sorted by key; None without one."""
    if len(lost := keys_without(expected, found)):
        return str(lost[0].as_py()), f"a row of {lost[0].as_py()!r}", "no row"
    if len(added := keys_without(found, expected)):
        return str(added[0].as_py()), f"no row of {added[0].as_py()!r}", "a row"
    if not have_same_order(expected, found):
        return None
    for name, rows in changed_columns(expected, found):
        key, before, after = (column[rows[0].as_py()].as_py() for column in
                              (expected.column(KEY), expected.column(name), found.column(name)))  # fmt: skip
        return str(key), f"{name}={before!r}"[:300], f"{after!r}"[:300]
    return None
