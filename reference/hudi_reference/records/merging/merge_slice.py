"""Merging a file slice: the rows of its base file and the changes of its log blocks.

`merge_changes` chooses between three merges: by a custom merger, with partial blocks, and of whole rows. Whole rows are merged
one record at a time by `select`, which is to be read beside the specification, or for whole columns in `fast.merge_columns`,
with the same result.
"""

import pyarrow as pa

from hudi_reference.fast_paths import FastPath, use_fast
from hudi_reference.records.changes import Changes, Identity
from hudi_reference.records.merge import Version, fold, orderings_of
from hudi_reference.records.merge_tables import Kind
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging.custom_merge import merge_by_merger
from hudi_reference.records.merging.fast.merge_columns import select_by_columns
from hudi_reference.records.merging.partial_merge import merge_partial_blocks
from hudi_reference.requirement import implements


@implements("RDR-016", "MRG-005", "MRG-012", "MRG-014", "TYP-006")
def merge_changes(base: pa.Table, changes: Changes, merging: Merging) -> pa.Table:
    """The merged rows of a slice, in any order.

    Args:
        base: the rows of the base file.
        changes: the rows and deletes of the log blocks, in merge order.
        merging: how the table merges.
    """
    if not len(changes):
        return base
    if merging.merger is not None:
        return merge_by_merger(base, changes, merging)
    if changes.present_columns:
        return merge_partial_blocks(base, changes, merging)
    selected = None
    if use_fast(FastPath.MERGE, base.num_rows + len(changes)) and len(merging.ordering) <= 1:
        selected = select_by_columns(base, changes, merging)
    kept, won = selected or select(base, changes, merging)
    return pa.concat_tables([base.take(kept), changes.rows.take(won)])


@implements("RDR-016", "RDR-017", "LAY-022", "MRG-006")
def select(base: pa.Table, changes: Changes, merging: Merging) -> tuple[pa.Array, pa.Array]:
    """Which base rows are kept and which rows of the changes win.

    Returns:
        Positions of rows in `base`, and positions of rows in `changes.rows`.
    """
    ordering, mode = merging.ordering, merging.standard_mode
    versions: dict[Identity, list[Version]] = {}
    for key, version in changes.versions(ordering, merging.marker):
        versions.setdefault(key, []).append(version)
    kept: list[int] = []
    winners: list[Version | None] = []
    in_base: set[Identity] = set()
    values = orderings_of(base, ordering)
    for row, identity in enumerate(changes.identities_of(base)):
        if identity is None or identity not in versions:
            kept.append(row)
            continue
        in_base.add(identity)
        stored = Version(Kind.ROW, values[row], row)
        winner = fold([stored, *versions[identity]], mode)
        if winner is stored:
            kept.append(row)
        else:
            winners.append(winner)
    winners += [fold(history, mode) for key, history in versions.items() if key not in in_base]
    won = [winner.position for winner in winners if winner is not None and winner.kind is Kind.ROW]
    return pa.array(kept, pa.int64()), pa.array(won, pa.int64())
