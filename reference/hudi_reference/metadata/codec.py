"""Encoding and decoding of the metadata table's records: Avro."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hudi_reference.errors import InvalidRows, MalformedIndexEntry, UnsupportedTableFeature
from hudi_reference.files.hfile.cell import Entry
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
)
from hudi_reference.metadata.schema import NAMESPACE, SCHEMA, WRAPPERS
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.avro_codec import DAMAGE, codec_schema, decode_datum, encode_datum

Json = Mapping[str, Any]


def decode_entries(entries: Iterable[Entry], schema: AvroSchema, path: str) -> Iterator[MetadataRecord]:
    """The records in the entries of an HFile; `schema` is that of the file, or of the block that contains it.

    Raises MalformedIndexEntry, and UnsupportedTableFeature for statistics of a later index version.
    """
    parsed = codec_schema(schema, "decimals")
    for entry in entries:
        try:
            key = entry.row.decode()
            record = decode_datum(entry.value, parsed, named=True)
            payload = _payload(record, key)
        except DAMAGE as error:
            raise MalformedIndexEntry(
                f"the value of the key {entry.row[:60]!r} is not a record of the metadata table", rule="MDT-003", path=path,
                expected="an Avro record of the file's schema, with the member of its type",
                found=f"{type(error).__name__}: {error}", remedy="rebuild the metadata table",
            ) from error  # fmt: skip
        yield MetadataRecord(key, payload)


def encode_record(record: MetadataRecord) -> Entry:
    """The entry of an HFile with the record, under SCHEMA.

    Raises InvalidRows for an existing file without a size, and for values that the schema cannot hold.
    """
    number, kind = next((n, k) for n, k in _KINDS.items() if k.payload is type(record.payload))
    value = {"key": "", "type": number, kind.member: kind.encode(record.payload)}
    try:
        return Entry(record.key.encode(), encode_datum(value, _OWN_SCHEMA))
    except (ValueError, TypeError, OverflowError, UnicodeEncodeError) as error:
        message = "the value does not fit the schema of the record"
        raise InvalidRows(message, rule="MDT-003", path=record.key, found=f"{type(error).__name__}: {error}") from error


_OWN_SCHEMA = codec_schema(SCHEMA, "decimals")


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


@implements("MDT-011", "MDT-014")
def _decode_statistics(stats: Json) -> dict[str, Any]:
    if stats.get("valueType") is not None:
        message = "column statistics of a later index version"
        raise UnsupportedTableFeature(message, rule="MDT-011", expected="no value type", found=str(stats["valueType"]))
    return {
        "column": _require(stats, "columnName"),
        "least": _unwrap_bound(stats["minValue"]),
        "greatest": _unwrap_bound(stats["maxValue"]),
        "value_count": stats["valueCount"],
        "null_count": stats["nullCount"],
        "total_size": stats["totalSize"],
        "total_uncompressed_size": stats["totalUncompressedSize"],
        "is_deleted": stats["isDeleted"],
        "is_tight": stats["isTightBound"],
    }


def _unwrap_bound(wrapped: tuple[str, Json] | None) -> Bound | None:
    if wrapped is None:
        return None
    name = wrapped[0].rpartition(".")[2]
    if name not in WRAPPERS:
        raise UnsupportedTableFeature("a bound of an unknown kind", rule="MDT-014", expected=", ".join(WRAPPERS), found=name)
    return Bound(name, wrapped[1]["value"])


def _encode_statistics(stats: Statistics, owner: str) -> Json:
    return {
        "fileName": owner,
        "columnName": stats.column,
        "minValue": _wrap_bound(stats.least),
        "maxValue": _wrap_bound(stats.greatest),
        "valueCount": stats.value_count,
        "nullCount": stats.null_count,
        "totalSize": stats.total_size,
        "totalUncompressedSize": stats.total_uncompressed_size,
        "isDeleted": stats.is_deleted,
        "isTightBound": stats.is_tight,
    }


def _wrap_bound(bound: Bound | None) -> tuple[str, Json] | None:
    return None if bound is None else (f"{NAMESPACE}.{bound.wrapper}", {"value": bound.value})


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
    return RecordLocation(_require(stored, "partitionName"), location, _require(stored, "instantTime"), stored["position"])


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
