"""The files of a writer and the keys that it reads before: compression, dictionaries, keys of a slice."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reference_samples import TABLE_TYPES, data_files, names, new_table, timeline_files, trip, trips

from hudi_reference import WritableTable
from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.files.base.parquet import CODEC_KEY
from hudi_reference.files.base_file import encode_base_file
from hudi_reference.query import slice_reader
from hudi_reference.schema.avro import arrow_schema, with_meta_columns
from hudi_reference.services.compaction.compaction import compact
from hudi_reference.write.write_context import LogOptions

MANY = 12_000
COLUMNS = with_meta_columns(
    {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "often", "type": ["null", "string"]},
            {"name": "once", "type": "long"},
            {"name": "list", "type": {"type": "array", "items": "int"}},
        ],
    }
)


def codecs(table: WritableTable) -> list[set[str]]:
    """The compressions of the columns of each base file, in the order in which the files were made."""
    paths = sorted(data_files(table, ".parquet"), key=lambda path: path.rpartition("_")[2])
    files = [pq.read_metadata(io.BytesIO(table.storage.get(path))).row_group(0) for path in paths]
    return [{file.column(place).compression for place in range(file.num_columns)} for file in files]


@pytest.mark.parametrize("table_type", TABLE_TYPES)
@pytest.mark.parametrize(
    ("setting", "codec"),
    [(None, "ZSTD"), ("ZSTD", "ZSTD"), ("gzip", "GZIP"), ("snappy", "SNAPPY"), ("uncompressed", "UNCOMPRESSED")],
)
def test_base_files_are_compressed_as_configured(table_type: str, setting: str | None, codec: str) -> None:
    """BF-002: those of writes and those of compactions; zstd without a setting."""
    table = new_table(table_type=table_type, options={} if setting is None else {CODEC_KEY: setting})
    table.insert(trips(trip("1", "a", 1), trip("2", "a", 1)))
    table.upsert(trips(trip("2", "b", 2)))
    if table_type == "MERGE_ON_READ":
        compact(table)
    assert codecs(table) == [{codec}, {codec}]
    assert names(table) == {"1": "a", "2": "b"}


def test_an_unknown_compression_is_refused_before_the_write_begins() -> None:
    """BF-002: the timeline has no new instant, and the error lists the valid values."""
    table = new_table(options={CODEC_KEY: "lzo"})
    before = timeline_files(table)
    with pytest.raises(UnsupportedTableFeature, match="zstd, gzip, snappy, uncompressed"):
        table.insert(trips(trip("1", "a", 1)))
    assert timeline_files(table) == before


def columns_with_dictionary(count: int) -> set[str]:
    """Those of a base file with so many rows."""
    numbers = range(count)
    row = {"_hoodie_record_key": [str(n) for n in numbers], "once": list(numbers), "list": [[n, n] for n in numbers]}
    schema = arrow_schema(COLUMNS)
    columns = {**row, "often": [None if n % 10 == 0 else f"v{n % 100}" for n in numbers]}
    rows = pa.table([pa.array(columns.get(f.name, [None] * count), f.type) for f in schema], schema=schema)
    data = io.BytesIO(encode_base_file(rows, COLUMNS))
    assert pq.read_table(data).cast(schema).equals(rows)
    group = pq.read_metadata(data).row_group(0)
    found = [group.column(place) for place in range(group.num_columns)]
    return {column.path_in_schema.partition(".")[0] for column in found if column.has_dictionary_page}


def test_columns_with_repeated_values_have_a_dictionary() -> None:
    """BF-002: in a file of many rows only these, in one of few rows all; the rows are the same."""
    assert {"often", "_hoodie_commit_time"} <= columns_with_dictionary(MANY)
    assert not {"once", "list", "_hoodie_record_key"} & columns_with_dictionary(MANY)
    assert {"often", "once", "list", "_hoodie_record_key"} <= columns_with_dictionary(20)


def stored_keys(table: WritableTable) -> list[set[str]]:
    """The keys that an index has of each slice."""
    view = table.view()
    reader = view.reader(table)
    return [set(reader.all_keys(found).to_pylist()) for found in view.groups.latest_slices]


@pytest.mark.parametrize("block_format", ["avro", "parquet"])
@pytest.mark.parametrize("positions", [True, False])
def test_an_index_has_every_key_of_a_slice(positions: bool, block_format: Any) -> None:
    """OCC-008, LAY-021: keys of the base file, those that are only in logs, deleted ones."""
    table, logs = new_table(table_type="MERGE_ON_READ"), LogOptions(positions=positions, block_format=block_format)
    table.insert(trips(trip("1", "a", 1), trip("2", "a", 1)))
    table.upsert(trips(trip("2", "b", 2)), logs=logs)
    table.delete(trips(trip("1")).select(["id"]))
    table.upsert(trips(trip("3", "c", 3)), new_keys_in_logs=True, logs=logs)
    assert sorted(map(sorted, stored_keys(table))) == [["1", "2"], ["3"]]
    table.upsert(trips(trip("1", "d", 4), trip("3", "d", 4), trip("4", "d", 4)), logs=logs)
    assert sorted(map(sorted, stored_keys(table))) == [["1", "2"], ["3"], ["4"]]
    assert names(table) == {"1": "d", "2": "b", "3": "d", "4": "d"}


def test_blocks_that_name_rows_of_the_base_file_are_not_decoded_for_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """OCC-008, LF-043: their keys are those of the rows; a block without positions is decoded."""
    table = new_table(table_type="MERGE_ON_READ")
    table.insert(trips(trip("1", "a", 1), trip("2", "a", 1)))
    table.upsert(trips(trip("2", "b", 2)))
    asked = []
    monkeypatch.setattr(slice_reader, "decode_rows", lambda block, columns: asked.append(block) or decode(block, columns))
    assert stored_keys(table) == [{"1", "2"}]
    assert not asked
    table.upsert(trips(trip("1", "b", 2)), logs=LogOptions(positions=False))
    assert stored_keys(table) == [{"1", "2"}]
    assert len(asked) == 1


decode = slice_reader.decode_rows
