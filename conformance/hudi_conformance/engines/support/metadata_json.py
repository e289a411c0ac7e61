"""Records of the metadata table as JSON: 64-bit integers as text, binary as hex."""

from typing import Any

from hudi_reference.files.hfile.cell import Entry
from hudi_reference.metadata import records
from hudi_reference.metadata.codec import decode_entries
from hudi_reference.metadata.locations import file_id_of
from hudi_reference.metadata.partitions import BuiltIn, Kind, index_partition
from hudi_reference.metadata.schema import SCHEMA

Json = Any


def metadata_record(key: str, value: str) -> Json:  # noqa: PLR0911  one for each type
    """The decoded value (hex) of this key. Raises MalformedIndexEntry."""
    (found,) = decode_entries([Entry(key.encode(), bytes.fromhex(value))], SCHEMA, "the value")
    match found.payload:
        case records.PartitionList(partitions):
            return {"type": 1, "partitions": _listed(partitions)}
        case records.FileList(files):
            return {"type": 2, "files": _listed(files)}
        case records.ColumnStats() as stats:
            return {"type": 3, "file": stats.file_name, **_statistics(stats)}
        case records.BloomFilter(kind, instant, text, deleted):
            return {"type": 4, "filter": kind, "instant": instant, "text": text, "deleted": deleted}
        case records.RecordLocation(partition, location, moment, position):
            place = {"partition": partition, "file_id": file_id_of(location)}
            return {"type": 5, **place, "milliseconds": str(moment), "position": position}
        case records.PartitionStats() as stats:
            return {"type": 6, "partition": stats.partition, **_statistics(stats)}
        case records.SecondaryEntry(deleted):
            return {"type": 7, "deleted": deleted}


def metadata_partition(kind: str, name: str | None) -> str:
    """The partition of a built-in index, which has no name, or of one that was created under a name."""
    if name is None:
        return BuiltIn(kind).value
    return index_partition(Kind(kind), name)


def _listed(files: Any) -> Json:
    return {name: {"size": str(info.size), "deleted": info.is_deleted} for name, info in files.items()}


def _statistics(stats: records.Statistics) -> Json:
    return {
        "column": stats.column,
        "least": _bound(stats.least),
        "greatest": _bound(stats.greatest),
        "values": str(stats.value_count),
        "nulls": str(stats.null_count),
        "size": str(stats.total_size),
        "uncompressed_size": str(stats.total_uncompressed_size),
        "deleted": stats.is_deleted,
        "tight": stats.is_tight,
    }


#: Wrappers whose values are numbers of JSON, or texts and booleans as they are.
_PLAIN = frozenset({"BooleanWrapper", "IntWrapper", "DateWrapper", "LocalDateWrapper", "StringWrapper"})


def _bound(bound: records.Bound | None) -> Json:
    if bound is None:
        return None
    value: Any = bound.value
    if isinstance(value, bytes):
        value = value.hex()
    elif bound.wrapper not in _PLAIN:
        value = str(value)
    return {"wrapper": bound.wrapper, "value": value}
