"""A payload class: the older interface of merging, spec "Record Payloads", as decision tables.

`pre_combine` merges two records of one write, `combine` an incoming record and the stored one, `insert` is for a record with a
new key. `PayloadMerger` makes a merger of a payload.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hudi_reference.caching import cached_property
from hudi_reference.files.log.deletes import Ordering
from hudi_reference.layout.merge_config import PAYLOAD_STRATEGY
from hudi_reference.records.changes import DeleteMarker
from hudi_reference.records.merge import Version, cell_of
from hudi_reference.records.merge_tables import Decisions, DecisionTable, Fill, Result, decisions_of
from hudi_reference.records.mergers.merger import BufferedRecord, RecordContext, RecordMerger
from hudi_reference.records.row import Row
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS

#: The value that Debezium sends for an unknown value, such as a large one that did not change.
UNAVAILABLE = "__debezium_unavailable_value"


def no_conversion(ordering: Ordering | None) -> Ordering | None:
    """Ordering values that are compared without conversion."""
    return ordering


@dataclass(frozen=True)
class Payload:
    """One payload class. `ordering` and `marker` are the columns that its source fills; empty if the table names them.

    `position` converts an ordering value for comparison.
    """

    name: str
    table: DecisionTable
    ordering: tuple[str, ...] = ()
    marker: DeleteMarker | None = None
    position: Callable[[Ordering | None], Ordering | None] = no_conversion

    @cached_property
    def _stored_decisions(self) -> Decisions:
        return decisions_of(self.table.stored)

    @cached_property
    def _batch_decisions(self) -> Decisions:
        return decisions_of(self.table.stored if self.table.batch is None else self.table.batch)

    def pre_combine(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The merged record of two records of one write."""
        return self._merge_by_table(self._batch_decisions, older, newer, context)

    def combine(self, stored: BufferedRecord, incoming: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The merged record of an incoming record and the stored one."""
        return self._merge_by_table(self._stored_decisions, stored, incoming, context)

    def insert(self, incoming: BufferedRecord) -> BufferedRecord | None:
        """The record to be stored for a new key; None if it is a delete."""
        return None if self.is_delete(incoming) else incoming

    def is_delete(self, record: BufferedRecord) -> bool:
        """Whether a record deletes its key."""
        return record.is_delete

    def _merge_by_table(
        self, decisions: Decisions, older: BufferedRecord, newer: BufferedRecord, context: RecordContext
    ) -> BufferedRecord:
        before = Version(older.kind, self.position(older.ordering), 0)
        cell = cell_of(decisions, before, Version(newer.kind, self.position(newer.ordering), 1))
        stays, other = (newer, older) if cell.result is Result.NEWER else (older, newer)
        if cell.fill is Fill.NOTHING or cell.fill is Fill.LACKING or stays.row is None or other.row is None:
            return stays
        return context.updated(stays, fill_row(stays.row, other.row, newer.row or {}, cell.fill, context))


@implements("PAY-015", "PAY-016", "PAY-018")
def fill_row(
    row: Mapping[str, Any], other: Mapping[str, Any], incoming: Mapping[str, Any], fill: Fill, context: RecordContext
) -> Row:
    """The row, with those columns of the other row that `fill` names; the meta columns are those of the incoming row."""
    lacks = _LACKS[fill]
    taken = [name for name in row if name not in META_COLUMNS and name in other and lacks(row[name], name, context)]
    meta = {name: cell for name, cell in Row.cells_of(incoming).items() if name in META_COLUMNS}
    cells = Row.cells_of(other)
    return Row({**Row.cells_of(row), **{name: cells[name] for name in taken}, **meta})


def _is_unavailable(value: Any, name: str, context: RecordContext) -> bool:
    return value in (UNAVAILABLE, UNAVAILABLE.encode())


#: For each fill, whether a value is to be filled.
_LACKS: Mapping[Fill, Callable[[Any, str, RecordContext], bool]] = {
    Fill.NULL: lambda value, name, context: value is None,
    Fill.DEFAULT: lambda value, name, context: bool(value == context.defaults.get(name)),
    Fill.UNAVAILABLE: _is_unavailable,
}


@implements("PAY-003", "MRG-010")
@dataclass(frozen=True)
class PayloadMerger(RecordMerger):
    """A payload class with the interface of mergers."""

    payload: Payload
    strategy_id = PAYLOAD_STRATEGY

    @property
    def name(self) -> str:
        """The full name of the class."""
        return self.payload.name

    @property
    def ordering(self) -> tuple[str, ...]:
        """The ordering columns that the payload itself names."""
        return self.payload.ordering

    @property
    def marker(self) -> DeleteMarker | None:
        """The delete marker that the payload itself names."""
        return self.payload.marker

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The merged record of the two."""
        return self.payload.combine(older, newer, context)

    def merge_in_batch(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The merged record of two records of one write."""
        return self.payload.pre_combine(older, newer, context)
