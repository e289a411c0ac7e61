"""Partition columns that no data file has, only the names of folders, spec "Storage Layout".

The format keeps partition columns in the data files, and queries give back what is stored there, never what a folder is called.
A writer may be told otherwise, by `hoodie.datasource.write.drop.partition.columns`; the table says so. Then, and only then, the
value of such a column is taken back from the partition path. It has the type that the table's schema gives the column, or the
one with which the table was created: writers leave dropped columns out of the schemas in their metadata too. A column of which
no type is known is text. What cannot be taken back is refused: a time of which the folder shows only the day must not become a
value that nobody wrote.
"""

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import MalformedFileName, UnsupportedTableFeature
from hudi_reference.layout.partitions import NULL_PARTITION, unescape
from hudi_reference.layout.properties import PROPERTIES_PATH, TableProperties
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, parse_schema

KEY = "hoodie.datasource.write.drop.partition.columns"
_FIELDS = "hoodie.table.partition.fields"

#: What a folder's name must look like to be the text of such a value.
_TRUTH = {"true": True, "false": False}
_WHOLE = re.compile("-?[0-9]{1,20}")
_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?(E-?[0-9]{1,3})?|NaN|-?Infinity")


def _of_form(form: re.Pattern[str], how: Callable[[str], Any]) -> Callable[[str], Any]:
    """`how`, for texts of that form only: Python reads more texts as numbers than engines write."""

    def read(text: str) -> Any:
        if not form.fullmatch(text):
            raise ValueError(text)
        return how(text)

    return read


#: For each type whose values have one text each, how to take the value back from it.
_FROM_TEXT: tuple[tuple[Callable[[pa.DataType], bool], Callable[[str], Any]], ...] = (
    (pt.is_string, str),
    (pt.is_boolean, lambda text: _TRUTH[text]),
    (pt.is_integer, _of_form(_WHOLE, int)),
    (pt.is_floating, _of_form(_DECIMAL, float)),
    (pt.is_decimal, _of_form(_DECIMAL, Decimal)),
    (pt.is_date, datetime.date.fromisoformat),
)


@dataclass(frozen=True)
class Folders:
    """How the partition columns of a table make its folders, in the order of the folders."""

    fields: tuple[str, ...]
    hive_style: bool
    url_encode: bool

    def texts(self, partition: str) -> Mapping[str, str | None]:
        """The text of each column in a partition path, None for null. Raises MalformedFileName."""
        levels = [partition] if len(self.fields) == 1 else partition.split("/")
        if len(levels) != len(self.fields):
            raise _unlike(partition, f"{len(self.fields)} folders, one for each of {', '.join(self.fields)}")
        return {name: self._text(name, level, partition) for name, level in zip(self.fields, levels, strict=True)}

    def _text(self, name: str, level: str, partition: str) -> str | None:
        start = f"{name}=" if self.hive_style else ""
        if not level.startswith(start):
            raise _unlike(partition, f"a folder {start}...")
        text = level.removeprefix(start)
        if text == NULL_PARTITION:
            return None
        return unescape(text) if self.url_encode else text


def folders_of(properties: TableProperties) -> Folders:
    """How the folders of a table are named."""
    hive_style, url_encode = (
        properties.is_set(f"hoodie.datasource.write.{key}") for key in ("hive_style_partitioning", "partitionpath.urlencode")
    )
    return Folders(properties.partition_fields, hive_style, url_encode)


@dataclass(frozen=True)
class DroppedColumns(Folders):
    """The partition columns of a table whose files lack them."""

    #: Avro types of columns as they were when the table was created.
    types: Mapping[str, Any]

    def added_to(self, schema: AvroSchema) -> AvroSchema:
        """The schema with those of the columns at its end that it lacks."""
        known = {field["name"] for field in schema["fields"]}
        missing = [{"name": n, "type": self.types.get(n, ["null", "string"])} for n in self.fields if n not in known]
        return {**schema, "fields": [*schema["fields"], *missing]}

    @implements("LAY-008", "LAY-005", "LAY-006")
    def filled(self, rows: pa.Table, partition: str) -> pa.Table:
        """The rows of a slice with those of the columns that they have filled from the path of their partition.

        Raises MalformedFileName for a path that does not give all of them, UnsupportedTableFeature for types that none gives.
        """
        texts = self.texts(partition)
        for name in rows.column_names:
            if name in texts:
                field = rows.schema.field(name)
                column = pa.repeat(value_of(field, texts[name], partition), rows.num_rows)
                rows = rows.set_column(rows.column_names.index(name), field, column)
        return rows


@implements("LAY-007", "LAY-008")
def dropped_columns(properties: TableProperties) -> DroppedColumns | None:
    """The partition columns that the table's files lack; None for tables as the format has them.

    Raises UnsupportedTableFeature where folders were made from the values by a pattern or by a program.
    """
    if not properties.is_set(KEY):
        return None
    generator = properties.get("hoodie.table.keygenerator.type") or ""
    listed = properties.get(_FIELDS) or ""
    if generator.startswith(("TIMESTAMP", "USER_PROVIDED")) or ":TIMESTAMP" in listed.upper():
        raise UnsupportedTableFeature(
            "values of columns that are in no file cannot be taken back from the names of these folders",
            rule="LAY-007", path=PROPERTIES_PATH, expected="folders that have the values of the columns as their names",
            found=f"{KEY}=true with the key generator {generator}, {_FIELDS}={listed}",
        )  # fmt: skip
    created = properties.get("hoodie.table.create.schema")
    schema = parse_schema(created, "hoodie.table.create.schema") if created else {"fields": []}
    types = {field["name"]: field["type"] for field in schema["fields"]}
    folders = folders_of(properties)
    return DroppedColumns(folders.fields, folders.hive_style, folders.url_encode, types)


def value_of(field: pa.Field, text: str | None, partition: str) -> pa.Scalar:
    """The value that a folder's name stands for. Raises MalformedFileName, or UnsupportedTableFeature for other types."""
    from_text = next((how for fits, how in _FROM_TEXT if fits(field.type)), None)
    if from_text is None:
        raise UnsupportedTableFeature(
            f"the values of column {field.name} are in no file, and its type cannot be taken back from the name of a folder",
            rule="LAY-007", path=partition, expected="text, numbers, truth values or dates", found=str(field.type),
        )  # fmt: skip
    try:
        return pa.scalar(None if text is None else from_text(text), field.type)
    except (ValueError, KeyError, InvalidOperation, OverflowError, pa.ArrowException) as error:
        raise _unlike(partition, f"a value of type {field.type} for column {field.name}") from error


def _unlike(partition: str, expected: str) -> MalformedFileName:
    return MalformedFileName(
        "the partition path does not give the values of the columns that the table's files lack",
        rule="LAY-008", path=partition, expected=expected, found=repr(partition),
    )  # fmt: skip
