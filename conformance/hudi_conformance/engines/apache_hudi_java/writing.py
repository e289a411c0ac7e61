"""Commits through the Java write client."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import EngineError
from hudi_conformance.engines.apache_hudi.tables import properties_of
from hudi_conformance.engines.apache_hudi_java.machine import Machine
from hudi_conformance.engines.apache_hudi_java.records import schema_of, to_records
from hudi_conformance.engines.apache_hudi_java.settings import settings_of

_CALLS = {"insert": "insert", "upsert": "upsert", "bulk_insert": "bulkInsert", "delete": "delete"}


def write(machine: Machine, table: str, operation: str, rows: pa.Table, options: Mapping[str, str]) -> str:
    """One commit; the requested time of its instant."""
    properties = properties_of(machine, table)
    known = properties.get("hoodie.table.create.schema", "{}")
    settings = settings_of(properties, operation) | dict(options)
    maker = _Maker(machine, table, properties, settings)
    records = list(to_records(machine, rows, schema_of(rows, json.loads(known))))
    if operation != "delete":
        given, call = machine.list_of(maker.records(records)), _CALLS[operation]
    elif machine.version.startswith("1.0.") and properties["hoodie.table.type"] == "MERGE_ON_READ":
        # The client's delete rewrites the base file and forgets the slice's logs: updates would be lost.
        given, call = machine.list_of(maker.empty(records)), "upsert"
    else:
        given, call = machine.list_of(maker.keys(records)), "delete"
    client = machine.write_client(table, properties["hoodie.table.name"], known, settings)
    try:
        return _commit(client, call, given)
    finally:
        client.close()


def _commit(client: Any, call: str, given: Any) -> str:
    """Write and commit. Raises EngineError where a record could not be written."""
    instant = str(client.startCommit())
    statuses = getattr(client, call)(given, instant)
    for status in statuses:
        for error in status.getErrors().values():
            raise EngineError(f"a record was not written: {error}")
    if not client.commit(instant, statuses):
        raise EngineError(f"Hudi reported no error, but did not commit {instant}")
    return instant


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
