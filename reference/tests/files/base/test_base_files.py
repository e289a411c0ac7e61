"""Base files of the three formats: rows, footers, projection, damage, and file groups with several formats."""

import contextlib
import datetime as dt
import io
import math
import zlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parquet_samples import parquet_of_missing_rows
from pyarrow import orc
from reference_samples import SCHEMA, TABLE_TYPES, new_table, reopened, rows_of

from hudi_reference import WritableTable
from hudi_reference.errors import (
    InvalidRows,
    MalformedBaseFile,
    MalformedBloomFilter,
    MissingDataFile,
    UnsupportedFileFormat,
    UnsupportedTableFeature,
)
from hudi_reference.files import base_file
from hudi_reference.files.base.footer import FILTER, FILTER_TYPE, MAX_KEY, MIN_KEY, BaseFileFooter
from hudi_reference.files.base.orc_footer import BLOCK_SIZE, with_entries
from hudi_reference.files.base.orc_zones import zones_of
from hudi_reference.files.base.parquet import parquet_of
from hudi_reference.files.base_file import encode_base_file, read_base_file, read_footer
from hudi_reference.files.bloom.bloom import FilterType
from hudi_reference.files.hfile.reader import hfile_of
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.schema.avro import arrow_schema, with_meta_columns
from hudi_reference.schema.evolution import conform
from hudi_reference.storage import LocalStorage, MemoryStorage

DATA = Path(__file__).parents[2] / "data" / "base"
FORMATS = ("parquet", "orc", "hfile")
UTC = dt.UTC


def nullable(name: str, kind: Any) -> dict[str, Any]:
    """A field that may be null."""
    return {"name": name, "type": ["null", kind], "default": None}


def logical(kind: str, name: str, **more: int) -> dict[str, Any]:
    """A logical type."""
    return {"type": kind, "logicalType": name, **more}


EVERY_TYPE = with_meta_columns(
    {
        "type": "record",
        "name": "t",
        "fields": [
            {"name": "id", "type": "string"},
            nullable("int", "int"),
            nullable("long", "long"),
            nullable("float", "float"),
            nullable("double", "double"),
            nullable("boolean", "boolean"),
            nullable("bytes", "bytes"),
            nullable("decimal", logical("bytes", "decimal", precision=38, scale=9)),
            nullable("date", logical("int", "date")),
            nullable("micros", logical("long", "timestamp-micros")),
            nullable("millis", logical("long", "timestamp-millis")),
            nullable("local", logical("long", "local-timestamp-micros")),
            nullable("time", logical("long", "time-micros")),
            nullable("short", logical("int", "time-millis")),
            nullable("fixed", {"type": "fixed", "name": "three", "size": 3}),
            nullable("enum", {"type": "enum", "name": "letter", "symbols": ["A", "B"]}),
            nullable(
                "record",
                {
                    "type": "record",
                    "name": "inner",
                    "fields": [
                        nullable("a", "int"),
                        nullable("at", logical("long", "timestamp-micros")),
                        nullable("list", {"type": "array", "items": ["null", "string"]}),
                    ],
                },
            ),
            nullable("map", {"type": "map", "values": ["null", logical("long", "time-micros")]}),
        ],
    }
)
ONE_ROW = {
    "id": "b",
    "int": -1,
    "long": 2**60,
    "float": 1.5,
    "double": -0.0,
    "boolean": True,
    "bytes": b"\xff\0",
    "decimal": Decimal("-123456789.123456789"),
    "date": dt.date(1950, 1, 1),
    "micros": dt.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    "millis": dt.datetime(2026, 1, 1, 0, 0, 0, 7000, tzinfo=UTC),
    "local": dt.datetime(1900, 1, 1, 0, 0, 0, 1),
    "time": dt.time(1, 2, 3, 4),
    "short": dt.time(1, 2, 3, 4000),
    "fixed": b"abc",
    "enum": "A",
    "record": {"a": 1, "at": dt.datetime(2020, 1, 1, 0, 0, 0, 7, tzinfo=UTC), "list": ["q", None, "é"]},
    "map": [("k", dt.time(1)), ("null", None)],
}
ROWS = pa.Table.from_pylist(
    [{"_hoodie_record_key": row["id"], **row} for row in ({"id": "a"}, ONE_ROW, {"id": "é"})], schema=arrow_schema(EVERY_TYPE)
)


