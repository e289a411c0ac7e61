"""Tables whose base files are ORC files or HFiles: what writers store, what a library reads in it, and the rows of queries."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest
from pyarrow import orc

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import EngineError, Refused
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.metadata_tables import EVERY_INDEX
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference.files.base.orc_footer import STRIPES, messages, number, read_footer, uncompressed
from hudi_reference.files.bloom.bloom import decode_filter
from hudi_reference.files.hfile.varint import protobuf_fields

Row = dict[str, Any]
Format = Literal["ORC", "HFILE"]
Type = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
MOMENT = datetime(2026, 7, 3, 12, 30, 15, 123456, tzinfo=UTC)
PLACE = {"type": "record", "name": "place", "fields": [{"name": "at", "type": ["null", {"type": "long",
         "logicalType": "timestamp-micros"}], "default": None}]}  # fmt: skip

#: Columns of each type: the type in Avro, the type in Arrow, and a value.
TYPES: Mapping[str, tuple[Any, pa.DataType, Any]] = {
    "flag": ("boolean", pa.bool_(), True),
    "small": ("int", pa.int32(), -7),
    "big": ("long", pa.int64(), 1 << 40),
    "single": ("float", pa.float32(), 1.5),
    "double": ("double", pa.float64(), -1e300),
    "text": ("string", pa.string(), "é\n"),
    "raw": ("bytes", pa.binary(), b"\x00\xff"),
    "day": ({"type": "int", "logicalType": "date"}, pa.date32(), date(1969, 12, 1)),
    "price": ({"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}, pa.decimal128(10, 2), Decimal("-0.01")),
    "moment": ({"type": "long", "logicalType": "timestamp-micros"}, pa.timestamp("us", "UTC"), MOMENT),
    "local": ({"type": "long", "logicalType": "local-timestamp-micros"}, pa.timestamp("us"), MOMENT.replace(tzinfo=None)),
    "place": (PLACE, pa.struct([("at", pa.timestamp("us", "UTC"))]), {"at": MOMENT}),
    "moments": (
        {"type": "array", "items": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        pa.list_(pa.timestamp("us", "UTC")),
        [MOMENT, None],
    ),
    "days": (
        {"type": "map", "values": ["null", {"type": "int", "logicalType": "date"}]},
        pa.map_(pa.string(), pa.date32()),
        [("k", date(2026, 7, 3)), ("l", None)],
    ),
}
FORMATS = pytest.mark.parametrize(
    "format",
    [pytest.param("ORC", marks=pytest.mark.needs("base.orc")), pytest.param("HFILE", marks=pytest.mark.needs("base.hfile"))],
)
WRITES = pytest.mark.needs("create", "write.insert", "write.upsert", "write.delete", "read.snapshot", "merge.event-time")


class TableOfFormat:
    """A table with base files of one format, and the rows that it should have, by key."""

    def __init__(self, engine: Client, uri: str, type: Type, format: Format) -> None:
        self.engine, self.uri, self.format = engine, uri, format
        self.rows: dict[str, Row] = {}
        plain = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]
        fields = [*plain, *({"name": n, "type": ["null", avro], "default": None} for n, (avro, _, _) in TYPES.items())]
        schema = {"type": "record", "name": "row", "fields": fields}
        stored = {"hoodie.table.base.file.format": format}
        engine.create(uri, TableSpec("formats", type, schema, ("id",), ordering=("ts",), properties=stored))

    def write(self, operation: Any, keys: str, ts: int) -> "TableOfFormat":
        """Write a row for each key: of a lower-case letter with a value in each column, of an upper-case one with nulls."""
        rows = [{"id": key.lower(), "ts": ts, **({n: v for n, (_, _, v) in TYPES.items()} if key.islower() else {})}
                for key in keys]  # fmt: skip
        kinds = pa.schema([("id", pa.string()), ("ts", pa.int64()), *((n, kind) for n, (_, kind, _) in TYPES.items())])
        given = pa.Table.from_pylist(rows, schema=kinds)
        self.engine.write(self.uri, operation, given, options=dict(EVERY_INDEX))
        for row in given.to_pylist():
            if operation == "delete":
                del self.rows[row["id"]]
            else:
                self.rows[row["id"]] = row
        return self

    def check(self, when: str) -> None:
        """Compare the rows of a snapshot, in all columns."""
        found = self.engine.read(self.uri, Query(columns=("id", "ts", *TYPES)))
        assert sorted(found.to_pylist(), key=lambda row: str(row["id"])) == [self.rows[key] for key in sorted(self.rows)], when

    def files(self) -> list[Path]:
        """Return the base files, the oldest first."""
        found = [path for path in table_folder(self.uri).iterdir() if path.suffix == f".{self.format.lower()}"]
        return sorted(found, key=lambda path: path.stem.rpartition("_")[2])


@FORMATS
@WRITES
@BOTH_TYPES
@pytest.mark.needs("types.nested", "types.decimal", "types.temporal", "read.projection", "read.filter")
@pytest.mark.requirements("BF-002", "BF-010", "TYP-003")
def test_base_files_of_a_format_keep_values_of_every_type(
    engine: Client, new_uri: Callable[[], str], type: Type, format: Format
) -> None:
    """BF-002: rows with values of each type and rows of nulls are read as they were written, after inserts, updates and
    deletes; a filter on the key and one on a value select their rows.
    """
    table = TableOfFormat(engine, new_uri(), type, format)
    for operation, keys, ts in (("insert", "baC", 1), ("upsert", "Acd", 2), ("delete", "b", 3)):
        table.write(operation, keys, ts).check(f"after the {operation}")
    for where, expected in ((("id", "=", "c"), ["c"]), (("id", "=", "b"), []), (("big", "=", 1 << 40), ["c", "d"])):
        rows = engine.read(table.uri, Query(columns=("id",), where=(where,))).column("id").to_pylist()
        assert sorted(rows) == expected, where
    assert table.files()
    assert not list(table_folder(table.uri).glob("*.parquet"))


@FORMATS
@WRITES
@pytest.mark.needs("service.compaction", "merge-on-read", "read.read-optimized", "types.nested", "types.decimal")
@pytest.mark.needs("types.temporal", "read.projection")
@pytest.mark.requirements("BF-002", "BF-010", "CMP-001")
def test_a_compaction_writes_base_files_of_the_format(engine: Client, new_uri: Callable[[], str], format: Format) -> None:
    """BF-010: a compaction writes a base file of the table's format, which has the merged rows."""
    table = TableOfFormat(engine, new_uri(), "MERGE_ON_READ", format).write("insert", "baC", 1).write("upsert", "Ac", 2)
    settings = {**EVERY_INDEX, "hoodie.compact.inline.max.delta.commits": "1"}
    assert engine.service(table.uri, "compaction", options=settings) is not None
    table.check("after the compaction")
    rows = engine.read(table.uri, Query("read-optimized", columns=("id", "ts"))).to_pylist()
    assert sorted((row["id"], row["ts"]) for row in rows) == [("a", 2), ("b", 1), ("c", 2)]
    assert len(table.files()) == 2


