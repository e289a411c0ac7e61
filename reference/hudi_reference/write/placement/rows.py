"""Incoming rows: they are checked against the table's schema and get keys, partition paths and meta columns."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import InvalidRows, UnsupportedSchema
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records.changes import KEY, Changes, DeleteMarker, delete_columns, without_deletes
from hudi_reference.records.keys.record_keys import KeyGenerator, record_keys
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging.custom_merge import combine_by_merger
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS, AvroSchema
from hudi_reference.schema.evolution import conform, fits

PARTITION, FILE_NAME = "_hoodie_partition_path", "_hoodie_file_name"
#: The setting that allows a write to add columns to the table's schema, to widen types, and to omit columns.
RECONCILE = "hoodie.datasource.write.reconcile.schema"
#: The setting that makes columns null that the rows lack.
NULL_FOR_MISSING = "hoodie.write.set.null.for.missing.columns"


@implements("META-001", "META-007", "META-009")
@dataclass(frozen=True)
class Incoming:
    """Rows with the columns of the stored table. Of the meta columns, key and partition path are filled."""

    rows: pa.Table

    @property
    def partitions(self) -> list[str]:
        """The paths of the partitions of the rows, sorted."""
        return sorted(pc.unique(self.rows.column(PARTITION)).to_pylist())

    def by_partition(self) -> Iterator[tuple[str, pa.Table]]:
        """The rows of each partition, sorted by partition path."""
        paths = self.rows.column(PARTITION)
        for path in self.partitions:
            yield path, self.rows.filter(pc.equal(paths, path))


#: Which columns the rows of a write must have: all; key, partition and ordering fields; key and partition fields; the key.
Needs = Literal["all", "ordering", "identity", "key"]


@implements("OCC-007", "PROP-007", "PROP-008", "MRG-019")
def prepare(
    rows: pa.Table, properties: TableProperties, stored: pa.Schema, *, needs: Needs = "all", is_stored: bool = False
) -> Incoming:
    """Check incoming rows and add keys and partition paths; missing optional columns become null. Raises InvalidRows.

    Of a table without key fields the rows keep the keys that they have; others are generated when they are stored. With
    `is_stored`, rows with a partition path are records of the table: they keep it, and their key.
    """
    _check_names(rows, stored, _required_columns(properties, stored, needs))
    fields = pa.schema([field for field in stored if field.name not in META_COLUMNS])
    given = rows.drop_columns([name for name in rows.column_names if name in META_COLUMNS])
    _check_types(given, fields)
    try:
        data = conform(given, fields, "rows to write")
    except UnsupportedSchema as error:
        raise InvalidRows("a column does not fit the table", rule="LF-038", path=error.path, expected=error.expected,
                          found=error.found) from error  # fmt: skip
    meta = {name: pa.nulls(rows.num_rows, pa.string()) for name in META_COLUMNS}
    if not properties.record_key and KEY in rows.column_names:
        meta[KEY] = rows.column(KEY).cast(pa.string())
    meta |= _identity_of_stored(rows, data, properties, needs) if is_stored else _identity(data, properties, needs)
    columns = [*meta.values(), *data.columns]
    return Incoming(pa.table(columns, schema=stored))


def _identity(data: pa.Table, properties: TableProperties, needs: Needs) -> dict[str, pa.Array]:
    """The keys, in a table with key fields, and the partition paths of rows by the key generator."""
    generator, found = KeyGenerator.from_properties(properties), {}
    if properties.record_key:
        populated = properties.populates_meta_fields
        found[KEY] = generator.keys(data) if populated else record_keys(data, properties.record_key)
    found[PARTITION] = pa.repeat(pa.scalar(""), data.num_rows) if needs == "key" else generator.paths(data)
    return found


@implements("META-009")
def _identity_of_stored(rows: pa.Table, data: pa.Table, properties: TableProperties, needs: Needs) -> dict[str, pa.Array]:
    """The same, except that rows with a partition path keep it and their key.

    The path of a record does not always follow from its columns: ER-167, ER-231, and formats that no table stores.
    """
    kept = {name: rows.column(name).combine_chunks().cast(pa.string()) for name in (KEY, PARTITION)}
    is_new = pc.is_null(kept[PARTITION])
    if not pc.any(is_new).as_py():
        return kept
    made = _identity(data.filter(is_new), properties, needs)
    return {name: pc.replace_with_mask(kept[name], is_new, values.cast(pa.string())) for name, values in made.items()}


def _required_columns(properties: TableProperties, stored: pa.Schema, needs: Needs) -> list[str]:
    """The columns that the rows must have; a value may be an explicit null."""
    if needs == "all":
        return [name for name in stored.names if name not in META_COLUMNS]
    fields = [*properties.record_key, *(() if needs == "key" else properties.partition_fields)]
    if needs == "ordering" and properties.merging.mode != "COMMIT_TIME_ORDERING":
        fields += properties.ordering_fields
    return list(dict.fromkeys(name if name in stored.names else name.partition(".")[0] for name in fields))


def _check_names(rows: pa.Table, stored: pa.Schema, needed: Iterable[str]) -> None:
    names = rows.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidRows("a column occurs twice", rule="LAY-002", expected="each column once", found=twice)
    unknown = [name for name in names if name not in stored.names]
    absent = [name for name in needed if name not in names]
    if unknown or absent:
        raise InvalidRows(
            f"the rows have {'unknown' if unknown else 'missing'} columns: {', '.join(unknown or absent)}", rule="LF-038",
            expected=", ".join(n for n in stored.names if n not in META_COLUMNS), found=", ".join(names),
            remedy=f"change the rows, or set {RECONCILE if unknown else NULL_FOR_MISSING}=true",
        )  # fmt: skip


@implements("LF-038")
def _check_types(rows: pa.Table, fields: pa.Schema) -> None:
    for column, found in zip(rows.column_names, rows.columns, strict=True):
        wanted = fields.field(column).type
        is_time = pa.types.is_timestamp(found.type) and pa.types.is_timestamp(wanted)
        if not fits(found.type, wanted) or (is_time and not _stores_without_loss(found, wanted)):
            raise InvalidRows(
                f"the column {column} does not fit the table", rule="LF-038", expected=str(wanted), found=str(found.type),
                remedy="cast the column to the table's type",
            )  # fmt: skip


def _stores_without_loss(found: pa.ChunkedArray, wanted: pa.DataType) -> bool:
    """Whether the table's unit stores every timestamp without loss."""
    try:
        pc.cast(found, wanted, safe=True)
    except pa.ArrowInvalid:
        return False
    return True


