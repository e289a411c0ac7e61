"""Partition columns that are not stored in data files, only in the names of folders, spec "Storage Layout".

Data files usually have the partition columns, and queries return the stored values. With the table property
`hoodie.datasource.write.drop.partition.columns`, writers omit these columns; only then a query derives their values from the
partition path. The type of such a column is that of the table's schema, or of the schema with which the table was created,
because writers omit the columns from the schemas in commit metadata too; without either it is text. A value that the path does
not determine is refused: a folder that shows the day of a timestamp does not determine the timestamp.
"""

import datetime
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import MalformedFileName, UnsupportedTableFeature
from hudi_reference.layout.partitions import NULL_PARTITION, unescape
from hudi_reference.layout.properties import PROPERTIES_PATH, SLASH_DATES, TableProperties
from hudi_reference.query.pruning.predicates import Comparison
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, parse_schema

DROP_KEY = "hoodie.datasource.write.drop.partition.columns"
_FIELDS = "hoodie.table.partition.fields"

#: The form of the texts of values in the names of folders.
_TRUTH = {"true": True, "false": False}
_WHOLE = re.compile("-?[0-9]{1,20}")
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?(E-?[0-9]{1,3})?|NaN|-?Infinity")


def _restrict_to_form(form: re.Pattern[str], how: Callable[[str], Any]) -> Callable[[str], Any]:
    """`how`, restricted to texts of the form: Python accepts more texts as numbers and dates than engines write."""

    def read(text: str) -> Any:
        if not form.fullmatch(text):
            raise ValueError(text)
        return how(text)

    return read


#: For each type whose values have exactly one text, how to parse it.
_FROM_TEXT: tuple[tuple[Callable[[pa.DataType], bool], Callable[[str], Any]], ...] = (
    (pt.is_string, str),
    (pt.is_boolean, lambda text: _TRUTH[text]),
    (pt.is_integer, _restrict_to_form(_WHOLE, int)),
    (pt.is_floating, _restrict_to_form(_DECIMAL, float)),
    (pt.is_decimal, _restrict_to_form(_DECIMAL, Decimal)),
    (pt.is_date, _restrict_to_form(_DATE, datetime.date.fromisoformat)),
)


@dataclass(frozen=True)
class Folders:
    """How partition paths are made from the partition columns, in the order of the folders."""

    fields: tuple[str, ...]
    hive_style: bool
    url_encode: bool
    #: Whether a date takes three folders for certain, as in 2026/07/03.
    split_dates: bool = field(default=False, kw_only=True)

    def texts(self, partition: str) -> Mapping[str, str | None]:
        """The text of each column in a partition path, None for null. Raises MalformedFileName."""
        levels = [partition] if len(self.fields) == 1 else partition.split("/")
        if len(levels) != len(self.fields):
            raise _unexpected_path(partition, f"{len(self.fields)} folders, one for each of {', '.join(self.fields)}")
        return {name: self._text(name, level, partition) for name, level in zip(self.fields, levels, strict=True)}

    def _text(self, name: str, level: str, partition: str) -> str | None:
        start = f"{name}=" if self.hive_style else ""
        if not level.startswith(start):
            raise _unexpected_path(partition, f"a folder {start}...")
        text = level.removeprefix(start)
        if text == NULL_PARTITION:
            return None
        if self.split_dates:
            text = text.replace("/", "-")
        return unescape(text) if self.url_encode else text


def folders_of(properties: TableProperties) -> Folders:
    """How the partition paths of a table are made, by its properties."""
    hive_style, url_encode = (
        properties.is_set(f"hoodie.datasource.write.{key}") for key in ("hive_style_partitioning", "partitionpath.urlencode")
    )
    split_dates = properties.splits_dates and properties.is_set(SLASH_DATES)
    return Folders(properties.partition_fields, hive_style, url_encode, split_dates=split_dates)


@dataclass(frozen=True)
class DroppedColumns(Folders):
    """The partition columns of a table whose data files do not have them."""

    #: Avro types of columns as they were when the table was created.
    types: Mapping[str, Any]

    def added_to(self, schema: AvroSchema) -> AvroSchema:
        """The schema with the missing partition columns appended."""
        known = {one["name"] for one in schema["fields"]}
        missing = [{"name": n, "type": self.types.get(n, ["null", "string"])} for n in self.fields if n not in known]
        return {**schema, "fields": [*schema["fields"], *missing]}

    def other_comparisons(self, where: Iterable[Comparison]) -> list[Comparison]:
        """The comparisons of other columns, the only ones whose values statistics have."""
        # ER-259: a clustering of 1.2.0 stores the partition columns, with nulls.
        return [one for one in where if one[0] not in self.fields]

    @implements("LAY-008", "LAY-005", "LAY-006")
    def filled(self, rows: pa.Table, partition: str) -> pa.Table:
        """The rows of a slice; their partition columns have the values that the partition path determines.

        Raises:
            MalformedFileName: the path does not determine all values.
            UnsupportedTableFeature: no path determines a value of the column's type.
        """
        texts = self.texts(partition)
        for name in rows.column_names:
            if name in texts:
                known = rows.schema.field(name)
                column = pa.repeat(value_of(known, texts[name], partition), rows.num_rows)
                rows = rows.set_column(rows.column_names.index(name), known, column)
        return rows


@implements("LAY-007", "LAY-008")
def dropped_columns(properties: TableProperties) -> DroppedColumns:
    """The partition columns of a table with the property DROP_KEY, whose data files do not have them.

    Raises UnsupportedTableFeature if the key generator formats the values or is user code.
    """
    generator = properties.get("hoodie.table.keygenerator.type") or ""
    listed = properties.get(_FIELDS) or ""
    if generator.startswith(("TIMESTAMP", "USER_PROVIDED")) or ":TIMESTAMP" in listed.upper():
        raise UnsupportedTableFeature(
            "the values of columns that are in no file cannot be derived from the names of these folders",
            rule="LAY-007", path=PROPERTIES_PATH, expected="folders that have the values of the columns as their names",
            found=f"{DROP_KEY}=true with the key generator {generator}, {_FIELDS}={listed}",
        )  # fmt: skip
    created = properties.get("hoodie.table.create.schema")
    schema = parse_schema(created, "hoodie.table.create.schema") if created else {"fields": []}
    types = {one["name"]: one["type"] for one in schema["fields"]}
    folders = folders_of(properties)
    return DroppedColumns(folders.fields, folders.hive_style, folders.url_encode, types, split_dates=folders.split_dates)


def value_of(column: pa.Field, text: str | None, partition: str) -> pa.Scalar:
    """The value that the text in a folder's name determines. Raises MalformedFileName, UnsupportedTableFeature."""
    from_text = next((how for fits, how in _FROM_TEXT if fits(column.type)), None)
    if from_text is None:
        raise UnsupportedTableFeature(
            f"the values of column {column.name} are in no file, and cannot be derived from the name of a folder",
            rule="LAY-007", path=partition, expected="text, numbers, truth values or dates", found=str(column.type),
        )  # fmt: skip
    try:
        return pa.scalar(None if text is None else from_text(text), column.type)
    except (ValueError, KeyError, InvalidOperation, OverflowError, pa.ArrowException) as error:
        raise _unexpected_path(partition, f"a value of type {column.type} for column {column.name}") from error


def _unexpected_path(partition: str, expected: str) -> MalformedFileName:
    return MalformedFileName(
        "the partition path does not give the values of the columns that the table's files lack",
        rule="LAY-008", path=partition, expected=expected, found=repr(partition),
    )  # fmt: skip
