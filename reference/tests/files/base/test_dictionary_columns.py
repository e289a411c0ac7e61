"""Dictionary columns of Parquet files: reading them as dictionaries and as plain values."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import MalformedBaseFile
from hudi_reference.files.base.fast import dictionary_columns
from hudi_reference.files.base.fast.dictionary_columns import read_by_dictionary
from hudi_reference.files.base.parquet import parquet_file, read_rows
from hudi_reference.files.base_file import read_base_file
from hudi_reference.storage import MemoryStorage

TEXTS = st.sampled_from([None, "", "a", "Zürich", "🚲", "a longer text"])
COLUMNS = {
    "_hoodie_file_name": TEXTS,
    "_hoodie_commit_time": st.sampled_from([None, b"", b"\xff\x00"]),
    "number": st.sampled_from([None, 1, 2]),
    "list": st.none() | st.lists(TEXTS, max_size=2),
    "struct": st.none() | st.fixed_dictionaries({"text": TEXTS}),
}
SCHEMA = pa.schema(
    {
        "_hoodie_file_name": pa.string(), "_hoodie_commit_time": pa.binary(), "number": pa.int32(), "list": pa.list_(pa.string()),
        "struct": pa.struct([("text", pa.string())]),
    }
)  # fmt: skip


def written(rows: pa.Table, **options: Any) -> bytes:
    """The bytes of a Parquet file."""
    out = io.BytesIO()
    pq.write_table(rows, out, **options)
    return out.getvalue()


@bounded(100)
@given(
    st.lists(st.fixed_dictionaries(COLUMNS), max_size=4),
    st.integers(1, 60),
    st.sampled_from([1, 7, 1000]),
    st.booleans(),
    st.none() | st.lists(st.sampled_from([*COLUMNS, "unknown"]), unique=True),
)
def test_reading_by_dictionary_gives_the_stored_rows(
    few: list[dict[str, Any]], times: int, group: int, dictionary: bool, columns: list[str] | None
) -> None:
    """BF-002: for any number of row groups, nulls, columns, with and without dictionaries."""
    rows = pa.Table.from_pylist(few * times, SCHEMA)
    file = written(rows, row_group_size=group, use_dictionary=dictionary)
    wanted = [name for name in columns or () if name != "unknown"] if columns is not None else SCHEMA.names
    source = pa.BufferReader(file)
    by_dictionary = read_by_dictionary(source, parquet_file(source), wanted, threads=False)
    for found in (read_rows(source, columns), parquet_file(source).read(wanted), by_dictionary):
        assert found.schema == rows.select(wanted).schema
        assert found.to_pylist() == rows.select(wanted).to_pylist()


def test_texts_of_many_rows_are_decoded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """BF-002: no array has more bytes of text than its offsets can express, for any length of texts."""
    monkeypatch.setattr(dictionary_columns, "_MOST_BYTES", 100)
    rows = pa.table({"_hoodie_file_name": ["a", "0123456789" * 3, None] * 50})
    source = pa.BufferReader(written(rows))
    found = read_by_dictionary(source, parquet_file(source), rows.column_names, threads=False)
    assert found.equals(rows)
    assert max(chunk.nbytes for chunk in found.column("_hoodie_file_name").chunks) < 150


def test_index_beyond_the_dictionary_is_an_error() -> None:
    """BF-002: bytes after the dictionary are never returned."""
    field = pa.field("_hoodie_file_name", pa.string(), nullable=False)
    rows = pa.table([["a"] * 50 + ["b"] * 50], schema=pa.schema([field]))
    whole = written(rows, compression="none")
    runs = bytes([50 << 1, 0, 50 << 1, 1])
    assert whole.count(runs) == 1
    storage = MemoryStorage()
    storage.create("f_0-0-0_20250101000000000.parquet", whole.replace(runs, bytes([50 << 1, 0, 50 << 1, 7])))
    with pytest.raises(MalformedBaseFile):
        read_base_file(storage, "f_0-0-0_20250101000000000.parquet")
