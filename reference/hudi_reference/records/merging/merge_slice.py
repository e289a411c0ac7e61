"""Merging a file slice: the rows of its base file and the changes of its log blocks.

`merge_changes` chooses between three merges: by a custom merger, with partial blocks, and of whole rows. Whole rows are merged
one record at a time in `merge_rows`, or for whole columns in `fast.merge_columns`, with the same result.
"""

import pyarrow as pa

from hudi_reference.fast_paths import FastPath, use_fast
from hudi_reference.records.changes import Changes
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging.custom_merge import merge_by_merger
from hudi_reference.records.merging.fast.merge_columns import select_by_columns
from hudi_reference.records.merging.merge_rows import select
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
    kept, won = _select(base, changes, merging)
    return pa.concat_tables([base.take(kept), changes.rows.take(won)])


def _select(base: pa.Table, changes: Changes, merging: Merging) -> tuple[pa.Array, pa.Array]:
    """Which base rows are kept and which rows of the changes win; the fast code knows one ordering field at most."""
    is_fast = use_fast(FastPath.MERGE, base.num_rows + len(changes)) and len(merging.ordering) <= 1
    return select_by_columns(base, changes, merging) if is_fast else select(base, changes, merging)
