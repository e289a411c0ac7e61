"""Small answers with very many or very long values are refused before a value is taken out of them."""

import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hudi_conformance.contract.arrow_files import ANSWER_ROWS, NotAnArrowFile, read_answer, write_rows

LONG = "x" * 1_000_000
ZEROS = np.zeros(100_000, "int32")
REPEATED = pa.DictionaryArray.from_arrays(pa.array(ZEROS), pa.array([LONG]))
OFFSETS = pa.array([0, len(ZEROS)], pa.int32())
#: An entry of the view array: length, four first bytes, number of the buffer, offset.
VIEWS = struct.pack("<i4sii", len(LONG), LONG[:4].encode(), 0, 0) * len(ZEROS)
NULLS = pa.nulls(100_000_000)

#: Columns whose file has at most some megabytes, and that have too many rows, or values of more than a gigabyte.
LARGE: dict[str, Callable[[], pa.Array]] = {
    "nulls in rows": lambda: pa.nulls(2_000_001),
    "nulls in a list": lambda: pa.ListArray.from_arrays(pa.array([0, len(NULLS)], pa.int32()), NULLS),
    "nulls in a list of fixed size": lambda: pa.FixedSizeListArray.from_arrays(NULLS, len(NULLS)),
    "dictionary": lambda: REPEATED,
    "dictionary of views": lambda: pa.DictionaryArray.from_arrays(pa.array(ZEROS), pa.array([LONG], pa.string_view())),
    "dictionary of lists": lambda: pa.DictionaryArray.from_arrays(pa.array(ZEROS), pa.array([[LONG]])),
    "dictionary in a list": lambda: pa.ListArray.from_arrays(OFFSETS, REPEATED),
    "dictionary in a list of fixed size": lambda: pa.FixedSizeListArray.from_arrays(REPEATED, len(ZEROS)),
    "dictionary in a struct": lambda: pa.StructArray.from_arrays([REPEATED], ["x"]),
    "dictionary in a map": lambda: pa.MapArray.from_arrays(OFFSETS, pa.array(map(str, range(len(ZEROS)))), REPEATED),
    "runs": lambda: pa.RunEndEncodedArray.from_arrays(pa.array([len(ZEROS)], pa.int32()), pa.array([LONG])),
    "views of a list": lambda: pa.ListViewArray.from_arrays(
        pa.array(ZEROS), pa.array(ZEROS + 100_000), pa.array(np.zeros(100_000, "int64"))
    ),
    "views of a text": lambda: pa.Array.from_buffers(
        pa.string_view(), len(ZEROS), [None, pa.py_buffer(VIEWS), pa.py_buffer(LONG.encode())]
    ),
    "dense union": lambda: pa.UnionArray.from_dense(pa.array(ZEROS.astype("int8")), pa.array(ZEROS), [pa.array([LONG])]),
}


def answer_in(path: Path) -> pa.Table:
    """The rows of an answer in a folder."""
    opened = os.open(path.parent, os.O_RDONLY)
    try:
        return read_answer(path, path.parent, opened)
    finally:
        os.close(opened)


@pytest.mark.parametrize("name", LARGE)
def test_a_small_file_with_large_values_is_refused(name: str, tmp_path: Path) -> None:
    """The error names the limits."""
    path = tmp_path / "rows.arrow"
    write_rows(pa.table({"c": LARGE[name]()}), path)
    assert path.stat().st_size < 10_000_000
    with pytest.raises(NotAnArrowFile, match="the limit") as caught:
        answer_in(path)
    assert ANSWER_ROWS.variable in caught.value.remedy


SMALL = {
    "dictionary": pa.array(["a", None, "b", "a"]).dictionary_encode(),
    "dictionary of numbers": pa.array([1, None, 2, 1]).dictionary_encode(),
    "dictionary without entries": pa.array([None] * 4, pa.string()).dictionary_encode(),
    "views": pa.array(["a" * 20, None, "b", ""], pa.string_view()),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([4], pa.int32()), pa.array(["a"])),
    "list views": pa.array([[1], None, [], [2, 3]], pa.list_view(pa.int64())),
    "map": pa.array([[("a", 1)], None, [], [("b", None)]], pa.map_(pa.string(), pa.int64())),
    "struct": pa.array([{"x": 1.5}, None, {"x": None}, {}], pa.struct([("x", pa.float64())])),
    "uuid": pa.array([b"0" * 16, None, None, None], pa.uuid()),
    "nulls": pa.nulls(4),
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("rows", [0, 3, 4])
def test_small_values_are_read(name: str, rows: int, tmp_path: Path) -> None:
    """Measuring changes nothing; the comparison says which types are wrong."""
    table = pa.table({"c": SMALL[name].slice(0, rows)})
    write_rows(table, tmp_path / "rows.arrow")
    assert answer_in(tmp_path / "rows.arrow").to_pylist() == table.to_pylist()


def test_a_negative_length_does_not_hide_rows(tmp_path: Path) -> None:
    """The sizes of batches are added; none is below zero."""
    path, count = tmp_path / "rows.arrow", 1_234_567
    write_rows(pa.table({"c": pa.nulls(count)}), path)
    data = path.read_bytes()
    assert struct.pack("<q", count) in data
    path.write_bytes(data.replace(struct.pack("<q", count), struct.pack("<q", -count)))
    with pytest.raises(NotAnArrowFile, match="its headers cannot be read: a size is -1234567"):
        answer_in(path)
