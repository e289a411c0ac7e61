"""Which columns of a table have statistics, spec "Indexes > Column Stats" as deployed.

    hoodie.metadata.index.column.stats.column.list              these columns, also nested ones by their paths
    hoodie.metadata.index.column.stats.max.columns.to.index     otherwise the first columns of the table that can have statistics

The meta columns `_hoodie_commit_time`, `_hoodie_partition_path` and `_hoodie_record_key` always have statistics if the table
stores them. The definition of the index, in the document of the table's index definitions, names the columns. Readers leave out
a file that has no statistics of a column that the definition names: they take its values for null. So a later writer keeps to
the columns of the definition, and adds only columns that the earlier files do not have.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.layout.properties import TableProperties
from hudi_reference.metadata.definitions import IndexDefinition
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.metadata.schema import DECIMAL
from hudi_reference.metadata.statistics.files import has_statistics
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS, AvroSchema, arrow_schema

LIST_KEY = "hoodie.metadata.index.column.stats.column.list"
LIMIT_KEY, LIMIT = "hoodie.metadata.index.column.stats.max.columns.to.index", "32"
#: The meta columns with statistics, in the order of deployed definitions.
_META = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key")


def definition_of(columns: Sequence[str]) -> IndexDefinition:
    """The definition of column statistics of these columns."""
    name = BuiltIn.COLUMN_STATS.value
    return IndexDefinition(name, name, name, tuple(columns))


@implements("MDT-011")
def new_columns(properties: TableProperties, options: Mapping[str, str], schema: AvroSchema) -> tuple[str, ...]:
    """The columns of a new index of a table with that schema, data columns only, or with its meta columns."""
    meta = _META if properties.populates_meta_fields else ()
    return (*meta, *_chosen(options, schema))


@implements("MDT-011")
def later_columns(
    known: Sequence[str], options: Mapping[str, str], earlier: AvroSchema, schema: AvroSchema
) -> tuple[str, ...]:
    """The columns of an existing index after the schema has changed: `known`, and those that are new in the schema."""
    before, now = set(indexable(earlier)), indexable(schema)
    limit = int(options.get(LIMIT_KEY, LIMIT))
    if listed := _listed(options):
        now = {name: now[name] for name in listed if name in now}
        limit = len(listed)
    free = max(0, limit - len([name for name in known if name not in META_COLUMNS]))
    return (*known, *[name for name in now if name not in before and name not in known][:free])


def _chosen(options: Mapping[str, str], schema: AvroSchema) -> tuple[str, ...]:
    possible = indexable(schema)
    if listed := _listed(options):
        return tuple(name for name in listed if name in possible)
    return tuple(name for name in possible if "." not in name)[: int(options.get(LIMIT_KEY, LIMIT))]


def _listed(options: Mapping[str, str]) -> list[str]:
    return [name for text in options.get(LIST_KEY, "").split(",") if (name := text.strip())]


@implements("MDT-014")
def indexable(schema: AvroSchema) -> dict[str, pa.DataType]:
    """The data columns that can have statistics and their types, in the order of the schema; nested ones after their struct.

    Not lists, maps and enumerations, fixed bytes, nor decimals with more digits than the wrapper holds.
    """
    kinds = arrow_schema(schema)
    found = {}
    for field in schema["fields"]:
        if field["name"] not in META_COLUMNS and not _is_named(field["type"]):
            found.update(_flat(field["name"], kinds.field(field["name"]).type))
    return found


def _flat(name: str, kind: pa.DataType) -> dict[str, pa.DataType]:
    if pt.is_struct(kind):
        return {path: inner for part in kind for path, inner in _flat(f"{name}.{part.name}", part.type).items()}
    return {name: kind} if has_statistics(kind) and _fits(kind) else {}


def _fits(kind: pa.DataType) -> bool:
    if not pt.is_decimal(kind):
        return True
    return bool(kind.scale <= DECIMAL["scale"] and kind.precision + DECIMAL["scale"] - kind.scale <= DECIMAL["precision"])


def _is_named(avro: Any) -> bool:
    """Whether an Avro type is an enumeration, or fixed bytes that are no decimal."""
    if isinstance(avro, list):
        return any(map(_is_named, avro))
    if not isinstance(avro, Mapping):
        return False
    if isinstance(avro["type"], Mapping | list):
        return _is_named(avro["type"])
    return avro["type"] == "enum" or (avro["type"] == "fixed" and avro.get("logicalType") != "decimal")