@dataclass(frozen=True)
class Intake:
    """The requirements of a write on its rows. It is small, so that it can be sent to the tasks of a write.

    `stored_rows` and `schema` are the columns of the stored table, with and without the meta columns; `partial_columns` those
    that the rows of a partial update have, None for whole rows. With `is_stored`, rows with a partition path keep it.
    """

    properties: TableProperties
    stored: pa.Schema
    schema: AvroSchema
    marker: DeleteMarker | None
    needs: Needs
    partial_columns: frozenset[str] | None = None
    is_stored: bool = False

    @implements("LF-038")
    def prepare(self, rows: pa.Table) -> Incoming:
        """The rows with keys and partition paths. Raises InvalidRows, also for a null in a required column."""
        incoming = prepare(rows, self.properties, self.stored, needs=self.needs, is_stored=self.is_stored)
        partial = self.partial_columns
        given = incoming.rows if partial is None else incoming.rows.select([n for n in self.stored.names if n in partial])
        kept = without_deletes(given, self.marker)
        for name in self.required:
            if name in kept.column_names and kept.column(name).null_count:
                raise InvalidRows("a null in a required column", rule="LF-038", expected=f"a value in {name}")
        return incoming

    @property
    def required(self) -> list[str]:
        """The columns that must not be null. Rows that are only keys have no such columns."""
        fields = () if self.needs in ("identity", "key") else self.schema["fields"]
        kinds = {field["name"]: field["type"] for field in fields}
        return [name for name, kind in kinds.items() if kind != "null" and not (isinstance(kind, list) and "null" in kind)]


@implements("MRG-011", "MRG-026", "PAY-020")
def merge_duplicates(incoming: Incoming, merging: Merging, *, whole_table: bool = False) -> Incoming:
    """One row for each key and partition: the rows of the batch are merged by the merge mode, deletes included.

    With `whole_table` one row for each key, as keys identify records in the whole table.
    """
    rows = incoming.rows
    positions = pa.array(np.arange(rows.num_rows))
    paths = pa.repeat("", rows.num_rows) if whole_table else rows.column(PARTITION)
    identity = pc.binary_join_element_wise(paths, rows.column(KEY), "\0")
    if len(pc.unique(identity)) == rows.num_rows:
        return incoming
    if merging.merger is not None:
        groups = [rows] if whole_table else [part for _, part in incoming.by_partition()]
        parts = [combine_by_merger(part, merging) for part in groups]
        return Incoming(pa.concat_tables(parts))
    names = rows.column_names
    marked = rows.set_column(names.index(KEY), KEY, identity).append_column("__position", positions)
    # Within the batch a row that is marked as deleted is merged like any row; only the mark of the resulting row counts.
    plain = marked.drop_columns([name for name in delete_columns(merging.marker) if name in names])
    changes = Changes([plain], plain.schema)
    won = merge_changes(plain.schema.empty_table(), changes, merging)
    return Incoming(rows.take(won.column("__position")))


@implements("META-003", "META-005", "META-007", "META-010", "META-011")
def fill_meta_columns(rows: pa.Table, instant: str, task: int, file_name: str) -> pa.Table:
    """Fill the meta columns commit time, sequence number and file name; rows without a key get the sequence number as key."""
    count = rows.num_rows
    numbers = pa.array(np.arange(count)).cast(pa.string())
    filled = {
        "_hoodie_commit_time": pa.repeat(pa.scalar(instant), count),
        "_hoodie_commit_seqno": pc.binary_join_element_wise(f"{instant}_{task}", numbers, "_"),
        "_hoodie_file_name": pa.repeat(pa.scalar(file_name), count),
    }
    if rows.column(KEY).null_count:  # a table without key fields
        filled[KEY] = pc.coalesce(rows.column(KEY), filled["_hoodie_commit_seqno"])
    for name, values in filled.items():
        rows = rows.set_column(rows.column_names.index(name), rows.schema.field(name), values)
    return rows


@implements("META-008", "META-012")
def stored_rows(rows: pa.Table, properties: TableProperties, *kept: str) -> pa.Table:
    """The rows as files store them: if the table leaves its meta columns empty, they are null except for those in `kept`.

    During merging rows always have keys; the key of such a table is computed from its key fields.
    """
    if properties.populates_meta_fields:
        return rows
    # ER-025: all five columns stay in the file, filled with nulls.
    for place, name in enumerate(rows.column_names):
        if name in META_COLUMNS and name not in kept:
            rows = rows.set_column(place, rows.schema.field(name), pa.nulls(rows.num_rows, pa.string()))
    return rows


@implements("META-004", "META-010")
def with_file_name(rows: pa.Table, file_name: str) -> pa.Table:
    """Rows that are copied into another file: only their file name changes."""
    place = rows.column_names.index("_hoodie_file_name")
    return rows.set_column(place, rows.schema.field(place), pa.repeat(pa.scalar(file_name), rows.num_rows))
