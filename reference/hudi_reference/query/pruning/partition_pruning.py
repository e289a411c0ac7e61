"""Partition pruning: a query that compares partition columns skips partitions without matching rows, spec "Partitioning".

A record belongs to one partition, so skipping a partition changes no merge. Values in the data files are authoritative: a
partition is skipped only if its path determines the value of the column in all its rows. In a table with a record index it
does not: by default its writers update a record where it is, with the partition columns of a row that names another partition.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import MalformedFileName, UnsupportedTableFeature
from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.pruning.partition_columns import Folders, folders_of, value_of
from hudi_reference.query.pruning.predicates import NULL_TESTS, Comparison, compare
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
_RECORD_INDEX = "record_index"
#: The folders of a date, and the outermost of them.
_SPLIT_DATE, _YEAR = re.compile(r"\d{4}/\d\d/\d\d", re.ASCII), re.compile(r"\d{4}", re.ASCII)


@dataclass(frozen=True)
class PartitionFilter:
    """The comparisons of a filter that the path of a partition can decide."""

    folders: Folders
    asked: Sequence[Comparison]
    schema: pa.Schema

    def holding(self, paths: Sequence[str]) -> list[bool]:
        """For each partition whether its rows may satisfy the comparisons; True also if the path does not show its values."""
        names = [name for name, _, _ in self.asked]
        values = [values_in_path(self.folders, names, self.schema, path) for path in paths]
        holds = [True] * len(paths)
        for name, operator, value in self.asked:
            kind = self.schema.field(name).type
            shown = pa.array([None if found is None else found[name] for found in values], kind)
            passes = compare(pa.chunked_array([shown]), operator, value).fill_null(False).to_pylist()
            pairs = zip(holds, passes, shown.is_valid().to_pylist(), strict=True)
            holds = [may and (passed or not is_shown) for may, passed, is_shown in pairs]
        return holds

    @implements("LAY-009")
    def may_contain(self, folders: Sequence[str], chosen: "ChosenPartitions") -> list[bool]:
        """For each folder of the base path whether partitions at or below it may hold such rows.

        The folder shows the value of the first partition column. If the value is a text that is not URL-encoded, it may contain
        `/`, and the folder is only its beginning; so is a folder that is part of a date.
        """
        name = self.folders.fields[0]
        asked = [one for one in self.asked if one[0] == name]
        if not asked:
            return [True] * len(folders)
        if len(self.folders.fields) == 1:
            decided = chosen.holding(folders)
        else:
            decided = PartitionFilter(replace(self.folders, fields=(name,)), asked, self.schema).holding(folders)
        split_dates = self.folders.split_dates
        may_go_on = split_dates or (pt.is_string(self.schema.field(name).type) and not self.folders.url_encode)
        separator = "-" if split_dates else "/"
        start = f"{name}=" if self.folders.hive_style else ""
        return [
            holds or self._may_be_a_year(text) or (may_go_on and all(_may_begin_with(one, text + separator) for one in asked))
            for text, holds in zip((folder.removeprefix(start) for folder in folders), decided, strict=True)
        ]

    def _may_be_a_year(self, text: str) -> bool:
        """Whether a folder may be the outermost one of dates, whose paths do not show the values below it."""
        return len(self.folders.fields) == 1 and not self.folders.split_dates and _YEAR.fullmatch(text) is not None


class ChosenPartitions:
    """The partitions of a table that a filter needs, decided by `holding` once for each."""

    def __init__(self, holding: Callable[[Sequence[str]], list[bool]]) -> None:
        self._decide = holding
        self._known: dict[str, bool] = {}

    def __call__(self, partition: str) -> bool:
        """Whether the filter needs the partition."""
        if partition not in self._known:
            self.among([partition])
        return self._known[partition]

    def among(self, partitions: Iterable[str]) -> list[str]:
        """Those of the partitions that the filter needs."""
        given = list(partitions)
        return [one for one, holds in zip(given, self.holding(given), strict=True) if holds]

    def holding(self, partitions: Sequence[str]) -> list[bool]:
        """For each partition whether the filter needs it."""
        new = list({one for one in partitions if one not in self._known})
        self._known.update(zip(new, self._decide(new), strict=True))
        return [self._known[one] for one in partitions]


@implements("LAY-018")
@dataclass(frozen=True)
class PartitionValues:
    """The values that all rows of a partition have in these partition columns, by the path of the partition."""

    folders: Folders
    names: Sequence[str]
    schema: pa.Schema

    def __call__(self, path: str) -> Mapping[str, Any]:
        """The values by column, None for null; nothing if the path does not show them."""
        return values_in_path(self.folders, self.names, self.schema, path) or {}


def partition_values(properties: TableProperties, schema: pa.Schema) -> PartitionValues | None:
    """What paths of partitions show of the values in rows; None if nothing."""
    names = [name for name in properties.partition_fields if name in schema.names and _has_one_text(schema.field(name).type)]
    return PartitionValues(folders_of(properties), names, schema) if names and _paths_show_values(properties) else None


def values_in_path(folders: Folders, names: Iterable[str], schema: pa.Schema, path: str) -> Mapping[str, Any] | None:
    """The values of partition columns in the path of a partition, None for null; None if the path does not show them."""
    if "%" in path and not folders.url_encode:
        return None  # a writer escaped the path, and the table properties do not say so
    try:
        texts = folders.texts(path)
        # ER-275: the properties do not always say that the writer splits dates; the value may have hyphens in place of slashes.
        if len(texts) == 1 and any(_SPLIT_DATE.fullmatch(text or "") for text in texts.values()):
            return None
        return {name: value_of(schema.field(name), texts[name], path).as_py() for name in names}
    except (MalformedFileName, UnsupportedTableFeature):
        return None


def _may_begin_with(comparison: Comparison, text: str) -> bool:
    """Whether values that begin with the text may satisfy the comparison."""
    _, operator, value = comparison
    return operator != "=" or str(value).startswith(text)


@implements("LAY-008", "MRG-015")
def partition_filter(where: Sequence[Comparison], properties: TableProperties, schema: pa.Schema) -> PartitionFilter | None:
    """What the paths of partitions can decide of a filter; None if nothing.

    That is no test for null: the folder of rows without a value may have the name of a value, as `default` of old releases.
    """
    fields = {name for name in properties.partition_fields if name in schema.names}
    asked = [one for one in where if one[0] in fields and one[1] not in NULL_TESTS and _has_one_text(schema.field(one[0]).type)]
    return PartitionFilter(folders_of(properties), asked, schema) if asked and _paths_show_values(properties) else None


@implements("LAY-008", "MRG-015")
def prune_partitions(
    slices: Iterable[Slice], where: Sequence[Comparison], properties: TableProperties, schema: pa.Schema
) -> list[Slice]:
    """The slices whose partition may hold rows for which all comparisons hold. Raises InvalidQuery as comparing rows does."""
    found, wanted = list(slices), partition_filter(where, properties, schema)
    if wanted is None:
        return found
    chosen = set(ChosenPartitions(wanted.holding).among({one.partition for one in found}))
    return [one for one in found if one.partition in chosen]


def _paths_show_values(properties: TableProperties) -> bool:
    """Whether paths show the values of all rows: the table names a key generator that makes paths from values (without a name,
    it may be any), and its writers leave no record in the partition of an earlier value.
    """
    # ER-167: writers with a record index store the partition columns of the row, and leave the record where it is.
    if _RECORD_INDEX in properties.fields(USABLE):
        return False
    is_named = any(properties.entries.get(f"hoodie.table.keygenerator.{what}") for what in ("type", "class"))
    return is_named and kind_of_generator(properties) in _OF_VALUES


def _has_one_text(kind: pa.DataType) -> bool:
    """Whether all writers make the same text of a value of this type."""
    return any(is_one(kind) for is_one in (pt.is_string, pt.is_integer, pt.is_boolean, pt.is_date))
