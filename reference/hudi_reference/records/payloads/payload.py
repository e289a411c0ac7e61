"""A payload class: the older interface of merging, spec "Record Payloads", as decision tables.

`pre_combine` merges two records of one write, `combine` an incoming record and the stored one, `insert` is for a record with a
new key. `PayloadMerger` makes a merger of a payload.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hudi_reference.caching import cached_property
from hudi_reference.files.log.deletes import Ordering
from hudi_reference.layout.merge_config import PAYLOAD_STRATEGY
from hudi_reference.records.changes import DeleteMarker
from hudi_reference.records.merge import Version, cell_of
from hudi_reference.records.merge_tables import Decisions, DecisionTable, Result, decisions_of
from hudi_reference.records.mergers.fill import Filling
from hudi_reference.records.mergers.merger import BufferedRecord, RecordContext, RecordMerger
from hudi_reference.requirement import implements


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

    @implements("PAY-014")
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
        stays = newer if cell.result is Result.NEWER else older
        return Filling(cell.fill).merged(older, newer, stays, context)


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
