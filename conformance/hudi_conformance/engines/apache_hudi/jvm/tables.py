"""Apache Hudi tables: their paths and versions, and how they are created and written."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from hudi_conformance.contract import EngineError, Refused, TableSpec
from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_conformance.engines.apache_hudi.jvm.listed_indexes import maintaining
from hudi_conformance.engines.apache_hudi.jvm.session import Session, of_spark

#: The oldest table version that the adapters write.
OLDEST_WRITTEN = 8
#: The newest table version that each release reads and writes.
NEWEST = {"1.0.2": 8, "1.1.1": 9, "1.2.0": 9}

#: Options of every write. Releases from 1.1 on would otherwise upgrade the table; services are separate operations.
WRITE_OPTIONS: Mapping[str, str] = {
    "hoodie.write.auto.upgrade": "false",
    # A complex key generator with one field: the bare value, as 1.0.2 writes it; 1.2.0 needs a setting.
    "hoodie.write.complex.keygen.new.encoding": "true",
    "hoodie.write.complex.keygen.validation.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.insert.shuffle.parallelism": "1",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.delete.shuffle.parallelism": "1",
    "hoodie.bulkinsert.shuffle.parallelism": "1",
}


def local(table: str) -> str:
    """The URI without a slash at its end; only the local file system is offered."""
    if urlsplit(table).scheme != "file":
        raise Refused("storage.s3", f"this adapter reads and writes file:// URIs, not {table}")
    return table.rstrip("/")


def place(session: JavaBridge, table: str) -> str:
    """The URI of the table for Hudi: object stores use Hadoop's s3a, if the session has it."""
    if session.has_object_store and urlsplit(table).scheme == "s3":
        return f"s3a{table.rstrip('/')[len('s3') :]}"
    return local(table)


def path_of(table: str) -> str:
    """The path of a file:// URI."""
    return unquote(urlsplit(table).path)


def properties_of(session: JavaBridge, table: str) -> dict[str, str]:
    """The entries of the table's hoodie.properties; none if there is no such file."""
    stream = _stored_properties(session, table) if urlsplit(table).scheme == "s3a" else _local_properties(session, table)
    if stream is None:
        return {}
    found = session.jvm.java.util.Properties()
    try:
        found.load(stream)
    finally:
        stream.close()
    return {str(key): str(value) for key, value in dict(found).items()}


def _local_properties(session: JavaBridge, table: str) -> Any:
    file = session.jvm.java.io.File(path_of(table) + "/.hoodie/hoodie.properties")
    return session.jvm.java.io.FileInputStream(file) if file.isFile() else None


def _stored_properties(session: JavaBridge, table: str) -> Any:
    path = session.jvm.org.apache.hadoop.fs.Path(table + "/.hoodie/hoodie.properties")
    files = path.getFileSystem(session.storage.unwrap())
    return files.open(path) if files.exists(path) else None


def refuse_versions(properties: Mapping[str, str], *, newest: int, oldest: int = 0) -> None:
    """Refuse a table whose version is outside the range; a table without a version is passed to Hudi."""
    version = properties.get("hoodie.table.version", "")
    if version.isdecimal() and not oldest <= int(version) <= newest:
        raise Refused("table-version", f"the table has version {version}; offered are {oldest} to {newest}")


def admitted(session: JavaBridge, table: str, release: str, *, writing: bool = False) -> str:
    """The table's URI for Hudi, if its version is one that the release reads, or the adapters write."""
    table = place(session, table)
    oldest = OLDEST_WRITTEN if writing else 0
    refuse_versions(properties_of(session, table), newest=NEWEST[release], oldest=oldest)
    return table


def create(session: JavaBridge, table: str, spec: TableSpec) -> None:
    """Create an empty table with Hudi's table builder, with `spec.properties` added to its properties afterwards."""
    table_properties = session.properties(_table_properties(spec))
    builder = session.hudi.common.table.HoodieTableMetaClient.newTableBuilder()
    client = builder.fromProperties(table_properties).initTable(session.storage, table)
    if spec.properties:
        config = session.hudi.common.table.HoodieTableConfig
        config.update(client.getStorage(), client.getMetaPath(), session.properties(spec.properties))


