"""Commits through the write client, of plain Java or on Spark, step by step."""

import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import EngineError, Refused
from hudi_conformance.contract.messages import Point
from hudi_conformance.engines.apache_hudi.functions.records import schema_of, to_records, with_new_columns
from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_conformance.engines.apache_hudi.jvm.listed_indexes import maintaining
from hudi_conformance.engines.apache_hudi.jvm.tables import properties_of
from hudi_conformance.engines.apache_hudi.orders import Steps, to_the_end
from hudi_conformance.engines.apache_hudi.settings import settings_of

_CALLS = {
    "insert": "insert",
    "upsert": "upsert",
    "bulk_insert": "bulkInsert",
    "delete": "delete",
    "insert_overwrite": "insertOverwrite",
    "delete_partition": "deletePartitions",
}
_REPLACING = ("insert_overwrite", "delete_partition")
#: The setting under which rows may have more columns than the table.
_GROWS = "hoodie.datasource.write.reconcile.schema"


def write(bridge: JavaBridge, table: str, operation: str, rows: pa.Table, options: Mapping[str, str]) -> str:
    """One commit; the requested time of its instant."""
    return str(to_the_end(steps(bridge, table, operation, rows, options)))


def steps(bridge: JavaBridge, table: str, operation: str, rows: pa.Table, options: Mapping[str, str]) -> Steps:
    """The steps of one commit, as a generator. Raises Refused."""
    if operation not in _CALLS:
        raise Refused("pause.write", f"the write client has no call for {operation}")
    properties = properties_of(bridge, table)
    known = properties.get("hoodie.table.create.schema") or _latest_schema(bridge, table)
    settings = settings_of(properties, operation) | maintaining(bridge, table, properties) | dict(options)
    maker = _Maker(bridge, table, properties, settings)
    schema = json.loads(known)
    if settings.get(_GROWS) == "true":
        schema = with_new_columns(rows, schema)
    records = list(to_records(bridge, rows, schema_of(rows, schema)))
    call, given = maker.call(operation, records)
    with closing(bridge.write_client(table, properties["hoodie.table.name"], json.dumps(schema), settings)) as client:
        made = _replacing if operation in _REPLACING else _writing
        return (yield from made(bridge, client, call, given))


def _latest_schema(bridge: JavaBridge, table: str) -> str:
    """The schema of the latest write without meta columns, for tables whose properties have none: migrated ones."""
    resolver = bridge.hudi.common.table.TableSchemaResolver(bridge.meta_client(table))
    return str(resolver.getTableSchema(False) if bridge.has_schema_class else resolver.getTableAvroSchema(False))


def _writing(bridge: JavaBridge, client: Any, call: str, given: Any) -> Steps:
    """Write and commit. Raises EngineError if a record could not be written."""
    instant = yield from _requested(bridge, client)
    statuses = _checked(bridge, getattr(client, call)(given, instant))
    yield "stored", instant
    if not client.commit(instant, statuses):
        raise EngineError(f"Hudi reported no error, but did not commit {instant}")
    return instant


def _replacing(bridge: JavaBridge, client: Any, call: str, given: Any) -> Steps:
    """Write and commit, for writes that replace file groups: these are passed to the commit."""
    none = bridge.hudi.common.util.Option.empty()
    instant = yield from _requested(bridge, client, "replacecommit")
    done = bridge.replacing(client, call, given, instant)
    statuses = _checked(bridge, done.getWriteStatuses())
    yield "stored", instant
    further = (none,) if bridge.version == "1.0.2" else (none, none)
    client.commit(instant, statuses, none, "replacecommit", done.getPartitionToReplaceFileIds(), *further)
    return instant


def _requested(bridge: JavaBridge, client: Any, *action: str) -> Generator[tuple[Point, str], None, str]:
    """The first step: since 1.1, taking and publishing a begin time is one call."""
    if bridge.version == "1.0.2":
        instant = str(client.createNewInstantTime())
        yield "drawn", instant
        client.startCommitWithTime(instant, *action)
    else:
        instant = str(client.startCommit(*action))
    yield "requested", instant
    return instant