def stored(extension: str, **options: Any) -> MemoryStorage:
    """A storage with the base file `x.<extension>` of ROWS."""
    storage = MemoryStorage()
    storage.put(f"x.{extension}", encode_base_file(ROWS, EVERY_TYPE, extension, **options))
    return storage


def test_a_footer_that_counts_more_rows_than_its_row_groups_is_refused() -> None:
    """BF-002: the library reads the rows of the row groups, so that rows of the file would be left out."""
    storage = MemoryStorage()
    storage.put("x.parquet", parquet_of_missing_rows())
    with pytest.raises(MalformedBaseFile, match="another number of rows"):
        read_base_file(storage, "x.parquet")


@pytest.mark.parametrize("extension", FORMATS)
def test_values_of_every_type_are_unchanged(extension: str) -> None:
    """BF-002, BF-010: values of every type, nulls and nested values are unchanged after writing and reading in each format."""
    found = read_base_file(stored(extension), f"x.{extension}")
    assert conform(found, ROWS.schema, "x").to_pylist() == ROWS.to_pylist()


@pytest.mark.parametrize("extension", FORMATS)
def test_projection(extension: str) -> None:
    """BF-002: only selected columns that the file has are read."""
    storage = stored(extension)
    assert read_base_file(storage, f"x.{extension}", ["id", "no such", "int"]).column_names == ["id", "int"]
    assert read_base_file(storage, f"x.{extension}", []).column_names == []


@pytest.mark.parametrize("extension", FORMATS)
@pytest.mark.parametrize("kind", FilterType)
def test_footer_entries(extension: str, kind: FilterType) -> None:
    """IDX-004, IDX-005: minimum and maximum key, the schema, and a filter of either kind that contains all keys."""
    footer = read_footer(stored(extension, bloom=kind), f"x.{extension}")
    assert (footer.min_key, footer.max_key) == ("a", "é")
    assert footer.schema is not None
    assert '"name":"decimal"' in footer.schema
    bloom = footer.bloom_filter()
    assert bloom is not None
    assert (bloom.kind, bloom.may_hold(["a", "b", "é", "c"])) == (kind, [True, True, True, False])
    in_footer = None if kind == "SIMPLE" and extension != "hfile" else kind
    assert footer.type_code == in_footer, "deployed writers name the kind of a filter of fixed size in HFiles alone"


@pytest.mark.parametrize("extension", FORMATS)
def test_file_without_bloom_filter(extension: str) -> None:
    """IDX-004: then the footer has no entry of a filter."""
    footer = read_footer(stored(extension, bloom=None), f"x.{extension}")
    assert (footer.bloom_filter(), footer.type_code, footer.min_key) == (None, None, "a")


@pytest.mark.parametrize("extension", FORMATS)
def test_a_file_without_rows(extension: str) -> None:
    """BF-002: the footer has no keys, and the filter is empty."""
    storage = MemoryStorage()
    storage.put(f"x.{extension}", encode_base_file(ROWS.slice(0, 0), EVERY_TYPE, extension))
    assert read_base_file(storage, f"x.{extension}").num_rows == 0
    footer = read_footer(storage, f"x.{extension}")
    bloom = footer.bloom_filter()
    assert (footer.min_key, footer.max_key) == (None, None)
    assert bloom is not None
    assert bloom.may_hold(["a"]) == [False]


@pytest.mark.parametrize("extension", ["parquet", "orc"])
def test_rows_without_keys(extension: str) -> None:
    """META-012: without meta columns there are no keys for a filter."""
    names = ROWS.column_names
    empty = ROWS.set_column(names.index("_hoodie_record_key"), "_hoodie_record_key", pa.nulls(3, pa.string()))
    storage = MemoryStorage()
    storage.put(f"x.{extension}", encode_base_file(empty, EVERY_TYPE, extension))
    assert read_footer(storage, f"x.{extension}").filter_text is None
    with pytest.raises(InvalidRows):
        encode_base_file(empty, EVERY_TYPE, "hfile")


