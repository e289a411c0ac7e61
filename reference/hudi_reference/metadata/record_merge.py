"""Merging of versions of one record of the metadata table, by the type of the record, spec "Metadata"."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from typing import Any, TypeVar

from hudi_reference.errors import MalformedMetadata
from hudi_reference.metadata.records import (
    Bound,
    ColumnStats,
    FileInfo,
    FileList,
    MetadataRecord,
    PartitionList,
    PartitionStats,
    Payload,
)
from hudi_reference.metadata.value_types import NO_VALUES
from hudi_reference.requirement import implements

Stats = TypeVar("Stats", ColumnStats, PartitionStats)


class MergedRecords:
    """Records by key with all their versions, which are merged at the end, so that each entry of a list is visited once."""

    def __init__(self, records: Iterable[MetadataRecord] = ()) -> None:
        self._versions = {record.key: [record.payload] for record in records}

    def add(self, record: MetadataRecord) -> None:
        """A later version of its key."""
        self._versions.setdefault(record.key, []).append(record.payload)

    def remove(self, key: str) -> None:
        """The key is deleted; versions that are added later do not merge with the earlier ones."""
        self._versions.pop(key, None)

    def merged(self) -> dict[str, MetadataRecord]:
        """One record of each key, in the order of their first versions."""
        return {key: MetadataRecord(key, merge_payloads(*versions)) for key, versions in self._versions.items()}


@implements("MDT-006", "MDT-007", "MDT-014")
def merge_payloads(*versions: Payload) -> Payload:
    """The result of merging the versions of a record, the latest last: lists are united, statistics widened unless they are
    tight, other records replaced. A version of another type replaces those before it.
    """
    if len(versions) == 1:
        return versions[0]
    kind = type(versions[-1])
    start = next((place for place in range(len(versions), 0, -1) if type(versions[place - 1]) is not kind), 0)
    same = versions[start:]
    if kind is FileList:
        return FileList(_unite_listings(version.files for version in same if isinstance(version, FileList)))
    if kind is PartitionList:
        return PartitionList(_unite_listings(version.partitions for version in same if isinstance(version, PartitionList)))
    return reduce(_merge_two, same)


def _merge_two(old: Payload, new: Payload) -> Payload:
    match old, new:
        case ColumnStats(), ColumnStats():
            return widen_statistics(old, new)
        case PartitionStats(), PartitionStats():
            return widen_statistics(old, new)
    return new


def _unite_listings(listings: Iterable[Mapping[str, FileInfo]]) -> dict[str, FileInfo]:
    """The union of all lists, without files that a later one deletes. Of two sizes of a file the greater one counts."""
    found: dict[str, FileInfo] = {}
    for number, listing in enumerate(listings):
        for name, info in listing.items():
            known = found.get(name) if number else None
            if info.is_deleted and known is not None and not known.is_deleted:
                del found[name]
            else:
                found[name] = info if info.is_deleted or known is None else FileInfo(max(known.size, info.size))
    return found


def widen_statistics(old: Stats, new: Stats) -> Stats:
    """The statistics of both together; the later ones alone if they are tight, or either is deleted."""
    if old.is_deleted or new.is_deleted or new.is_tight:
        return new
    return replace(
        new,
        least=_bound(min, old.least, new.least),
        greatest=_bound(max, old.greatest, new.greatest),
        value_count=_sum(old.value_count, new.value_count),
        null_count=_sum(old.null_count, new.null_count),
        total_size=_sum(old.total_size, new.total_size),
        total_uncompressed_size=_sum(old.total_uncompressed_size, new.total_uncompressed_size),
        value_type=old.value_type if new.value_type == NO_VALUES else new.value_type,
    )


def _bound(choose: Callable[..., Bound], *bounds: Bound | None) -> Bound | None:
    known = [bound for bound in bounds if bound is not None]
    try:
        return choose(known, key=_order) if known else None
    except TypeError as error:
        raise MalformedMetadata(
            "two statistics of one column have bounds that cannot be compared", rule="MDT-014",
            path=".hoodie/metadata", expected="values of one type", found=" and ".join(repr(one.value) for one in known),
            remedy="drop the index and build it again",
        ) from error  # fmt: skip


def _order(bound: Bound) -> Any:
    """The key by which bounds of one column are sorted: a NaN is the greatest number, -0.0 is less than 0.0."""
    value = bound.value
    if isinstance(value, float):
        return math.isnan(value), 0.0 if math.isnan(value) else value, math.copysign(1, value)
    return (False, value, 1) if isinstance(value, int | Decimal) else value


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
