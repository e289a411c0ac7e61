"""Single files of the reference and of Apache Hudi: each reads the files of the other, with the same result."""

import base64
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from hudi_conformance.contract import EngineError, Query, Refused, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.reference.engine import Reference
from hudi_reference.files.base_file import encode_base_file
from hudi_reference.files.bloom.bloom import FilterType, make_filter
from hudi_reference.files.log.cdc import Change, Mode, Operation
from hudi_reference.files.log.content import Delete
from hudi_reference.files.log.writer import BlockWriter
from hudi_reference.schema.avro import arrow_schema

pytestmark = [pytest.mark.apache_hudi, pytest.mark.slow]

META = ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
FILE_ID, INSTANT = "f0000000-0000-4000-8000-000000000001-0", "20250101000001000"
LOG, BASE = f".{FILE_ID}_{INSTANT}.log.1_0-1-2", f"{FILE_ID}_0-1-2_{INSTANT}"


def optional(kind: object) -> list[object]:
    return ["null", kind]


COLUMNS = {
    "id": "string",
    "key": "string",
    "n": optional("long"),
    "i": optional("int"),
    "x": optional("double"),
    "ok": optional("boolean"),
    "b": optional("bytes"),
    "m": optional({"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}),
    "d": optional({"type": "int", "logicalType": "date"}),
    "t": optional({"type": "long", "logicalType": "timestamp-micros"}),
    "tags": optional({"type": "array", "items": "string"}),
    "s": optional({"type": "record", "name": "point", "fields": [{"name": "x", "type": "int"}]}),
}
SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [
        *({"name": f"_hoodie_{name}", "type": ["null", "string"], "default": None} for name in META),
        *({"name": n, "type": kind} | ({"default": None} if isinstance(kind, list) else {}) for n, kind in COLUMNS.items()),
    ],
}
WRITER = BlockWriter(INSTANT, SCHEMA)


def rows(count: int, seed: int = 1) -> pa.Table:
    """Random rows by ascending key, each value null in one of four."""
    chance = random.Random(seed)
    some = {
        "n": lambda: chance.randint(-(2**63), 2**63 - 1),
        "i": lambda: chance.randint(-(2**31), 2**31 - 1),
        "x": lambda: chance.choice([0.1, -0.0, 1e300, 5e-324, float("inf")]),
        "ok": lambda: chance.random() < 0.5,
        "b": lambda: chance.randbytes(chance.randint(0, 9)),
        "m": lambda: Decimal(chance.randint(-(10**9), 10**9)).scaleb(-2),
        "d": lambda: date(1970, 1, 1) + timedelta(days=chance.randint(-40000, 40000)),
        "t": lambda: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=chance.randint(-(10**15), 10**16)),
        "tags": lambda: chance.choices(["", "é", "x" * 50, "😀"], k=chance.randint(0, 3)),
        "s": lambda: {"x": chance.randint(0, 9)},
    }
    made = []
    for number in range(count):
        key = f"k{number:04}"
        meta = dict(zip((f"_hoodie_{n}" for n in META), (INSTANT, f"{INSTANT}_0_{number}", key, "", FILE_ID), strict=True))
        made.append(
            meta | {"id": key, "key": key} | {n: make() if chance.random() < 0.75 else None for n, make in some.items()}
        )
    return pa.Table.from_pylist(made, schema=arrow_schema(SCHEMA))


def both(hudi: Client, file: Path, **asked) -> tuple[dict, dict]:
    """The content of the file as Apache Hudi and the reference read it."""
    return hudi.inspect(file.as_uri(), **asked), Reference().inspect(file.as_uri(), **asked)


