"""Values of key and partition fields that the record key and the partition of a row show.

A partial update need not have the columns of these fields: Apache Hudi stores those that the statement assigns. If no earlier
version of its record has them either, because the record was deleted or is new in the file slice, they follow from the key and
the folder (ER-068, ER-069).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import HudiError
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records.changes import KEY
from hudi_reference.records.keys.record_keys import VALUE_OF_MARK, KeyGenerator
from hudi_reference.requirement import implements


def known_fields(
    properties: TableProperties, partition_values: Callable[[str], Mapping[str, Any]] | None
) -> "KeyFields | None":
    """What record keys and partitions show; None for a key generator that is not known here, and for generated keys."""
    try:
        return None if not properties.record_key else KeyFields(KeyGenerator.from_properties(properties), partition_values)
    except HudiError:
        return None


@dataclass(frozen=True)
class KeyFields:
    """The key fields of a table with meta columns, none of which is nested."""

    generator: KeyGenerator
    #: The values of partition fields by the path of a partition; None if paths do not show them.
    partition_values: Callable[[str], Mapping[str, Any]] | None

    @implements("META-007", "META-009")
    def filled(self, rows: pa.Table, partition: str) -> pa.Table:
        """The rows, in any order, with key fields and partition fields where they are null.

        The rows are those of which no version has some columns. A key field is filled only if the key generator makes the
        stored record key of it.
        """
        others = {} if self.partition_values is None else self.partition_values(partition)
        found = self._with_key_fields(rows)
        for name, value in others.items():
            if name in found.column_names and name not in self.generator.fields:
                known = pa.scalar(value, found.schema.field(name).type)
                found = _with_column(found, name, pc.coalesce(found.column(name), known))
        return found

    def _with_key_fields(self, rows: pa.Table) -> pa.Table:
        """The rows with the values that their keys tell in key fields, if all of these are null."""
        names = self.generator.fields
        if not set(names) <= set(rows.column_names):
            return rows
        lacking = pc.is_valid(rows.column(KEY))
        for name in names:
            lacking = pc.and_(lacking, pc.is_null(rows.column(name)))
        found = rows.filter(lacking)
        values = [self._values(key) for key in found.column(KEY).to_pylist()]
        is_told = pa.array([any(one) for one in values], pa.bool_())
        if not is_told.true_count:
            return rows
        told = self._complete(found.filter(is_told), [one for one in values if any(one)])
        if told is None:
            return rows
        return pa.concat_tables([rows.filter(pc.invert(lacking)), told, found.filter(pc.invert(is_told))])

    def _complete(self, rows: pa.Table, keys: Sequence[Sequence[str | None]]) -> pa.Table | None:
        """The rows with these texts in their key fields; None if they had other record keys then."""
        found = rows
        for name, texts in zip(self.generator.fields, zip(*keys, strict=True), strict=True):
            found = _with_column(found, name, _converted(pa.array(texts, pa.string()), found.schema.field(name).type))
        try:
            made = self.generator.keys(found)
        except HudiError:
            return None
        return found if made.equals(rows.column(KEY).combine_chunks().cast(made.type)) else None

    def _values(self, key: str) -> Sequence[str | None]:
        """The texts of the fields in a key; None where it does not tell them."""
        fields = self.generator.fields
        if not self.generator.composite:
            return [key]
        patterns = (",".join(f"{re.escape(field)}:({any_text})" for field in fields) for any_text in (".*", ".*?"))
        longest, shortest = (re.fullmatch(pattern, key, re.DOTALL) for pattern in patterns)
        if longest is None or shortest is None or longest.groups() != shortest.groups():
            return [None] * len(fields)
        return [VALUE_OF_MARK.get(text, text) for text in longest.groups()]


def _with_column(rows: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    return rows.set_column(rows.column_names.index(name), rows.schema.field(name), values)


def _converted(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Texts as values of a type, also numbers of days or of units of time; nulls if they are none."""
    for steps in ([kind], [pa.int64(), kind], [pa.int32(), kind]):
        try:
            found = texts
            for step in steps:
                found = pc.cast(found, step)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
        else:
            return found
    return pa.nulls(len(texts), kind)
