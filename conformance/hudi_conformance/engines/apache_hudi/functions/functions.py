"""The pure functions of the contract, computed by the classes of Apache Hudi: names, times, keys, hashes, bloom filters,
positions.

The module has only calls and conversions. A function without a class in a release is not offered (`OFFERED`).
"""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fastavro

from hudi_conformance.contract import EngineError, Refused
from hudi_conformance.engines.apache_hudi.functions import merging
from hudi_conformance.engines.apache_hudi.jvm.session import Session
from hudi_conformance.engines.apache_hudi.jvm.tables import WRITE_OPTIONS

Arguments = Mapping[str, Any]


def compute(session: Session, function: str, arguments: Arguments) -> Any:
    """The value of `function`, one of `OFFERED[release]`. Raises Refused for any other."""
    if function not in OFFERED[session.version]:
        raise Refused(f"compute.{function}", f"Apache Hudi {session.version} has no class for it")
    return _FUNCTIONS[function](session, **arguments)


def _log_file(session: Session, name: str) -> Any:
    if not session.hudi.common.fs.FSUtils.isLogFile(name):
        raise EngineError(f"FSUtils.isLogFile: {name!r} is none")
    return session.hudi.common.model.HoodieLogFile(name)


def _parse_log_file_name(session: Session, name: str) -> dict[str, Any]:
    found = _log_file(session, name)
    return {
        "file_id": found.getFileId(),
        "instant": found.getDeltaCommitTime(),
        "version": found.getLogVersion(),
        "token": found.getLogWriteToken(),
        "cdc": found.isCDC(),
    }


def _sort_log_file_names(session: Session, names: Sequence[str]) -> list[str]:
    files = session.list_of(_log_file(session, name) for name in names)
    session.jvm.java.util.Collections.sort(files, session.hudi.common.model.HoodieLogFile.getLogFileComparator())
    return [str(file.getFileName()) for file in files]


def _parse_base_file_name(session: Session, name: str) -> dict[str, str]:
    utils = session.hudi.common.fs.FSUtils
    if not utils.isBaseFile(session.hudi.storage.StoragePath(name)):
        raise EngineError(f"FSUtils.isBaseFile: {name!r} is none")
    found = session.hudi.common.model.HoodieBaseFile(name)
    return {
        "file_id": found.getFileId(),
        "token": utils.getWriteTokenFromBaseFile(name),
        "instant": found.getCommitTime(),
        "extension": utils.getFileExtension(name).removeprefix("."),
    }


def _milliseconds(session: Session, instant: str) -> str:
    """The milliseconds of an instant time. Hudi reads it in the zone of the process, which is UTC for this call."""
    generator, zones = session.hudi.common.table.timeline.HoodieInstantTimeGenerator, session.hudi.common.model
    generator.setCommitTimeZone(zones.HoodieTimelineTimeZone.UTC)
    try:
        return str(generator.parseDateFromInstantTime(instant).getTime())
    finally:
        generator.setCommitTimeZone(zones.HoodieTimelineTimeZone.LOCAL)


def _format_time(session: Session, milliseconds: str, zone: str) -> str:
    """An instant time. Hudi formats it in the zone of the process, which is set for this call."""
    zones = session.jvm.java.util.TimeZone
    before, wanted = zones.getDefault(), session.jvm.java.time.ZoneId.of(zone)
    zones.setDefault(zones.getTimeZone(wanted))
    try:
        moment = session.jvm.java.util.Date(session.jvm.java.lang.Long.parseLong(milliseconds))
        return str(session.hudi.common.table.timeline.HoodieInstantTimeGenerator.formatDate(moment))
    finally:
        zones.setDefault(before)


def _escape(session: Session, value: str) -> str:
    return str(session.hudi.common.util.PartitionPathEncodeUtils.escapePathName(value))


def _unescape(session: Session, text: str) -> str:
    return str(session.hudi.common.util.PartitionPathEncodeUtils.unescapePathName(text))


