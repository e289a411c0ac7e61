"""The function `merge.fold`: the result of merging several versions of one record.

A version is `{"kind", "row", "ordering"}`, its row and ordering value canonical. Kinds: `row`, `flagged` (a row whose
`_hoodie_is_deleted` is true), `partial` (a row of a partial block, which holds the columns that it names), `delete` (a delete
entry with an ordering value), `key-delete` (one without).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_conformance.cases.rows import canonical_rows
from hudi_conformance.cases.values import canonical_from_arrow
from hudi_reference.errors import UnknownMerger
from hudi_reference.files.log.content import Delete
from hudi_reference.files.log.deletes import Ordering
from hudi_reference.layout.merge_settings import MergeSettings
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records.changes import IS_DELETED, KEY, Changes
from hudi_reference.records.merge import orderings_of
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.mergers.sample_mergers import SAMPLE_MERGERS
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.records.payloads import merger_resolution
from hudi_reference.records.payloads.merger_resolution import merging_of
from hudi_reference.schema.avro import AvroSchema, arrow_schema, parse_schema

Json = Any
#: The record that all versions are of.
_KEY = "the key"


def fold(
    mode: str | None,
    payload: str | None,
    strategy: str | None,
    ordering: Sequence[str],
    schema: Json,
    base: Json,
    log: Sequence[Json],
) -> Json:
    """The answer: the merged row with its ordering value; null for both if the record is deleted."""
    columns = arrow_schema(parse_schema(schema, "schema"))
    versions = _Versions(columns, tuple(ordering))
    stored = versions.rows([base] if base is not None else [])
    merging = _merging(mode, payload, strategy, tuple(ordering), parse_schema(schema, "schema"))
    left = merge_changes(stored, versions.changes(log), merging).select(columns.names)
    if not left.num_rows:
        return {"row": None, "ordering": None}
    row = canonical_rows(left, {field["name"]: field["type"] for field in schema["fields"]})[0]
    return {"row": row, "ordering": _json(orderings_of(left, tuple(ordering))[0])}


def _merging(
    mode: str | None, payload: str | None, strategy: str | None, ordering: tuple[str, ...], schema: AvroSchema
) -> Merging:
    entries = {
        "hoodie.record.merge.mode": mode or "",
        "hoodie.table.ordering.fields": ",".join(ordering),
        "hoodie.compaction.payload.class": payload or "",
        "hoodie.record.merge.strategy.id": strategy or "",
    }
    given = TableProperties({key: value for key, value in entries.items() if value})
    return merging_of(given, SAMPLE_MERGERS, schema)


def choose(strategy: str | None, record_type: str, mergers: Sequence[Mapping[str, str]]) -> int:
    """The function `merger.choose`: the place of the merger, from 0. Raises UnknownMerger if there is none."""
    found = merger_resolution.index_of_merger(strategy, [(one["strategy"], one["record_type"]) for one in mergers], record_type)
    if found is None:
        raise UnknownMerger("no merger fits", rule="MRG-037", expected=f"{strategy} for {record_type}", found=repr(mergers))
    return found


def settings(options: Mapping[str, str]) -> Json:
    """The function `merge.settings`: the merge mode and merger that the properties of a table select."""
    found = MergeSettings.from_options(options)
    return {
        "mode": found.mode,
        "strategy": found.strategy,
        "payload": found.payload,
        "classes": list(found.classes),
        "ordering": list(found.ordering),
    }


class _Versions:
    """Versions in canonical values as a slice reader would find them."""

    def __init__(self, columns: pa.Schema, ordering: tuple[str, ...]) -> None:
        extra = [pa.field(KEY, pa.string())]
        if IS_DELETED not in columns.names:
            extra.append(pa.field(IS_DELETED, pa.bool_()))
        self.schema = pa.schema([*extra, *columns])
        self.ordering = ordering

    def changes(self, versions: Sequence[Json]) -> Changes:
        """The versions as changes, each in a block of its own."""
        held = {
            number: frozenset({KEY, *version["row"]}) for number, version in enumerate(versions) if version["kind"] == "partial"
        }
        return Changes([self._batch(version) for version in versions], self.schema, held)

    def rows(self, versions: Iterable[Json]) -> pa.Table:
        """The rows as a table; missing columns are null."""
        found = [{KEY: _KEY, **version["row"], **_flag(version)} for version in versions]
        columns = [pa.array([_value(row.get(f.name), f.type) for row in found], f.type) for f in self.schema]
        return pa.table(columns, schema=self.schema)

    def _batch(self, version: Json) -> pa.Table | list[Delete]:
        if version["kind"] in ("delete", "key-delete"):
            return [Delete(_KEY, "", self._ordering_of(version) if version["kind"] == "delete" else None)]
        return self.rows([version])

    def _ordering_of(self, version: Json) -> Ordering | None:
        """The ordering value of a delete entry, given as the values of the ordering fields are."""
        given = version["ordering"] if len(self.ordering) > 1 else [version["ordering"]]
        fields = dict(zip(self.ordering, given, strict=True)) if self.ordering else {}
        return orderings_of(self.rows([{"kind": "row", "row": _nested(fields)}]), self.ordering)[0]


def _flag(version: Json) -> Mapping[str, bool]:
    return {IS_DELETED: True} if version["kind"] == "flagged" else {}


def _nested(fields: Mapping[str, Json]) -> Mapping[str, Json]:
    """`a.b` as field b of struct a."""
    found: dict[str, Json] = {}
    for name, value in fields.items():
        *path, last = name.split(".")
        place = found
        for step in path:
            place = place.setdefault(step, {})
        place[last] = value
    return found


def _value(value: Json, kind: pa.DataType) -> Any:
    """The Arrow value of a canonical value."""
    if value is None:
        return None
    if pt.is_struct(kind):
        return {field.name: _value(value.get(field.name), field.type) for field in kind}
    if pt.is_list(kind):
        return [_value(item, kind.value_type) for item in value]
    if pt.is_binary(kind) or pt.is_fixed_size_binary(kind):
        return bytes.fromhex(value)
    return pa.scalar(value).cast(kind) if isinstance(value, str) and not pt.is_string(kind) else value


def _json(ordering: Ordering | None) -> Json:
    """An ordering value as stored, dates and times as numbers: numbers as text, bytes in hex, several fields as a list."""
    if ordering is None or isinstance(ordering, str | bool):
        return ordering
    if isinstance(ordering, float):
        return canonical_from_arrow(pa.scalar(ordering), "double")
    if isinstance(ordering, tuple):
        return [_json(part) for part in ordering]
    return ordering.hex() if isinstance(ordering, bytes) else str(ordering)
