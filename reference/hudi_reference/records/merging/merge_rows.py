"""The plain merge of a file slice: its records one at a time, as the decision tables say."""

import pyarrow as pa

from hudi_reference.records.changes import Changes, Identity
from hudi_reference.records.merge import Version, fold, merger_of
from hudi_reference.records.merge_tables import Kind
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.ordering import orderings_of
from hudi_reference.requirement import implements


@implements("RDR-016", "RDR-017", "LAY-022", "MRG-006")
def select(base: pa.Table, changes: Changes, merging: Merging) -> tuple[pa.Array, pa.Array]:
    """Positions of the base rows that stay, and positions in `changes.rows` of the rows that won.

    A key that occurs twice in the base file (plain inserts do not look keys up) meets its changes at each of its rows, unless
    the changes name the row.
    """
    ordering = merging.ordering
    merge = merger_of(merging.standard_mode)
    versions: dict[Identity, list[Version]] = {}
    for key, version in changes.versions(ordering, merging.marker):
        versions.setdefault(key, []).append(version)
    kept: list[int] = []
    winners: list[Version | None] = []
    met: set[Identity] = set()
    values = orderings_of(base, ordering)
    for row, key in enumerate(changes.identities_of(base)):
        if key not in versions:
            kept.append(row)
            continue
        met.add(key)
        stored = Version(Kind.ROW, values[row], row)
        winner = fold([stored, *versions[key]], merge)
        if winner is stored:
            kept.append(row)
        else:
            winners.append(winner)
    winners += [fold(found, merge) for key, found in versions.items() if key not in met]
    won = [winner.position for winner in winners if winner is not None and winner.kind is Kind.ROW]
    return pa.array(kept, pa.int64()), pa.array(won, pa.int64())
