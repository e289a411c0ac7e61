"""Columns matched by the ids of a schema history, as tables have it whose schema was changed by statements.

`hoodie.schema.on.read.enable` in deployed engines. Each version of the schema names every field, nested ones too, and gives it
an id for good: a renamed field keeps it, a field that was dropped and added again has another. So a column of a file is found
by what its name meant when the file was written. The history lies in `.hoodie/.schema/`, its newest version in commit metadata.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import MalformedSchema
from hudi_reference.requirement import implements


@dataclass(frozen=True)
class IdField:
    """A field in one version: its id, its name, and the fields inside; those of a list or map are its parts."""

    id: int
    name: str
    parts: tuple["IdField", ...] = ()

    def tree(self) -> Iterator["IdField"]:
        """The field and all fields inside."""
        yield self
        for part in self.parts:
            yield from part.tree()


Version = tuple[IdField, ...]


@implements("LF-038")
@dataclass(frozen=True)
class SchemaHistory:
    """The versions of a table's schema, by the requested time of the action that made each as a number."""

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
        """The version by which an action that was requested then wrote its files; None before the first."""
        known = [version for version in self.versions if version <= int(instant)]
        return self.versions[max(known)] if known else None


@dataclass(frozen=True)
class ById:
    """How the columns of files become those of a query whose fields are `wanted`."""

    history: SchemaHistory
    wanted: Version

    @cached_property
    def _names(self) -> dict[int, str]:
        """The names of all fields of the query, by their ids."""
        return {found.id: found.name for top in self.wanted for found in top.tree()}

    def stored(self, names: Sequence[str], instant: str) -> list[str]:
        """What a file of the instant calls the query's columns; those that it cannot have are left out."""
        version = self.history.at(instant)
        if version is None:
            return list(names)
        ids = {found.name: found.id for found in self.wanted}
        there = {found.id: found.name for found in version}
        return [there[ids[name]] for name in names if name in ids and ids[name] in there]

    def present(self, names: Iterable[str], instant: str) -> frozenset[str]:
        """What the query calls these columns of a file of the instant."""
        there = {found.name: found.id for found in self.history.at(instant) or ()}
        return frozenset(self._names.get(there[name], name) if name in there else name for name in names)

    def renamed(self, rows: pa.Table, instant: str) -> pa.Table:
        """The rows of a file of the instant under the query's names, without columns that the query has not."""
        version = self.history.at(instant)
        if version is None:
            return rows
        there = {found.name: found for found in version}
        chosen = [(name, there[name]) for name in rows.column_names if name in there and there[name].id in self._names]
        columns = [self._column(rows.column(name), found) for name, found in chosen]
        return pa.table(columns, names=[self._names[found.id] for _, found in chosen])

    def _column(self, column: pa.ChunkedArray, found: IdField) -> pa.ChunkedArray:
        kind = self._type(column.type, found.parts)
        return column if kind == column.type else pa.chunked_array([chunk.view(kind) for chunk in column.chunks], kind)

    def _type(self, kind: pa.DataType, parts: Version) -> pa.DataType:
        """The type with the query's names inside; what the query has not gets a name that no column can have."""
        if pt.is_struct(kind):
            there = {part.name: part for part in parts}
            return pa.struct([self._part(inner, there.get(inner.name)) for inner in kind])
        if pt.is_list(kind) and parts:
            return pa.list_(kind.value_field.with_type(self._type(kind.value_type, parts[0].parts)))
        if pt.is_map(kind) and len(parts) > 1:
            return pa.map_(kind.key_type, kind.item_field.with_type(self._type(kind.item_type, parts[1].parts)))
        return kind

    def _part(self, inner: pa.Field, found: IdField | None) -> pa.Field:
        if found is None:
            return inner
        return pa.field(self._names.get(found.id, f"\0{found.id}"), self._type(inner.type, found.parts), inner.nullable)


def _record(record: Mapping[str, Any]) -> Version:
    return tuple(IdField(int(part["id"]), str(part["name"]), _parts(part["type"])) for part in record["fields"])


def _parts(kind: Any) -> Version:
    """The fields inside of a type."""
    match kind:
        case {"type": "record"}:
            return _record(kind)
        case {"type": "array", "element_id": number, "element": element}:
            return (IdField(int(number), "element", _parts(element)),)
        case {"type": "map", "key_id": key, "value_id": value, "value": values}:
            return (IdField(int(key), "key"), IdField(int(value), "value", _parts(values)))
        case str():
            return ()
    raise ValueError(f"no type: {str(kind)[:200]}")
