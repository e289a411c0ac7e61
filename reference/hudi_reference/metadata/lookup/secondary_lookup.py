"""Look-ups by secondary key: the file groups of the rows that have a value.

    value -> record keys       the secondary index of the column: one prefix of keys in each of its file groups
    record keys -> places      the record index

An index is used if none of its entries can be missing:

* Apache Hudi 1.0.2 loses the entry of a record that moves to another partition with an unchanged value. Later releases, which
  write a version into the definition, and this project keep it. So the index of a partitioned table needs a version.
* Apache Hudi 1.2.0 adds the changes of a merge-on-read table to one of its secondary indexes only. So none is used if there are
  several.
* With a partitioned record index a key may be in several partitions, and deployed writers remove the entry that its rows share.
* A write of Apache Hudi that creates an index by its settings adds nothing to it (ER-208, `index_creation`).
* The text of a value depends on its type. It is known for texts, whole numbers, dates and booleans; whole numbers have the same
  text in each width. A text column must have been one when the table was created, because texts of other types vary.
"""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.layout.properties import TableProperties
from hudi_reference.metadata.definitions import SINCE, V1, V2, IndexDefinition
from hudi_reference.metadata.indexes.secondary_index import secondary_texts
from hudi_reference.metadata.lookup.index_snapshot import IndexSnapshot
from hudi_reference.metadata.lookup.key_lookup import groups_of, is_partitioned
from hudi_reference.metadata.partitions import Kind
from hudi_reference.metadata.secondary_keys import parse_secondary_key, secondary_prefix
from hudi_reference.query.file_groups import GroupId
from hudi_reference.query.pruning.predicates import constants
from hudi_reference.query.pruning.table_indexes import Filter
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import arrow_schema, parse_schema
from hudi_reference.schema.fields import type_at

_CREATED = "hoodie.table.create.schema"


@implements("IDX-024", "IDX-025", "IDX-030", "MDT-010")
def groups_with_values(
    definitions: Iterable[IndexDefinition],
    snapshot: IndexSnapshot,
    query: Filter,
    properties: TableProperties,
    lacks_first_write: Callable[[str], bool],
) -> Iterator[Mapping[str, GroupId | None]]:
    """For each comparison that an index decides, the keys of the rows for which it may hold, with their file groups.

    The group is None for a key without an entry in the record index.
    """
    secondary = [one for one in definitions if one.kind == Kind.SECONDARY]
    if properties.is_merge_on_read and len(secondary) > 1:
        return
    for one in secondary if not is_partitioned(snapshot) else ():
        asked = list(_asked_texts(one, query, properties)) if _is_complete(one, snapshot, properties) else []
        if asked and not lacks_first_write(one.partition):
            yield from (_groups(one, snapshot, texts) for texts in asked)


def _asked_texts(one: IndexDefinition, query: Filter, properties: TableProperties) -> Iterator[set[str]]:
    """For each comparison that the index decides, the texts of the values that rows must have."""
    for column, operator, value in query.where:
        if column == one.columns[0] and operator in ("=", "in"):
            kind = type_at(query.schema, column)
            values = [value for value in constants(kind, operator, value) if value is not None]  # nothing equals a null
            texts = _texts(one, column, kind, values, properties)
            if texts is not None:
                yield texts


def _groups(one: IndexDefinition, snapshot: IndexSnapshot, texts: Iterable[str]) -> dict[str, GroupId | None]:
    version = one.version or V1
    entries = snapshot.with_prefix(one.partition, [secondary_prefix(text, version) for text in texts])
    keys = {parse_secondary_key(key)[1] for key in entries}
    return dict.fromkeys(keys) | (groups_of(snapshot, keys) or {})


# ER-168: entries of deployed writers may be missing.
def _is_complete(one: IndexDefinition, snapshot: IndexSnapshot, properties: TableProperties) -> bool:
    """Whether the index is over the values of one column, is usable, and has an entry for every row with a value.

    At version 9 a definition without a version may be of an index of either version, so that the index is not used.
    """
    is_plain = one.function in ("identity", "") and len(one.columns) == 1
    keeps_moved = bool(one.version) or not properties.partition_fields
    says_version = bool(one.version) or properties.version < SINCE
    return (
        is_plain and keeps_moved and says_version and one.partition in snapshot.usable and bool(snapshot.slices(one.partition))
    )


def _texts(
    one: IndexDefinition, column: str, kind: pa.DataType, values: Iterable[Any], properties: TableProperties
) -> set[str] | None:
    """The texts of the values in entries; None if an entry of an equal value may have another text.

    Some writers of version V1 escape a NUL.
    """
    exact = next((type_ for is_kind, type_ in _EXACT if is_kind(kind)), None)
    if exact is None or not all(type(one) is exact for one in values):
        return None
    if exact is str and not _was_text(column, properties):
        return None
    texts = set(secondary_texts(pa.array(values, kind), one.version or V1).to_pylist())
    return None if one.version != V2 and any("\0" in text for text in texts) else texts


_EXACT = ((pt.is_string, str), (pt.is_boolean, bool), (pt.is_signed_integer, int), (pt.is_date32, datetime.date))


def _was_text(column: str, properties: TableProperties) -> bool:
    text = properties.get(_CREATED)
    created = arrow_schema(parse_schema(text, _CREATED)) if text else pa.schema([])
    return column in created.names and bool(pt.is_string(created.field(column).type))
