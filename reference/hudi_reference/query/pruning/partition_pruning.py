"""Partition pruning: a query that compares partition columns skips partitions without matching rows, spec "Partitioning".

A record belongs to one partition, so skipping a partition changes no merge. Values in the data files are authoritative: a
partition is skipped only if its path determines the value of the column in all its rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import MalformedFileName, UnsupportedTableFeature
from hudi_reference.layout.partitions import NULL_PARTITION
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.pruning.partition_columns import Folders, folders_of, value_of
from hudi_reference.query.pruning.predicates import Comparison, compare
from hudi_reference.records.keys.record_keys import kind_of_generator
from hudi_reference.requirement import implements


class InPartition(Protocol):
    """A file slice, or something else that is in one partition."""

    @property
    def partition(self) -> str:
        """The path of the partition."""


Slice = TypeVar("Slice", bound=InPartition)
#: Key generators that make paths from the values of the partition columns only.
_OF_VALUES = ("SIMPLE", "COMPLEX")


@dataclass(frozen=True)
class PartitionFilter:
    """The comparisons of a filter that the path of a partition can decide."""

    folders: Folders
    asked: Sequence[Comparison]
    schema: pa.Schema

    def holds(self, path: str) -> bool:
        """Whether rows of the partition may satisfy the comparisons; True also if the path does not show its values."""
        if "%" in path and not self.folders.url_encode:
            return True  # a writer escaped the path, and the table properties do not say so
        try:
            texts = self.folders.texts(path)
            values = {name: value_of(self.schema.field(name), texts[name], path) for name, _, _ in self.asked}
        except (MalformedFileName, UnsupportedTableFeature):
            return True
        return all(not values[name].is_valid or _passes(values[name], operator, value) for name, operator, value in self.asked)

    @implements("LAY-009")
    def may_contain(self, folder: str) -> bool:
        """Whether partitions at or below a folder of the base path may hold such rows.

        The folder shows the value of the first partition column. If the value is a text that is not URL-encoded, it may contain
        `/`, and the folder is only its beginning.
        """
        name = self.folders.fields[0]
        start = f"{name}=" if self.folders.hive_style else ""
        text = folder.removeprefix(start)
        if not folder.startswith(start) or text == NULL_PARTITION or ("%" in folder and not self.folders.url_encode):
            return True
        field, asked = self.schema.field(name), [one for one in self.asked if one[0] == name]
        alone = PartitionFilter(Folders((name,), self.folders.hive_style, self.folders.url_encode), asked, self.schema)
        if alone.holds(folder):
            return True
        return pt.is_string(field.type) and not self.folders.url_encode and all(_begins(one, text) for one in asked)


def _begins(comparison: Comparison, text: str) -> bool:
    """Whether values that begin with the text and `/` may satisfy the comparison."""
    _, operator, value = comparison
    return operator != "=" or str(value).startswith(f"{text}/")


@implements("LAY-008", "MRG-015")
def partition_filter(where: Sequence[Comparison], properties: TableProperties, schema: pa.Schema) -> PartitionFilter | None:
    """What the paths of partitions can decide of a filter; None if nothing."""
    fields = {name for name in properties.partition_fields if name in schema.names}
    asked = [one for one in where if one[0] in fields and _has_one_text(schema.field(one[0]).type)]
    return PartitionFilter(folders_of(properties), asked, schema) if asked and _are_of_values(properties) else None


@implements("LAY-008", "MRG-015")
def pruned(slices: Iterable[Slice], where: Sequence[Comparison], properties: TableProperties, schema: pa.Schema) -> list[Slice]:
    """The slices whose partition may hold rows for which all comparisons hold. Raises InvalidQuery as comparing rows does."""
    found, wanted = list(slices), partition_filter(where, properties, schema)
    if wanted is None:
        return found
    may_hold = {path: wanted.holds(path) for path in {one.partition for one in found}}
    return [one for one in found if may_hold[one.partition]]


def _are_of_values(properties: TableProperties) -> bool:
    """Whether the table names a key generator that makes paths from values; without a name, it may be any."""
    is_named = any(properties.entries.get(f"hoodie.table.keygenerator.{what}") for what in ("type", "class"))
    return is_named and kind_of_generator(properties) in _OF_VALUES


def _has_one_text(kind: pa.DataType) -> bool:
    """Whether all writers make the same text of a value of this type."""
    return any(is_one(kind) for is_one in (pt.is_string, pt.is_integer, pt.is_boolean, pt.is_date))


def _passes(found: pa.Scalar, operator: str, value: object) -> bool:
    """Whether a row with the value passes the comparison."""
    passes: pa.Scalar = compare(pa.chunked_array([[found.as_py()]], found.type), operator, value)[0]
    return passes.as_py() is True