DELETES = [Delete("a", "", None), Delete("b", "p", 5), Delete("é", "", -(2**63))]
BLOCKS = {
    "avro": lambda: WRITER.avro(rows(50)),
    "avro at positions": lambda: BlockWriter(INSTANT, SCHEMA, "20250101000000000").avro(rows(5), [9, 0, 70000, 3, 2**33]),
    "avro of a log compaction": lambda: BlockWriter(INSTANT, SCHEMA, compacted=["20250101000000000", "1"]).avro(rows(2)),
    "partial rows": lambda: BlockWriter(INSTANT, SCHEMA, partial=True).avro(rows(2)),
    "no rows": lambda: WRITER.avro(rows(0)),
    "parquet": lambda: WRITER.parquet(rows(50)),
    "hfile": lambda: WRITER.hfile(rows(50), key="key"),
    "deletes by long": lambda: WRITER.delete(DELETES, [pa.int64()]),
    "deletes by double": lambda: WRITER.delete([Delete("a", "", -0.5)], [pa.float64()]),
    "deletes by text": lambda: WRITER.delete([Delete("a", "", "é")], [pa.string()]),
    "deletes by decimal": lambda: WRITER.delete([Delete("a", "", Decimal("1.5"))], [pa.decimal128(10, 2)]),
    "no deletes": lambda: BlockWriter(INSTANT).delete([], [pa.int64()]),
    "rollback": lambda: WRITER.rollback("20250101000000500"),
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_apache_hudi_reads_each_block_that_the_reference_writes(hudi, tmp_path, kind):
    """BLK-001, BLK-006, BLK-018, BLK-023, BLK-027: the same type, place, header, rows, deletes and positions."""
    file = tmp_path / LOG
    file.write_bytes(BLOCKS[kind]())
    theirs, ours = both(hudi, file)
    assert "error" not in theirs["blocks"][0]
    assert theirs == ours


@pytest.mark.parametrize("mode", Mode)
def test_apache_hudi_reads_changes_that_the_reference_writes(hudi, tmp_path, mode):
    """BLK-031 to BLK-036: change capture blocks of each mode, with all values."""
    image = dict.fromkeys(COLUMNS) | {"id": "a", "key": "a", "n": 2**60}
    changes = [
        Change(Operation.INSERT, "a", None, image),
        Change(Operation.UPDATE, "b", image | {"id": "b"}, image | {"id": "b", "i": 1}),
        Change(Operation.DELETE, "c", image | {"id": "c"}, None),
    ]
    file = tmp_path / f"{LOG}.cdc"
    file.write_bytes(WRITER.cdc(changes, mode))
    theirs, ours = both(hudi, file)
    assert theirs == ours
    assert [row["op"] for row in theirs["blocks"][0]["rows"]] == ["i", "u", "d"]


def test_apache_hudi_reads_several_blocks_of_the_reference(hudi, tmp_path):
    """LF-008, LF-010: all blocks of a file in their order, where each begins and ends."""
    parts = [make() for make in BLOCKS.values()]
    file = tmp_path / LOG
    file.write_bytes(b"".join(parts))
    theirs, ours = both(hudi, file)
    assert [block["length"] for block in theirs["blocks"]] == [len(part) for part in parts]
    assert theirs == ours


def test_both_return_the_same_corrupt_block(hudi, tmp_path):
    """BLK-015: the bytes between two whole blocks are one corrupt block."""
    file = tmp_path / LOG
    file.write_bytes(WRITER.rollback("1") + WRITER.rollback("2")[:-20] + WRITER.avro(rows(1)))
    theirs, ours = both(hudi, file)
    assert [block["type"] for block in theirs["blocks"]] == ["command", "corrupt", "avro"]
    assert [(b["offset"], b["length"]) for b in theirs["blocks"]] == [(b["offset"], b["length"]) for b in ours["blocks"]]


@pytest.mark.parametrize("bloom", [FilterType.SIMPLE, FilterType.DYNAMIC_V0, None], ids=str)
@pytest.mark.parametrize("extension", ["parquet", "hfile"])
def test_apache_hudi_reads_base_files_of_the_reference(hudi, tmp_path, extension, bloom):
    """BF-002, IDX-004: rows or entries, the footer's keys, and the bloom filter's answers."""
    if extension == "hfile" and bloom is not FilterType.DYNAMIC_V0:
        pytest.skip("one HFile is enough: its filter lies in a meta block whatever its type")
    file = tmp_path / f"{BASE}.{extension}"
    file.write_bytes(encode_base_file(rows(50), SCHEMA, extension, bloom))
    asked = {"keys": ["k0000", "k0049", "nobody", "k00"]} | ({"prefix": "k001"} if extension == "hfile" else {})
    theirs, ours = both(hudi, file, **asked)
    assert theirs == ours
    if bloom is not None:
        assert theirs["bloom"]["may_hold"][:2] == [True, True]
    if extension == "hfile":
        assert [entry["key"] for entry in theirs["found"]] == ["k0000", *(f"k{n:04}" for n in range(10, 20)), "k0049"]


@pytest.mark.parametrize("kind", ["MERGE_ON_READ", "COPY_ON_WRITE"])
def test_the_reference_reads_every_file_of_a_table_of_apache_hudi(hudi, tmp_path, kind):
    """BF-001, BLK-006, BLK-018, BLK-031: base files, log files and change capture of real writes."""
    cdc = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER"}
    fields = [{"name": n, "type": t} for n, t in (("id", "string"), ("ts", "long"), ("d", COLUMNS["m"]), ("w", COLUMNS["t"]))]
    table = tmp_path / "table"
    schema = {"type": "record", "name": "t", "fields": fields}
    hudi.create(
        table.as_uri(),
        TableSpec(name="t", type=kind, schema=schema, record_key=("id",), ordering=("ts",), properties=cdc),
    )

    def write(operation: str, *keys: str, ts: int = 1) -> None:
        made = [{"id": key, "ts": ts, "d": Decimal("1.25"), "w": datetime(2026, 1, 1, tzinfo=UTC)} for key in keys]
        hudi.write(table.as_uri(), operation, pa.Table.from_pylist(made, schema=arrow_schema(schema)))

    write("insert", "a", "b", "c")
    write("upsert", "b", "d", ts=2)
    hudi.write(table.as_uri(), "delete", pa.table({"id": ["c"]}))
    files = [f for f in table.iterdir() if f.is_file() and not f.name.startswith(".hoodie")]
    kinds = {file.suffix if ".log." not in file.name or file.suffix == ".cdc" else "log" for file in files}
    assert kinds == {".parquet", ".cdc"} | ({"log"} if kind == "MERGE_ON_READ" else set())
    for file in files:
        theirs, ours = both(hudi, file, keys=["a", "c"])
        assert theirs == ours, file.name
    assert sorted(hudi.read(table.as_uri(), Query()).column("id").to_pylist()) == ["a", "b", "d"]


@pytest.mark.parametrize("keys", [5, 25, 45])
@pytest.mark.parametrize("kind", FilterType)
def test_bloom_filters_are_bit_identical(hudi, kind, keys):
    """IDX-004, IDX-005: also if a dynamic filter grows, and beyond its largest size."""
    names = [f"k{n}é" for n in range(keys)]
    made = hudi.compute("bloom.make", {"type": kind.value, "entries": 10, "rate": 0.01, "max_entries": 30, "keys": names})
    assert made == make_filter(names, kind, entries=10, rate=0.01, max_entries=30).encode()
    held = hudi.compute("bloom.may-hold", {"type": kind.value, "filter": made, "keys": names})
    assert held == [True] * keys
    assert base64.b64decode(made)[:4] == b"\xff" * 4


def test_unsupported_functions_and_files_are_refused(hudi, tmp_path):
    """A release without a class for a function refuses it; a file with an unknown name is refused too."""
    if hudi.hello.version == "1.0.2":
        with pytest.raises(Refused, match=r"compute\.base-file-name\.parse"):
            hudi.compute("base-file-name.parse", {"name": f"{BASE}.parquet"})
    file = tmp_path / "nothing.txt"
    file.write_text("nothing")
    with pytest.raises(Refused):
        hudi.inspect(file.as_uri())


def test_file_without_magic_is_an_error(hudi, tmp_path):
    """LF-010: the file must begin with the magic; the engine continues to run."""
    file = tmp_path / LOG
    file.write_bytes(b"not a log file")
    with pytest.raises(EngineError, match="CorruptedLogFileException"):
        hudi.inspect(file.as_uri())
    file.write_bytes(b"")
    assert hudi.inspect(file.as_uri())["blocks"] == []