def _checked(bridge: JavaBridge, statuses: Any) -> Any:
    """The write statuses to commit, after the files are stored. Raises EngineError if a record could not be written."""
    found, to_commit = bridge.stored(statuses)
    for status in found:
        for error in status.getErrors().values():
            raise EngineError(f"a record was not written: {error}")
    return to_commit


class _Maker:
    """Creates Hudi records from Avro records: key and partition by the key generator of the table, values in its payload."""

    def __init__(self, bridge: JavaBridge, table: str, properties: Mapping[str, str], settings: Mapping[str, str]) -> None:
        self._bridge, self._hudi = bridge, bridge.hudi
        config = bridge.meta_client(table).getTableConfig()
        typed = self._hudi.common.config.TypedProperties()
        typed.putAll(bridge.properties(settings))
        name = config.getKeyGeneratorClassName()
        factory = self._hudi.keygen.factory.HoodieAvroKeyGeneratorFactory
        self._generator = factory.createKeyGenerator(typed) if name is None else self._key_generator(str(name))(typed)
        self._payload = str(config.getPayloadClass())
        # The Java client's delete rewrites the base file and forgets the slice's logs: updates would be lost.
        self._forgets_logs = bridge.version == "1.0.2" and properties["hoodie.table.type"] == "MERGE_ON_READ"
        fields = properties.get("hoodie.table.ordering.fields") or properties.get("hoodie.table.precombine.field") or ""
        self._ordering = [field for field in fields.split(",") if field]
        if self._ordering and not bridge.keeps_numbers:
            raise Refused("pause.write", "the types of ordering values would change in this write client")

    def call(self, operation: str, records: list[Any]) -> tuple[str, Any]:
        """The call of the write client for this operation, and its argument."""
        if operation == "delete_partition":
            partitions = {str(self._generator.getPartitionPath(record)) for record in records}
            return _CALLS[operation], self._bridge.list_of(sorted(partitions))
        if operation != "delete":
            return _CALLS[operation], self._bridge.records_of(self.records(records))
        if self._forgets_logs:
            return "upsert", self._bridge.records_of(self.empty(records))
        return _CALLS[operation], self._bridge.records_of(self.keys(records))

    def keys(self, records: list[Any]) -> Iterator[Any]:
        """Key and partition of each record."""
        return (self._generator.getKey(record) for record in records)

    def records(self, records: list[Any]) -> Iterator[Any]:
        """Records to be inserted or updated."""
        payload = self._hudi.common.util.HoodieRecordUtils.loadPayload
        for record in records:
            made = payload(self._payload, record, self._ordering_value(record))
            yield self._hudi.common.model.HoodieAvroRecord(self._generator.getKey(record), made)

    def empty(self, records: list[Any]) -> Iterator[Any]:
        """Records without content, which delete the records with their keys."""
        model = self._hudi.common.model
        return (model.HoodieAvroRecord(key, model.EmptyHoodieRecordPayload()) for key in self.keys(records))

    def _ordering_value(self, record: Any) -> Any:
        """The ordering value; without an ordering field Hudi's default, the integer 0."""
        found = [self._hudi.avro.HoodieAvroUtils.getNestedFieldVal(record, field, True, False) for field in self._ordering]
        if len(found) > 1:
            return self._hudi.common.util.OrderingValues.create(self._bridge.array_of("java.lang.Comparable", found))
        return found[0] if found else self._bridge.jvm.java.lang.Integer(0)

    def _key_generator(self, name: str) -> Any:
        """The class for Avro records that corresponds to a key generator for Spark."""
        package, _, plain = name.rpartition(".")
        if package == "org.apache.hudi.keygen" and "Avro" not in plain:
            plain = plain.replace("KeyGenerator", "AvroKeyGenerator")
        return getattr(self._hudi.keygen, plain)
