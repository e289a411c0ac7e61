"""The schema in the metadata of a write against the files that the write stored.

A write stores the schema of the table in its metadata, and files of exactly these columns: other columns of earlier files come
in by schema evolution, when a later write changes the schema. A block of a log file may have a part of the columns. A table
whose schema was changed by a statement matches columns by id, so that names may differ; it is left out.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_conformance.validator.checks.finding import Finding
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.query.pruning.partition_columns import DROP_KEY
from hudi_reference.schema.avro import META_COLUMNS, arrow_schema, parse_schema
from hudi_reference.schema.promotion import conversion, kind_of
from hudi_reference.timeline.schema_history import FOLDER as SCHEMA_HISTORY
from hudi_reference.timeline.schema_history import carried_versions

#: Columns that writers add to those of the table.
_ADDED = (*META_COLUMNS, "_hoodie_operation")
#: Operations whose base files have all columns of the table.
_WHOLE = ("INSERT", "UPSERT", "BULK_INSERT", "DELETE", "INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE")
#: Operations that leave columns in other files, or may copy files as they are.
_COPIES = ("BOOTSTRAP", "CLUSTER")
_REMEDY = "restore the file from another copy of the table; a later write with the right schema shows the column again"


@dataclass(frozen=True)
class WrittenSchema:
    """The schema of a write.

    Attributes:
        text: as it is stored.
        columns: the data columns.
        required: those that have no nulls.
        path: the path of the metadata.
        has_whole_files: whether base files have all of these columns.
        is_own: whether the write stored its rows with it.
    """

    text: str
    columns: pa.Schema
    required: frozenset[str]
    path: str
    has_whole_files: bool
    is_own: bool


def has_schema_history(table: StoredTable) -> bool:
    """Whether a statement changed the schema of the table, so that columns are matched by id."""
    found: bool = table.once(
        "schema history",
        lambda: (
            any(path.startswith(f"{SCHEMA_HISTORY}/") for path in table.listing.files) or any(carried_versions(table.commits))
        ),
    )
    return found


def schema_of_write(table: StoredTable, requested: str) -> WrittenSchema | None:
    """The schema of a write of the active timeline; None if it has none, or none that is compared."""
    found: Mapping[str, WrittenSchema] = table.once("schemas of writes", lambda: _schemas(table))
    return found.get(requested)


def _schemas(table: StoredTable) -> dict[str, WrittenSchema]:
    if table.is_metadata_table or has_schema_history(table):
        return {}
    known: dict[str, tuple[pa.Schema, frozenset[str]] | None] = {}
    found, text = {}, ""
    for instant, commit in table.commits.items():
        text = commit.schema or text  # readers take the schema before it if a write has none
        if text not in known:
            known[text] = _columns(text)
        columns = known[text]
        if columns is not None:
            is_own = commit.schema is not None and commit.operation not in _COPIES
            is_whole = is_own and commit.operation in _WHOLE
            found[instant.requested] = WrittenSchema(text, *columns, table.path_of(instant), is_whole, is_own)
    return found


def _columns(text: str) -> tuple[pa.Schema, frozenset[str]] | None:
    """The columns of a schema, and those that are required."""
    with suppress(HudiError):  # `actions.schemas` reports it
        schema = parse_schema(text, "")
        return arrow_schema(schema), frozenset(one["name"] for one in schema["fields"] if not _may_be_null(one["type"]))
    return None


def _may_be_null(avro: Any) -> bool:
    return avro == "null" or (isinstance(avro, list) and "null" in avro)


def nulls_of_required(wanted: WrittenSchema, names: Iterable[str]) -> Iterator[Finding]:
    """LF-038: columns that the schema of the write requires, and that have nulls in its files."""
    for name in names:
        yield Finding(
            "LF-038", "wrong-answers", wanted.path, "Readers that follow the schema fail at the nulls, or return other values.",
            f"{name} may be null, as in the files of the write", "it may not", _REMEDY, key=name,
        )  # fmt: skip


def disagreements(table: StoredTable, requested: str, columns: pa.Schema) -> Iterator[Finding]:
    """LF-038: columns of a file or block of a write that the schema of the write lacks, or has with another type.

    The findings are about the metadata, so that those of all files of a write are equal.
    """
    wanted = schema_of_write(table, requested)
    if wanted is None:
        return
    for name, expected, found in _unknown(columns, wanted.columns):
        yield Finding(
            "LF-038", "wrong-answers", wanted.path, "Queries do not return the column, or fail; its values are in the files.",
            expected, found, _REMEDY, key=name,
        )  # fmt: skip


def columns_without_values(table: StoredTable, wanted: WrittenSchema, columns: pa.Schema) -> Iterator[str]:
    """The columns of the schema of a write that its base file lacks."""
    dropped = table.properties.fields("hoodie.table.partition.fields") if table.properties.is_set(DROP_KEY) else ()
    return (name for name in wanted.columns.names if name not in columns.names and name not in (*dropped, *_ADDED))


def absent_from_all(wanted: WrittenSchema, name: str) -> Finding:
    """LF-038: a column of the schema of a write that no file has."""
    return Finding(
        "LF-038", "cosmetic", wanted.path, "Queries return nulls in the column, which no file of the write has.",
        "the columns of the files of the write", f"also {name}", _REMEDY, key=name,
    )  # fmt: skip


#: Name of a column or field, what the schema of its write should have, and what it has.
_Difference = tuple[str, str, str]


def _unknown(columns: pa.Schema, wanted: pa.Schema) -> Iterator[_Difference]:
    for field in columns:
        if field.name not in _ADDED:
            yield from _in_fields(field, wanted, field.name)


def _in_fields(field: pa.Field, wanted: Any, name: str) -> Iterator[_Difference]:
    """A field of a file against the fields of a schema or structure."""
    known: dict[str, pa.Field] = {one.name: one for one in wanted}
    if field.name in known:
        yield from _in_types(field.type, known[field.name].type, name)
    else:
        yield name, f"{name}, as the files of the write have it", "no such column in the schema"


def _in_types(found: pa.DataType, wanted: pa.DataType, name: str) -> Iterator[_Difference]:
    if pt.is_struct(found) and pt.is_struct(wanted):
        for field in found:
            yield from _in_fields(field, wanted, f"{name}.{field.name}")
    elif pt.is_map(found) and pt.is_map(wanted):
        yield from _in_types(found.key_type, wanted.key_type, f"{name}.key")
        yield from _in_types(found.item_type, wanted.item_type, f"{name}.value")
    elif (pt.is_list(found) or pt.is_large_list(found)) and pt.is_list(wanted):
        yield from _in_types(found.value_type, wanted.value_type, f"{name}.element")
    elif not _is_wider(found, wanted):
        yield name, f"the type of the files of the write, {found}, or a wider one", str(wanted)


def _is_wider(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether every value of one type is one of the other type, or its text."""
    if pt.is_decimal(found) and pt.is_decimal(wanted):
        whole, wanted_whole = found.precision - found.scale, wanted.precision - wanted.scale
        return bool(wanted.scale >= found.scale and wanted_whole >= whole)
    is_parsed = kind_of(found) == "string" and kind_of(wanted) != "string"
    return conversion(found, wanted) is not None and not is_parsed


def fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether stored values of one type can be read as another."""
    if found == wanted:
        return True
    if pt.is_struct(found) and pt.is_struct(wanted):
        known: dict[str, Any] = {field.name: field.type for field in wanted}
        return all(field.name not in known or fits(field.type, known[field.name]) for field in found)
    if pt.is_map(found) and pt.is_map(wanted):
        return fits(found.key_type, wanted.key_type) and fits(found.item_type, wanted.item_type)
    if (pt.is_list(found) or pt.is_large_list(found)) and pt.is_list(wanted):
        return fits(found.value_type, wanted.value_type)
    return conversion(found, wanted) is not None
