"""Base files as a writer leaves them: opened by a stock library, with a bloom filter that denies no key."""

import struct
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Step, row
from hudi_conformance.suite.support.tables.written_tables import base_files, written

FILTER, KIND = b"org.apache.hudi.bloomfilter", b"hoodie_bloom_filter_type_code"
KEY = "_hoodie_record_key"
WRITES = ("create", "write.insert", "write.upsert", "copy-on-write")

#: Keys of every length of their last, incomplete word, and some that are not ASCII.
KEYS = ("k", "ke", "key", "key1", "key12", "é", "aé", "abé", "日本", "😀", *(f"key-{n:03}" for n in range(40)))
INSERT = Step("insert", tuple(row(key, 1, "first") for key in KEYS))
UPDATE = Step("upsert", (row("key", 2, "second"), row("a new key", 2, "second"), row("another", 2, "second")))


@pytest.mark.requirements("BF-002", "BF-010")
@pytest.mark.needs(*WRITES)
def test_base_files_are_opened_by_a_stock_library(engine: Client, new_uri: Callable[[], str]) -> None:
    """A file that is called .parquet is Parquet from its first byte to its last, and holds the rows."""
    uri = new_uri()
    written(engine, uri, INSERT, UPDATE)
    rows: dict[str, str] = {}
    for path in base_files(uri):
        content = path.read_bytes()
        assert (content[:4], content[-4:]) == (b"PAR1", b"PAR1"), f"{path.name} begins with {content[:8]!r}"
        rows |= {found["id"]: found["value"] for found in pq.read_table(path, partitioning=None).to_pylist()}
    expected = dict.fromkeys(KEYS, "first") | {"key": "second", "a new key": "second", "another": "second"}
    assert rows == expected


@pytest.mark.requirements("IDX-004", "IDX-005", "IDX-006")
@pytest.mark.needs(*WRITES)
def test_no_filter_in_a_footer_denies_a_key(engine: Client, new_uri: Callable[[], str]) -> None:
    """The filter of each base file, taken apart here, may hold every key of the file, and not just any key.

    An engine that looks keys up by these filters would write a second row of a key that a filter denies.
    """
    uri = new_uri()
    written(engine, uri, INSERT, UPDATE)
    files = [(path, pq.ParquetFile(path)) for path in base_files(uri)]
    with_filter = [(path, file) for path, file in files if FILTER in (file.metadata.metadata or {})]
    if not with_filter:
        pytest.skip("this engine writes no filters into the footers of base files")
    for path, file in with_filter:
        held = filter_of(path, file)
        denied = [key for key in file.read(columns=[KEY]).column(0).to_pylist() if not held(key)]
        assert not denied, f"the filter of {path.name} denies {denied}"
        assert not all(held(f"other {n}") for n in range(50)), f"the filter of {path.name} denies nothing"


def filter_of(path: Path, file: pq.ParquetFile) -> Callable[[str], bool]:
    """Whether a key may be in the file, by the filter in its footer; from the description of the format alone."""
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
    """The bits of a key: the hash of the key with the last hash as its seed, again and again."""
    seed = 0
    for _ in range(hashes):
        seed = hash_of(key, seed)
        yield (seed if seed < 1 << 31 else (1 << 32) - seed) % bits


def hash_of(key: bytes, seed: int) -> int:
    """The hash of 32 bits; of a last, incomplete word the bytes come in reverse order and with their sign."""
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
