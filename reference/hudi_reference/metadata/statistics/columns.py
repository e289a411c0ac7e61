"""Which columns of a table have statistics, spec "Indexes > Column Stats" as deployed.

    hoodie.metadata.index.column.stats.column.list              these columns, also nested ones by their paths
    hoodie.metadata.index.column.stats.max.columns.to.index     otherwise the first columns that can have statistics

The meta columns `_hoodie_commit_time`, `_hoodie_partition_path` and `_hoodie_record_key` always have statistics if the table
stores them. The definition of the index, in the document of the table's index definitions, names the columns. Readers leave out
a file that has no statistics of a column that the definition names: they take its values for null. So a later writer keeps to
the columns of the definition, and adds only columns that the earlier files do not have.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.metadata.availability import index_version, read_definitions
from hudi_reference.metadata.definitions import V1, IndexDefinition, version_at_creation
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.metadata.records import Statistics
from hudi_reference.metadata.schema import DECIMAL_PRECISION, DECIMAL_SCALE
from hudi_reference.metadata.statistics.files import has_statistics
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS, AvroSchema, arrow_schema

S = TypeVar("S", bound=Statistics)
LIST_KEY = "hoodie.metadata.index.column.stats.column.list"
LIMIT_KEY, LIMIT = "hoodie.metadata.index.column.stats.max.columns.to.index", "32"
#: The meta columns with statistics, in the order of deployed definitions.
_META = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key")


@implements("MDT-011")
def indexed_columns(table: Table, schema: AvroSchema, earlier: Callable[[], AvroSchema] | None = None) -> tuple[str, ...]:
    """The columns with statistics in a table with that schema.

    Args:
        table: the table; its options choose the columns of a new index, and its definitions name those of an existing one.
        schema: the data columns.
        earlier: the schema before the action that changes the index; None if all entries are made anew.
    """
    options, known, version = table.options, defined_columns(table), statistics_version(table)
    if earlier is None:
        return known if known and LIST_KEY not in options else (*_meta(table), *_choose_columns(options, schema, version))
    known = known or (*_meta(table), *_choose_columns(options, earlier(), version))
    possible = [name for name in _candidates(options, schema, version) if name not in known]
    limit = len(possible) if LIST_KEY in options else int(options.get(LIMIT_KEY, LIMIT))
    free = max(0, limit - len([name for name in known if name not in META_COLUMNS]))
    if not possible or not free:
        return known
    before = indexable_columns(earlier(), version)
    return (*known, *[name for name in possible if name not in before][:free])


def defined_columns(table: Table) -> tuple[str, ...]:
    """The columns that the definition of the index names; nothing without a definition."""
    found = read_definitions(table.storage, table.properties)
    return next((one.columns for one in found if one.partition == BuiltIn.COLUMN_STATS), ())


def statistics_version(table: Table) -> str:
    """The version of the indexes of column and partition statistics."""
    return index_version(table.storage, table.properties, BuiltIn.COLUMN_STATS)


def in_version(found: S, version: str) -> S:
    """Statistics as an index of that version stores them: without the types of values in V1."""
    return replace(found, value_type=None) if version == V1 else found


def new_definition(table: Table, columns: Sequence[str]) -> IndexDefinition:
    """The definition of column statistics of these columns. Tables of version 8 store no version, as Apache Hudi 1.0."""
    name = BuiltIn.COLUMN_STATS.value
    version = version_at_creation(name, table.properties.version)
    return IndexDefinition(name, name, name, tuple(columns), version=None if version == V1 else version)


def has_other_columns(table: Table) -> bool:
    """Whether the options of the writer list other columns than the index has; its entries must then be made anew."""
    if LIST_KEY not in table.options:
        return False
    known, schema, version = defined_columns(table), table.view().schema, statistics_version(table)
    possible = indexable_columns(schema, version)
    return {name for name in known if name in possible} != set(_choose_columns(table.options, schema, version))


def _meta(table: Table) -> tuple[str, ...]:
    return _META if table.properties.populates_meta_fields else ()


def _choose_columns(options: Mapping[str, str], schema: AvroSchema, version: str) -> tuple[str, ...]:
    limit = None if LIST_KEY in options else int(options.get(LIMIT_KEY, LIMIT))
    return tuple(_candidates(options, schema, version)[:limit])


def _candidates(options: Mapping[str, str], schema: AvroSchema, version: str) -> list[str]:
    """The columns that the options list; without a list, all columns that are not nested."""
    possible = indexable_columns(schema, version)
    if LIST_KEY in options:
        return [name for text in options[LIST_KEY].split(",") if (name := text.strip()) in possible]
    return [name for name in possible if "." not in name]


@implements("MDT-014")
def indexable_columns(schema: AvroSchema, version: str) -> dict[str, pa.DataType]:
    """The data columns that can have statistics and their types, in the order of the schema; nested ones after their struct.

    Not lists, maps and enumerations, fixed bytes, nor, in version V1, decimals with more digits than the wrapper holds.
    """
    kinds = arrow_schema(schema)
    found = {}
    for field in schema["fields"]:
        if field["name"] not in META_COLUMNS and not _is_enumeration(field["type"]):
            found.update(_flatten_column(field["name"], kinds.field(field["name"]).type))
    return {name: kind for name, kind in found.items() if version != V1 or _fits_wrapper(kind)}


def _flatten_column(name: str, kind: pa.DataType) -> dict[str, pa.DataType]:
    if pt.is_struct(kind):
        return {path: inner for part in kind for path, inner in _flatten_column(f"{name}.{part.name}", part.type).items()}
    return {name: kind} if has_statistics(kind) else {}


def _fits_wrapper(kind: pa.DataType) -> bool:
    if not pt.is_decimal(kind):
        return True
    return bool(kind.scale <= DECIMAL_SCALE and kind.precision + DECIMAL_SCALE - kind.scale <= DECIMAL_PRECISION)


def _is_enumeration(avro: Any) -> bool:
    """Whether an Avro type is an enumeration, which is a text in Arrow."""
    if isinstance(avro, list):
        return any(map(_is_enumeration, avro))
    if not isinstance(avro, Mapping):
        return False
    if isinstance(avro["type"], Mapping | list):
        return _is_enumeration(avro["type"])
    return bool(avro["type"] == "enum")
