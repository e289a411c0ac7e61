"""Partition pruning: a query that compares partition columns skips partitions without matching rows, spec "Partitioning".

A record belongs to one partition, so skipping a partition changes no merge. Values in the data files are authoritative: a
partition is skipped only if its path determines the value of the column in all its rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import MalformedFileName, UnsupportedTableFeature
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.partition_columns import Folders, folders_of, value_of
from hudi_reference.query.predicates import Comparison, compare
from hudi_reference.records.keys.record_keys import kind_of_generator
from hudi_reference.requirement import implements

#: Key generators that make paths from the values of the partition columns only.
_OF_VALUES = ("SIMPLE", "COMPLEX")


@implements("LAY-008", "MRG-015")
def pruned(
    slices: Iterable[FileSlice], where: Sequence[Comparison], properties: TableProperties, schema: pa.Schema
) -> list[FileSlice]:
    """The slices whose partition may hold rows for which all comparisons hold. Raises InvalidQuery as comparing rows does."""
    found, fields = list(slices), properties.partition_fields
    asked = [one for one in where if one[0] in fields and _has_one_text(schema.field(one[0]).type)]
    if not asked or not _are_of_values(properties):
        return found
    folders = folders_of(properties)
    may_hold = {path: _may_hold(path, folders, asked, schema) for path in {one.partition for one in found}}
    return [one for one in found if may_hold[one.partition]]


def _are_of_values(properties: TableProperties) -> bool:
    """Whether the table names a key generator that makes paths from values; without a name, it may be any."""
    is_named = any(properties.entries.get(f"hoodie.table.keygenerator.{what}") for what in ("type", "class"))
    return is_named and kind_of_generator(properties) in _OF_VALUES


def _has_one_text(kind: pa.DataType) -> bool:
    """Whether all writers make the same text of a value of this type."""
    return any(is_one(kind) for is_one in (pt.is_string, pt.is_integer, pt.is_boolean, pt.is_date))


def _may_hold(path: str, folders: Folders, asked: Sequence[Comparison], schema: pa.Schema) -> bool:
    """Whether rows of the partition may satisfy the comparisons; True also if the path does not show its values."""
    if "%" in path and not folders.url_encode:
        return True  # a writer escaped the path, and the table properties do not say so
    try:
        texts = folders.texts(path)
        values = {name: value_of(schema.field(name), texts[name], path) for name, _, _ in asked}
    except (MalformedFileName, UnsupportedTableFeature):
        return True
    return all(not values[name].is_valid or _passes(values[name], operator, value) for name, operator, value in asked)


def _passes(found: pa.Scalar, operator: str, value: Any) -> bool:
    """Whether a row with the value passes the comparison."""
    passes: pa.Scalar = compare(pa.chunked_array([[found.as_py()]], found.type), operator, value)[0]
    return passes.as_py() is True
