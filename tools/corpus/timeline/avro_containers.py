"""Avro containers built by hand, so that each part can be damaged separately."""

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from tools.corpus.avro_bytes import encode_bytes, encode_datum, encode_long
from tools.corpus.timeline.action_files import FIXTURES, named_types

MAGIC = b"Obj\x01"
MARKER = bytes(range(16))


def deployed_schema(case: str) -> Any:
    """The schema that a deployed writer embedded, from the file of a case."""
    (path,) = (FIXTURES / "actions" / case / "bytes").iterdir()
    data = path.read_bytes()
    start = data.index(b'{"type":"record"')
    return json.JSONDecoder().raw_decode(data[start:].decode("utf-8", "replace"))[0]


def encode_header(entries: Mapping[str, bytes], marker: bytes = MARKER) -> bytes:
    """Magic, file metadata in one block, marker."""
    pairs = b"".join(encode_bytes(key.encode()) + encode_bytes(value) for key, value in entries.items())
    return MAGIC + encode_long(len(entries)) + pairs + encode_long(0) + marker


def encode_block(*data: bytes, marker: bytes = MARKER, count: int | None = None, deflate: bool = False) -> bytes:
    """Number of records, length, records, marker."""
    content = b"".join(data)
    if deflate:
        press = zlib.compressobj(wbits=-15)
        content = press.compress(content) + press.flush()
    return encode_long(len(data) if count is None else count) + encode_bytes(content) + marker


def schema_text(schema: Any) -> bytes:
    """A schema as embedded text."""
    return json.dumps(schema, separators=(",", ":")).encode()


def encode_container(schema: Any, *records: Mapping[str, Any], codec: str | None = None) -> bytes:
    """A container with these records in one block, and with the name of the codec, if there is one."""
    entries = {"avro.schema": schema_text(schema)} | ({} if codec is None else {"avro.codec": codec.encode()})
    return encode_header(entries) + encode_block(*(encode_datum(schema, one) for one in records), deflate=codec == "deflate")


def without_fields(schema: Any, *names: str) -> Any:
    """The schema without some of its fields."""
    return {**schema, "fields": [field for field in schema["fields"] if field["name"] not in names]}


def sort_fields(schema: Any) -> Any:
    """The schema with its fields sorted by name; each record is defined at its first use."""
    turned = {**schema, "fields": sorted(schema["fields"], key=lambda field: str(field["name"]))}
    return _defined_first(turned, named_types(schema), set())


def _defined_first(schema: Any, named: Mapping[str, Any], seen: set[str]) -> Any:
    if isinstance(schema, list):
        return [_defined_first(branch, named, seen) for branch in schema]
    name = schema if isinstance(schema, str) else schema.get("name")
    if name in named and name in seen:
        return name
    schema = named.get(schema, schema) if isinstance(schema, str) else schema
    if isinstance(schema, str):
        return schema
    seen.add(str(name))
    inner = {key: _defined_first(schema[key], named, seen) for key in ("items", "values") if key in schema}
    if "fields" in schema:
        inner["fields"] = [{**field, "type": _defined_first(field["type"], named, seen)} for field in schema["fields"]]
    return {**schema, **inner}


def add_fields(schema: Any, *fields: Mapping[str, Any]) -> Any:
    """The schema with further fields at its end."""
    return {**schema, "fields": [*schema["fields"], *fields]}


def sample_value(schema: Any) -> Any:
    """A value with every field of a record filled: texts are the name of the field, numbers are distinct."""
    return _Sampler().of(schema, "value")


class _Sampler:
    """Values by type."""

    def __init__(self) -> None:
        self.named: dict[str, Any] = {}
        self.number = 0

    def of(self, schema: Any, name: str) -> Any:
        if isinstance(schema, list):
            return self.of(next(branch for branch in schema if branch != "null"), name)
        schema = self.named.get(schema, schema) if isinstance(schema, str) else schema
        kind = schema if isinstance(schema, str) else schema["type"]
        if kind == "record":
            self.named[schema["name"]] = schema
            return {field["name"]: self.of(field["type"], field["name"]) for field in schema["fields"]}
        if kind == "array":
            return [self.of(schema["items"], f"{name}-1"), self.of(schema["items"], f"{name}-2")]
        if kind == "map":
            return {key: self.of(schema["values"], f"{name}-{key}") for key in ("", "a=1/b")}
        self.number += 1
        values: Sequence[tuple[str, Any]] = (
            ("string", name), ("int", self.number), ("long", 2**53 + self.number), ("double", self.number + 0.5),
            ("boolean", self.number % 2 == 0),
        )  # fmt: skip
        return dict(values)[kind]
