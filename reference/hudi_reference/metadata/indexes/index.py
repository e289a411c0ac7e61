"""What an index is: two functions of the table, its entries and those that an action adds and removes.

An action changes an index by the difference between the table before it and after it, over the file groups that it changes.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from hudi_reference.caching import cached_property
from hudi_reference.errors import Misuse
from hudi_reference.metadata.definitions import IndexDefinition
from hudi_reference.metadata.partitions import IndexGroups, split_key, whole_key
from hudi_reference.metadata.records import ColumnStats, MetadataRecord
from hudi_reference.metadata.statistics.columns import indexed_columns
from hudi_reference.metadata.statistics.files import statistics_of
from hudi_reference.metadata.statistics.slices import slice_statistics
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.file_groups import GroupId
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, parse_schema, without_meta_columns
from hudi_reference.settings import boolean_setting, number_setting
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.states import COMMITS

#: The prefix of the settings of the metadata table.
PREFIX = "hoodie.metadata."


@dataclass(frozen=True)
class Change:
    """An action: the table before and after it, the metadata of a write, and the paths of deleted files."""

    instant: str
    before: Table
    after: Table
    commit: CommitMetadata | None = None
    deleted: tuple[str, ...] = ()
    #: Finds records by the name of their partition and their keys in the metadata table before the action.
    find: Callable[[str, Collection[str]], Mapping[str, MetadataRecord]] = lambda partition, keys: {}

    @cached_property
    def replaces_entries(self) -> bool:
        """Whether the statistics of partitions replace those before them: no write is pending that began earlier."""
        pending = self.before.timeline.pending
        return not any(one.action in COMMITS and one.requested < self.instant for one in pending)

    @cached_property
    def views(self) -> tuple[View, View]:
        """The views before and after. Each needs a listing, so that they are loaded only when used."""
        return self.before.view(), self.view_after

    @cached_property
    def view_after(self) -> View:
        """The view after the action."""
        return self.after.view()

    @cached_property
    def schema(self) -> AvroSchema:
        """The data columns of the table after the action."""
        text = None if self.commit is None else self.commit.schema
        return self.view_after.schema if text is None else without_meta_columns(parse_schema(text, self.instant))

    def earlier_schema(self) -> AvroSchema:
        """The data columns of the table before the action."""
        return self.views[0].schema

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that have statistics."""
        return indexed_columns(self.before, self.schema, self.earlier_schema)

    @cached_property
    def statistics(self) -> Mapping[str, Mapping[str, ColumnStats]]:
        """The statistics of the columns of each file that the action wrote, by its path."""
        paths = () if self.commit is None else dict.fromkeys(stat.path for stat in self.commit.stats if stat.path)
        found = {path: statistics_of(self.before.storage, path, self.columns) for path in paths}
        incomplete = {path for path, one in found.items() if one.is_log and len(one.columns) < len(self.columns)}
        return {path: one.columns for path, one in found.items()} | (
            self._statistics_of_slices(incomplete) if incomplete else {}
        )

    def _statistics_of_slices(self, paths: set[str]) -> dict[str, Mapping[str, ColumnStats]]:
        """The statistics of log files whose rows have not all columns, computed with the other files of their slices."""
        slices = (one for group in self.view_after.groups for one in group.slices)
        chosen = (one for one in slices if any(one.path(name) in paths for name in one.log_files))
        found = ((one, slice_statistics(self.before.storage, one, self.columns)) for one in chosen)
        return {one.path(name): stats for one, files in found for name, stats in files.items() if one.path(name) in paths}


def changed_groups(commit: CommitMetadata) -> frozenset[GroupId]:
    """The file groups that a write changes or replaces."""
    replaced = ((partition, file_id) for partition, ids in commit.replaced.items() for file_id in ids)
    return frozenset((stat.partition, stat.file_id) for stat in commit.stats) | frozenset(replaced)


#: The number of file groups of a new index, by the settings of the writer and the number of its entries. It never changes.
GroupCount = Callable[[Mapping[str, str], int], int]

