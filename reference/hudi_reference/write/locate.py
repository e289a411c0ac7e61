"""Where the rows of a write go: the file groups that hold their keys, spec "Writer Expectations".

A table without an index is searched slice by slice. `bucket_index.py` does the same for tables with a bucket index.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import View
from hudi_reference.records.changes import KEY
from hudi_reference.requirement import implements
from hudi_reference.write.rows import Incoming


@dataclass(frozen=True)
class Located:
    """Incoming rows by where they go: those of known keys by slice, and the rest by partition."""

    known: Sequence[tuple[FileSlice, pa.Table]]
    new: Sequence[tuple[str, pa.Table]]


@implements("OCC-008", "MRG-006", "LAY-021", "PROP-017")
def locate(incoming: Incoming, view: View, reader: SliceReader, *, living: bool = False) -> Located:
    """Look up which file groups of its partition hold each key.

    Deleted keys count too, unless `living` is set. A key that was inserted twice may be in several groups: its change goes to
    each of them.
    """
    slices: dict[str, list[FileSlice]] = {}
    for file_slice in view.groups.latest_slices:
        slices.setdefault(file_slice.partition, []).append(file_slice)
    known, new = [], []
    for partition, rows in incoming.by_partition():
        unknown = np.ones(rows.num_rows, np.bool_)
        for file_slice in slices.get(partition, ()):
            stored = reader.current_keys(file_slice) if living else reader.all_keys(file_slice)
            found = _are_stored(rows.column(KEY), stored)
            if found.any():
                known.append((file_slice, rows.filter(pa.array(found))))
                unknown &= ~found
        if unknown.any():
            new.append((partition, rows.filter(pa.array(unknown))))
    return Located(known, new)


def _are_stored(keys: pa.ChunkedArray, stored: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Which of the keys, which are distinct, are stored. There may be many stored keys: one pass is made over them."""
    found = np.zeros(len(keys), np.bool_)
    found[pc.index_in(stored, value_set=keys).drop_null().to_numpy()] = True
    return found
