"""Definitions of indexes: the JSON document at `hoodie.table.index.defs.path`, spec "Indexes > Secondary index"."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_reference.errors import MalformedMetadata
from hudi_reference.requirement import implements

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
    #: Members that later releases added, as they were read: `version`.
    others: Mapping[str, Any] = field(default_factory=dict, hash=False)


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
    others = {member: value for member, value in found.items() if member not in _MEMBERS}
    return IndexDefinition(
        name, found["indexType"], found["indexFunction"], tuple(found["sourceFields"]), dict(found["indexOptions"]), others
    )


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
