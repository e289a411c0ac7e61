"""Bloom filters: hashes, bytes and properties. Apache Hudi 1.0.2 computed the expected texts and hashes."""

import math
import struct
from base64 import b64decode, b64encode
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bloom_samples import UUID, WRITTEN
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import InvalidRows, MalformedBloomFilter, Misuse, UnsupportedBloomFilter
from hudi_reference.files.bloom.bloom import FilterType, decode_filter, make_file_filter, make_filter
from hudi_reference.files.bloom.bloom_hash import HashType, bits_of, bits_of_many, jenkins, murmur
from hudi_reference.files.bloom.fast.murmur_columns import murmur_positions

FIXTURES = Path(__file__).parents[4] / "fixtures"

#: Key -> the hashes of HashType JENKINS and MURMUR with the seeds 0 and 0x12345678, by Apache Hudi's classes.
HASHES = {
    "a": (1490454280, 2456313694, 827031983, 2156906654),
    "abc": (238646833, 1775488903, 3438884821, 2341271966),
    "é": (3912892924, 3910926963, 1515550824, 1442266753),
    "abcdefghijkl": (1074985083, 3435317348, 4197951026, 1424983206),
    "abcdefghijklm": (2457938169, 4288825872, 3373698592, 3828609906),
    UUID: (25290701, 821709926, 813968218, 2009648677),
    "日本語のキーです": (929999199, 399448606, 3276582746, 942633357),
}


@pytest.mark.parametrize("key", HASHES)
def test_hashes_equal_those_of_apache_hudi(key: str) -> None:
    """IDX-004: both functions, with any seed, also if the last bytes are not ASCII."""
    encoded, seeds = key.encode(), (0, 0x12345678)
    assert tuple(hash(encoded, seed) for seed in seeds for hash in (jenkins, murmur)) == HASHES[key]


@pytest.mark.parametrize("written", WRITTEN, ids=range(len(WRITTEN)))
def test_bytes_equal_those_of_apache_hudi(written: tuple[str, int, float, int, list[str], str]) -> None:
    """IDX-005, IDX-006: the same keys in the same order give the same text, and decoding the text gives the same filter."""
    kind, entries, rate, most, keys, text = written
    made = make_filter(keys, FilterType(kind), entries=entries, rate=rate, max_entries=most)
    assert made.encode() == text
    assert decode_filter(kind, text, "x") == made
    assert all(made.may_hold(keys))


def test_footers_that_apache_hudi_wrote_follow_from_their_keys() -> None:
    """IDX-004, IDX-006: for each Parquet base file of golden tables that Apache Hudi wrote."""
    rebuilt = 0
    for path in sorted(FIXTURES.glob("merge/*/table/**/*.parquet")):
        file = pq.ParquetFile(path)
        footer = file.metadata.metadata or {}
        if b"org.apache.hudi.bloomfilter" in footer and not file.metadata.created_by.startswith("parquet-cpp"):
            keys = file.read(columns=["_hoodie_record_key"]).column(0).to_pylist()
            assert make_filter(keys, FilterType.SIMPLE, entries=10).encode() == footer[b"org.apache.hudi.bloomfilter"].decode()
            rebuilt += 1
    assert rebuilt > 50


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@bounded(200)
@given(st.lists(TEXTS, max_size=60), st.sampled_from(FilterType), st.integers(1, 30), st.floats(1e-12, 0.9), st.integers(1, 60))
def test_added_keys_are_always_found(keys: list[str], kind: FilterType, entries: int, rate: float, most: int) -> None:
    """IDX-004: for any size of the filter, also far beyond its capacity, and after encoding and decoding."""
    made = make_filter(keys, kind, entries=entries, rate=rate, max_entries=most)
    again = decode_filter(kind, made.encode(), "x")
    assert again == made
    assert all(again.may_hold(keys))
    assert all(again.may_hold(pa.array(keys, pa.string())))
    assert len(made.rows) <= max(1, math.ceil(most / entries))


@bounded(200)
@given(st.lists(TEXTS, min_size=16, max_size=60), st.integers(1, 2**31 - 1), st.integers(1, 40))
def test_fast_code_finds_the_same_positions(keys: list[str], bits: int, hashes: int) -> None:
    """IDX-004: the fast code and the plain code return the same positions for every key."""
    for parts in (murmur_positions(keys, bits, hashes), bits_of_many(keys, bits, hashes, HashType.MURMUR)):
        found = {}
        for numbers, positions in parts:
            found |= {int(number): row.tolist() for number, row in zip(numbers, np.array(list(positions)).T, strict=True)}
        assert found == {number: bits_of(key.encode(), bits, hashes, HashType.MURMUR) for number, key in enumerate(keys)}


def test_keys_of_a_sliced_array() -> None:
    """IDX-004: an Arrow array that begins inside its buffers."""
    column = pa.array([f"key-{i}" for i in range(100)])
    assert make_filter(column.slice(40, 30), entries=30) == make_filter(column.slice(40, 30).to_pylist(), entries=30)


@pytest.mark.parametrize(("rate", "count"), [(0.1, 2000), (0.01, 5000)])
@pytest.mark.parametrize("kind", FilterType)
def test_rate_of_false_positives(kind: FilterType, rate: float, count: int) -> None:
    """IDX-004: the rate of false positives is about the requested one, and less than twice as high."""
    made = make_filter([f"key-{i}" for i in range(count)], kind, entries=count, rate=rate)
    false = sum(made.may_hold([f"other-{i}" for i in range(20_000)])) / 20_000
    assert rate / 2 < false < rate * 2


