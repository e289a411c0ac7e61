"""The columns of a file against the schema of the write that stored it."""

from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import HudiError
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS, arrow_schema, parse_schema


@implements("TL-007")
def renamed_column(found: Iterable[pa.Field], wanted: Iterable[pa.Field]) -> tuple[str, str] | None:
    """A column or field that only the schema of the write has, and one that only its file has; None if there are not both.

    A write stores its columns under the names in its schema. A file may have fewer columns, as partial updates have, or the
    column of the operation in addition, which Flink stores.
    """
    stored, known = ({one.name: one.type for one in fields if one.name not in META_COLUMNS} for fields in (found, wanted))
    missing, unknown = known.keys() - stored.keys(), stored.keys() - known.keys()
    if missing and unknown:
        return min(missing), min(unknown)
    nested = sorted(name for name, kind in known.items() if kind.num_fields and name in stored)
    pairs = ((name, renamed_column(_fields(stored[name]), _fields(known[name]))) for name in nested)
    return next(((f"{name}.{inner[0]}", f"{name}.{inner[1]}") for name, inner in pairs if inner is not None), None)


@lru_cache(maxsize=256)
def columns_of(text: str | None) -> pa.Schema | None:
    """The columns of a schema as Avro JSON; None if there is none, or if it is damaged, which its readers report."""
    with suppress(HudiError):
        return None if text is None else arrow_schema(parse_schema(text, ""))
    return None


def _fields(kind: pa.DataType) -> list[pa.Field]:
    """The fields of a struct, or of the structs in a list; other types have none."""
    if pt.is_list(kind) or pt.is_large_list(kind):
        return _fields(kind.value_type)
    return list(kind) if pt.is_struct(kind) else []
