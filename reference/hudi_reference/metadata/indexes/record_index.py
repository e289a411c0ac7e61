"""The index `record_index`: the file group that holds a record key."""

from collections.abc import Iterator, Set

from hudi_reference.metadata.indexes.index import PREFIX, Change, Index, changed_groups, groups_for_keys
from hudi_reference.metadata.locations import location_of
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.metadata.records import MetadataRecord, RecordLocation
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.file_groups import GroupId
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements
from hudi_reference.timeline.instants.times import milliseconds_of


@implements("MDT-001", "IDX-010", "IDX-011", "IDX-020")
def _all_locations(table: Table, view: View) -> Iterator[MetadataRecord]:
    reader = view.reader(table)
    for found in view.groups.latest_slices:
        for key in reader.current_keys(found).to_pylist():
            yield _location_record(key, found.group, found.base_instant)


def _location_record(key: str, group: GroupId, instant: str) -> MetadataRecord:
    partition, file_id = group
    # ER-065: the digits of the instant, taken for a moment in UTC.
    return MetadataRecord(key, RecordLocation(partition, location_of(file_id), milliseconds_of(instant)))


@implements("MDT-001", "IDX-010", "IDX-011", "IDX-020")
def _changed_locations(change: Change) -> Entries:
    """Records that are new or have moved to another group, and those that were removed."""
    commit = change.commit
    if commit is None or commit.operation in ("COMPACT", "LOG_COMPACT"):
        return Entries()
    old = _locations_of_rows(change.before, change.views[0], changed_groups(commit))
    new = _locations_of_rows(change.after, change.views[1], changed_groups(commit))
    moved = [_location_record(key, group, change.instant) for key, group in new.items() if old.get(key) != group]
    return Entries(moved, [key for key in old if key not in new])


def _locations_of_rows(table: Table, view: View, groups: Set[GroupId]) -> dict[str, GroupId]:
    reader = view.reader(table)
    locations: dict[str, GroupId] = {}
    for found in view.groups.latest_slices:
        if (group := found.group) in groups:
            locations.update(dict.fromkeys(reader.current_keys(found).to_pylist(), group))
    return locations


RECORD_INDEX = Index(
    BuiltIn.RECORD_INDEX.value, f"{PREFIX}record.index.enable", groups_for_keys,
    _all_locations, _changed_locations, lambda commit: not commit.is_service and any(stat.inserts for stat in commit.stats),
)  # fmt: skip