def test_other_libraries_read_the_files() -> None:
    """BF-002: Arrow reads the Parquet and ORC files, with the footer names of Apache Hudi."""
    parquet = stored("parquet").get("x.parquet")
    assert (parquet[:4], parquet[-4:]) == (b"PAR1", b"PAR1")
    found = pq.ParquetFile(io.BytesIO(parquet))
    assert found.read().column("id").to_pylist() == ["a", "b", "é"]
    names = {MIN_KEY, MAX_KEY, FILTER, FILTER_TYPE, "parquet.avro.schema"}
    assert {key.decode() for key in found.metadata.metadata} >= names
    in_orc = orc.ORCFile(io.BytesIO(stored("orc").get("x.orc")))
    assert in_orc.read().column("id").to_pylist() == ["a", "b", "é"]
    assert {key.decode() for key in in_orc.metadata} == {MIN_KEY, MAX_KEY, FILTER, FILTER_TYPE, "orc.avro.schema"}


def test_columns_are_nullable_only_where_the_schema_is() -> None:
    """BF-002: readers that compare the two schemas, such as Apache Hudi 1.0.2, read the file; a null elsewhere is refused."""
    item = {
        "type": "record",
        "name": "item",
        "fields": [{"name": "n", "type": "long"}, {"name": "s", "type": ["null", "string"]}],
    }
    fields = [{"name": "id", "type": "string"}, {"name": "items", "type": {"type": "array", "items": item}}]
    schema = with_meta_columns({"type": "record", "name": "r", "fields": fields})
    row = {"_hoodie_record_key": "a", "id": "a", "items": [{"n": 1, "s": None}]}
    rows = pa.Table.from_pylist([row], schema=arrow_schema(schema))
    stored = pq.read_schema(io.BytesIO(encode_base_file(rows, schema)))
    inner = stored.field("items").type.value_field
    parts = [stored.field("id"), stored.field("items"), inner, *inner.type]
    assert [part.nullable for part in parts] == [False, False, False, False, True]
    with pytest.raises(InvalidRows):
        encode_base_file(pa.Table.from_pylist([{**row, "id": None}], schema=rows.schema), schema)


def test_long_entries_of_an_orc_footer() -> None:
    """BF-002: an entry longer than a compression block is divided into several chunks."""
    out = io.BytesIO()
    orc.write_table(pa.table({"a": [1]}), out, compression="zstd", compression_block_size=BLOCK_SIZE)
    text = "é" * 3 * BLOCK_SIZE
    found = orc.ORCFile(io.BytesIO(with_entries(out.getvalue(), {"long": text, "k": "v"})))
    assert dict(found.metadata) == {b"long": text.encode(), b"k": b"v"}
    assert found.read().to_pylist() == [{"a": 1}]


def test_filter_without_type_is_simple() -> None:
    """IDX-004: a footer without the type of its filter means a filter of fixed size."""
    assert BaseFileFooter("x", filter_text="/////wAAAAcBAAAAYKIQgARAUAhABACACA==").bloom_filter() is not None
    with pytest.raises(MalformedBloomFilter):
        BaseFileFooter("x", filter_text="/////w").bloom_filter()


HUDI_ROW = {
    "id": "k2",
    "name": "a",
    "ts": 2,
    "p": "x",
    "n": 2,
    "d": Decimal("3.25"),
    "dt": dt.date(1969, 12, 3),
    "x": {"a": 2, "l": ["q", None, "é"]},
    "m": [("k", 2)],
    "b": b"\x00\xff\x02",
    "o": True,
    "f": 1.5,
}


@pytest.mark.parametrize("extension", ["orc", "hfile"])
def test_files_of_apache_hudi(extension: str) -> None:
    """BF-002, BF-010, IDX-005: rows, keys and filter of an ORC file and an HFile that Apache Hudi 1.0.2 wrote."""
    storage, name = LocalStorage(DATA), f"apache-hudi-1.0.2.{extension}"
    found = read_base_file(storage, name)
    rows = {row["id"]: row for row in found.to_pylist()}
    assert sorted(rows) == ["k0", "k1", "k2", "k3", "knull"]
    assert {column: rows["k2"][column] for column in HUDI_ROW} == HUDI_ROW
    assert rows["knull"]["x"] is None
    exact = dt.datetime(2026, 1, 3, 1, 2, 3, 456789)
    assert rows["k2"]["w"].replace(tzinfo=None) == (exact.replace(microsecond=789) if extension == "orc" else exact)
    footer = read_footer(storage, name)
    bloom = footer.bloom_filter()
    assert (footer.min_key, footer.max_key, footer.type_code) == ("k0", "knull", "DYNAMIC_V0")
    assert bloom is not None
    assert (bloom.entries, bloom.hashes, bloom.count) == (20, 30, 5)
    assert bloom.may_hold([*rows, "k4"]) == [True] * 5 + [False]
    assert footer.schema is not None
    assert '"name":"_hoodie_record_key"' in footer.schema


