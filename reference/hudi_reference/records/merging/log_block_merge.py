"""Joining the changes of many log blocks into few, spec "Table Management > Log Compaction".

What stays of a key's versions has to mean the same to everything older: to the row of the base file, and to whoever reads the
slice as of a later time. So deletes stay, with their ordering values, for they defeat late rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hudi_reference.errors import UnsupportedMergeStrategy, UnsupportedTableFeature
from hudi_reference.files.log.content import Delete
from hudi_reference.records.changes import Changes
from hudi_reference.records.merge import Merge, Version, fold, merger_of
from hudi_reference.records.merge_tables import Kind
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.ordering import default_of, type_of
from hudi_reference.requirement import implements


@dataclass(frozen=True)
class Joined:
    """What is left of many changes, in merge order: `erased` are deletes by key before the row that came after them."""

    erased: Sequence[Delete]
    rows: pa.Table
    deletes: Sequence[Delete]


@implements("LCP-001", "LCP-005", "MRG-008", "BLK-012")
def join(changes: Changes, merging: Merging, partition: str) -> Joined:
    """The changes, which are matched by key, without versions that no older one can bring back.

    Raises UnsupportedTableFeature for changes of some columns, UnsupportedMergeStrategy where a merger decides: what either
    leaves depends on the row that it meets.
    """
    if changes.held:
        raise UnsupportedTableFeature(
            "log blocks with some of the columns are not joined", rule="LCP-001", remedy="compact the table instead"
        )
    if merging.merger is not None:
        raise UnsupportedMergeStrategy(
            "log blocks are not joined by a merger", rule="LCP-001", found=merging.mode, remedy="compact the table instead"
        )
    used, merge = merging.ordering_used, merger_of(merging.standard_mode)
    versions: dict[str, list[Version]] = {}
    for key, version in changes.versions(merging.ordering, merging.marker):
        versions.setdefault(str(key), []).append(version)
    stays = {key: what_stays(found, merge) if used else found[-1:] for key, found in versions.items()}
    least = default_of(type_of(changes.schema, used[0])) if len(used) == 1 else None

    def entry(key: str, version: Version) -> Delete:
        """A flagged row as a delete keeps its place in the order, also without a value of its own."""
        missing = least if version.kind is Kind.DELETE else None
        return Delete(key, partition, missing if version.ordering is None else version.ordering)

    erased: list[Delete] = []
    deletes: list[Delete] = []
    places: list[int] = []
    for key, found in stays.items():
        for number, version in enumerate(found):
            if version.kind is Kind.ROW:
                places.append(version.position)
            else:
                (deletes if number == len(found) - 1 else erased).append(entry(key, version))
    return Joined(erased, changes.rows.take(pa.array(sorted(places), pa.int64())), deletes)


@implements("LCP-005", "MRG-003")
def what_stays(versions: Sequence[Version], merge: Merge) -> list[Version]:
    """The shortest history of a key that meets any older version as `versions` do, under event-time merging.

    A delete by key ends everything before it and is forgotten by the next row: both have to stay. A delete with an ordering
    value counts after it only if there was a row in between.
    """
    start = max((place + 1 for place, version in enumerate(versions) if version.kind is Kind.KEY_DELETE), default=0)
    erased, rest = list(versions[:start][-1:]), list(versions[start:])
    while erased and rest and rest[0].kind is not Kind.ROW:
        rest.pop(0)
    winner = fold(rest, merge)
    if winner is None:
        return erased
    between = rest[:1] if erased and winner.kind is not Kind.ROW else []
    return [*erased, *between, winner]
