"""The changes of a migration, as a preview shows them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hudi_reference.metadata.definitions import IndexDefinition


@dataclass(frozen=True)
class Migration:
    """The changes of a migration, in their order: paths, requested times, partitions of the metadata table, and properties."""

    #: The objects of the new timeline.
    created: tuple[str, ...] = ()
    #: Requested times of the actions that are written to the history.
    archived: tuple[str, ...] = ()
    #: Requested times of the failed writes that are rolled back.
    rolled_back: tuple[str, ...] = ()
    #: The file groups whose logs are compacted, as paths.
    compacted: tuple[str, ...] = ()
    #: Partitions of the metadata table that are dropped.
    dropped_indexes: tuple[str, ...] = ()
    #: Definitions of indexes that are new or get a version.
    defined_indexes: tuple[IndexDefinition, ...] = ()
    #: The new version of the metadata table; None if it stays.
    metadata_version: int | None = None
    #: The properties that are new or changed, and the names of those that are removed.
    properties: dict[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    #: Objects that are deleted.
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any change."""
        return self != Migration()

    def with_properties(self, before: Mapping[str, str], after: Mapping[str, str]) -> "Migration":
        """The same with the difference between two sets of properties."""
        changed = {key: value for key, value in after.items() if before.get(key) != value}
        return replace(self, properties=changed, dropped=tuple(key for key in before if key not in after))
