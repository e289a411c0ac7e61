"""The difference between two states of a file group: inserted, updated and deleted records."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.requirement import implements

#: Images of records with their operation, `i`, `u` or `d`; see `RowDiff.images`.
OPERATION, BEFORE, AFTER = "op", "before", "after"


@dataclass(frozen=True)
class State:
    """The rows of a file group at one time: their keys, and their data columns."""

    keys: pa.ChunkedArray
    rows: pa.Table


@implements("TYP-012", "TYP-013", "BLK-033", "BLK-035", "BLK-036")
@dataclass(frozen=True)
class RowDiff:
    """Changed records by their positions in the rows before and after; both states have the same columns.

    A record whose row has the same values in both states did not change.
    """

    before: State
    after: State

    def images(self) -> pa.Table:
        """One row for each change: `op`, key, `before`, `after`. An insert has no image before, a delete none after."""
        pairs, deleted, inserted = self._match_rows()
        old, new = (pa.array([pair[side] for pair in pairs], pa.int64()) for side in (0, 1))
        changed = pc.invert(same_rows(self.before.rows.take(old), self.after.rows.take(new)))
        updates = (old.filter(changed), new.filter(changed))
        parts = [
            self._changes_of_kind("d", pa.array(deleted, pa.int64()), None),
            self._changes_of_kind("u", *updates),
            self._changes_of_kind("i", None, pa.array(inserted, pa.int64())),
        ]
        return pa.concat_tables(parts)

    def _match_rows(self) -> tuple[list[tuple[int, int]], list[int], list[int]]:
        """Positions of the rows with one key in both states, of those only before, and of those only after.

        Plain inserts may have stored several rows with one key; these are matched in order.
        """
        waiting: dict[str, list[int]] = {}
        for place, key in enumerate(self.before.keys.to_pylist()):
            waiting.setdefault(key, []).append(place)
        pairs, inserted = [], []
        for place, key in enumerate(self.after.keys.to_pylist()):
            if known := waiting.get(key):
                pairs.append((known.pop(0), place))
            else:
                inserted.append(place)
        return pairs, sorted(place for places in waiting.values() for place in places), inserted

    def _changes_of_kind(self, operation: str, old: pa.Array | None, new: pa.Array | None) -> pa.Table:
        count = len(old) if old is not None else len(new) if new is not None else 0
        keys = self.before.keys.take(old) if new is None else self.after.keys.take(new)
        columns = [pa.repeat(operation, count), keys, image(self.before.rows, old, count), image(self.after.rows, new, count)]
        return pa.table(columns, names=[OPERATION, "key", BEFORE, AFTER])


def image(rows: pa.Table, places: pa.Array | None, count: int) -> pa.ChunkedArray:
    """The rows at these positions as structs, null for a null position; `count` nulls without positions."""
    kind = pa.struct(list(rows.schema))
    if places is None:
        return pa.chunked_array([pa.nulls(count, kind)])
    structs = rows.to_struct_array()
    whole = pa.chunked_array([structs] if isinstance(structs, pa.StructArray) else structs.chunks, type=kind)
    return whole.take(places)


def same_rows(one: pa.Table, other: pa.Table) -> pa.Array:
    """For each row whether it has the same values in all columns; NaN equals NaN."""
    same = pa.repeat(pa.scalar(True), one.num_rows)
    for left, right in zip(one.columns, other.columns, strict=True):
        same = pc.and_(same, _same_values(left.combine_chunks(), right.combine_chunks()))
    return same


def _same_values(left: pa.Array, right: pa.Array) -> pa.Array:
    if pa.types.is_nested(left.type):
        values = (column.to_pylist(maps_as_pydicts="lossy") for column in (left, right))
        return pa.array([_values_are_equal(a, b) for a, b in zip(*values, strict=True)], pa.bool_())
    same = pc.or_(pc.fill_null(pc.equal(left, right), False), pc.and_(left.is_null(), right.is_null()))
    if pa.types.is_floating(left.type):
        same = pc.or_(same, pc.fill_null(pc.and_(pc.is_nan(left), pc.is_nan(right)), False))
    return same


def _values_are_equal(one: Any, other: Any) -> bool:
    """Whether two values of one nested type are equal; entries of a map have no order."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_values_are_equal(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_values_are_equal, one, other))
    return bool(one == other or (one != one and other != other))  # noqa: PLR0124 - a NaN
