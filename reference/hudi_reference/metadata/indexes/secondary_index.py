"""The secondary indexes `secondary_index_<name>`: each value of a column with the keys of the rows that have it.

An entry exists for each row with a value; a null has one in version V2 only. Rows that change their value, or disappear, lose
their entry in the same action, as entry of a delete block. A row that moves to another file group or partition keeps its entry:
only the record index knows its place.
"""

from collections.abc import Iterator, Set
from functools import partial

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.java_text import texts_of
from hudi_reference.layout.properties import TableProperties
from hudi_reference.metadata.availability import definition_of as index_definition
from hudi_reference.metadata.definitions import V1, V2, IndexDefinition, is_partitioned
from hudi_reference.metadata.indexes.index import Change, Index, changed_groups, groups_for_keys
from hudi_reference.metadata.partitions import BuiltIn, whole_key
from hudi_reference.metadata.records import MetadataRecord, SecondaryEntry
from hudi_reference.metadata.secondary_keys import prefix_of, secondary_key
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table, View
from hudi_reference.records.changes import KEY
from hudi_reference.requirement import implements
from hudi_reference.schema.fields import column_at, path_of, type_at


@implements("IDX-021", "IDX-022", "IDX-023")
def secondary_index(definition: IndexDefinition) -> Index:
    """The index of a definition. Raises UnsupportedTableFeature for another function than identity, and for several columns."""
    if len(definition.columns) != 1 or definition.function not in ("identity", ""):
        raise UnsupportedTableFeature(
            "a secondary index that is not supported", rule="IDX-022", path=definition.partition,
            expected="the identity of one column", found=f"{definition.function} of {', '.join(definition.columns)}",
        )  # fmt: skip
    return Index(
        definition.partition, (), groups_for_keys, partial(_all_entries, definition), partial(_changed_entries, definition),
        lambda commit: False, hashed=prefix_of if definition.version == V2 else whole_key,
    )  # fmt: skip


@implements("IDX-021", "IDX-024", "IDX-030")
def _all_entries(definition: IndexDefinition, table: Table, view: View) -> Iterator[MetadataRecord]:
    keys = _keys_in(definition, table, view, None)
    return (MetadataRecord(key, SecondaryEntry()) for key in sorted(keys))


@implements("IDX-021", "IDX-024", "IDX-030")
def _changed_entries(definition: IndexDefinition, change: Change) -> Entries:
    """The entries that an action adds and removes: the difference over the file groups that it changes or replaces."""
    commit = change.commit
    if commit is None or commit.is_compaction:
        return Entries()
    record_index = index_definition(change.before.storage, change.before.properties, BuiltIn.RECORD_INDEX)
    # With a partitioned record index a record of another partition may share the entry.
    groups = None if is_partitioned(record_index) else changed_groups(commit)
    old = _keys_in(definition, change.before, change.views[0], groups)
    new = _keys_in(definition, change.after, change.views[1], groups)
    return Entries([MetadataRecord(key, SecondaryEntry()) for key in sorted(new - old)], sorted(old - new))


def _keys_in(definition: IndexDefinition, table: Table, view: View, groups: Set[GroupId] | None) -> set[str]:
    """The keys of the index for the rows of these file groups; None for all groups."""
    reader = view.reader(table)
    slices = (found for found in view.groups.latest_slices if groups is None or found.group in groups)
    return {key for found in slices for key in _keys_of(definition, reader, found)}


def _keys_of(definition: IndexDefinition, reader: SliceReader, file_slice: FileSlice) -> Iterator[str]:
    name, version = definition.columns[0], definition.version or V1
    if type_at(reader.schema, name) is None:  # a definition may be older than the drop of its column
        return
    fields = list(dict.fromkeys([*reader.key_columns, path_of(reader.schema, name)[0]]))
    rows = reader.keyed(reader.read(file_slice, fields))
    values = column_at(rows, name)
    assert values is not None  # the rows have the columns of the schema
    texts = secondary_texts(values.combine_chunks(), version)
    for record_key, text in zip(rows.column(KEY).to_pylist(), texts.to_pylist(), strict=True):
        if text is not None or version != V1:
            yield secondary_key(text, record_key, version)


@implements("IDX-026")
def secondary_texts(values: pa.Array, version: str) -> pa.Array:
    """The values of a column as texts in keys; null for null."""
    return texts_of(values.cast(pa.int32()) if version != V1 and pt.is_date32(values.type) else values)


@implements("IDX-021")
def check_column(definition: IndexDefinition, schema: pa.Schema, properties: TableProperties) -> None:
    """Raises Misuse for a column that the table lacks, UnsupportedTableFeature for one whose values have no text."""
    kind = column_type(definition.columns[0], schema)
    if pt.is_nested(kind):
        raise UnsupportedTableFeature(
            "a secondary index on nested values", rule="IDX-021", expected="a column of single values", found=str(kind)
        )


def column_type(column: str, schema: pa.Schema) -> pa.DataType:
    """The type of a column, or of a field of a struct column by its dotted path. Raises Misuse for an unknown one."""
    kind = type_at(schema, column)
    if kind is None:
        raise Misuse("the table has no such column", rule="IDX-021", expected=", ".join(schema.names), found=column)
    return kind
