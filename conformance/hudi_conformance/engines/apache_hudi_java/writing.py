"""Commits through the Java write client."""

import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import EngineError
from hudi_conformance.contract.messages import Point
from hudi_conformance.engines.apache_hudi.maintenance import Steps, to_the_end
from hudi_conformance.engines.apache_hudi.tables import properties_of
from hudi_conformance.engines.apache_hudi_java.machine import Machine
from hudi_conformance.engines.apache_hudi_java.records import schema_of, to_records
from hudi_conformance.engines.apache_hudi_java.settings import settings_of

_CALLS = {"insert": "insert", "upsert": "upsert", "bulk_insert": "bulkInsert", "delete": "delete"}


def write(machine: Machine, table: str, operation: str, rows: pa.Table, options: Mapping[str, str]) -> str:
    """One commit; the requested time of its instant."""
    return str(to_the_end(steps(machine, table, operation, rows, options)))


def steps(machine: Machine, table: str, operation: str, rows: pa.Table, options: Mapping[str, str]) -> Steps:
    """The same step by step."""
    properties = properties_of(machine, table)
    known = properties.get("hoodie.table.create.schema", "{}")
    settings = settings_of(properties, operation) | dict(options)
    maker = _Maker(machine, table, properties, settings)
    records = list(to_records(machine, rows, schema_of(rows, json.loads(known))))
    if operation != "delete":
        given, call = machine.list_of(maker.records(records)), _CALLS.get(operation, operation)
    elif machine.version.startswith("1.0.") and properties["hoodie.table.type"] == "MERGE_ON_READ":
        # The client's delete rewrites the base file and forgets the slice's logs: updates would be lost.
        given, call = machine.list_of(maker.empty(records)), "upsert"
    else:
        given, call = machine.list_of(maker.keys(records)), "delete"
    with closing(machine.write_client(table, properties["hoodie.table.name"], known, settings)) as client:
        return (
            yield from (_overwriting(machine, client, given) if call == "insert_overwrite" else _writing(client, call, given))
        )


def _writing(client: Any, call: str, given: Any) -> Steps:
    """Write and commit. Raises EngineError where a record could not be written."""
    instant = yield from _requested(client)
    statuses = getattr(client, call)(given, instant)
    _check(statuses)
    yield "stored", instant
    if not client.commit(instant, statuses):
        raise EngineError(f"Hudi reported no error, but did not commit {instant}")
    return instant


def _overwriting(machine: Machine, client: Any, given: Any) -> Steps:
    """The same for an overwrite, which the client has in its table only: what it replaces is said when it commits."""
    some, none = machine.hudi.common.util.Option.of, machine.hudi.common.util.Option.empty()
    operation = machine.hudi.common.model.WriteOperationType.INSERT_OVERWRITE
    instant = yield from _requested(client, "replacecommit")
    table = client.initTable(operation, some(instant))
    client.preWrite(instant, operation, table.getMetaClient())
    done = table.insertOverwrite(machine.engine_context(), instant, given)
    _check(done.getWriteStatuses())
    yield "stored", instant
    further = (none,) if machine.version.startswith("1.0.") else (none, none)
    client.commit(instant, done.getWriteStatuses(), none, "replacecommit", done.getPartitionToReplaceFileIds(), *further)
    return instant


def _requested(client: Any, *action: str) -> Generator[tuple[Point, str], None, str]:
    """The first step: from 1.1 on a begin time is drawn and published in one."""
    if hasattr(client, "startCommitWithTime"):
        instant = str(client.createNewInstantTime())
        yield "drawn", instant
        client.startCommitWithTime(instant, *action)
    else:
        instant = str(client.startCommit(*action))
    yield "requested", instant
    return instant


def _check(statuses: Any) -> None:
    for status in statuses:
        for error in status.getErrors().values():
            raise EngineError(f"a record was not written: {error}")


class _Maker:
    """Makes Hudi's records of Avro records: key and partition by the table's key generator, values in its payload."""

    def __init__(self, machine: Machine, table: str, properties: Mapping[str, str], settings: Mapping[str, str]) -> None:
        self._hudi = machine.hudi
        config = machine.meta_client(table).getTableConfig()
        typed = self._hudi.common.config.TypedProperties()
        typed.putAll(machine.properties(settings))
        self._generator = self._key_generator(machine, str(config.getKeyGeneratorClassName()))(typed)
        self._payload = str(config.getPayloadClass())
        fields = properties.get("hoodie.table.ordering.fields") or properties.get("hoodie.table.precombine.field") or ""
        self._ordering = [field for field in fields.split(",") if field]

    def keys(self, records: list[Any]) -> Iterator[Any]:
        """Key and partition of each."""
        return (self._generator.getKey(record) for record in records)

    def records(self, records: list[Any]) -> Iterator[Any]:
        """Records to be inserted or updated."""
        payload = self._hudi.common.util.HoodieRecordUtils.loadPayload
        for record in records:
            made = payload(self._payload, record, self._ordering_value(record))
            yield self._hudi.common.model.HoodieAvroRecord(self._generator.getKey(record), made)

    def empty(self, records: list[Any]) -> Iterator[Any]:
        """Records without content, which delete what has their key."""
        model = self._hudi.common.model
        return (model.HoodieAvroRecord(key, model.EmptyHoodieRecordPayload()) for key in self.keys(records))

    def _ordering_value(self, record: Any) -> Any:
        """Without an ordering field Hudi's usual value, the integer 0."""
        import jpype

        found = [self._hudi.avro.HoodieAvroUtils.getNestedFieldVal(record, field, True, False) for field in self._ordering]
        if len(found) > 1:
            return self._hudi.common.util.OrderingValues.create(jpype.JArray(jpype.java.lang.Comparable)(found))
        return found[0] if found else jpype.java.lang.Integer(0)

    def _key_generator(self, machine: Machine, name: str) -> Any:
        """The class for Avro records that goes with a key generator of Spark's."""
        package, _, plain = name.rpartition(".")
        if package == "org.apache.hudi.keygen" and "Avro" not in plain:
            plain = plain.replace("KeyGenerator", "AvroKeyGenerator")
        return getattr(machine.hudi.keygen, plain)
