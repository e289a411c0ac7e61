"""Base files that a writer produces: a stock Parquet library opens them, and their bloom filters contain every key."""

import struct
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Step, row
from hudi_conformance.suite.support.tables.tables_under_services import copy_golden_table
from hudi_conformance.suite.support.tables.written_tables import base_files, write_table

FILTER, KIND = b"org.apache.hudi.bloomfilter", b"hoodie_bloom_filter_type_code"
KEY = "_hoodie_record_key"
WRITES = ("create", "write.insert", "write.upsert", "copy-on-write")

#: Keys whose last, incomplete word has every length, and some that are not ASCII.
KEYS = ("k", "ke", "key", "key1", "key12", "é", "aé", "abé", "日本", "😀", *(f"key-{n:03}" for n in range(40)))
INSERT = Step("insert", tuple(row(key, 1, "first") for key in KEYS))
UPDATE = Step("upsert", (row("key", 2, "second"), row("a new key", 2, "second"), row("another", 2, "second")))


@pytest.mark.requirements("BF-002", "BF-010")
@pytest.mark.needs(*WRITES)
def test_a_parquet_library_reads_the_base_files_of_a_table(engine: Client, new_uri: Callable[[], str]) -> None:
    """BF-002: every file whose name ends in .parquet is a complete Parquet file and holds the rows."""
    uri = new_uri()
    write_table(engine, uri, INSERT, UPDATE)
    rows: dict[str, str] = {}
    for path in base_files(uri):
        content = path.read_bytes()
        assert (content[:4], content[-4:]) == (b"PAR1", b"PAR1"), f"{path.name} begins with {content[:8]!r}"
        rows |= {found["id"]: found["value"] for found in pq.read_table(path, partitioning=None).to_pylist()}
    expected = dict.fromkeys(KEYS, "first") | {"key": "second", "a new key": "second", "another": "second"}
    assert rows == expected


@pytest.mark.each_version
@pytest.mark.requirements("BF-011", "BF-010")
@pytest.mark.needs("write.upsert", "read.snapshot", "merge-on-read", "merge.commit-time", "log.avro", "partition.none")
def test_a_group_with_base_files_of_two_formats_is_written(engine: Client, tmp_path: Path) -> None:
    """BF-011: an upsert into a file group with a Parquet base file and a newer ORC base file replaces the row of its key and
    keeps the others.
    """
    uri, _ = copy_golden_table("log.slices.base-files-of-two-formats", tmp_path, engine.table_version)
    engine.write(uri, "upsert", pa.table({"id": ["b", "c"], "ts": pa.array([2, 2], pa.int64()), "name": ["changed", "new"]}))
    found = {row["id"]: row["name"] for row in engine.read(uri, Query(columns=("id", "name"))).to_pylist()}
    assert found == {"a": "log", "b": "changed", "c": "new"}


@pytest.mark.each_version
@pytest.mark.leaves_damage("it changes the key field of the stored rows")
@pytest.mark.requirements("META-008")
@pytest.mark.needs("write.upsert", "read.snapshot", "merge-on-read", "merge.commit-time", "log.avro", "partition.none")
def test_a_write_finds_rows_by_their_stored_keys(engine: Client, tmp_path: Path) -> None:
    """META-008: in a table whose key column has another value than the stored key, an upsert replaces the row with this stored
    key, and no row of another key.
    """
    uri, _ = copy_golden_table("log.slices.keys-as-stored", tmp_path, engine.table_version)
    engine.write(uri, "upsert", pa.table({"id": ["a"], "ts": pa.array([2], pa.int64()), "name": ["changed"]}))
    found = engine.read(uri, Query(columns=("id", "name"))).to_pylist()
    assert sorted((row["id"], row["name"]) for row in found) == [("a", "changed"), ("b", "another record"), ("b", "base")]


@pytest.mark.requirements("IDX-004", "IDX-005", "IDX-006")
@pytest.mark.needs(*WRITES)
def test_bloom_filters_contain_every_key(engine: Client, new_uri: Callable[[], str]) -> None:
    """IDX-004: the bloom filter of each base file, decoded here, contains every key of the file, and does not contain every
    possible key.

    An engine that looks up keys by these filters would write a second row of a key that the filter does not contain.
    """
    uri = new_uri()
    write_table(engine, uri, INSERT, UPDATE)
    files = [(path, pq.ParquetFile(path)) for path in base_files(uri)]
    with_filter = [(path, file) for path, file in files if FILTER in (file.metadata.metadata or {})]
    if not with_filter:
        pytest.skip("this engine writes no filters into the footers of base files")
    for path, file in with_filter:
        held = filter_of(path, file)
        denied = [key for key in file.read(columns=[KEY]).column(0).to_pylist() if not held(key)]
        assert not denied, f"the filter of {path.name} does not contain {denied}"
        assert not all(held(f"other {n}") for n in range(50)), f"the filter of {path.name} contains every key"


def filter_of(path: Path, file: pq.ParquetFile) -> Callable[[str], bool]:
    """Return whether the filter in the footer may contain a key. Written from the description of the format alone."""
    footer = file.metadata.metadata
    data, kind = b64decode(footer[FILTER], validate=True), footer.get(KIND, b"SIMPLE")
    marker, hashes, function, bits = struct.unpack_from(">iibi", data)
    assert (marker, function) == (-1, 1), f"{path.name}: marker {marker}, hash function {function}"
    size = (bits + 7) // 8
    starts, length = [13], 13 + size
    if kind == b"DYNAMIC_V0":
        (rows,) = struct.unpack_from(">i", data, 21)
        starts = [25 + 13 + number * (13 + size) for number in range(rows)]
        length = 25 + rows * (13 + size)
    assert len(data) == length, f"{path.name}: a filter of {len(data)} bytes, expected {length}"

    def held(key: str) -> bool:
        positions = list(positions_of(key.encode(), bits, hashes))
        return any(all(data[start + p // 8] >> p % 8 & 1 for p in positions) for start in starts)

    return held


def positions_of(key: bytes, bits: int, hashes: int) -> Iterator[int]:
    """Return the bit positions of a key: each hash is computed with the previous hash as its seed."""
    seed = 0
    for _ in range(hashes):
        seed = hash_of(key, seed)
        yield (seed if seed < 1 << 31 else (1 << 32) - seed) % bits


def hash_of(key: bytes, seed: int) -> int:
    """Return the 32-bit hash. The bytes of a last, incomplete word are taken in reverse order and with their sign."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = seed ^ len(key)
    words, rest = divmod(len(key), 4)
    for (word,) in struct.iter_unpack("<I", key[: 4 * words]):
        k = word * m & mask
        k = (k ^ k >> 24) * m & mask
        h = h * m & mask ^ k
    if rest:
        for shift, byte in enumerate(struct.unpack(f"{rest}b", key[-rest:])[::-1]):
            h ^= byte << 8 * shift & mask
        h = h * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15
