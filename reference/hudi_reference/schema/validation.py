"""Checks of a schema before data is decoded under it, in addition to those of the Avro library.

Schemas are refused under which a few bytes could represent values without limit. A recursive type can be nested as deeply as
damaged bytes claim, deeper than the stack of a decoder. An array of elements without bytes can have more elements than fit into
memory. No writer of Hudi tables stores such types.
"""

from typing import Any

from hudi_reference.errors import UnsupportedSchema

_LEAST = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1}


def check_schema(schema: Any, path: str) -> None:
    """Check a schema that the Avro library has parsed, in which named types have their full names.

    Raises ValueError for invalid names and sizes, UnsupportedSchema for types with values without limit.
    """
    try:
        _least_bytes(schema, {})
    except UnsupportedSchema as error:
        error.path = path
        raise


def _least_bytes(avro: Any, known: dict[str, int | None]) -> int:
    """The least number of bytes of a value of the type. `known` has the named types; None for a type that is being checked."""
    least: int | None
    match avro:
        case str():
            least = _LEAST[avro] if avro in _LEAST else known.get(avro)
            if least is None:
                raise _endless("a type that holds itself", avro)
        case list():
            least = 1 + min([_least_bytes(branch, known) for branch in avro], default=0)
        case {"type": "record" | "error", "name": name, "fields": fields}:
            least = _record(_new_name(name, known), fields, known)
        case {"type": "array", "items": items}:
            least = 1
            if _least_bytes(items, known) == 0:
                raise _endless("an array of nothing", items)
        case {"type": "map", "values": values}:
            least = 1 + 0 * _least_bytes(values, known)
        case {"type": "fixed", "name": name, "size": int(size)} if size >= 0:
            least = known[_new_name(name, known)] = size
        case {"type": "enum", "name": name, "symbols": [_, *_]}:
            least = known[_new_name(name, known)] = 1
        case {"type": str(name)} if name in _LEAST or name in known:
            least = _least_bytes(name, known)
        case _:
            raise ValueError(f"no type: {str(avro)[:200]}")
    return least


def _record(name: str, fields: list[Any], known: dict[str, int | None]) -> int:
    known[name] = None
    names = [_text(field["name"]) for field in fields]
    if len(set(names)) < len(names):
        raise ValueError(f"record {name} has two fields of one name")
    least = known[name] = sum([_least_bytes(field["type"], known) for field in fields])
    return least


def _new_name(name: Any, known: dict[str, int | None]) -> str:
    """A name that no other type has. Raises ValueError."""
    if _text(name) in known or name in _LEAST:
        raise ValueError(f"the name {name!r} of a type has another meaning already")
    return str(name)


def _text(name: Any) -> str:
    """A name, if it is a text that is not empty. Raises ValueError."""
    if not isinstance(name, str) or not name.encode():
        raise ValueError(f"the name {name!r}")
    return name


def _endless(what: str, found: Any) -> UnsupportedSchema:
    return UnsupportedSchema(what, rule="LF-038", expected="types whose values take a byte or more", found=str(found)[:200])
