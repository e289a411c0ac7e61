"""The pure functions of the contract, computed by the reference.

Arguments and values are JSON; errors of the reference are raised unchanged.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa

from hudi_conformance.contract.errors import EngineError
from hudi_conformance.engines.reference.clustering import clustering_groups, clustering_partitions
from hudi_conformance.engines.reference.merging import choose, fold, settings
from hudi_conformance.engines.reference.properties import infer, parse, table_checksum
from hudi_conformance.engines.reference.times import draw, time_text
from hudi_conformance.engines.support.metadata_json import metadata_partition, metadata_record
from hudi_reference.errors import InvalidQuery, MalformedHistory
from hudi_reference.files.bloom.bloom import FilterType, decode_filter, make_filter
from hudi_reference.files.log.positions import decode_positions, encode_positions
from hudi_reference.layout.names import in_merge_order, require_base_file_name, require_log_file_name
from hudi_reference.layout.partitions import escape, unescape
from hudi_reference.layout.properties import TableProperties
from hudi_reference.metadata.availability import lists_after
from hudi_reference.metadata.indexes.index_functions import values_of
from hudi_reference.metadata.keys import bloom_filters_key, column_stats_key, file_group_of, partition_stats_key
from hudi_reference.metadata.locations import location_of
from hudi_reference.metadata.secondary_keys import parse_secondary_key, secondary_key
from hudi_reference.records.keys.bucket_hash import bucket_of
from hudi_reference.records.keys.record_keys import KeyGenerator, composite_key
from hudi_reference.schema.avro import arrow_schema
from hudi_reference.timeline.active import Timeline, build_timeline, completion_order
from hudi_reference.timeline.history.manifest import LevelFile, parse_level_file_name
from hudi_reference.timeline.instants.times import milliseconds_of

Json = Any
#: The largest number of positions in an answer, because a bitmap of a few bytes may have more positions than fit in memory.
MOST_POSITIONS = 1_000_000


def compute(function: str, arguments: Mapping[str, Json]) -> Json:
    """The value of a function of the contract.

    Raises EngineError for an unknown function or invalid arguments, HudiError for values without a result.
    """
    if function not in FUNCTIONS:
        raise EngineError(f"unknown function {function!r}; the functions are {', '.join(FUNCTIONS)}")
    work, names, optional = FUNCTIONS[function]
    if not set(names) <= arguments.keys() <= {*names, *optional}:
        raise EngineError(f"{function} takes {', '.join(names + optional)}, not {', '.join(arguments) or 'nothing'}")
    try:
        return work(**arguments) if optional else work(*(arguments[name] for name in names))
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise EngineError(f"{function} does not take these arguments: {error}") from error


def _log_file_name(name: str) -> Json:
    found = require_log_file_name(name)
    return {
        "file_id": found.file_id,
        "instant": found.instant,
        "version": found.version,
        "token": found.write_token or None,
        "cdc": found.cdc,
    }


def _history_file_name(name: str) -> Json:
    parts = parse_level_file_name(name)
    if parts is None:
        raise MalformedHistory("the name is not that of a history file", rule="LSM-013", path=name,
                               expected="<minimum>_<maximum>_<level>.parquet")  # fmt: skip
    return {"minimum": parts[0], "maximum": parts[1], "level": parts[2]}


def _build_timeline(names: Sequence[str]) -> Json:
    timeline = Timeline(build_timeline(names))
    done = sorted(timeline.completed, key=completion_order)
    return {
        "completed": [{"requested": i.requested, "completion": i.completion, "action": i.action} for i in done],
        "pending": [{"requested": i.requested, "action": i.action, "state": i.state.name} for i in timeline.pending],
    }


def _files_in_range(names: Sequence[str], begin: str, end: str) -> list[str]:
    parsed = {name: _history_file_name(name) for name in names}
    files = [LevelFile(name, 0, **parts) for name, parts in parsed.items()]
    return [file.name for file in files if file.may_hold(begin, end)]


def _base_file_name(name: str) -> Json:
    found = require_base_file_name(name)
    return {"file_id": found.file_id, "token": found.write_token, "instant": found.instant, "extension": found.extension}


def _complex_key(fields: Sequence[tuple[str, str | None]]) -> str:
    return composite_key([name for name, _ in fields], [value for _, value in fields])


#: Avro type of a key field -> conversion from the text of a value to the stored value.
_STORED: dict[str, Callable[[Json], Json]] = {
    "int": int, "long": int, "float": float, "double": float, "string": str, "boolean": bool, "bytes": bytes.fromhex,
}  # fmt: skip


def _generate_key(fields: Sequence[tuple[str, Json, Json]], properties: Mapping[str, str]) -> Json:
    """Key and path of one row. A field is its name, its Avro type, and its stored value: numbers and decimals as text, bytes in
    hexadecimal digits.
    """
    record = {"type": "record", "name": "row", "fields": [{"name": name, "type": ["null", kind]} for name, kind, _ in fields]}
    types = arrow_schema(record).types
    columns = [_key_column(found, kind, value) for found, (_, kind, value) in zip(types, fields, strict=True)]
    rows = pa.table(columns, names=[name for name, _, _ in fields])
    generator = KeyGenerator.from_properties(TableProperties(properties))
    return {"key": generator.keys(rows)[0].as_py(), "partition": generator.paths(rows)[0].as_py()}


def _key_column(found: pa.DataType, kind: Json, value: Json) -> pa.Array:
    """A column with one value."""
    if value is None or pa.types.is_decimal(found):
        return pa.array([None if value is None else Decimal(value)], found)
    plain = kind if isinstance(kind, str) else kind["type"]
    stored = pa.array([_STORED[plain](value)], {"int": pa.int32(), "long": pa.int64()}.get(plain, found))
    return stored if stored.type == found else stored.view(found)


def _bucket(fields: Sequence[tuple[str, str | None]], buckets: int) -> int:
    return bucket_of([value for _, value in fields], buckets)


def _secondary_parts(key: str) -> Json:
    secondary, record = parse_secondary_key(key)
    return {"secondary": secondary, "record": record}


def _location(file_id: str) -> Json:
    found = location_of(file_id)
    return {
        "high": str(found.high),
        "low": str(found.low),
        "index": found.index,
        "encoding": found.encoding,
        "file_id": found.text,
    }


_COLUMN_TYPES = {
    "string": pa.string(),
    "long": pa.int64(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def _index_values(function: str, options: Mapping[str, str], type: str, values: Sequence[Any]) -> list[Any]:
    kind = _COLUMN_TYPES[type]
    stored = {"date": pa.int32(), "timestamp": pa.int64()}.get(type, kind)
    found = values_of(function, options, pa.array(values, stored).cast(kind))
    plain = {pa.date32(): pa.int32(), pa.timestamp("us", "UTC"): pa.int64()}.get(found.type, found.type)
    return list(found.cast(plain).to_pylist())


def _make_filter(kind: str, entries: int, rate: float, max_entries: int, keys: Sequence[str]) -> str:
    return make_filter(keys, FilterType(kind), entries=entries, rate=rate, max_entries=max_entries).encode()


def _may_hold(kind: str, text: str, keys: Sequence[str]) -> list[bool]:
    return decode_filter(kind, text, "the filter").may_hold(keys)


def _positions(bitmap: str) -> list[str]:
    found = decode_positions(bitmap, "the bitmap")
    if len(found) > MOST_POSITIONS:
        raise InvalidQuery(
            "the bitmap has more positions than an answer may have", expected=f"up to {MOST_POSITIONS}", found=str(len(found))
        )
    return [str(position) for position in islice(found, MOST_POSITIONS)]


def _partitions_after(step: Any, partition: str, partitions: Sequence[str], inflight: Sequence[str]) -> Json:
    if step not in ("begin", "complete", "drop"):
        raise EngineError(f"no step {step!r}")
    ready, building = lists_after(step, partition, partitions, inflight)
    return {"partitions": ready, "inflight": building}


class Function(NamedTuple):
    """The implementation of a function, and the names of its arguments in order; the last ones may be left out."""

    work: Callable[..., Json]
    arguments: tuple[str, ...]
    optional: tuple[str, ...] = ()


#: The functions by their names in the contract.
FUNCTIONS: Mapping[str, Function] = {
    "log-file-name.parse": Function(_log_file_name, ("name",)),
    "log-file-names.sort": Function(in_merge_order, ("names",)),
    "base-file-name.parse": Function(_base_file_name, ("name",)),
    "instant.milliseconds": Function(lambda instant: str(milliseconds_of(instant)), ("instant",)),
    "partition.escape": Function(escape, ("value",)),
    "partition.unescape": Function(unescape, ("text",)),
    "key.complex": Function(_complex_key, ("fields",)),
    "key.generate": Function(_generate_key, ("fields", "properties")),
    "hash.file-group": Function(file_group_of, ("key", "groups")),
    "hash.bucket": Function(_bucket, ("fields", "buckets")),
    "hash.column-stats-key": Function(column_stats_key, ("column", "partition", "file")),
    "hash.partition-stats-key": Function(partition_stats_key, ("column", "partition")),
    "hash.bloom-filters-key": Function(bloom_filters_key, ("partition", "file")),
    "secondary-key.encode": Function(secondary_key, ("secondary", "record")),
    "secondary-key.decode": Function(_secondary_parts, ("key",)),
    "record-index.location": Function(_location, ("file_id",)),
    "expression-index.values": Function(_index_values, ("function", "options", "type", "values")),
    "metadata-record.decode": Function(metadata_record, ("key", "value")),
    "metadata-partition.name": Function(metadata_partition, ("type", "name")),
    "bloom.make": Function(_make_filter, ("type", "entries", "rate", "max_entries", "keys")),
    "bloom.may-hold": Function(_may_hold, ("type", "filter", "keys")),
    "positions.encode": Function(lambda positions: encode_positions(map(int, positions)), ("positions",)),
    "positions.decode": Function(_positions, ("bitmap",)),
    "timeline.build": Function(_build_timeline, ("names",)),
    "history.files-in-range": Function(_files_in_range, ("names", "begin", "end")),
    "history-file-name.parse": Function(_history_file_name, ("name",)),
    "time.format": Function(time_text, ("milliseconds", "zone")),
    "metadata-partitions.after": Function(_partitions_after, ("step", "partition", "partitions", "inflight")),
    "properties.parse": Function(parse, ("text",)),
    "properties.checksum": Function(table_checksum, ("database", "table")),
    "properties.infer": Function(infer, ("mode", "strategy", "payload", "ordering"), optional=("version",)),
    "merge.fold": Function(fold, ("mode", "payload", "strategy", "ordering", "schema", "base", "log")),
    "merge.settings": Function(settings, ("options",)),
    "merger.choose": Function(choose, ("strategy", "record_type", "mergers")),
    "clustering.groups": Function(clustering_groups, ("files", "settings")),
    "clustering.partitions": Function(clustering_partitions, ("partitions", "settings", "hour")),
    "true-time.draw": Function(draw, ("source", "skew", "clocks", "program")),
}
