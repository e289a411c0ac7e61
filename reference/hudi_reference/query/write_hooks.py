"""The functions that the writes of a table call before and after they change it.

A table carries one `WriteHooks`. A table with `NO_HOOKS` triggers nothing: its writes add data files and an instant only.
`services/default_hooks.py` has the standard value, and `create_table` and `open_table` pass it in. The class is generic in the
table type, because a table refers to its hooks.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hudi_reference.layout.properties import TableProperties
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instant_generator import Times
from hudi_reference.timeline.instants.instant import Instant

T = TypeVar("T")


@dataclass(frozen=True)
class WriteHooks(Generic[T]):
    """What a write triggers, in the order of the fields. Hooks of one field run in the order of their tuple."""

    #: Check the writer's settings before a write begins. Raise Misuse or UnsupportedFeature.
    check_settings: tuple[Callable[[TableProperties, Mapping[str, str]], object], ...] = ()
    #: Run before a write begins.
    before_write: tuple[Callable[[T], object], ...] = ()
    #: Withdraw the plan of the clustering that was requested at this time, if the update strategy of the writer asks for it.
    withdraw_clustering: Callable[[T, str], None] | None = None
    #: Run under the lock of the table before an action of a writer or service completes. The arguments are the table, the
    #: inflight instant, the content of the completed file, the times of the table, and the name of the lock's holder.
    before_completion: tuple[Callable[[T, Instant, bytes, Times, str], None], ...] = ()
    #: Run after a write has completed, with the timeline that it found at its completion. They do not fail: the write is done.
    after_completion: tuple[Callable[[T, Timeline], None], ...] = ()
    #: The partitions of the metadata table that `before_completion` brings up to date: their names, and prefixes that end with
    #: `_`, as `secondary_index_`, of the partitions that users name. A table with others is not written.
    maintained_indexes: frozenset[str] = frozenset()
    #: Run before an action changes anything, if the table has a metadata table or gets one. Raise Misuse or UnsupportedFeature
    #: if `before_completion` could not bring it up to date.
    check_indexes: tuple[Callable[[T], object], ...] = ()

    def unmaintained(self, partitions: Iterable[str]) -> list[str]:
        """Those of these partitions of the metadata table that a write would leave out of date."""
        others = set(partitions) - self.maintained_indexes
        prefixes = tuple(name for name in self.maintained_indexes if name.endswith("_"))
        return sorted(name for name in others if not name.startswith(prefixes))


NO_HOOKS: WriteHooks[Any] = WriteHooks()