def test_orc_timestamps_of_a_writer_in_another_zone() -> None:
    """BF-002, TYP-014: its timestamps are refused, because they would be eight hours wrong; the other columns are read."""
    storage, name = LocalStorage(DATA), "apache-hudi-1.0.2-in-los-angeles.orc"
    with pytest.raises(UnsupportedFileFormat) as raised:
        read_base_file(storage, name)
    assert (raised.value.rule, raised.value.found) == ("BF-002", "America/Los_Angeles")
    assert read_base_file(storage, name, ["id", "n"]).column("id").to_pylist() == ["k0", "k1", "k2", "k3", "knull"]
    assert zones_of(pa.memory_map(str(DATA / name))) == {"America/Los_Angeles"}


@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "zstd"])
def test_zone_of_orc_files(compression: str) -> None:
    """BF-002: files of several stripes have a zone; damaged files raise a ValueError only."""
    out = io.BytesIO()
    rows = pa.table({"at": pa.array(range(200_000), pa.timestamp("us"))})
    orc.write_table(rows, out, compression=compression, stripe_size=100_000, batch_size=1000)
    assert orc.ORCFile(io.BytesIO(out.getvalue())).nstripes > 1
    assert zones_of(pa.BufferReader(out.getvalue())) == {"GMT"}
    whole = out.getvalue()
    for at in range(len(whole) - 300, len(whole)):
        damaged = whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]
        with contextlib.suppress(ValueError, zlib.error, pa.ArrowException, OSError):
            zones_of(pa.BufferReader(damaged))


def test_hfile_layout_is_that_of_apache_hudi() -> None:
    """BF-002, BLK-024: the same file info entries and the same meta block."""
    theirs = hfile_of((DATA / "apache-hudi-1.0.2.hfile").read_bytes(), "theirs")
    made = hfile_of(stored("hfile").get("x.hfile"), "made")
    assert set(made.info) == set(theirs.info)
    assert set(made.metas) == set(theirs.metas) == {"bloomFilter"}


@pytest.mark.parametrize("named", FORMATS)
@pytest.mark.parametrize("written", FORMATS)
def test_format_must_match_the_extension(named: str, written: str) -> None:
    """BF-010: the error names both formats, for rows and for the footer."""
    if named == written:
        return
    storage = MemoryStorage()
    storage.put(f"x.{named}", stored(written).get(f"x.{written}"))
    for read in (read_base_file, read_footer):
        with pytest.raises(MalformedBaseFile) as raised:
            read(storage, f"x.{named}")
        error = raised.value
        assert (error.rule, error.expected, error.found) == ("BF-010", named.upper(), written.upper())