def test_size_of_a_filter() -> None:
    """IDX-004: few keys give a small filter; a million keys give one of 1 MB with a higher rate."""
    assert len(make_file_filter(["a", "b"]).encode()) < 100
    some = make_file_filter(pa.array([f"key-{i}" for i in range(1000)]))
    assert (some.bits, some.hashes, some.entries, some.count) == (43133, 30, 1000, 1000)
    large = make_file_filter(pa.array([f"key-{i}" for i in range(1_000_000)]))
    assert (large.hashes, len(large.rows[0])) == (6, 1 << 20)
    assert sum(large.may_hold([f"other-{i}" for i in range(10_000)])) < 400


def test_empty_keys_are_refused() -> None:
    """IDX-004: like Apache Hudi, a filter neither adds nor looks up the empty key."""
    with pytest.raises(InvalidRows):
        make_filter(["a", ""], entries=2)
    with pytest.raises(Misuse):
        make_filter(["a"], entries=2).may_hold([""])


@pytest.mark.parametrize(("entries", "rate"), [(0, 0.1), (1, 0.0), (1, 1.0), (10, -1.0), (10**9, 1e-9)])
def test_invalid_sizes_are_refused(entries: int, rate: float) -> None:
    """IDX-004: no entries, an invalid rate, more bits than the size field can express."""
    with pytest.raises(Misuse):
        make_filter(["a"], entries=entries, rate=rate)


def test_filters_of_the_first_version() -> None:
    """IDX-006: without a marker the first number is the number of hashes, and the hash function is Jenkins."""
    bits = [0] * 64
    for key in ("a", UUID):
        for bit in bits_of(key.encode(), 64, 3, HashType.JENKINS):
            bits[bit] = 1
    row = bytes(sum(bits[8 * i + j] << j for j in range(8)) for i in range(8))
    text = b64encode(struct.pack(">ii", 3, 64) + row).decode()
    found = decode_filter("SIMPLE", text, "x")
    assert found.may_hold(["a", UUID, "b"]) == [True, True, False]
    assert found.encode() == text


GOOD = b64decode(WRITTEN[5][5])


def damaged(at: int, change: bytes) -> bytes:
    """The dynamic filter with these bytes at an offset."""
    return GOOD[:at] + change + GOOD[at + len(change) :]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        GOOD[:3],
        GOOD[:12],
        GOOD[:-1],
        GOOD + b"\0",
        damaged(0, b"\xff\xff\xff\xfe"),
        damaged(0, bytes(4)),
        damaged(4, bytes(4)),
        damaged(4, b"\x7f\xff\xff\xff"),
        damaged(4, b"\xff\xff\xff\xff"),
        damaged(9, bytes(4)),
        damaged(9, b"\x7f\xff\xff\xff"),
        damaged(9, b"\x80\0\0\0"),
        damaged(13, bytes(4)),
        damaged(17, b"\xff\xff\xff\xff"),
        damaged(21, bytes(4)),
        damaged(21, b"\x7f\xff\xff\xff"),
        damaged(21, b"\0\0\0\1"),
        damaged(29, b"\0\0\0\5"),
    ],
)
def test_damaged_filters_are_an_error(data: bytes) -> None:
    """IDX-005, IDX-006: truncated, longer, without marker, with invalid or very large sizes: an error without allocating memory
    for the size."""
    with pytest.raises(MalformedBloomFilter) as raised:
        decode_filter("DYNAMIC_V0", b64encode(data), "the/file")
    assert (raised.value.path, raised.value.rule) == ("the/file", "IDX-006")


@pytest.mark.parametrize("text", ["/////w=", "////\nwAA", "é", b"\xff\xff", "===="])
def test_invalid_base64_is_an_error(text: str | bytes) -> None:
    """IDX-006: no character is skipped."""
    with pytest.raises(MalformedBloomFilter):
        decode_filter("SIMPLE", text, "x")


def test_unknown_types_are_refused() -> None:
    """IDX-005: each filter is decoded by its named type; an unknown type or hash function is refused."""
    simple, dynamic = WRITTEN[0][5], WRITTEN[1][5]
    for kind, text in (("SIMPLE", dynamic), ("DYNAMIC_V0", simple)):
        with pytest.raises(MalformedBloomFilter):
            decode_filter(kind, text, "x")
    for kind in ("DYNAMIC_V1", "simple", ""):
        with pytest.raises(UnsupportedBloomFilter):
            decode_filter(kind, simple, "x")
    with pytest.raises(UnsupportedBloomFilter):
        decode_filter("DYNAMIC_V0", b64encode(damaged(8, b"\2")), "x")


@bounded(300)
@given(st.binary(max_size=80), st.sampled_from(FilterType))
def test_any_bytes_are_a_filter_or_an_error(data: bytes, kind: FilterType) -> None:
    """IDX-006: only the two errors of filters are raised, and each decoded filter answers lookups."""
    head = struct.pack(">iibi", -1, 3, 1, 24)
    for text in (b64encode(data), b64encode(head + data), data):
        try:
            found = decode_filter(kind, text, "x")
        except (MalformedBloomFilter, UnsupportedBloomFilter):
            continue
        assert len(found.may_hold(["a", "b"])) == 2
