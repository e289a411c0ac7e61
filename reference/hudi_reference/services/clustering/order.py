"""The order in which a clustering stores rows, spec "Table Management > Re-writing", RFC-19.

    LINEAR    by the first column; rows that are equal there by the second, and so on
    ZORDER    by the interleaved bits of all columns: rows with near values in every column are mostly stored near each other
    HILBERT   along a curve through all points of a grid, in which neighbours are one step apart: without the jumps of ZORDER

Values become coordinates by their rank, so that every ordered type is treated in the same way, whatever the distances of its
values: nulls first, then ascending, texts and binaries by their bytes, NaN after every other number. Rows that are equal in all
columns keep their order.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.requirement import implements
from hudi_reference.schema.fields import column_at

#: One number a row.
Numbers = NDArray[np.uint64]
#: The positions on a curve have this many bits.
WIDTH = 64
#: Names in settings and procedures, in capitals -> layout.
LAYOUTS = {"LINEAR": "LINEAR", "ZORDER": "ZORDER", "Z-ORDER": "ZORDER", "HILBERT": "HILBERT"}


@implements("CLU-008", "CLU-038", "TL-011")
def sort_rows(rows: pa.Table, columns: Sequence[str], layout: str = "LINEAR") -> pa.Table:
    """The rows in the order of a layout over these columns; unchanged without columns.

    `a.b` is field b of struct a. Raises Misuse for a column that the rows lack or whose values have no order,
    UnsupportedTableFeature for another layout.
    """
    name = check_layout(layout)
    # ER-126: ascending, nulls first, as deployed.
    keys = [ranks(column_of(rows, column), column) for column in columns]
    if not keys or not rows.num_rows:
        return rows
    if name != "LINEAR":
        keys.insert(0, curve_positions(keys, name))
    return rows.take(pa.array(np.lexsort(keys[::-1])))


def check_layout(name: str) -> str:
    """The layout of that name. Raises UnsupportedTableFeature."""
    if name.upper() not in LAYOUTS:
        raise UnsupportedTableFeature("an unknown layout", rule="CLU-008", expected=" or ".join(LAYOUTS), found=name)
    return LAYOUTS[name.upper()]


def column_of(rows: pa.Table, name: str) -> pa.ChunkedArray:
    """A column, or a field of a struct. Raises Misuse."""
    column = column_at(rows, name)
    if column is None:
        raise Misuse("the table lacks a sort column", rule="CLU-008", expected=", ".join(rows.column_names), found=name)
    return column


def ranks(column: pa.ChunkedArray, name: str = "") -> Numbers:
    """The rank of each value among the distinct values of a column: 0 for null, then 1, 2, ... Raises Misuse."""
    if pt.is_nested(column.type):
        raise Misuse("values of this type have no order", rule="CLU-008", path=name, found=str(column.type))
    places = pc.rank(column, "ascending", tiebreaker="dense").to_numpy()
    return np.where(column.is_null().to_numpy(), 0, places).astype(np.uint64)


def curve_positions(keys: Sequence[Numbers], name: str) -> Numbers:
    """The position of each row on the curve of that name through the grid of its ranks."""
    points, bits = scale_ranks(keys)
    return interleave_bits(points, bits) if name == "ZORDER" else hilbert_positions(points, bits)


def scale_ranks(keys: Sequence[Numbers]) -> tuple[list[Numbers], int]:
    """Ranks as coordinates, and the number of bits of each: scaled to the whole grid, coarser if there are too many ranks.

    Raises Misuse for more columns than a position has bits.
    """
    most = max(int(key.max()) for key in keys)
    bits = min(max(1, most.bit_length()), WIDTH // len(keys))
    if bits == 0:
        raise Misuse("too many columns for a curve", rule="CLU-008", expected=f"at most {WIDTH}", found=str(len(keys)))
    return [(key << np.uint64(bits)) // np.uint64(int(key.max()) + 1) for key in keys], bits


def interleave_bits(points: Sequence[Numbers], bits: int) -> Numbers:
    """The interleaved bits of all coordinates, from the highest of the first column to the lowest of the last one."""
    position = np.zeros_like(points[0])
    for bit in range(bits - 1, -1, -1):
        for coordinate in points:
            position = (position << np.uint64(1)) | ((coordinate >> np.uint64(bit)) & np.uint64(1))
    return position


def hilbert_positions(points: Sequence[Numbers], bits: int) -> Numbers:
    """The position on Hilbert's curve through a grid of `bits` bits a side, in any number of dimensions.

    After J. Skilling, "Programming the Hilbert curve", 2004: from the largest cube to the smallest, reverse the
    rotation and reflection of the curve in each; the Gray code of the result is the position, its bits spread over the
    coordinates.
    """
    turned = np.stack(points)
    sides = [np.uint64(1 << bit) for bit in range(bits - 1, 0, -1)]
    for side in sides:
        for place in range(len(turned)):
            is_upper, inner = (turned[place] & side) != 0, side - np.uint64(1)
            exchanged = np.where(is_upper, 0, (turned[0] ^ turned[place]) & inner)
            turned[0] ^= np.where(is_upper, inner, exchanged)
            turned[place] ^= exchanged
    coded = np.bitwise_xor.accumulate(turned)
    flipped = np.zeros_like(coded[0])
    for side in sides:
        flipped ^= np.where((coded[-1] & side) != 0, side - np.uint64(1), 0)
    return interleave_bits(list(coded ^ flipped), bits)