@pytest.mark.parametrize("extension", FORMATS)
def test_damaged_and_missing_files(extension: str) -> None:
    """BF-002: truncated, empty, random and missing files; an unknown format."""
    whole = stored(extension).get(f"x.{extension}")
    storage = MemoryStorage()
    for content in (b"", whole[: len(whole) // 2], b"junk" * 50, whole[:-1], whole[1:]):
        storage.put(f"x.{extension}", content)
        with pytest.raises(MalformedBaseFile):
            read_base_file(storage, f"x.{extension}")
    for read in (read_base_file, read_footer):
        with pytest.raises(MissingDataFile):
            read(storage, f"y.{extension}")
        with pytest.raises(UnsupportedFileFormat):
            read(storage, f"y.{extension}x")


def test_duplicate_keys_in_an_hfile_are_refused() -> None:
    """BLK-025: an HFile cannot have two rows with the same key."""
    with pytest.raises(InvalidRows, match="comes twice"):
        encode_base_file(pa.concat_tables([ROWS, ROWS.slice(1, 1)]), EVERY_TYPE, "hfile")


def change_format(table: WritableTable, format: str, seed: int) -> WritableTable:
    """The table with another format for its next base files."""
    lines = table.storage.get(PROPERTIES_PATH).decode().splitlines()
    kept = [line for line in lines if not line.startswith("hoodie.table.base.file.format")]
    table.storage.put(PROPERTIES_PATH, "\n".join([*kept, f"hoodie.table.base.file.format={format}", ""]).encode())
    return reopened(table, seed)


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_groups_of_several_formats(kind: str) -> None:
    """BF-011: slices of one group in Parquet, ORC and HFile; each is read by its extension, at every instant."""
    table = new_table(table_type=kind, partition=("p",), ordering=("ts",))
    ids = [str(n) for n in range(5)]
    table.insert(rows_of(SCHEMA, *({"id": n, "name": "PARQUET", "ts": 1, "p": "x"} for n in ids)))
    expected = dict.fromkeys(ids, "PARQUET")
    for number, format in enumerate(("ORC", "HFILE", "PARQUET", "HFILE", "ORC"), start=1):
        table = change_format(table, format, 10 + number)
        table.upsert(rows_of(SCHEMA, {"id": ids[number - 1], "name": format, "ts": number + 1, "p": "x"}))
        table.insert(rows_of(SCHEMA, {"id": f"new {number}", "name": format, "ts": 1, "p": "x"}))
        expected |= {ids[number - 1]: format, f"new {number}": format}
        rows = table.snapshot(columns=["id", "name"]).to_pylist()
        assert {row["id"]: row["name"] for row in rows} == expected
        assert len(rows) == len(expected)
    extensions = {info.path.rpartition(".")[2] for info in table.storage.list("x/") if ".log." not in info.path}
    assert extensions >= set(FORMATS)


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_lance_files_are_refused_by_name(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """BF-010: a query that needs the file fails and names it; others, the inspection and the file groups are complete."""
    table = new_table(table_type=kind, partition=("p",), ordering=("ts",))
    table.insert(rows_of(SCHEMA, {"id": "1", "ts": 1, "p": "x"}))
    table = change_format(table, "LANCE", 10)
    with pytest.raises(UnsupportedTableFeature, match="requires more"):
        table.insert(rows_of(SCHEMA, {"id": "2", "ts": 1, "p": "y"}))
    with monkeypatch.context() as patch:  # a writer that has the format
        patch.setitem(base_file.ENCODERS, "lance", lambda rows, footer, settings: b"content")
        table.insert(rows_of(SCHEMA, {"id": "2", "ts": 1, "p": "y"}))
    (name,) = [info.path for info in table.storage.list("y/") if info.path.endswith(".lance")]
    for query in (table.snapshot, table.read_optimized):
        assert query(["id"], [("p", "=", "x")]).to_pylist() == [{"id": "1"}]
        with pytest.raises(UnsupportedFileFormat) as raised:
            query(["id"])
        assert (raised.value.path, raised.value.found) == (name, "lance")
    groups = table.inspect()["file_groups"]
    assert [f"y/{group['latest']['base_file']}" for group in groups["y"].values()] == [name]


def test_columns_with_a_nan_have_no_statistics() -> None:
    """ER-164: bounds without the NaN would let Spark skip its row, because Spark takes it for the greatest number."""
    inner = pa.array([{"d": 1.0, "e": 2.0}, {"d": math.nan, "e": 2.0}, None])
    columns = {"f": [1.0, math.nan, None], "g": [1.0, 2.0, None], "n": [1, 2, None], "s": inner, "l": [[1], [2], None]}
    file = pq.ParquetFile(io.BytesIO(parquet_of(pa.table(columns), {})))
    group = file.metadata.row_group(0)
    found = {group.column(place).path_in_schema for place in range(group.num_columns) if group.column(place).statistics}
    assert found == {"g", "n", "s.e"}
    whole = pq.ParquetFile(
        io.BytesIO(parquet_of(pa.table({**columns, "f": [1.0, 2.0, None], "s": [{"d": 1.0}, None, None]}), {}))
    )
    assert all(whole.metadata.row_group(0).column(place).statistics for place in range(4))
