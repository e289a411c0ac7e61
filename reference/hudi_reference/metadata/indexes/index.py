"""What an index is: two functions of the table, its entries and those that an action adds and removes.

An action changes an index by the difference between the table before it and after it, over the file groups that it changes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hudi_reference.caching import cached_property
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.file_groups import GroupId
from hudi_reference.query.table import Table, View
from hudi_reference.timeline.contents.metadata import CommitMetadata

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

    @cached_property
    def views(self) -> tuple[View, View]:
        """The views before and after. Each needs a listing, so that they are loaded only when used."""
        return self.before.view(), self.after.view()


def touched(commit: CommitMetadata) -> frozenset[GroupId]:
    """The file groups that a write changes or replaces."""
    replaced = ((partition, file_id) for partition, ids in commit.replaced.items() for file_id in ids)
    return frozenset((stat.partition, stat.file_id) for stat in commit.stats) | frozenset(replaced)


@dataclass(frozen=True)
class Index:
    """An index: its partition, the settings that enable it, and its entries.

    `groups` is its default number of file groups; `setting` enables it, and `count` sets another number of groups.
    """

    partition: str
    setting: str
    count: str
    groups: int
    whole: Callable[[Table, View], Iterable[MetadataRecord]]
    change: Callable[[Change], Entries]
    #: Whether a write with this metadata must add entries to the index.
    concerned: Callable[[CommitMetadata], bool]

    def is_wanted(self, options: Mapping[str, str]) -> bool:
        """Whether the settings enable it."""
        return options.get(self.setting) == "true"

    def groups_of(self, options: Mapping[str, str]) -> int:
        """The number of file groups at its creation."""
        return int(options.get(self.count, self.groups))
