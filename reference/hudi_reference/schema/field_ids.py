"""Matching columns by the field ids of a schema history, in tables whose schema was changed by statements.

Deployed engines do so with `hoodie.schema.on.read.enable`. Each version of the schema names every field, including nested
fields, and gives it a permanent id: a renamed field keeps its id, a field that is dropped and added again gets another one. So
the id of a column in a file is that of its name in the version with which the file was written. The history is stored in
`.hoodie/.schema/`, and its newest version in commit metadata.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.caching import cached_property
from hudi_reference.errors import MalformedSchema
from hudi_reference.requirement import implements


@dataclass(frozen=True)
class IdField:
    """A field in one version: its id, its name, and its nested fields; for a list or map these are its elements."""

    id: int
    name: str
    parts: tuple["IdField", ...] = ()

    def tree(self) -> Iterator["IdField"]:
        """The field and all its nested fields."""
        yield self
        for part in self.parts:
            yield from part.tree()


Version = tuple[IdField, ...]


@implements("LF-038")
@dataclass(frozen=True)
class SchemaHistory:
    """The versions of a table's schema, by the requested time, as a number, of the action that made each."""

    versions: Mapping[int, Version] = field(default_factory=dict)

    @classmethod
    def parse(cls, texts: Iterable[str], path: str) -> Self:
        """The history in JSON texts: lists of versions, or single ones. Raises MalformedSchema."""
        versions: dict[int, Version] = {}
        try:
            for text in texts:
                found = json.loads(text)
                for version in found.get("schemas", [found]):
                    versions[int(version["version_id"])] = _record(version)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise MalformedSchema(
                "not a schema history", rule="LF-038", path=path, found=f"{type(error).__name__}: {error}"
            ) from error
        return cls(versions)

    def at(self, instant: str) -> Version | None:
        """The version of files that an action requested at this time wrote; None before the first version."""
        known = [version for version in self.versions if version <= int(instant)]
        return self.versions[max(known)] if known else None


@dataclass(frozen=True)
class FieldIdMapping:
    """Converts columns of files to those of a query whose fields are `wanted`."""

    history: SchemaHistory
    wanted: Version

    @cached_property
    def _names(self) -> dict[int, str]:
        """The names of all fields of the query, by their ids."""
        return {found.id: found.name for top in self.wanted for found in top.tree()}

    def stored(self, names: Sequence[str], instant: str) -> list[str]:
        """The names of the query's columns in files of the instant, without columns that these files cannot have."""
        version = self.history.at(instant)
        if version is None:
            return list(names)
        ids = {found.name: found.id for found in self.wanted}
        there = {found.id: found.name for found in version}
        return [there[ids[name]] for name in names if name in ids and ids[name] in there]

    def present(self, names: Iterable[str], instant: str) -> frozenset[str]:
        """The names in the query of these columns of a file of the instant."""
        there = {found.name: found.id for found in self.history.at(instant) or ()}
        return frozenset(self._names.get(there[name], name) if name in there else name for name in names)

    def renamed(self, rows: pa.Table, instant: str) -> pa.Table:
        """The rows of a file of the instant under the names of the query, without columns that are not in the query."""
        version = self.history.at(instant)
        if version is None:
            return rows
        there = {found.name: found for found in version}
        chosen = [(name, there[name]) for name in rows.column_names if name in there and there[name].id in self._names]
        columns = [self._column(rows.column(name), found) for name, found in chosen]
        return pa.table(columns, names=[self._names[found.id] for _, found in chosen])

    def renamed_images(self, rows: pa.ChunkedArray, instant: str) -> pa.ChunkedArray:
        """Rows that the instant logged as structs, under the names of the query, see `_type`."""
        version = self.history.at(instant)
        return rows if version is None else self._column(rows, IdField(-1, "row", version))

    def _column(self, column: pa.ChunkedArray, found: IdField) -> pa.ChunkedArray:
        kind = self._type(column.type, found.parts)
        return column if kind == column.type else pa.chunked_array([chunk.view(kind) for chunk in column.chunks], kind)

    def _type(self, kind: pa.DataType, parts: Version) -> pa.DataType:
        """The type with the names of the query for nested fields; fields that are not in the query get a name that no column
        can have.
        """
        if pt.is_struct(kind):
            there = {part.name: part for part in parts}
            return pa.struct([self._nested_field(inner, there.get(inner.name)) for inner in kind])
        if pt.is_list(kind) and parts:
            return pa.list_(kind.value_field.with_type(self._type(kind.value_type, parts[0].parts)))
        if pt.is_map(kind) and len(parts) > 1:
            return pa.map_(kind.key_type, kind.item_field.with_type(self._type(kind.item_type, parts[1].parts)))
        return kind

    def _nested_field(self, inner: pa.Field, found: IdField | None) -> pa.Field:
        if found is None:
            return inner
        return pa.field(self._names.get(found.id, f"\0{found.id}"), self._type(inner.type, found.parts), inner.nullable)


def _record(record: Mapping[str, Any]) -> Version:
    return tuple(IdField(int(part["id"]), str(part["name"]), _parts(part["type"])) for part in record["fields"])


def _parts(kind: Any) -> Version:
    """The nested fields of a type."""
    match kind:
        case {"type": "record"}:
            return _record(kind)
        case {"type": "array", "element_id": number, "element": element}:
            return (IdField(int(number), "element", _parts(element)),)
        case {"type": "map", "key_id": key, "value_id": value, "value": values}:
            return (IdField(int(key), "key"), IdField(int(value), "value", _parts(values)))
        case str():
            return ()
    raise ValueError(f"not a type:  {str(kind)[:200]}")
