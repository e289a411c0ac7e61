"""The protocol of indexes for queries. The package `metadata`, which is above this one, implements it.

It is generic in tables and file slices, because a table refers to the function that opens its indexes.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from hudi_reference.query.pruning.predicates import Comparison
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.instant import Instant

T = TypeVar("T")
#: The completed writes of the active timeline with their metadata.
Commits = Mapping[Instant, CommitMetadata]


#: Whether a file slice may have a row with one of the record keys.
MayHave = Callable[[Any, Collection[str]], bool]


def may_have_any(file_slice: object, keys: Collection[str]) -> bool:
    """The answer for a slice that is not searched."""
    return bool(keys)


@dataclass(frozen=True)
class Filter:
    """The filter of a query, and how the rows are made that it is applied to."""

    where: Sequence[Comparison]
    #: The columns of the rows, meta columns first.
    schema: pa.Schema
    #: Whether the query merges log files.
    logs: bool = True
    #: Whether a merger may return values that no file has.
    computes_values: bool = False
    #: Whether the query reads the present state of the table.
    is_latest: bool = True
    #: Decides by the files of a slice, for keys that an index may lack.
    may_have: MayHave = may_have_any


class TableIndexes(Protocol):
    """The usable indexes of one state of a table."""

    def paths(self, among: Callable[[Iterable[str]], Iterable[str]]) -> Collection[str]:
        """The paths of the data files in the partitions that `among` selects from those of the table."""

    def matching_partitions(self, partitions: Sequence[str], query: Filter) -> Sequence[str]:
        """The partitions that may have rows which the filter selects."""

    def matching(self, slices: Sequence[Any], query: Filter) -> Sequence[Any]:
        """The slices that may have rows which the filter selects."""

    def groups_of(self, keys: Collection[str]) -> Mapping[str, tuple[str, str]] | None:
        """The file groups that hold these record keys: partition and file id; None without an index of all record keys."""


#: Opens the indexes of a table for the state of a timeline; None if there are none, or if they are not up to date.
OpenIndexes = Callable[[T, Timeline, Commits], TableIndexes | None]


def no_indexes(table: object, timeline: Timeline, commits: Commits) -> TableIndexes | None:
    """The indexes of a table whose metadata table is not used."""
    return None
