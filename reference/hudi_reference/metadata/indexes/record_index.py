"""The index `record_index`: the file group that holds a record key.

It is over the whole table, where a key is once, or partitioned: then each partition of the table has its own keys and file
groups. The definition says which; it is stored in tables of version 9, and in older ones for a partitioned index.
"""

from collections.abc import Callable, Iterator, Set
from functools import partial

from hudi_reference.layout.metadata_settings import GLOBAL_RECORD_INDEX, PARTITIONED_RECORD_INDEX
from hudi_reference.metadata.definitions import IS_PARTITIONED, SINCE, V1, IndexDefinition
from hudi_reference.metadata.indexes.index import Change, Index, changed_groups, groups_for_keys, groups_in_part
from hudi_reference.metadata.locations import location_of
from hudi_reference.metadata.partitions import BuiltIn, key_in_part
from hudi_reference.metadata.records import MetadataRecord, RecordLocation
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.timeline.instants.times import milliseconds_of

#: The key in the index of a record in a partition of the table.
KeyIn = Callable[[str, str], str]


def _key_in_table(partition: str, key: str) -> str:
    return key


@implements("MDT-001", "IDX-010", "IDX-011", "IDX-020")
def _all_locations(key_in: KeyIn, table: Table, view: View) -> Iterator[MetadataRecord]:
    """One location of each key. A key that several partitions of the table have is that of the newest slice."""
    reader, locations = view.reader(table), dict[str, FileSlice]()
    for found in sorted(view.groups.latest_slices, key=lambda one: one.base_instant):
        locations.update(dict.fromkeys((key_in(found.partition, key) for key in reader.current_keys(found).to_pylist()), found))
    return (_location_record(key, found.group, found.base_instant) for key, found in locations.items())


def _location_record(key: str, group: GroupId, instant: str) -> MetadataRecord:
    partition, file_id = group
    # ER-065: the digits of the instant, taken for a moment in UTC.
    return MetadataRecord(key, RecordLocation(partition, location_of(file_id), milliseconds_of(instant)))


@implements("MDT-001", "IDX-010", "IDX-011", "IDX-020")
def _changed_locations(key_in: KeyIn, change: Change) -> Entries:
    """Records that are new or have moved to another group, and those that were removed."""
    commit = change.commit
    if commit is None or commit.is_compaction:
        return Entries()
    old = _locations_of_rows(key_in, change.before, change.views[0], changed_groups(commit))
    new = _locations_of_rows(key_in, change.after, change.views[1], changed_groups(commit))
    moved = [_location_record(key, group, change.instant) for key, group in new.items() if old.get(key) != group]
    return Entries(moved, [key for key in old if key not in new])


def _locations_of_rows(key_in: KeyIn, table: Table, view: View, groups: Set[GroupId]) -> dict[str, GroupId]:
    reader = view.reader(table)
    locations: dict[str, GroupId] = {}
    for found in view.groups.latest_slices:
        if (group := found.group) in groups:
            keys = (key_in(found.partition, key) for key in reader.current_keys(found).to_pylist())
            locations.update(dict.fromkeys(keys, group))
    return locations


def _definition(is_partitioned: bool, table: Table, schema: AvroSchema, earlier: object) -> IndexDefinition | None:
    if not is_partitioned and table.properties.version < SINCE:
        return None
    name, options = BuiltIn.RECORD_INDEX.value, {IS_PARTITIONED: str(is_partitioned).lower()}
    return IndexDefinition(name, name, "", (), options, V1)


@implements("IDX-009", "IDX-011", "IDX-047", "IDX-048")
def record_index(*, is_partitioned: bool) -> Index:
    """The index over the whole table, or the partitioned one."""
    key_in = key_in_part if is_partitioned else _key_in_table
    return Index(
        BuiltIn.RECORD_INDEX.value,
        (PARTITIONED_RECORD_INDEX,) if is_partitioned else GLOBAL_RECORD_INDEX,
        groups_in_part if is_partitioned else groups_for_keys,
        partial(_all_locations, key_in),
        partial(_changed_locations, key_in),
        lambda commit: not commit.is_service and any(stat.inserts for stat in commit.stats),
        partial(_definition, is_partitioned),
        is_partitioned=is_partitioned,
    )


RECORD_INDEX, PARTITIONED = record_index(is_partitioned=False), record_index(is_partitioned=True)
