"""Look-ups of record keys: the file groups that have them, by the record index, and base files that cannot have them, by their
bloom filters.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import HudiError
from hudi_reference.files.bloom.bloom import decode_filter
from hudi_reference.layout.properties import TableProperties
from hudi_reference.metadata.keys import bloom_filters_key
from hudi_reference.metadata.lookup.index_snapshot import IndexSnapshot
from hudi_reference.metadata.partitions import BuiltIn, IndexGroups, key_in_part
from hudi_reference.metadata.records import BloomFilter, RecordLocation
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.pruning.predicates import Comparison, constants
from hudi_reference.query.pruning.table_indexes import MayHave
from hudi_reference.records.keys.record_keys import KeyGenerator
from hudi_reference.requirement import implements
from hudi_reference.schema.fields import type_at

KEY = "_hoodie_record_key"


@implements("IDX-012")
def keys_of_filter(where: Iterable[Comparison], properties: TableProperties, schema: pa.Schema) -> set[str] | None:
    """The record keys that rows must have to satisfy the comparisons; None if these do not decide the key."""
    fields = {KEY, *_key_field(properties)}
    found: set[str] | None = None
    for column, operator, value in where:
        if column in fields and operator in ("=", "in"):
            texts = _texts(type_at(schema, column), operator, value)
            if texts is not None:
                found = texts if found is None else found & texts
    return found


def _key_field(properties: TableProperties) -> tuple[str, ...]:
    """The key field whose text is the record key; nothing if the key is made of several fields, or by user code."""
    if not properties.populates_meta_fields:
        return ()
    try:
        generator = KeyGenerator.from_properties(properties)
    except HudiError:
        return ()
    return () if generator.composite else generator.fields


def _texts(kind: pa.DataType, operator: str, value: Any) -> set[str] | None:
    """The texts of the constants as key generators make them; None if they depend on more than the value."""
    if not (pt.is_string(kind) or pt.is_signed_integer(kind)):
        return None
    found = constants(kind, operator, value)
    exact = str if pt.is_string(kind) else int
    return {str(one) for one in found if one is not None} if all(one is None or type(one) is exact for one in found) else None


@implements("IDX-010", "IDX-011", "IDX-012")
def groups_of(snapshot: IndexSnapshot, keys: Collection[str]) -> dict[str, GroupId] | None:
    """The file groups that have these keys; None if there is no record index over the whole table."""
    if is_partitioned(snapshot) or not snapshot.slices(BuiltIn.RECORD_INDEX):
        return None
    return _locations(snapshot, keys)


@implements("IDX-010", "IDX-011", "IDX-012", "IDX-048")
def select_by_keys(
    snapshot: IndexSnapshot, slices: Sequence[FileSlice], keys: Collection[str], may_have: MayHave
) -> Sequence[FileSlice]:
    """The slices that may have one of these keys, by the record index.

    In a partitioned index a key is looked up in each partition of the slices; slices of a partition that has no file groups in
    the index may have any key. `may_have` decides whether a slice has one of the keys that the index lacks.
    """
    if not snapshot.slices(BuiltIn.RECORD_INDEX):
        return slices
    parts = IndexGroups.from_ids(one.file_id for one in snapshot.slices(BuiltIn.RECORD_INDEX)).by_part
    known = [part for part in parts if part is None or part in {one.partition for one in slices}]
    found = _locations(snapshot, [key_in_part(part, key) for part in known for key in keys])
    groups = set(found.values())
    lacking = {part: [key for key in keys if key_in_part(part, key) not in found] for part in known}

    def is_needed(one: FileSlice) -> bool:
        part = one.partition if one.partition in parts else None
        return one.group in groups or part not in parts or may_have(one, lacking[part])

    return [one for one in slices if is_needed(one)]


def is_partitioned(snapshot: IndexSnapshot) -> bool:
    """Whether the record index has file groups for each partition of the table."""
    return IndexGroups.from_ids(one.file_id for one in snapshot.slices(BuiltIn.RECORD_INDEX)).is_partitioned


def _locations(snapshot: IndexSnapshot, keys: Collection[str]) -> dict[str, GroupId]:
    places = ((key, record.payload) for key, record in snapshot.get(BuiltIn.RECORD_INDEX, keys).items())
    return {key: (one.partition, one.location.file_id) for key, one in places if isinstance(one, RecordLocation)}


@implements("IDX-004", "IDX-008", "IDX-012")
def drop_slices_without_keys(snapshot: IndexSnapshot, slices: Sequence[FileSlice], keys: Collection[str]) -> set[FileSlice]:
    """Those of the slices whose bloom filter shows that they have none of the keys.

    A slice with log files may have keys that are in no base file, so that its filter decides nothing.
    """
    asked = [key for key in keys if key]
    found = {bloom_filters_key(s.partition, s.base_file): s for s in slices if s.base_file is not None and not s.log_files}
    if len(asked) < len(keys) or not found:
        return set()
    stored = ((found[key], record.payload) for key, record in snapshot.get(BuiltIn.BLOOM_FILTERS, found).items())
    return {
        one
        for one, payload in stored
        if isinstance(payload, BloomFilter)
        and not payload.is_deleted
        and not any(decode_filter(payload.type, payload.text, one.path(one.base_file or "")).may_hold(asked))
    }
