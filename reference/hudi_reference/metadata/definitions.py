"""Definitions of indexes: the JSON document at `hoodie.table.index.defs.path`, spec "Indexes > Secondary index".

The version of a definition says how the entries of its index are stored. The definition decides, not the version of the table:
an index of a table that was upgraded from version 8 to 9 stays V1 until it is created again.

    index                            created in a table of version 8    of version 9
    column_stats, partition_stats    V1                                 V2: statistics have the types of the values
    secondary_index_…                V1                                 V2: file group by value; nulls; dates are day numbers
    expr_index_…                     V1                                 V2, as column_stats
    others                           V1                                 V1

A definition without a version is V1. partition_stats has no definition and follows column_stats.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_reference.errors import MalformedMetadata
from hudi_reference.metadata.partitions import BuiltIn, Kind
from hudi_reference.requirement import implements

V1, V2 = "V1", "V2"
#: The index versions that are read and written.
VERSIONS = (V1, V2)
#: Prefixes of the partitions that have version V2 in tables of version 9.
_CHANGED = (BuiltIn.COLUMN_STATS, BuiltIn.PARTITION_STATS, f"{Kind.SECONDARY}_", f"{Kind.EXPRESSION}_")
#: The first table version in which they have.
SINCE = 9
#: The option of the definition of the record index that says whether it is partitioned.
IS_PARTITIONED = "isPartitioned"
#: The members of a definition in the document, in order, and their types there.
_MEMBERS = {"indexName": str, "indexType": str, "indexFunction": str, "sourceFields": list, "indexOptions": dict}


@implements("IDX-022", "IDX-032")
@dataclass(frozen=True)
class IndexDefinition:
    """An index: its partition of the metadata table, its kind, and the function and columns that it indexes."""

    partition: str
    kind: str
    function: str
    columns: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    #: As it is stored; None in documents of Apache Hudi 1.0.
    version: str | None = None
    #: Members that later releases added, as they were read.
    others: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_known(self) -> bool:
        """Whether the version is one that is read and written."""
        return (self.version or V1) in VERSIONS


@implements("IDX-044")
def version_at_creation(partition: str, table_version: int) -> str:
    """The version of an index that is created in a table of that version."""
    return V2 if table_version >= SINCE and partition.startswith(_CHANGED) else V1


@implements("IDX-047")
def is_partitioned(definition: IndexDefinition | None) -> bool:
    """Whether the record index with this definition has file groups of its own for each partition of the table."""
    return definition is not None and definition.options.get(IS_PARTITIONED) == "true"


@implements("IDX-022", "IDX-032")
def parse_definitions(text: bytes | str, path: str) -> tuple[IndexDefinition, ...]:
    """The definitions in the document; unknown members are kept as they are. Raises MalformedMetadata."""
    try:
        return tuple(_parse_definition(name, found) for name, found in json.loads(text)["indexDefinitions"].items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedMetadata(
            "no document of index definitions", rule="IDX-022", path=path, found=f"{type(error).__name__}: {error}",
            expected=f"indexDefinitions, an object of objects with {', '.join(_MEMBERS)}",
        ) from error  # fmt: skip


def _parse_definition(name: str, found: Mapping[str, Any]) -> IndexDefinition:
    for member, kind in _MEMBERS.items():
        if not isinstance(found[member], kind):
            raise TypeError(f"{member} of {name} is {found[member]!r}")
    if found["indexName"] != name:
        raise ValueError(f"{name} is called {found['indexName']!r}")
    others = {member: value for member, value in found.items() if member not in (*_MEMBERS, "version")}
    return IndexDefinition(
        name, found["indexType"], found["indexFunction"], tuple(found["sourceFields"]), dict(found["indexOptions"]),
        None if (version := found.get("version")) is None else str(version), others,
    )  # fmt: skip


@implements("IDX-022")
def dump_definitions(definitions: Iterable[IndexDefinition]) -> bytes:
    """The document of these definitions, in the layout of deployed writers."""
    documents = {
        one.partition: {
            "indexName": one.partition,
            "indexType": one.kind,
            "indexFunction": one.function,
            "sourceFields": list(one.columns),
            "indexOptions": dict(one.options),
            **({} if one.version is None else {"version": one.version}),
            **one.others,
        }
        for one in definitions
    }
    return _pretty_json({"indexDefinitions": documents}).encode()


def _pretty_json(value: Any, indent: str = "") -> str:
    """JSON in the layout of Jackson's pretty printer, which deployed writers use: objects on lines, arrays in one line."""
    if isinstance(value, list):
        return f"[ {', '.join(_pretty_json(one) for one in value)} ]" if value else "[ ]"
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    inner = ",\n".join(
        f"{indent}  {json.dumps(key, ensure_ascii=False)} : {_pretty_json(one, indent + '  ')}" for key, one in value.items()
    )
    return f"{{\n{inner}\n{indent}}}" if value else "{ }"
