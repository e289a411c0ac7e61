"""Merging where some blocks hold only part of the columns, spec "Log Format > Headers > IS_PARTIAL".

A version of a record is here the columns that it holds. When a partial version wins, its columns go over those of the version
before, nested columns as a whole; when it loses, none of them does. Whether it wins is decided as for whole rows; an ordering
column that it lacks keeps its value, like every other one. After a delete, or where there was no row, the columns that no
version since holds are null (ER-067, ER-068, ER-069, ER-070).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import pyarrow as pa

from hudi_reference.files.log.deletes import Ordering
from hudi_reference.records.changes import Changes, Identity
from hudi_reference.records.merge import Merge, Version, merger_of
from hudi_reference.records.merge_tables import Kind
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.ordering import orderings_of
from hudi_reference.requirement import implements


@dataclass(frozen=True)
class Columns:
    """A version of a record and the columns that it holds: for each the row that has its value.

    `lacks` are the places of the ordering fields that are not among them.
    """

    version: Version
    rows: Mapping[str, int]
    lacks: tuple[int, ...] = ()


@implements("LF-046", "RDR-017")
def merge_partial_blocks(base: pa.Table, changes: Changes, merging: Merging) -> pa.Table:
    """As `changes.apply`, for changes some of which are partial."""
    used, merge = merging.ordering_used, merger_of(merging.standard_mode)
    histories: dict[Identity, list[Columns]] = {}
    for identity, found in _versions(changes, replace(merging, ordering=used), base.num_rows):
        histories.setdefault(identity, []).append(found)
    kept: list[int] = []
    left: list[Columns] = []
    met: set[Identity] = set()
    for row, (identity, value) in enumerate(zip(changes.identities_of(base), orderings_of(base, used), strict=True)):
        if identity not in histories:
            kept.append(row)
            continue
        met.add(identity)
        whole = Columns(Version(Kind.ROW, value, row), dict.fromkeys(base.column_names, row))
        left.append(_fold([whole, *histories[identity]], merge))
    left += [_fold(history, merge) for identity, history in histories.items() if identity not in met]
    return pa.concat_tables([base.take(pa.array(kept, pa.int64())), _rows(pa.concat_tables([base, changes.rows]), left)])


def _versions(changes: Changes, merging: Merging, before: int) -> Iterator[tuple[Identity, Columns]]:
    """The entries in merge order; their rows are counted behind the `before` rows of the base file."""
    for number, versions in enumerate(changes.by_batch(merging.ordering, merging.marker)):
        held = changes.present_columns.get(number, frozenset(changes.schema.names))
        lacks = tuple(place for place, field in enumerate(merging.ordering) if field.partition(".")[0] not in held)
        names = [name for name in changes.schema.names if name in held]
        for identity, version in zip(changes.identities(number), versions, strict=True):
            rows = dict.fromkeys(names, before + version.position) if version.kind is Kind.ROW else {}
            yield identity, Columns(version, rows, lacks if version.position >= 0 else ())


def _fold(history: list[Columns], merge: Merge) -> Columns:
    """What stays of the versions of a record, oldest first."""

    def meet(older: Columns, newer: Columns) -> Columns:
        entry = replace(newer.version, ordering=_filled(newer, older.version.ordering))
        if merge(older.version, entry) is older.version:
            return older
        return Columns(entry, {**older.rows, **newer.rows} if entry.kind is Kind.ROW else {})

    return reduce(meet, history)


def _filled(newer: Columns, before: Ordering | None) -> Ordering | None:
    """The ordering value of a version, with that of the version before where its columns lack it."""
    ordering = newer.version.ordering
    if not newer.lacks or before is None:
        return ordering
    if not isinstance(ordering, tuple) or not isinstance(before, tuple):
        return before
    return tuple(before[place] if place in newer.lacks else value for place, value in enumerate(ordering))


def _rows(rows: pa.Table, left: list[Columns]) -> pa.Table:
    """The rows that are left, each column from the row that has its value; null where none has."""
    found = [columns.rows for columns in left if columns.version.kind is Kind.ROW]
    columns = [
        rows.column(name).take(pa.array([places.get(name) for places in found], pa.int64())) for name in rows.column_names
    ]
    return pa.table(columns, schema=rows.schema)