@WRITES
@pytest.mark.needs("base.orc", "copy-on-write", "types.nested", "types.decimal", "types.temporal", "read.projection")
@pytest.mark.requirements("BF-002", "IDX-004", "TYP-003")
def test_a_library_reads_the_orc_files_of_a_table(engine: Client, new_uri: Callable[[], str]) -> None:
    """BF-002: an ORC library reads the rows, with moments as their times in UTC. The footer has the Avro schema, the least and
    the greatest key, and a bloom filter.
    """
    table = TableOfFormat(engine, new_uri(), "COPY_ON_WRITE", "ORC").write("insert", "baC", 1)
    (path,) = table.files()
    file = orc.ORCFile(path)
    rows = {row["id"]: row for row in file.read().to_pylist()}
    assert {key: {name: row[name] for name in ("id", "ts", *TYPES)} for key, row in rows.items()} == {
        key: without_zones(row) for key, row in table.rows.items()
    }
    assert {row["_hoodie_record_key"] for row in rows.values()} == {"a", "b", "c"}
    assert {row["_hoodie_file_name"] for row in rows.values()} == {path.name}
    entries = {key.decode(): value.decode() for key, value in dict(file.metadata or {}).items()}
    assert (entries["hoodie_min_record_key"], entries["hoodie_max_record_key"]) == ("a", "c")
    assert entries["org.apache.hudi.bloomfilter"]
    names = [one["name"] for one in json.loads(entries["orc.avro.schema"])["fields"]]
    assert names[5:] == ["id", "ts", *TYPES]


