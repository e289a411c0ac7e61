"""The version of a schema history that a write stores: that of the last write, with ids for the fields that the write adds.

A version is the JSON object that deployed engines store as `latest_schema` in commit metadata. Each field has an id, which no
other field ever gets: `max_column_id` is the highest one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS, AvroSchema

Json = Mapping[str, Any]

#: Types of a version by the logical type and the type of Avro, where the two have different names.
_LOGICAL = {
    "date": "date",
    "timestamp-micros": "timestamp",
    "timestamp-millis": "timestamp",
    "time-micros": "time",
    "uuid": "uuid",
}
_PLAIN = {"bytes": "binary", "enum": "string"}


@implements("LF-038")
def next_version(version: Json, before: AvroSchema, after: AvroSchema, instant: str) -> Json:
    """The version after a write that changes the schema of the table from `before` to `after`; the same if they are equal.

    A new field gets the next id, a field with a wider type keeps its own.
    """
    if before == after:
        return version
    numbering = _Numbering(int(version["max_column_id"]))
    meta = [field for field in version["fields"] if field["name"] in META_COLUMNS]
    fields = [*meta, *numbering.fields(version["fields"], before["fields"], after["fields"])]
    return {"max_column_id": numbering.last, "version_id": int(instant), "type": "record", "fields": fields}


@dataclass
class _Numbering:
    """Gives ids to new fields; `last` is the highest id."""

    last: int

    def next(self) -> int:
        self.last += 1
        return self.last

    def fields(self, known: Sequence[Json], before: Sequence[Json], after: Sequence[Json]) -> list[Json]:
        """The fields of a record. All fields of a record get their ids before the fields inside them."""
        there, former = {field["name"]: field for field in known}, {field["name"]: field for field in before}
        # A field that a statement added has an id, and may be missing in the schema of a write that did not know it.
        started = [there.get(field["name"]) or {"id": self.next(), "name": field["name"]} for field in after]
        return [self._field(start, former.get(field["name"]), field) for start, field in zip(started, after, strict=True)]

    def _field(self, known: Json, before: Json | None, after: Json) -> Json:
        if "type" in known and before is not None and before["type"] == after["type"]:
            return known
        kind = self.type(known.get("type"), None if before is None else before["type"], after["type"])
        return {**known, "optional": isinstance(after["type"], list), "type": kind}

    def type(self, known: Any, before: Any, after: Any) -> Any:
        """The type of a field that is new (`known` is None), or whose Avro type was `before`."""
        if known is not None and before == after:
            return known
        before, after = _not_null(before), _not_null(after)
        same = before if isinstance(before, dict) and isinstance(after, dict) and before["type"] == after["type"] else {}
        known = known if isinstance(known, dict) and same else {}
        match after:
            case {"type": "record", "fields": fields}:
                return {"type": "record", "fields": self.fields(known.get("fields", ()), same.get("fields", ()), fields)}
            case {"type": "array", "items": items}:
                number = known["element_id"] if known else self.next()
                element = self.type(known.get("element"), same.get("items"), items)
                return {"type": "array", "element_id": number, "element": element, "element_optional": isinstance(items, list)}
            case {"type": "map", "values": values}:
                key, value = (known["key_id"], known["value_id"]) if known else (self.next(), self.next())
                inner = self.type(known.get("value"), same.get("values"), values)
                return {"type": "map", "key_id": key, "key": "string", "value_id": value, "value": inner,
                        "value_optional": isinstance(values, list)}  # fmt: skip
        return _primitive(after)


def _not_null(avro: Any) -> Any:
    return next(branch for branch in avro if branch != "null") if isinstance(avro, list) else avro


def _primitive(avro: Any) -> str:
    kind = {"type": avro} if isinstance(avro, str) else avro
    match kind:
        case {"logicalType": "decimal", "precision": precision, **rest}:
            return f"decimal({precision}, {rest.get('scale', 0)})"
        case {"logicalType": logical} if logical in _LOGICAL:
            return _LOGICAL[logical]
        case {"type": "fixed", "size": size}:
            return f"fixed[{size}]"
    return _PLAIN.get(kind["type"], str(kind["type"]))
