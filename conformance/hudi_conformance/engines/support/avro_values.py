"""Canonical values (see `cases.values`) of decoded Avro records, for unions of several records, which Arrow does not
support.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from hudi_conformance.cases.values import canonical_from_arrow, type_of_arrow
from hudi_conformance.engines.support.columns import NULLS
from hudi_reference.errors import MalformedLogBlock
from hudi_reference.schema.avro import arrow_schema


def canonical_record(record: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The record's fields as canonical values. A union's value is that of its branch; of several records it comes as a pair
    (full name, record), as the codec gives it. Raises MalformedLogBlock for a number that its type has no bits for."""
    return _Values(schema).of_record(record, schema)


class _Values:
    """The named types of one schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.named: dict[str, Any] = {}
        self._collect(schema, "")
        self._nested: dict[str, Callable[[Any, Any], Any]] = {
            "record": self.of_record,
            "array": lambda value, schema: [self.of(item, schema["items"]) for item in value],
            "map": lambda value, schema: {key: self.of(item, schema["values"]) for key, item in sorted(value.items())},
        }

    def of_record(self, record: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        return {field["name"]: self.of(record[field["name"]], field["type"]) for field in schema["fields"]}

    def of(self, value: Any, schema: Any) -> Any:
        if value is None:
            return None
        if isinstance(schema, list):
            return self._of_union(value, [branch for branch in schema if branch not in NULLS])
        schema = self.named.get(schema, schema) if isinstance(schema, str) else schema
        kind = schema["type"] if isinstance(schema, dict) else schema
        if isinstance(kind, dict | list):
            return self.of(value, kind)
        convert = self._nested.get(kind)
        return _leaf(value, schema) if convert is None else convert(value, schema)

    def _of_union(self, value: Any, branches: list[Any]) -> Any:
        if isinstance(value, tuple):
            name, record = value
            return self.of(record, self.named[name])
        return self.of(value, branches[0])

    def _collect(self, schema: Any, namespace: str) -> None:
        if isinstance(schema, list):
            for branch in schema:
                self._collect(branch, namespace)
        elif isinstance(schema, dict):
            inner = schema.get("namespace", namespace)
            if "name" in schema and schema["type"] in ("record", "fixed", "enum"):
                self.named[schema["name"]] = self.named[f"{inner}.{schema['name']}"] = schema
            for part in (*(field["type"] for field in schema.get("fields", ())), schema.get("items"), schema.get("values")):
                self._collect(part, inner)
            if isinstance(schema["type"], dict | list):
                self._collect(schema["type"], inner)


def _leaf(value: Any, schema: Any) -> Any:
    column = arrow_schema({"type": "record", "name": "r", "fields": [{"name": "v", "type": schema}]}).field(0).type
    try:
        return canonical_from_arrow(pa.scalar(value, column), type_of_arrow(column))
    except (pa.ArrowException, OverflowError) as error:
        message = "the value does not fit its type"
        raise MalformedLogBlock(message, rule="LF-020", expected=str(column), found=repr(value)) from error
