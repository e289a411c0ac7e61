"""Merging a file slice: its base rows and its changes, by the way of merging that the table and the blocks ask for.

`merge_rows` is the plain way, one record at a time; `fast.merge_columns` gives the same rows for whole columns.
"""

import pyarrow as pa

from hudi_reference.records.changes import Changes
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging.custom_merge import apply_by_merger
from hudi_reference.records.merging.fast.merge_columns import select_by_columns
from hudi_reference.records.merging.merge_rows import select
from hudi_reference.records.merging.partial_merge import apply_by_column
from hudi_reference.requirement import implements

#: With fewer versions than this, they are folded one by one as the decision tables say; with more, by columns.
FEW_VERSIONS = 10_000


@implements("RDR-016", "MRG-005", "MRG-012", "MRG-014", "TYP-006")
def apply(base: pa.Table, changes: Changes, merging: Merging) -> pa.Table:
    """The rows that are left: of `base` those that no change beat, of the changes those that won. Any row order."""
    if not len(changes):
        return base
    if merging.merger is not None:
        return apply_by_merger(base, changes, merging)
    if changes.held:
        return apply_by_column(base, changes, merging)
    if base.num_rows + len(changes) >= FEW_VERSIONS and len(merging.ordering) <= 1:
        kept, won = select_by_columns(base, changes, merging)
    else:
        kept, won = select(base, changes, merging)
    return pa.concat_tables([base.take(kept), changes.rows.take(won)])
