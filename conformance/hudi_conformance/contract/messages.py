"""Messages and answers of protocol version 1.

The JSON Schemas in `schemas/` are normative; the classes here have the same fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, Self

import pyarrow as pa

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

from hudi_conformance.contract.features import current_names
from hudi_conformance.contract.text import escape_controls

PROTOCOL = 1

QueryKind = Literal["snapshot", "read-optimized", "as-of", "incremental", "cdc"]
Operation = Literal["insert", "upsert", "delete", "bulk_insert", "partial_update", "insert_overwrite", "delete_partition"]
Service = Literal[
    "compaction", "log-compaction", "clustering", "clean", "rollback", "savepoint", "restore", "index", "archive", "migrate"
]  # fmt: skip
#: A service publishes its plan (schedule), executes an existing plan (execute), or does both (run).
Phase = Literal["run", "schedule", "execute"]
#: The points at which work can pause: begin time taken (drawn) or plan made (planned) and nothing published; request published;
#: files stored and action not completed.
Point = Literal["drawn", "planned", "requested", "stored"]


@dataclass(frozen=True)
class Hello:
    """The identity and the features of an engine.

    `features` are keys of `features.FEATURES`; former names are replaced. The addresses are None if unknown.
    """

    engine: str
    version: str
    language: str
    features: frozenset[str]
    homepage: str | None = None
    issues: str | None = None
    source: str | None = None

    @property
    def links(self) -> dict[str, str]:
        """The addresses that the engine named: homepage, issues, source."""
        named = {"homepage": self.homepage, "issues": self.issues, "source": self.source}
        return {name: address for name, address in named.items() if address is not None}

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", current_names(self.features))

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> Self:
        """The identity in an answer to `hello`."""
        said = {name: escape_controls(message[name]) for name in ("engine", "version", "language")}
        links = {name: escape_controls(message[name]) for name in ("homepage", "issues", "source") if name in message}
        return cls(**said, features=frozenset(message["features"]), **links)

    def to_json(self) -> dict[str, Any]:
        """The answer to `hello`."""
        return {
            "protocol": PROTOCOL,
            "engine": self.engine,
            "version": self.version,
            "language": self.language,
            "features": sorted(self.features),
            **self.links,
        }


@dataclass(frozen=True)
class Query:
    """A query.

    `as_of`, `begin` and `end` are instants as the query type defines them; `columns` are the columns of the result in
    order (all data columns, without meta columns, if None); `where` are comparisons `(column, op, value)` joined with
    and, `op` one of `= != < <= > >= in`; the value of `in` is a tuple. With `by_id` columns are matched by the ids of the
    table's schema history.
    """

    kind: QueryKind = "snapshot"
    as_of: str | None = None
    begin: str | None = None
    end: str | None = None
    columns: tuple[str, ...] | None = None
    where: tuple[tuple[str, str, Any], ...] = ()
    by_id: bool = False

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> Self:
        """The query in a `read` message or a case file."""
        columns = message.get("columns")
        return cls(
            kind=message.get("kind", "snapshot"),
            as_of=message.get("as_of"),
            begin=message.get("begin"),
            end=message.get("end"),
            columns=None if columns is None else tuple(columns),
            where=tuple((c, op, tuple(v) if isinstance(v, list) else v) for c, op, v in message.get("where", ())),
            by_id=message.get("by_id", False),
        )

    def to_json(self) -> dict[str, Any]:
        """The same as a JSON object, absent options left out."""
        found: dict[str, Any] = {"kind": self.kind}
        found |= {k: v for k in ("as_of", "begin", "end") if (v := getattr(self, k)) is not None}
        if self.columns is not None:
            found["columns"] = list(self.columns)
        if self.where:
            found["where"] = [[c, op, list(v) if op == "in" else v] for c, op, v in self.where]
        if self.by_id:
            found["by_id"] = True
        return found


@dataclass(frozen=True)
class Write:
    """A write that can pause; see the operation `write`."""

    table: str
    operation: Operation
    rows: pa.Table
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A service that can pause; see the operation `service`."""

    table: str
    service: Service
    phase: Phase = "run"
    instant: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


Work = Write | Call


@dataclass(frozen=True)
class TableSpec:
    """The description of a new table.

    `schema` is an Avro record schema of the data columns (no meta columns), as a JSON value. With `merge_mode` None the
    mode is inferred (event time if there is an ordering field). `properties` are further entries of
    `hoodie.properties`. `version` is the table version, 8 or 9.
    """

    name: str
    type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
    schema: Mapping[str, Any]
    record_key: tuple[str, ...]
    partition: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ()
    merge_mode: Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM"] | None = None
    hive_style: bool = False
    url_encode: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)
    version: int = 8

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> Self:
        """The table description in a `create` message or a case file; members that are not known are ignored."""
        known = known_members(cls, message)
        for name in ("record_key", "partition", "ordering"):
            known[name] = tuple(known.get(name, ()))
        return cls(**known)

    def to_json(self) -> dict[str, Any]:
        """The same as a JSON object."""
        return {
            "name": self.name,
            "type": self.type,
            "schema": self.schema,
            "record_key": list(self.record_key),
            "partition": list(self.partition),
            "ordering": list(self.ordering),
            "merge_mode": self.merge_mode,
            "hive_style": self.hive_style,
            "url_encode": self.url_encode,
            "properties": dict(self.properties),
            "version": self.version,
        }


def known_members(kind: "type[DataclassInstance]", message: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a JSON object that are fields of a class: messages of a later release may have more."""
    names = {one.name for one in fields(kind)}
    return {name: value for name, value in message.items() if name in names}
