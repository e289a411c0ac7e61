"""Records of the metadata table, one line each."""

import datetime
from collections.abc import Iterable, Mapping
from itertools import islice

from hudi_conformance.render.parts.rows import Row
from hudi_reference.errors import HudiError
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.metadata.codec import decode_entries
from hudi_reference.metadata.records import (
    BloomFilter,
    Bound,
    ColumnStats,
    FileInfo,
    FileList,
    PartitionList,
    PartitionStats,
    Payload,
    RecordLocation,
    Statistics,
)
from hudi_reference.schema.avro import AvroSchema

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def describe_entries(entries: Iterable[Entry], schema: AvroSchema, path: str, most: int) -> list[Row]:
    """The first entries of an HFile of the metadata table, key and record, or the error of a malformed record."""
    rows: list[Row] = []
    for entry in islice(entries, most):
        try:
            (record,) = decode_entries([entry], schema, path)
            rows.append({"key": record.key, "kind": _kind(record.payload), "says": describe_record(record.payload)})
        except HudiError as error:
            key = entry.row.decode("utf-8", "backslashreplace")
            rows.append({"key": key, "kind": "unknown", "says": f"{error.message}: {error.found}"})
    return rows


def _kind(payload: Payload) -> str:
    return {
        PartitionList: "partitions", FileList: "files", ColumnStats: "column stats", PartitionStats: "partition stats",
        BloomFilter: "bloom filter", RecordLocation: "record index",
    }.get(type(payload), "secondary index")  # fmt: skip


def describe_record(payload: Payload) -> str:
    """The text of a record."""
    match payload:
        case PartitionList(listed) | FileList(listed):
            return ", ".join(_listed(listed)) or "none"
        case ColumnStats() | PartitionStats():
            return _statistics(payload)
        case BloomFilter():
            return f"{payload.type}, {len(payload.text):,} characters, {payload.instant}" + _deleted(payload.is_deleted)
        case RecordLocation():
            since = _EPOCH + datetime.timedelta(milliseconds=payload.milliseconds)
            where = payload.partition or "(not partitioned)"
            return f"{where} {payload.location.file_id} since {since:%Y-%m-%d %H:%M:%S}.{since.microsecond // 1000:03}"
    return "deleted" if payload.is_deleted else "there"


def _listed(files: Mapping[str, FileInfo]) -> Iterable[str]:
    """Names with sizes; deleted files are marked."""
    for name, info in files.items():
        yield f"{name} deleted" if info.is_deleted else f"{name} {info.size:,} bytes" if info.size else name


def _statistics(found: Statistics) -> str:
    owner = found.file_name if isinstance(found, ColumnStats) else f"partition {getattr(found, 'partition', '')!r}"
    tight = " tight" if found.is_tight else ""
    counts = f"{found.null_count} null of {found.value_count}{tight}"
    return f"{found.column}: {_bound(found.least)} to {_bound(found.greatest)}, {counts}, {owner}" + _deleted(found.is_deleted)


def _bound(bound: Bound | None) -> str:
    if bound is None:
        return "null"
    return bound.value.hex() if isinstance(bound.value, bytes) else str(bound.value)


def _deleted(is_deleted: bool) -> str:
    return ", deleted" if is_deleted else ""
