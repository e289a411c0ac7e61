"""Merging many log blocks into few, spec "Table Management > Log Compaction".

The merged versions of a key must have the same effect as the original ones on every older version, such as the row of the base
file. So deletes are kept with their ordering values, because they win over late rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hudi_reference.errors import UnsupportedMergeStrategy, UnsupportedTableFeature
from hudi_reference.files.log.content import Delete
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.records.changes import Changes
from hudi_reference.records.merge import Version, fold, type_of, without_nulls
from hudi_reference.records.merge_tables import Kind
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.requirement import implements


@dataclass(frozen=True)
class MergedBlocks:
    """The merged changes, in the order in which they are to be stored.

    `erased` are deletes by key that come before a row of the same key.
    """

    erased: Sequence[Delete]
    rows: pa.Table
    deletes: Sequence[Delete]


@implements("LCP-001", "LCP-005", "MRG-008", "BLK-012")
def merge_log_blocks(changes: Changes, merging: Merging, partition: str) -> MergedBlocks:
    """Merge changes that are matched by key into the shortest history of each key.

    Raises:
        UnsupportedTableFeature: some blocks are partial updates; their result depends on the row of the base file.
        UnsupportedMergeStrategy: a custom merger decides; the same holds.
    """
    if changes.present_columns:
        raise UnsupportedTableFeature(
            "log blocks of partial updates are not merged without the base file",
            rule="LCP-001",
            remedy="compact the table instead",
        )
    if merging.merger is not None:
        raise UnsupportedMergeStrategy(
            "log blocks are not merged by a custom merger",
            rule="LCP-001",
            found=merging.mode,
            remedy="compact the table instead",
        )
    used, mode = merging.ordering_used, merging.standard_mode
    versions: dict[str, list[Version]] = {}
    for key, version in changes.versions(used, merging.marker):
        versions.setdefault(str(key), []).append(version)
    kept = {key: shortest_history(found, mode) if used else found[-1:] for key, found in versions.items()}
    kinds = [type_of(changes.schema, field) for field in used]

    def entry(key: str, version: Version) -> Delete:
        """A delete entry for a version; a row that is marked as deleted gets the default ordering value if it has none."""
        return Delete(key, partition, without_nulls(version.ordering, kinds) if version.kind is Kind.DELETE else None)

    erased: list[Delete] = []
    deletes: list[Delete] = []
    positions: list[int] = []
    for key, found in kept.items():
        for number, version in enumerate(found):
            if version.kind is Kind.ROW:
                positions.append(version.position)
            else:
                (deletes if number == len(found) - 1 else erased).append(entry(key, version))
    return MergedBlocks(erased, changes.rows.take(pa.array(sorted(positions), pa.int64())), deletes)


@implements("LCP-005", "MRG-003")
def shortest_history(versions: Sequence[Version], mode: MergeMode) -> list[Version]:
    """The shortest history of a key that has the effect of `versions` on any older version, under event-time merging.

    A delete by key removes everything before it, and has no effect on the rows after it: both it and the winner after it are
    kept. After a delete by key, a delete with an ordering value counts only if there is a row in between.
    """
    start = max((place + 1 for place, version in enumerate(versions) if version.kind is Kind.KEY_DELETE), default=0)
    erased, rest = list(versions[:start][-1:]), list(versions[start:])
    while erased and rest and rest[0].kind is not Kind.ROW:
        rest.pop(0)
    winner = fold(rest, mode)
    if winner is None:
        return erased
    between = rest[:1] if erased and winner.kind is not Kind.ROW else []
    return [*erased, *between, winner]