_RECORDS = f"{PREFIX}record.index."
#: Release 1.2 has other names for two of the settings of the record index.
_RECORDS_1_2 = f"{PREFIX}global.record.level.index."
#: Those of a partitioned record index.
_IN_PART = f"{PREFIX}record.level.index."
_GROWTH = f"{_RECORDS}growth.factor"
#: The number of bytes that deployed writers assume for an entry of the record index.
_ENTRY_SIZE = 48


def group_count(setting: str, default: int) -> GroupCount:
    """As many file groups as the setting says."""
    return lambda options, entries: number_setting(options, setting, default, least=1)


@implements("IDX-011")
def groups_for_keys(options: Mapping[str, str], entries: int) -> int:
    """As many file groups as the entries need after the growth that the settings expect, within limits: for an index by record
    key. Raises Misuse.

    A table that is created with the index has no entries yet, and gets the least number.
    """
    return _groups_for_keys(options, entries, _limit(options, "min", 10), _limit(options, "max", 10_000))


@implements("IDX-011")
def groups_in_part(options: Mapping[str, str], entries: int) -> int:
    """The same for one partition of the table, in a partitioned record index."""
    least, most = (
        number_setting(options, f"{_IN_PART}{name}.filegroup.count", default, least=1, rule="IDX-011")
        for name, default in (("min", 1), ("max", 10))
    )
    return _groups_for_keys(options, entries, least, most)


def _groups_for_keys(options: Mapping[str, str], entries: int, least: int, most: int) -> int:
    if least == most:
        return least
    expected = math.ceil(entries * _growth(options))
    size = number_setting(options, f"{_RECORDS}max.filegroup.size", 1 << 30, least=_ENTRY_SIZE, rule="IDX-011")
    needed = expected // (size // _ENTRY_SIZE)
    return most if needed >= most else max(least, needed)


def _limit(options: Mapping[str, str], name: str, default: int) -> int:
    key = f"{_RECORDS}{name}.filegroup.count"
    later = f"{_RECORDS_1_2}{name}.filegroup.count"
    return number_setting(options, later if later in options and key not in options else key, default, least=1, rule="IDX-011")


def _growth(options: Mapping[str, str]) -> float:
    text = options.get(_GROWTH, "2.0")
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise Misuse(f"{_GROWTH} is not a valid factor", rule="IDX-011", expected="a number from 0 on", found=repr(text))
    return found


@dataclass(frozen=True)
class Index:
    """An index: its partition, the settings that enable it, and its entries.

    Any of `settings` enables it, and `groups` is the number of its file groups.
    """

    partition: str
    settings: tuple[str, ...]
    groups: GroupCount
    whole: Callable[[Table, View], Iterable[MetadataRecord]]
    change: Callable[[Change], Entries]
    #: Whether a write with this metadata must add entries to the index.
    concerned: Callable[[CommitMetadata], bool]
    #: Its definition in a table with this schema; the last argument is the schema before an action, None for a new index.
    definition: Callable[[Table, AvroSchema, Callable[[], AvroSchema] | None], IndexDefinition | None] | None = None
    #: The part of a key whose hash selects the file group.
    hashed: Callable[[str], str] = whole_key
    #: Whether each partition of the table has file groups of its own.
    is_partitioned: bool = False

    def is_wanted(self, options: Mapping[str, str]) -> bool:
        """Whether the settings enable it."""
        return any(boolean_setting(options, setting) for setting in self.settings)

    def file_groups(self, ids: Iterable[str]) -> IndexGroups:
        """Its file groups with these ids."""
        return IndexGroups.from_ids(ids, self.hashed)

    def count_by_part(self, keys: Iterable[str]) -> Mapping[str | None, int]:
        """The number of these keys by the partition of the table whose file groups hold them; None for the whole table."""
        if self.is_partitioned:
            return Counter(split_key(key)[0] for key in keys)
        return {None: sum(1 for _ in keys)}
