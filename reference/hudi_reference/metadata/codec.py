"""Encoding and decoding of the metadata table's records: Avro."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Context, Decimal
from itertools import islice
from typing import Any, NamedTuple

from hudi_reference.errors import InvalidRows, MalformedIndexEntry, UnsupportedTableFeature
from hudi_reference.fast_paths import FastPath, use_fast
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.metadata.fast.decode_records import decode_records
from hudi_reference.metadata.keys import ALL_PARTITIONS
from hudi_reference.metadata.locations import Location, file_id_of
from hudi_reference.metadata.records import (
    BloomFilter,
    Bound,
    ColumnStats,
    FileInfo,
    FileList,
    MetadataRecord,
    PartitionList,
    PartitionStats,
    Payload,
    RecordLocation,
    SecondaryEntry,
    Statistics,
    ValueType,
)
from hudi_reference.metadata.schema import ARRAY, ARRAY_VALUES, DECIMAL_SCALE, NAMESPACE, SCHEMA, WRAPPERS
from hudi_reference.metadata.value_types import bound_of_stored, stored_bound
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.avro_codec import DAMAGE, codec_schema, decode_datum, encode_datum

Json = Mapping[str, Any]
#: Entries that are decoded before the first of them is returned.
_ENTRIES_AT_ONCE = 1 << 12
#: A value in one of the wrapper records: the full name of the record, and the record.
Wrapped = tuple[str, Json] | None


def decode_entries(entries: Iterable[Entry], schema: AvroSchema, path: str) -> Iterator[MetadataRecord]:
    """The records in the entries of an HFile; `schema` is that of the file, or of the block that contains it.

    Raises MalformedIndexEntry, and UnsupportedTableFeature for bounds of an unknown kind.
    """
    parsed, rest = codec_schema(schema, "decimals"), iter(entries)
    while some := list(islice(rest, _ENTRIES_AT_ONCE)):
        is_many = use_fast(FastPath.DECODE_RECORDS, len(some))
        records = decode_records([entry.value for entry in some], parsed) if is_many else None
        for nth, entry in enumerate(some):
            try:
                key = entry.row.decode()
                record = decode_datum(entry.value, parsed, named=True) if records is None else records[nth]
                payload = _payload(record, key)
            except (MalformedIndexEntry, UnsupportedTableFeature) as error:
                error.path = path
                raise
            except DAMAGE as error:
                raise MalformedIndexEntry(
                    f"the value of the key {entry.row[:60]!r} is not a record of the metadata table", rule="MDT-003", path=path,
                    expected="an Avro record of the file's schema, with the member of its type",
                    found=f"{type(error).__name__}: {error}", remedy="rebuild the metadata table",
                ) from error  # fmt: skip
            yield MetadataRecord(key, payload)


def encode_record(record: MetadataRecord, schema: AvroSchema = SCHEMA) -> Entry:
    """The entry of an HFile with the record, under a schema that writers store.

    Raises InvalidRows for an existing file without a size, and for values that the schema cannot hold.
    """
    number, kind = next((n, k) for n, k in _KINDS.items() if k.payload is type(record.payload))
    value = {"key": "", "type": number, kind.member: kind.encode(record.payload)}
    try:
        return Entry(record.key.encode(), encode_datum(value, codec_schema(schema, "decimals")))
    except (ValueError, TypeError, OverflowError, UnicodeEncodeError) as error:
        message = "the value does not fit the schema of the record"
        raise InvalidRows(message, rule="MDT-003", path=record.key, found=f"{type(error).__name__}: {error}") from error


@implements("MDT-003", "MDT-007")
def _payload(record: Json, key: str) -> Payload:
    number = record["type"]
    if number not in _KINDS or (key == ALL_PARTITIONS) != (number == PARTITION_LIST):
        raise ValueError(f"a record of type {number}")
    if record["key"] not in ("", key):
        raise ValueError(f"the key {record['key']!r} in the value")
    kind = _KINDS[number]
    return kind.decode(_require(record, kind.member))


def _require(record: Json, name: str) -> Any:
    if record[name] is None:
        raise ValueError(f"{name} is null")
    return record[name]


def _decode_files(listed: Json) -> dict[str, FileInfo]:
    return {name: FileInfo(info["size"], info["isDeleted"]) for name, info in listed.items()}


def _encode_files(files: Mapping[str, FileInfo]) -> Json:
    # ER-063: size and deletion flag; group and instant are in the name.
    return {name: {"size": info.size, "isDeleted": info.is_deleted} for name, info in files.items()}


@implements("MDT-006", "MDT-013")
def _encode_file_list(files: Mapping[str, FileInfo]) -> Json:
    for name, info in files.items():
        if info.size <= 0 and not info.is_deleted:
            raise InvalidRows("a file without its size", rule="MDT-013", path=name, found=f"{info.size} bytes")
    return _encode_files(files)


@implements("MDT-011", "MDT-014", "MDT-017")
def _decode_statistics(stats: Json) -> dict[str, Any]:
    # Records of releases before 1.0 lack the member for tight bounds; a compaction after an upgrade keeps their schema.
    stored = stats.get("valueType")
    kind = (
        None if stored is None or stored["typeOrdinal"] == _V1 else ValueType(stored["typeOrdinal"], stored["additionalInfo"])
    )
    return {
        "column": _require(stats, "columnName"),
        "least": _decode_bound(stats["minValue"], kind),
        "greatest": _decode_bound(stats["maxValue"], kind),
        "value_count": stats["valueCount"],
        "null_count": stats["nullCount"],
        "total_size": stats["totalSize"],
        "total_uncompressed_size": stats["totalUncompressedSize"],
        "is_deleted": stats["isDeleted"],
        "is_tight": stats.get("isTightBound", False),
        "value_type": kind,
    }


#: The ordinal that stands for no value type.
_V1 = 0


def _decode_bound(wrapped: Wrapped, kind: ValueType | None) -> Bound | None:
    found = _unwrap_bound(wrapped)
    return found if found is None or kind is None or found.wrapper == ARRAY else bound_of_stored(found, kind)


def _unwrap_bound(wrapped: Wrapped) -> Bound | None:
    if wrapped is None:
        return None
    name = wrapped[0].rpartition(".")[2]
    if name == ARRAY:
        return Bound(ARRAY, tuple(_unwrap_bound(one) for one in wrapped[1][ARRAY_VALUES] or ()))
    if name not in WRAPPERS:
        raise UnsupportedTableFeature("a bound of an unknown kind", rule="MDT-014", expected=", ".join(WRAPPERS), found=name)
    return Bound(name, wrapped[1]["value"])


def _encode_statistics(stats: Statistics, owner: str) -> Json:
    kind = stats.value_type
    return {
        "fileName": owner,
        "columnName": stats.column,
        "minValue": _wrap_bound(_stored(stats.least, kind, is_least=True)),
        "maxValue": _wrap_bound(_stored(stats.greatest, kind, is_least=False)),
        "valueCount": stats.value_count,
        "nullCount": stats.null_count,
        "totalSize": stats.total_size,
        "totalUncompressedSize": stats.total_uncompressed_size,
        "isDeleted": stats.is_deleted,
        "isTightBound": stats.is_tight,
        "valueType": None if kind is None else {"typeOrdinal": kind.ordinal, "additionalInfo": kind.info},
    }


def _stored(bound: Bound | None, kind: ValueType | None, *, is_least: bool) -> Bound | None:
    """What is stored of a bound: in version V1 decimals have 15 digits after the point, whatever their type."""
    if bound is None or bound.wrapper == ARRAY:
        return bound
    if kind is not None:
        return stored_bound(bound, kind, is_least=is_least)
    return replace(bound, value=bound.value.quantize(_UNIT, context=_EXACT)) if isinstance(bound.value, Decimal) else bound


_EXACT = Context(prec=60)
_UNIT = Decimal(1).scaleb(-DECIMAL_SCALE)


def _wrap_bound(bound: Bound | None) -> Wrapped:
    if bound is None:
        return None
    if isinstance(bound.value, tuple):
        return f"{NAMESPACE}.{ARRAY}", {ARRAY_VALUES: [_wrap_bound(one) for one in bound.value]}
    return f"{NAMESPACE}.{bound.wrapper}", {"value": bound.value}


@implements("IDX-005", "IDX-006", "IDX-007", "IDX-008")
def _decode_bloom_filter(stored: Json) -> BloomFilter:
    return BloomFilter(stored["type"], stored["timestamp"], stored["bloomFilter"].decode("ascii"), stored["isDeleted"])


def _encode_bloom_filter(found: BloomFilter) -> Json:
    return {
        "type": found.type,
        "timestamp": found.instant,
        # ER-064: the ASCII bytes of the Base64 text.
        "bloomFilter": found.text.encode("ascii"),
        "isDeleted": found.is_deleted,
    }


@implements("IDX-013", "IDX-014", "IDX-016", "IDX-017", "IDX-018", "IDX-019", "IDX-020")
def _decode_location(stored: Json) -> RecordLocation:
    names = ("fileIdHighBits", "fileIdLowBits", "fileIndex", "fileIdEncoding", "fileId")
    location = Location(*(_require(stored, name) for name in names))
    file_id_of(location)
    return RecordLocation(_require(stored, "partitionName"), location, _require(stored, "instantTime"), stored.get("position"))


def _encode_location(found: RecordLocation) -> Json:
    return {
        "partitionName": found.partition,
        "fileIdHighBits": found.location.high,
        "fileIdLowBits": found.location.low,
        "fileIndex": found.location.index,
        "fileId": found.location.text,
        "instantTime": found.milliseconds,
        "fileIdEncoding": found.location.encoding,
        "position": found.position,
    }


class _Kind(NamedTuple):
    """How the records of one type are stored: the member of the Avro record, and its decoder and encoder."""

    payload: type[Payload]
    member: str
    decode: Callable[[Any], Payload]
    encode: Callable[[Any], Any]


#: The type of the record that lists the partitions.
PARTITION_LIST = 1
_KINDS: dict[int, _Kind] = {
    PARTITION_LIST: _Kind(
        PartitionList, "filesystemMetadata", lambda m: PartitionList(_decode_files(m)), lambda p: _encode_files(p.partitions)
    ),
    2: _Kind(FileList, "filesystemMetadata", lambda m: FileList(_decode_files(m)), lambda p: _encode_file_list(p.files)),
    3: _Kind(
        ColumnStats, "ColumnStatsMetadata",
        lambda m: ColumnStats(**_decode_statistics(m), file_name=_require(m, "fileName")),
        lambda p: _encode_statistics(p, p.file_name),
    ),
    4: _Kind(BloomFilter, "BloomFilterMetadata", _decode_bloom_filter, _encode_bloom_filter),
    5: _Kind(RecordLocation, "recordIndexMetadata", _decode_location, _encode_location),
    6: _Kind(
        PartitionStats, "ColumnStatsMetadata",
        lambda m: PartitionStats(**_decode_statistics(m), partition=_require(m, "fileName")),
        lambda p: _encode_statistics(p, p.partition),
    ),
    7: _Kind(
        SecondaryEntry, "SecondaryIndexMetadata",
        lambda m: SecondaryEntry(m["isDeleted"]), lambda p: {"isDeleted": p.is_deleted},
    ),
}  # fmt: skip