def _complex_key(session: Session, fields: Sequence[tuple[str, str | None]]) -> str:
    """The complex key of an Avro record whose fields are nullable text; a name with dots is a field of a nested record."""
    row: dict[str, Any] = {}
    for name, value in fields:
        *path, last = name.split(".")
        parent = row
        for part in path:
            parent = parent.setdefault(part, {})
        parent[last] = value
    names = session.list_of(name for name, _ in fields)
    return str(session.hudi.keygen.KeyGenUtils.getRecordKey(_avro_record(session, row, "row"), names, False))


def _avro_record(session: Session, row: Mapping[str, Any], name: str) -> Any:
    avro = session.jvm.org.apache.avro
    builder = avro.SchemaBuilder.record(name).fields()
    values = {field: _avro_record(session, v, field) if isinstance(v, Mapping) else v for field, v in row.items()}
    for field, value in values.items():
        nested = isinstance(row[field], Mapping)
        builder = builder.name(field).type(value.getSchema()).noDefault() if nested else builder.optionalString(field)
    record = avro.generic.GenericData.Record(builder.endRecord())
    for field, value in values.items():
        record.put(field, value)
    return record


#: Avro type of a key field -> conversion from the text of a value to the stored value.
_STORED: Mapping[str, Callable[[Any], Any]] = {
    "int": int, "long": int, "float": float, "double": float, "string": str, "boolean": bool, "bytes": bytes.fromhex,
}  # fmt: skip
#: A property of a table -> the setting of a writer from which a key generator takes the same.
_SETTINGS = {
    "hoodie.table.keygenerator.type": "hoodie.datasource.write.keygenerator.type",
    "hoodie.table.recordkey.fields": "hoodie.datasource.write.recordkey.field",
    "hoodie.table.partition.fields": "hoodie.datasource.write.partitionpath.field",
}


def _generate_key(session: Session, fields: Sequence[tuple[str, Any, Any]], properties: Mapping[str, str]) -> dict[str, str]:
    """The key of an Avro record. The record is passed as bytes, because the bridge to Java loses types of numbers."""
    schema = json.dumps({"type": "record", "name": "row", "fields": [{"name": n, "type": ["null", k]} for n, k, _ in fields]})
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), {n: _stored(k, v) for n, k, v in fields})
    avro = session.jvm.org.apache.avro
    reader = avro.generic.GenericDatumReader(avro.Schema.Parser().parse(schema))
    record = reader.read(None, avro.io.DecoderFactory.get().binaryDecoder(out.getvalue(), None))
    settings = {_SETTINGS.get(name, name): value for name, value in properties.items()}
    typed = session.hudi.common.config.TypedProperties()
    typed.putAll(session.properties({**WRITE_OPTIONS, **settings}))
    key = session.hudi.keygen.factory.HoodieAvroKeyGeneratorFactory.createKeyGenerator(typed).getKey(record)
    return {"key": str(key.getRecordKey()), "partition": str(key.getPartitionPath())}


def _stored(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, str):
        return _STORED[kind](value)
    return Decimal(value) if kind["logicalType"] == "decimal" else int(value)


def _file_group(session: Session, key: str, groups: int) -> int:
    return int(session.hudi.metadata.HoodieTableMetadataUtil.mapRecordKeyToFileGroupIndex(key, groups))


def _bucket(session: Session, fields: Sequence[tuple[str, str]], buckets: int) -> int:
    values = session.list_of(value for _, value in fields)
    return int(session.hudi.index.bucket.BucketIdentifier.getBucketId(values, buckets))


def _column_stats_key(session: Session, column: str, partition: str, file: str) -> str:
    hashes, metadata = session.hudi.common.util.hash, session.hudi.metadata
    folder = hashes.PartitionIndexID(metadata.HoodieTableMetadataUtil.getColumnStatsIndexPartitionIdentifier(partition))
    payload = metadata.HoodieMetadataPayload
    return str(payload.getColumnStatsIndexKey(folder, hashes.FileIndexID(file), hashes.ColumnIndexID(column)))


def _partition_stats_key(session: Session, column: str, partition: str) -> str:
    utils = session.hudi.metadata.HoodieTableMetadataUtil
    return str(utils.getPartitionStatsIndexKey(utils.getColumnStatsIndexPartitionIdentifier(partition), column))


