"""Merging with blocks of partial updates, which have only some columns, spec "Log Format > Headers > IS_PARTIAL".

Which version wins is decided as for whole rows. If a partial update wins, its columns replace those of the version before it; a
nested column is replaced as a whole. If it loses, nothing changes. Columns that it lacks keep their values, an ordering column
too. After a delete, and for a new key, columns that no later version has are null, but key and partition fields, which follow
from key and folder (ER-067, ER-068, ER-069, ER-070).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import pyarrow as pa

from hudi_reference.files.log.deletes import Ordering
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.records.changes import Changes, Identity
from hudi_reference.records.merge import Version, merge, orderings_of
from hudi_reference.records.merge_tables import Kind
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.requirement import implements


@dataclass(frozen=True)
class Columns:
    """A version of a record, with the row that has the value of each of its columns.

    `lacks` are the indexes of the ordering fields that it has no column for.
    """

    version: Version
    rows: Mapping[str, int]
    lacks: tuple[int, ...] = ()


@implements("LF-046", "RDR-017")
def merge_partial_blocks(base: pa.Table, changes: Changes, merging: Merging) -> pa.Table:
    """The merged rows of a slice, in any order, for changes with partial updates among them."""
    used, mode = merging.ordering_used, merging.standard_mode
    histories: dict[Identity, list[Columns]] = {}
    for identity, found in _versions(changes, replace(merging, ordering=used), base.num_rows):
        histories.setdefault(identity, []).append(found)
    kept: list[int] = []
    merged: list[Columns] = []
    in_base: set[Identity] = set()
    for row, (stored, value) in enumerate(zip(changes.identities_of(base), orderings_of(base, used), strict=True)):
        if stored is None or stored not in histories:
            kept.append(row)
            continue
        in_base.add(stored)
        whole = Columns(Version(Kind.ROW, value, row), dict.fromkeys(base.column_names, row))
        merged.append(_fold([whole, *histories[stored]], mode))
    merged += [_fold(history, mode) for identity, history in histories.items() if identity not in in_base]
    places = [found.rows for found in merged if found.version.kind is Kind.ROW]
    rows = _rows(pa.concat_tables([base, changes.rows]), places)
    filled = changes.filled(rows, [len(found) < rows.num_columns for found in places])
    return pa.concat_tables([base.take(pa.array(kept, pa.int64())), filled])


def _versions(changes: Changes, merging: Merging, before: int) -> Iterator[tuple[Identity, Columns]]:
    """The versions of all log entries in merge order; their rows are numbered after the `before` rows of the base file."""
    for number, versions in enumerate(changes.by_batch(merging.ordering, merging.marker)):
        present = changes.present_columns.get(number, frozenset(changes.schema.names))
        lacks = tuple(place for place, field in enumerate(merging.ordering) if field.partition(".")[0] not in present)
        names = [name for name in changes.schema.names if name in present]
        for identity, version in zip(changes.identities(number), versions, strict=True):
            rows = dict.fromkeys(names, before + version.position) if version.kind is Kind.ROW else {}
            yield identity, Columns(version, rows, lacks if version.position >= 0 else ())


def _fold(history: list[Columns], mode: MergeMode) -> Columns:
    """The merged version of a record; `history` has the oldest version first."""

    def merged(older: Columns, newer: Columns) -> Columns:
        entry = replace(newer.version, ordering=_fill_ordering(newer, older.version.ordering))
        if merge(older.version, entry, mode) is older.version:
            return older
        return Columns(entry, {**older.rows, **newer.rows} if entry.kind is Kind.ROW else {})

    return reduce(merged, history)


def _fill_ordering(newer: Columns, before: Ordering | None) -> Ordering | None:
    """The ordering value of a version; fields that it lacks have the value of the version before it."""
    ordering = newer.version.ordering
    if not newer.lacks or before is None:
        return ordering
    if not isinstance(ordering, tuple) or not isinstance(before, tuple):
        return before
    return tuple(before[place] if place in newer.lacks else value for place, value in enumerate(ordering))


def _rows(rows: pa.Table, places: list[Mapping[str, int]]) -> pa.Table:
    """The merged rows: each column has the value of the row that it comes from, or null."""
    columns = [
        rows.column(name).take(pa.array([found.get(name) for found in places], pa.int64())) for name in rows.column_names
    ]
    return pa.table(columns, schema=rows.schema)
