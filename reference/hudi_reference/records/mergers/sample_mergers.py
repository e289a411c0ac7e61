"""Two sample mergers, each with its own strategy id, for `open_table(uri, mergers=SAMPLE_MERGERS)`.

Both make a row from columns of both versions. They are used only by tables that name their id.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from hudi_reference.records.mergers.merger import BufferedRecord, RecordContext, RecordMerger
from hudi_reference.records.row import Row
from hudi_reference.requirement import implements

#: Types whose values have an order.
_ORDERED = (bool, int, float, str, bytes)


def _rank_versions(
    older: BufferedRecord, newer: BufferedRecord, context: RecordContext
) -> tuple[BufferedRecord, BufferedRecord]:
    """The version with the greater ordering value (the newer of equals; every delete by key), then the other one."""
    if newer.is_delete and newer.ordering is None:
        return newer, older
    if older.is_delete and older.ordering is None:
        return newer, older
    return (older, newer) if context.is_late(older, newer) else (newer, older)


def _result(first: BufferedRecord, other: BufferedRecord, cells: dict[str, Any], context: RecordContext) -> BufferedRecord:
    """The merged record: a delete stays a delete with the data and the ordering value."""
    ordering = other.ordering if first.ordering is None else first.ordering
    if first.is_delete:
        return context.delete(first.key, ordering, Row(cells) if cells else None)
    return BufferedRecord(
        first.key, ordering, Row(cells), first.operation, first.schema_id, is_partial=first.is_partial and other.is_partial
    )


@implements("MRG-032", "API-013", "API-014", "API-015", "API-016")
class FillNulls(RecordMerger):
    """The version with the greater ordering value; its nulls are filled from the other version.

    Example: the cancellation of an order arrives before its creation; the result has the columns of both.
    """

    strategy_id = "6f1f2b8e-52c5-4d6a-9a55-0a3f3f1c2d01"

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """As described at the class; a row after a delete is filled from the deleted row."""
        first, other = _rank_versions(older, newer, context)
        return _result(first, other, _fill_nulls(first, other), context)

    def partial_merge(
        self, older: BufferedRecord, newer: BufferedRecord, schema: pa.Schema, context: RecordContext
    ) -> BufferedRecord:
        """The same: a column that a version does not have is filled like one that is null."""
        merged = self.merge(older, newer, context)
        if merged.row is None or merged.is_delete:
            return merged
        return context.updated(merged, context.row({}, over=merged.row))


def _fill_nulls(first: BufferedRecord, other: BufferedRecord) -> dict[str, Any]:
    cells = dict(Row.cells_of(first.row or {}))
    for name, cell in Row.cells_of(other.row or {}).items():
        if name not in cells or (first.row or {}).get(name) is None:
            cells[name] = cell
    return cells


@implements("API-021", "MRG-002", "MRG-004")
class GreatestOfEach(RecordMerger):
    """The greatest value of each column, also of ordering values and deletes, so that the order of merging does not matter."""

    strategy_id = "6f1f2b8e-52c5-4d6a-9a55-0a3f3f1c2d02"
    is_projection_compatible = True

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """As described at the class; if a delete and a row have equal ordering values, the delete wins."""
        first, other = _rank_versions(older, newer, context)
        if other.is_delete and not first.is_delete and first.ordering == other.ordering:
            first, other = other, first
        return _result(first, other, _choose_greatest(first, other), context)

    def partial_merge(
        self, older: BufferedRecord, newer: BufferedRecord, schema: pa.Schema, context: RecordContext
    ) -> BufferedRecord:
        """The same for the columns that at least one of the versions has."""
        merged = self.merge(older, newer, context)
        return merged if merged.row is None or merged.is_delete else context.updated(merged, merged.row)


def _choose_greatest(first: BufferedRecord, other: BufferedRecord) -> dict[str, Any]:
    cells, held = _fill_nulls(first, other), first.row or {}
    for name, cell in Row.cells_of(other.row or {}).items():
        mine: Any = held.get(name)
        theirs: Any = (other.row or {})[name]
        ordered = isinstance(mine, _ORDERED) and isinstance(theirs, _ORDERED)
        if not name.startswith("_hoodie_") and ordered and mine < theirs:
            cells[name] = cell
    return cells


#: Both of them.
SAMPLE_MERGERS: Sequence[RecordMerger] = (FillNulls(), GreatestOfEach())