def _bloom_filters_key(session: Session, partition: str, file: str) -> str:
    hashes, metadata = session.hudi.common.util.hash, session.hudi.metadata
    folder = hashes.PartitionIndexID(metadata.HoodieTableMetadataUtil.getBloomFilterIndexPartitionIdentifier(partition))
    return str(metadata.HoodieMetadataPayload.getBloomFilterIndexKey(folder, hashes.FileIndexID(file)))


def _encode_secondary_key(session: Session, secondary: str | None, record: str) -> str:
    return str(session.hudi.metadata.SecondaryIndexKeyUtils.constructSecondaryIndexKey(secondary, record))


def _decode_secondary_key(session: Session, key: str) -> dict[str, str | None]:
    utils = session.hudi.metadata.SecondaryIndexKeyUtils
    return {
        "secondary": utils.getSecondaryKeyFromSecondaryIndexKey(key),
        "record": utils.getRecordKeyFromSecondaryIndexKey(key),
    }


def _index_values(session: Session, function: str, options: Mapping[str, str], type: str, values: Sequence[Any]) -> list[Any]:
    """The function as the indexer applies it to a column; Spark makes columns of the stored numbers of dates and timestamps."""
    from pyspark.sql import Column
    from pyspark.sql.types import DateType, TimestampType

    spark = session.spark
    rows = spark.createDataFrame([(value,) for value in values], f"v {'long' if type in ('date', 'timestamp') else type}")
    column = {
        "date": "date_from_unix_date(int(v))", "timestamp": "timestamp_micros(v)",
    }.get(type, "v")  # fmt: skip
    rows = rows.selectExpr(f"{column} AS v")
    definition = (
        session.hudi.common.model.HoodieIndexDefinition.newBuilder().withIndexName("expr_index_i").withIndexType("column_stats")
    )
    definition = definition.withIndexFunction(function).withSourceFields(session.list_of(["v"]))
    definition = definition.withIndexOptions({"expr": function, **options}).build()
    index = session.hudi.index.expression.HoodieSparkExpressionIndex(definition)
    result = rows.select(Column(index.apply(session.list_of([rows["v"]._jc]))).alias("v"))
    kind = result.schema["v"].dataType
    if isinstance(kind, DateType):
        result = result.selectExpr("unix_date(v) AS v")
    elif isinstance(kind, TimestampType):
        result = result.selectExpr("unix_micros(v) AS v")
    return [row["v"] for row in result.collect()]


def _record_index_location(session: Session, file_id: str) -> dict[str, Any]:
    """The file id as a UUID with its index, or as text if Hudi does not accept it as a UUID."""
    from py4j.protocol import Py4JJavaError

    try:
        entry = _record_index_entry(session, file_id, 0)
    except Py4JJavaError:
        entry = _record_index_entry(session, file_id, 1)
    return {
        "high": str(entry.get("fileIdHighBits")),
        "low": str(entry.get("fileIdLowBits")),
        "index": entry.get("fileIndex"),
        "encoding": entry.get("fileIdEncoding"),
        "file_id": str(entry.get("fileId")),
    }


def _record_index_entry(session: Session, file_id: str, encoding: int) -> Any:
    payload = session.hudi.metadata.HoodieMetadataPayload
    record = payload.createRecordIndexUpdate("key", "", file_id, "20250101000000000", encoding)
    schema = session.hudi.avro.model.HoodieMetadataRecord.getClassSchema()
    return record.getData().getInsertValue(schema).get().get("recordIndexMetadata")


def _make_bloom(session: Session, type: str, entries: int, rate: float, max_entries: int, keys: Sequence[str]) -> str:
    made = session.hudi.common.bloom.BloomFilterFactory.createBloomFilter(entries, float(rate), max_entries, type)
    for key in keys:
        made.add(key)
    return str(made.serializeToString())


def _may_hold(session: Session, type: str, filter: str, keys: Sequence[str]) -> list[bool]:
    found = session.hudi.common.bloom.BloomFilterFactory.fromString(filter, type)
    return [bool(found.mightContain(key)) for key in keys]


