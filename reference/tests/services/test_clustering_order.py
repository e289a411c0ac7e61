"""The layouts of clustering: laws of the curves, and the order of every type that has one."""

import datetime
import itertools
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.services.clustering.order import Numbers, hilbert_positions, interleave_bits, ranks, scale_ranks, sort_rows

#: Dimensions and bits a side of grids that are small enough to look at every point.
GRIDS = [(1, 4), (2, 1), (2, 3), (2, 5), (3, 1), (3, 3), (4, 2), (5, 2), (6, 1)]


def grid(dimensions: int, bits: int) -> list[Numbers]:
    """Every point of a grid, coordinate by coordinate."""
    points = np.array(list(itertools.product(range(1 << bits), repeat=dimensions)), dtype=np.uint64)
    return [points[:, axis].copy() for axis in range(dimensions)]


@pytest.mark.parametrize(("dimensions", "bits"), GRIDS)
@pytest.mark.parametrize("curve", [hilbert_positions, interleave_bits])
def test_a_curve_visits_every_point_once(curve: Any, dimensions: int, bits: int) -> None:
    """The positions of the points of a grid are the numbers from 0 on, each once."""
    points = grid(dimensions, bits)
    assert sorted(curve(points, bits).tolist()) == list(range(len(points[0])))


@pytest.mark.parametrize(("dimensions", "bits"), GRIDS)
def test_neighbours_on_hilberts_curve_are_one_step_apart(dimensions: int, bits: int) -> None:
    """From each point to the next exactly one coordinate changes, by one."""
    points = np.stack(grid(dimensions, bits)).astype(int)
    along = points[:, np.argsort(hilbert_positions(grid(dimensions, bits), bits))]
    assert (np.abs(np.diff(along, axis=1)).sum(axis=0) == 1).all()


@pytest.mark.parametrize(("dimensions", "bits"), GRIDS)
def test_a_z_order_position_interleaves_the_bits_of_the_coordinates(dimensions: int, bits: int) -> None:
    """The position has one bit of each coordinate in turn, the first coordinate first."""
    points = grid(dimensions, bits)
    for *coordinates, position in zip(*(axis.tolist() for axis in points), interleave_bits(points, bits).tolist(), strict=True):
        texts = [f"{coordinate:0{bits}b}" for coordinate in coordinates]
        assert f"{position:0{bits * dimensions}b}" == "".join(text[bit] for bit in range(bits) for text in texts)


#: Positions as Apache Hudi 1.0.2 has them: (bits, points, positions), on Hilbert's curve by the class HilbertCurve of the library
#: com.github.davidmoten:hilbert-curve, in z-order by its own BinaryUtil.interleaving.
HILBERT: list[tuple[int, list[tuple[int, ...]], list[int]]] = [
    (3, [(1, 7), (1, 5), (3, 6), (6, 4)], [22, 18, 27, 46]),
    (2, [(1, 1, 2, 0, 1), (3, 0, 2, 0, 3), (3, 1, 1, 0, 2), (0, 3, 2, 2, 0)], [239, 802, 987, 369]),
    (7, [(5, 52, 108), (83, 88, 32), (31, 66, 127), (127, 53, 50)], [488401, 1288989, 566442, 1875472]),
    (16, [(4499, 51257), (62455, 62944), (48464, 21517)], [1374252772, 2855534997, 3737754107]),
    (5, [(7, 26, 31, 19, 17, 30), (19, 15, 11, 18, 27, 28), (1, 20, 6, 2, 11, 2)], [356818248, 977888246, 532990720]),
]
Z_ORDER: list[tuple[int, list[tuple[int, ...]], list[int]]] = [
    (8, [(53, 121, 169), (142, 46, 189), (102, 228, 167), (38, 178, 2)], [2877191, 10592241, 8094185, 4399416]),
]


@pytest.mark.parametrize(("curve", "vectors"), [(hilbert_positions, HILBERT), (interleave_bits, Z_ORDER)])
def test_positions_are_those_of_deployed_classes(
    curve: Any, vectors: list[tuple[int, list[tuple[int, ...]], list[int]]]
) -> None:
    """Points and their positions, as the classes give them that Apache Hudi clusters with."""
    for bits, points, positions in vectors:
        axes = [np.array(axis, dtype=np.uint64) for axis in zip(*points, strict=True)]
        assert curve(axes, bits).tolist() == positions


