"""How eligible file slices are grouped, RFC-19 "Group files that are eligible for clustering".

A strategy arranges the slices of one partition in ordered rows; each row is split into groups of limited size. Splitting keeps
the order, so that the groups of one row overlap as little as possible.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.files.base.column_ranges import Range
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.requirement import implements
from hudi_reference.services.clustering.settings import SETTINGS, ClusteringSettings


@dataclass(frozen=True)
class Candidate:
    """A slice that may be clustered, and its estimated size in bytes."""

    file_slice: FileSlice
    size: int


class Statistics(Protocol):
    """Value ranges of slices; None for an unknown range."""

    def values(self, file_slice: FileSlice, columns: Sequence[str]) -> Sequence[Range]:
        """The ranges of the values of these columns."""

    def keys(self, file_slice: FileSlice) -> Range:
        """The range of the record keys."""


#: A size limit that makes each slice a group of its own.
SINGLE_SLICE = -1
Row = list[Candidate]
Arrange = Callable[[Sequence[Candidate], ClusteringSettings, Statistics], list[Row]]


@dataclass(frozen=True)
class Strategy:
    """A strategy. `mode` is the partition filter that its name implies; `together` says whether it groups several slices."""

    arrange: Arrange
    mode: str | None = None
    together: bool = True


@implements("CLU-003", "CLU-005", "CLU-014", "CLU-016", "CLU-019")
def group_slices(
    candidates: Sequence[Candidate], strategy: Strategy, settings: ClusteringSettings, statistics: Statistics
) -> list[tuple[Row, int]]:
    """The groups of one partition, each with the number of its outputs: its bytes over the target size, rounded up."""
    found = []
    for row in strategy.arrange(candidates, settings, statistics):
        for group in _split_row(row, settings.group_size if strategy.together else SINGLE_SLICE):
            if len(group) > 1 or settings.single:
                size = sum(candidate.size for candidate in group)
                found.append((group, max(1, -(-size // settings.target_size)) if strategy.together else 1))
    return found


def _split_row(row: Row, limit: int) -> list[Row]:
    """The row in parts of at most `limit` bytes; a larger slice is a part of its own."""
    pieces: list[Row] = []
    filled = 0
    for candidate in row:
        if not pieces or filled + candidate.size > limit:
            pieces.append([])
            filled = 0
        pieces[-1].append(candidate)
        filled += candidate.size
    return pieces


@implements("CLU-023")
def limit_groups(groups: Iterable[tuple[Row, int]], most: int) -> list[tuple[Row, int]]:
    """The groups of one plan, at most `most`: groups that reduce the number of files most come first, otherwise in their order.

    Groups that have been clustered reduce the number no further, so that later plans select other groups.
    """
    return sorted(groups, key=lambda group: group[1] - len(group[0]))[:most]


def _by_size(candidates: Sequence[Candidate], *_: object) -> list[Row]:
    """The largest first, as in deployed planners: groups become more even."""
    return [sorted(candidates, key=lambda candidate: -candidate.size)]


@implements("CLU-021")
def _by_commit_time(candidates: Sequence[Candidate], *_: object) -> list[Row]:
    """In the order of the instants of the slices."""
    return [sorted(candidates, key=lambda candidate: candidate.file_slice.base_instant)]


@implements("CLU-020")
def _by_key_ranges(candidates: Sequence[Candidate], _: ClusteringSettings, statistics: Statistics) -> list[Row]:
    """In the order of the ranges of record keys in the footers; slices with unknown ranges last."""
    known = [(statistics.keys(candidate.file_slice), candidate) for candidate in candidates]
    return [_by_range(known)]


@implements("CLU-022")
def _in_random_order(candidates: Sequence[Candidate], settings: ClusteringSettings, _: Statistics) -> list[Row]:
    """In an order that depends on the seed alone."""
    found = sorted(candidates, key=lambda candidate: candidate.file_slice.file_id)
    random.Random(settings.seed).shuffle(found)
    return [found]


@implements("CLU-015", "CLU-017", "CLU-018")
def _by_overlap(candidates: Sequence[Candidate], settings: ClusteringSettings, statistics: Statistics) -> list[Row]:
    """One row for slices that overlap in the sort columns, directly or through others; one for all that overlap with none.

    A slice with an unknown range may overlap with every other one. Rows are in the order of the first sort column.
    """
    columns = settings.sort_columns
    if not columns:
        return _by_size(candidates)
    boxes = [(tuple(map(_ends, statistics.values(candidate.file_slice, columns))), candidate) for candidate in candidates]
    try:
        found = _connect_overlapping(sorted(boxes, key=lambda one: one[0]))
        rows = sorted((sorted(row, key=lambda one: one[0]) for row in found), key=lambda row: row[0][0])
    except TypeError:  # values of a column that changed its type have no order among them
        return _by_size(candidates)
    alone = [candidate for row in rows if len(row) == 1 for _, candidate in row]
    return [[candidate for _, candidate in row] for row in rows if len(row) > 1] + ([alone] if alone else [])


#: The ends of a range; those of an unknown range come before and after all values.
_Ends = tuple[tuple[Any, ...], tuple[Any, ...]]
_Boxed = tuple[tuple[_Ends, ...], Candidate]


def _ends(found: Range) -> _Ends:
    return ((0,), (2,)) if found is None else ((1, found[0]), (1, found[1]))


def _connect_overlapping(boxed: Iterable[_Boxed]) -> list[list[_Boxed]]:
    """Rows of slices that overlap directly or through others. `boxed` are sorted by the least values of the first column."""
    done: list[list[_Boxed]] = []
    rows: list[tuple[tuple[Any, ...], list[_Boxed]]] = []  # with the greatest value of the first column
    for one in boxed:
        least, greatest = one[0][0]
        done += [row for reach, row in rows if reach < least]  # no later slice overlaps with these
        joined, apart = [one], []
        for reach, row in ((reach, row) for reach, row in rows if reach >= least):
            if any(_overlap(one[0], box) for box, _ in row):
                joined, greatest = row + joined, max(greatest, reach)
            else:
                apart.append((reach, row))
        rows = [*apart, (greatest, joined)]
    return done + [row for _, row in rows]


def _overlap(one: tuple[_Ends, ...], other: tuple[_Ends, ...]) -> bool:
    """Whether two slices overlap in every sort column."""
    return all(a[0] <= b[1] and b[0] <= a[1] for a, b in zip(one, other, strict=True))


def _by_range(known: Sequence[tuple[Range, Candidate]]) -> Row:
    """By the least value, then the greatest; slices with unknown ranges last."""
    ranged = sorted(((found, candidate) for found, candidate in known if found is not None), key=lambda one: one[0])
    return [candidate for _, candidate in ranged] + [candidate for found, candidate in known if found is None]


_SIZE = Strategy(_by_size)
_OVERLAP = "OverlapClusteringPlanStrategy"

#: By the class name without package. Strategies of the draft that no release has have names of ours.
STRATEGIES: Mapping[str, Strategy] = {
    **{f"{engine}SizeBasedClusteringPlanStrategy": _SIZE for engine in ("Spark", "Java", "Flink")},
    **{f"{engine}RecentDaysClusteringPlanStrategy": Strategy(_by_size, "RECENT_DAYS") for engine in ("Spark", "Java", "Flink")},
    "SparkSelectedPartitionsClusteringPlanStrategy": Strategy(_by_size, "SELECTED_PARTITIONS"),
    "SparkSingleFileSortPlanStrategy": Strategy(_by_size, together=False),
    _OVERLAP: Strategy(_by_overlap),
    "KeyRangeClusteringPlanStrategy": Strategy(_by_key_ranges),
    "CommitTimeClusteringPlanStrategy": Strategy(_by_commit_time),
    "RandomClusteringPlanStrategy": Strategy(_in_random_order),
}


@implements("CLU-004", "CLU-014", "CLU-015")
def strategy_of(settings: ClusteringSettings) -> Strategy:
    """The strategy that the settings name. The default is by overlap if there are sort columns, otherwise by size.

    Raises UnsupportedTableFeature.
    """
    if not settings.strategy:
        return STRATEGIES[_OVERLAP] if settings.sort_columns else _SIZE
    # ER-131: strategies with deployed names group as deployed, by size alone.
    name = settings.strategy.rpartition(".")[2]
    if name not in STRATEGIES:
        raise UnsupportedTableFeature(
            "an unknown strategy of clustering", rule="CLU-004", path=SETTINGS["strategy"].name,
            expected=" or ".join(STRATEGIES), found=settings.strategy,
        )  # fmt: skip
    return STRATEGIES[name]