@WRITES
@pytest.mark.needs("base.hfile", "copy-on-write", "types.nested", "types.decimal", "types.temporal", "inspect.hfile")
@pytest.mark.requirements("BF-002", "IDX-004")
def test_the_hfiles_of_a_table_have_sorted_keys_and_a_filter(engine: Client, new_uri: Callable[[], str]) -> None:
    """BF-002: the keys of an HFile are the record keys in the order of their bytes. The file info has the schema and the least
    and the greatest key, a meta block has a bloom filter that contains the keys.
    """
    table = TableOfFormat(engine, new_uri(), "COPY_ON_WRITE", "HFILE").write("insert", "baC", 1)
    (path,) = table.files()
    found = engine.inspect(f"{table.uri}/{path.name}")
    assert [entry["key"] for entry in found["entries"]] == ["a", "b", "c"]
    info = {name: bytes.fromhex(found["info"][name]).decode() for name in ("minRecordKey", "maxRecordKey", "schema")}
    assert (info["minRecordKey"], info["maxRecordKey"]) == ("a", "c")
    assert [one["name"] for one in json.loads(info["schema"])["fields"]][5:] == ["id", "ts", *TYPES]
    kind = bytes.fromhex(found["info"]["bloomFilterTypeCode"]).decode()
    bloom = decode_filter(kind, bytes.fromhex(found["meta"]["bloomFilter"]).decode(), path.name)
    assert all(bloom.may_hold(["a", "b", "c"]))


def without_zones(value: Any) -> Any:
    """Return a value with moments as ORC has them: times in UTC without a zone."""
    if isinstance(value, dict):
        return {name: without_zones(one) for name, one in value.items()}
    if isinstance(value, list):
        return [without_zones(one) for one in value]
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def with_zone(file: bytes, zone: bytes) -> bytes:
    """Return an ORC file of the same length whose writer had another zone of three letters than GMT; its times stay."""
    footer, compression = read_footer(pa.BufferReader(file))
    for stripe in messages(footer, STRIPES):
        start, index, rows, size = (number(dict(protobuf_fields(stripe)).get(tag)) for tag in (1, 2, 3, 4))
        begin, end = start + index + rows + 3, start + index + rows + size
        wanted = uncompressed(file[begin - 3 : end], compression).replace(b"GMT", zone)
        packed = (pa.Codec("zstd", level).compress(wanted, asbytes=True) for level in range(1, 20))
        file = file[:begin] + next(one for one in packed if len(one) == end - begin) + file[end:]
    return file


@BOTH_TYPES
@pytest.mark.needs("base.orc", "merge.event-time", "types.temporal", "read.snapshot", "read.projection")
@pytest.mark.versions(8)
@pytest.mark.requirements("BF-002")
def test_moments_of_a_writer_in_another_zone(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """BF-002: a moment is stored in ORC as the local time of its writer, beside the name of the zone. A reader returns the
    moment, or refuses the file; the other columns do not depend on the zone.
    """
    uri = new_uri()
    fields = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}, {"name": "moment", "type": TYPES["moment"][0]}]
    schema = {"type": "record", "name": "row", "fields": fields}
    with connect("reference") as writer:
        stored = {"hoodie.table.base.file.format": "ORC", "hoodie.metadata.enable": "false"}
        writer.create(uri, TableSpec("formats", type, schema, ("id",), ordering=("ts",), properties=stored))
        writer.write(uri, "insert", pa.table({"id": ["a"], "ts": [1], "moment": pa.array([MOMENT], TYPES["moment"][1])}))
    (path,) = table_folder(uri).glob("*.orc")
    path.write_bytes(with_zone(path.read_bytes(), b"HST"))
    assert engine.read(uri, Query(columns=("id", "ts"))).to_pylist() == [{"id": "a", "ts": 1}]
    with suppress(Refused, EngineError):
        found = engine.read(uri, Query(columns=("moment",))).to_pylist()
        assert found == [{"moment": MOMENT + timedelta(hours=10)}]