NAN, DAY = math.nan, datetime.date(2026, 1, 1)
#: Values of each type in their order, equal ones in one list.
ORDERED: list[tuple[pa.DataType, list[list[Any]]]] = [
    (pa.bool_(), [[None], [False], [True]]),
    (pa.int32(), [[None], [-(2**31)], [-1], [0, 0], [2**31 - 1]]),
    (pa.int64(), [[None], [-(2**63)], [2**53], [2**53 + 1], [2**63 - 1]]),
    (pa.float64(), [[None], [-math.inf], [-1.5], [-0.0, 0.0], [5e-324], [math.inf], [NAN, NAN]]),
    (pa.float32(), [[None], [-1.5], [0.0], [NAN]]),
    (pa.string(), [[None], [""], ["B"], ["a"], ["ab"], ["\uffee"], ["\U0001f600"]]),
    (pa.binary(), [[None], [b""], [b"\x00"], [b"a"], [b"\xff"]]),
    (pa.binary(2), [[None], [b"\x00a"], [b"\xffa"]]),
    (pa.decimal128(9, 2), [[None], [Decimal("-10.00")], [Decimal("0.50")], [Decimal("9.00")]]),
    (pa.date32(), [[None], [DAY], [DAY + datetime.timedelta(days=9)]]),
    (pa.timestamp("us", "UTC"), [[None], [datetime.datetime(1969, 1, 1, tzinfo=datetime.UTC)], [datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)]]),
    (pa.time64("us"), [[None], [datetime.time(1)], [datetime.time(23)]]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "values"), ORDERED, ids=[str(kind) for kind, _ in ORDERED])
@pytest.mark.parametrize("layout", ["LINEAR", "ZORDER", "HILBERT"])
def test_values_of_every_type_are_ordered(kind: pa.DataType, values: list[list[Any]], layout: str) -> None:
    """Null first, then ascending; texts by their UTF-8 bytes; NaN last; both zeros are one value. On a curve through one column
    that is the order, too.
    """
    flat = [(place, value) for place, equal in enumerate(values) for value in equal]
    mixed = [*flat[1::2], *flat[::2]]
    rows = pa.table({"place": [p for p, _ in mixed], "v": pa.array([v for _, v in mixed], kind)})
    assert sort_rows(rows, ["v"], layout).column("place").to_pylist() == [place for place, _ in flat]
    if None not in values[0]:
        return
    without = ranks(pa.chunked_array([pa.array([v for _, v in flat[1:]], kind)]))
    assert without.tolist() == [place for place, _ in flat[1:]]


def test_rows_that_are_equal_keep_their_order() -> None:
    """Rows are sorted by the first column, then by the second; rows that are equal in both keep their order."""
    rows = pa.table({"a": [2, 1, 2, 1, None], "b": ["x", "y", "x", "x", "z"], "n": range(5)})
    assert sort_rows(rows, ["a", "b"]).column("n").to_pylist() == [4, 3, 1, 0, 2]
    assert sort_rows(rows, []).column("n").to_pylist() == [0, 1, 2, 3, 4]


def test_fields_of_structs_are_columns() -> None:
    """`a.b` is field b of struct a; a null struct counts as a null."""
    rows = pa.table({"a": pa.array([{"b": 2}, None, {"b": 1}], pa.struct([("b", pa.int64())])), "n": range(3)})
    assert sort_rows(rows, ["a.b"]).column("n").to_pylist() == [1, 2, 0]


def test_coordinates_are_spread_over_the_whole_grid() -> None:
    """Coordinates are spread over the whole grid, whatever the number of values, and keep their order."""
    (many, few), bits = scale_ranks([np.arange(1024, dtype=np.uint64), np.arange(1024, dtype=np.uint64) // np.uint64(512)])
    assert bits == 10
    assert many.tolist() == list(range(1024))
    assert sorted(set(few.tolist())) == [0, 512]


def test_many_columns_get_one_bit_each() -> None:
    """Of forty columns one bit each counts on the curve; rows that are equal there are ordered by the columns."""
    rows = pa.table({f"c{n}": [3, 0, 1, 2] for n in range(40)})
    for layout in ("ZORDER", "HILBERT"):
        assert sort_rows(rows, rows.column_names, layout).column("c0").to_pylist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("columns", "layout", "error"),
    [
        (["no"], "LINEAR", Misuse),
        (["v.no"], "LINEAR", Misuse),
        (["list"], "LINEAR", Misuse),
        (["s"], "HILBERT", Misuse),
        (["s.no"], "HILBERT", Misuse),
        (["v"], "PEANO", UnsupportedTableFeature),
        (["v"] * 65, "ZORDER", Misuse),
    ],
)
def test_invalid_sort_columns_and_layouts_are_refused(columns: list[str], layout: str, error: type[Exception]) -> None:
    """Missing columns, values without an order, unknown layouts, and more columns than bits are refused."""
    rows = pa.table({"v": [1], "list": [[1]], "s": [{"b": 1}]})
    with pytest.raises(error):
        sort_rows(rows, columns, layout)