def _encode_positions(session: Session, positions: Sequence[str]) -> str:
    bitmap = session.hudi.org.roaringbitmap.longlong.Roaring64NavigableMap()
    for position in positions:
        bitmap.addLong(int(position))
    return str(session.hudi.common.table.log.LogReaderUtils.encodePositions(bitmap))


def _decode_positions(session: Session, bitmap: str) -> list[str]:
    found = session.hudi.common.table.log.LogReaderUtils.decodeRecordPositionsHeader(bitmap)
    return [str(position) for position in found.toArray()]


#: The properties that a table needs before its timeline can be loaded.
_PROPERTIES = """hoodie.table.name=names
hoodie.table.type=MERGE_ON_READ
hoodie.table.version=8
hoodie.timeline.layout.version=2
hoodie.archivelog.folder=archived
"""


def _build_timeline(session: Session, names: Sequence[str]) -> dict[str, Any]:
    """The timeline of a table without data that has empty files of these names."""
    with TemporaryDirectory() as folder:
        timeline = Path(folder, ".hoodie", "timeline")
        timeline.mkdir(parents=True)
        (timeline.parent / "hoodie.properties").write_text(_PROPERTIES)
        for name in names:
            (timeline / name).touch()
        active = session.meta_client(Path(folder).as_uri()).getActiveTimeline()
    done = active.filterCompletedInstants().getInstantsOrderedByCompletionTime()
    pending = active.filterInflightsAndRequested().getInstants()
    return {
        "completed": [
            {"requested": i.requestedTime(), "completion": i.getCompletionTime(), "action": i.getAction()}
            for i in done.toArray()
        ],
        "pending": [
            {"requested": i.requestedTime(), "action": i.getAction(), "state": i.getState().toString()} for i in pending
        ],
    }


def _files_in_range(session: Session, names: Sequence[str], begin: str, end: str) -> list[str]:
    timeline = session.hudi.common.table.timeline
    range_ = timeline.HoodieArchivedTimeline.ClosedClosedTimeRangeFilter(begin, end)
    return [name for name in names if timeline.LSMTimeline.isFileInRange(range_, name)]


def _parse_properties(session: Session, text: str) -> dict[str, str]:
    found = session.jvm.java.util.Properties()
    found.load(session.jvm.java.io.StringReader(text))
    return {str(key): str(found.getProperty(key)) for key in found.stringPropertyNames()}


def _checksum(session: Session, database: str | None, table: str) -> str:
    names = {"hoodie.table.name": table} | ({} if database is None else {"hoodie.database.name": database})
    return str(session.hudi.common.table.HoodieTableConfig.generateChecksum(session.properties(names)))


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "timeline.build": _build_timeline,
    "history.files-in-range": _files_in_range,
    "log-file-name.parse": _parse_log_file_name,
    "log-file-names.sort": _sort_log_file_names,
    "base-file-name.parse": _parse_base_file_name,
    "instant.milliseconds": _milliseconds,
    "partition.escape": _escape,
    "partition.unescape": _unescape,
    "key.complex": _complex_key,
    "key.generate": _generate_key,
    "hash.file-group": _file_group,
    "hash.bucket": _bucket,
    "hash.column-stats-key": _column_stats_key,
    "hash.partition-stats-key": _partition_stats_key,
    "hash.bloom-filters-key": _bloom_filters_key,
    "secondary-key.encode": _encode_secondary_key,
    "secondary-key.decode": _decode_secondary_key,
    "record-index.location": _record_index_location,
    "expression-index.values": _index_values,
    "bloom.make": _make_bloom,
    "bloom.may-hold": _may_hold,
    "positions.encode": _encode_positions,
    "positions.decode": _decode_positions,
    "properties.parse": _parse_properties,
    "properties.checksum": _checksum,
    "properties.infer": merging.infer_properties,
    "merge.settings": merging.read_settings,
    "merger.choose": merging.choose_merger,
    "time.format": _format_time,
}

#: The functions of each release. 1.0.2 does not parse the write token of a base file name.
OFFERED: Mapping[str, frozenset[str]] = {
    "1.0.2": frozenset(_FUNCTIONS) - {"base-file-name.parse"},
    "1.1.1": frozenset(_FUNCTIONS),
    "1.2.0": frozenset(_FUNCTIONS),
}
