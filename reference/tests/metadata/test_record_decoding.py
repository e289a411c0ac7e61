"""Entries of the metadata table that are decoded side by side: the records, or the error, of the plain code."""

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import HudiError
from hudi_reference.fast_paths import VARIABLE, FastPath
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.metadata.codec import decode_entries, encode_record
from hudi_reference.metadata.fast.decode_records import decode_records
from hudi_reference.metadata.locations import location_of
from hudi_reference.metadata.records import (
    BloomFilter,
    Bound,
    ColumnStats,
    FileInfo,
    FileList,
    MetadataRecord,
    PartitionStats,
    RecordLocation,
    SecondaryEntry,
    ValueType,
)  # fmt: skip
from hudi_reference.metadata.schema import SCHEMA, SCHEMA_9
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.avro_codec import codec_schema

LONGS = st.integers(-(1 << 63), (1 << 63) - 1)
INTS = st.integers(-(1 << 31), (1 << 31) - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
DECIMALS = st.integers(-(10**29), 10**29).map(lambda number: Decimal(number).scaleb(-15))
BOUNDS = st.none() | st.one_of(
    st.builds(Bound, st.just("BooleanWrapper"), st.booleans()),
    st.builds(Bound, st.sampled_from(["IntWrapper", "DateWrapper", "LocalDateWrapper"]), INTS),
    st.builds(Bound, st.sampled_from(["LongWrapper", "TimeMicrosWrapper", "TimestampMicrosWrapper"]), LONGS),
    st.builds(Bound, st.just("FloatWrapper"), st.floats(width=32, allow_nan=False)),
    st.builds(Bound, st.just("DoubleWrapper"), st.floats(allow_nan=False)),
    st.builds(Bound, st.just("StringWrapper"), TEXTS),
    st.builds(Bound, st.just("BytesWrapper"), st.binary(max_size=9)),
    st.builds(Bound, st.just("DecimalWrapper"), DECIMALS),
)
COUNTS = st.none() | LONGS
STATISTICS = (TEXTS, BOUNDS, BOUNDS, COUNTS, COUNTS, COUNTS, COUNTS, st.booleans(), st.booleans())
FILES = st.builds(FileInfo, st.integers(1, (1 << 63) - 1), st.booleans())
PAYLOADS = st.one_of(
    st.builds(FileList, st.dictionaries(TEXTS, FILES, max_size=4)),
    st.builds(ColumnStats, *STATISTICS, file_name=TEXTS),
    st.builds(PartitionStats, *STATISTICS, partition=TEXTS),
    st.builds(BloomFilter, TEXTS, TEXTS, st.text("AZaz09+/", max_size=9), st.booleans()),
    st.builds(
        RecordLocation, TEXTS, st.uuids().map(lambda uuid: location_of(f"{uuid}-0")), LONGS, st.none() | LONGS
    ),
    st.builds(SecondaryEntry, st.booleans()),
)  # fmt: skip
ENTRIES = st.lists(st.builds(MetadataRecord, TEXTS, PAYLOADS).map(encode_record), min_size=1, max_size=9)


def decode_both_ways(entries: Sequence[Entry], schema: AvroSchema = SCHEMA) -> list[list[MetadataRecord] | str]:
    """The records, or the error, of the fast code and of the plain code. Enough entries for the fast code."""
    many, found = [*entries] * FastPath.DECODE_RECORDS.least, list[list[MetadataRecord] | str]()
    for setting in ("0", "1"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(VARIABLE, setting)
            try:
                found.append(list(decode_entries(many, schema, "p")))
            except HudiError as error:
                found.append(str(error))
    return found


@bounded(100)
@given(entries=ENTRIES)
def test_many_entries_have_the_records_of_the_plain_code(entries: list[Entry]) -> None:
    """MDT-003: records of all types, with bounds of all types, are decoded side by side."""
    many = [entry.value for entry in entries] * FastPath.DECODE_RECORDS.least
    assert decode_records(many, codec_schema(SCHEMA, "decimals")) is not None
    fast, plain = decode_both_ways(entries)
    assert isinstance(fast, list)
    assert fast == plain


@bounded(300)
@given(entries=ENTRIES, data=st.data())
def test_damaged_entries_have_the_error_of_the_plain_code(entries: list[Entry], data: st.DataObject) -> None:
    """MDT-003: bytes that are changed, missing or superfluous give the records or the error of the plain code."""
    which = data.draw(st.integers(0, len(entries) - 1))
    row, value = entries[which].row, bytearray(entries[which].value)
    place = data.draw(st.integers(0, len(value) - 1))
    match data.draw(st.sampled_from(["change", "cut", "add"])):
        case "change":
            value[place] = data.draw(st.integers(0, 255))
        case "cut":
            del value[place:]
        case _:
            value.insert(place, data.draw(st.integers(0, 255)))
    fast, plain = decode_both_ways([*entries[:which], Entry(row, bytes(value)), *entries[which + 1 :]])
    assert repr(fast) == repr(plain)  # a changed byte may make a NaN


def test_types_of_values_and_long_maps() -> None:
    """MDT-006, MDT-017: entries of version 9 have types of values; a long map in few records is left to the plain code."""
    stats = ColumnStats(
        "c", Bound("DateWrapper", 1), Bound("DateWrapper", 9), 2, 0, 9, 9, False, True, ValueType(12), file_name="f"
    )
    listed = FileList({"f": FileInfo(9), "g": FileInfo(0, is_deleted=True)})
    for payload, is_fast in ((stats, True), (listed, False)):
        entry = encode_record(MetadataRecord("k", payload), SCHEMA_9)
        assert (decode_records([entry.value], codec_schema(SCHEMA_9, "decimals")) is not None) is is_fast
        fast, plain = decode_both_ways([entry], SCHEMA_9)
        assert fast == plain == [MetadataRecord("k", payload)] * FastPath.DECODE_RECORDS.least


def test_maps_in_several_blocks_are_left_to_the_plain_code() -> None:
    """MDT-003: a map may be stored in several blocks, and a block with its size; writers of tables do not do so."""
    entry = encode_record(MetadataRecord("k", FileList({"f": FileInfo(9)})))
    one = b"\x02\x02f\x12\x00"  # a block of one entry: a key of one byte, 9 bytes, not deleted
    assert one in entry.value
    sized = b"\x01" + bytes([2 * (len(one) - 1)]) + one[1:]
    for value in (entry.value.replace(one, one + one), entry.value.replace(one, sized)):
        fast, plain = decode_both_ways([Entry(b"k", value)])
        assert decode_records([value] * FastPath.DECODE_RECORDS.least, codec_schema(SCHEMA, "decimals")) is None
        assert fast == plain == [MetadataRecord("k", FileList({"f": FileInfo(9)}))] * FastPath.DECODE_RECORDS.least