def _table_properties(spec: TableSpec) -> dict[str, str]:
    """The entries that the table builder starts from; it infers payload class and merge strategy."""
    found = {
        "hoodie.table.name": spec.name,
        "hoodie.table.type": spec.type,
        "hoodie.table.version": str(spec.version),
        "hoodie.table.create.schema": json.dumps(spec.schema),
        "hoodie.table.keygenerator.class": _key_generator(spec),
        "hoodie.datasource.write.hive_style_partitioning": str(spec.hive_style).lower(),
        "hoodie.datasource.write.partitionpath.urlencode": str(spec.url_encode).lower(),
    }
    if spec.record_key:
        found["hoodie.table.recordkey.fields"] = ",".join(spec.record_key)
    if spec.partition:
        found["hoodie.table.partition.fields"] = ",".join(spec.partition)
    if spec.merge_mode:
        found["hoodie.record.merge.mode"] = spec.merge_mode
    if spec.ordering and spec.merge_mode != "COMMIT_TIME_ORDERING":  # 1.0.2 infers an event-time table from both together
        name = "hoodie.table.precombine.field" if spec.version == OLDEST_WRITTEN else "hoodie.table.ordering.fields"
        found[name] = ",".join(spec.ordering)
    return found | dict(spec.properties)


def _key_generator(spec: TableSpec) -> str:
    if not spec.partition:
        kind = "Nonpartitioned"
    else:
        kind = "Simple" if len(spec.partition) == 1 and len(spec.record_key) <= 1 else "Complex"
    return f"org.apache.hudi.keygen.{kind}KeyGenerator"


def write(session: Session, table: str, operation: str, rows: pa.Table, options: Mapping[str, str]) -> str:
    """One commit through the Spark datasource; the requested time of its instant."""
    properties = properties_of(session, table)
    return write_frame(session, table, operation, session.data_frame(rows, schema_of(properties)), options)


def schema_of(properties: Mapping[str, str]) -> dict[str, Any]:
    """The Avro record schema with which the table was created; empty if it has none."""
    found: dict[str, Any] = json.loads(properties.get("hoodie.table.create.schema", "{}"))
    return found


def write_frame(session: Session, table: str, operation: str, frame: Any, options: Mapping[str, str]) -> str:
    """One commit of a DataFrame; the requested time of its instant."""
    properties = properties_of(session, table)
    before = completed(session, table)
    settings = {**write_options(properties, operation), **maintaining(session, table, properties), **options}
    with session.settings(of_spark(options)):
        frame.write.format("hudi").options(**settings).mode("append").save(table)
    new = {time: ended for time, ended in completed(session, table).items() if time not in before}
    if not new:
        raise EngineError(f"Hudi reported no error, but the {operation} completed no instant")
    return max(new, key=lambda time: new[time])


def version_option(properties: Mapping[str, str]) -> dict[str, str]:
    """The option with which a write keeps the version of the table."""
    return {"hoodie.write.table.version": properties.get("hoodie.table.version", str(OLDEST_WRITTEN))}


def write_options(properties: Mapping[str, str], operation: str) -> dict[str, str]:
    """The options of a write. Hudi takes keys, partitions and ordering from the table.

    The metadata table is maintained if the table has one, and not created otherwise.
    """
    has_metadata = bool(properties.get("hoodie.table.metadata.partitions"))
    payload = properties.get("hoodie.compaction.payload.class")
    custom = properties.get("hoodie.record.merge.mode") == "CUSTOM"
    return {
        **WRITE_OPTIONS,
        **version_option(properties),
        **({"hoodie.datasource.write.payload.class": payload} if payload and custom else {}),
        "hoodie.table.name": properties.get("hoodie.table.name", "table"),
        "hoodie.datasource.write.operation": operation,
        "hoodie.metadata.enable": str(has_metadata).lower(),
    }


def completed(session: JavaBridge, table: str) -> dict[str, str]:
    """Completion times of the active timeline, by requested time."""
    instants: Any = session.meta_client(table).getActiveTimeline().filterCompletedInstants().getInstants()
    return {i.requestedTime(): i.getCompletionTime() for i in instants}
