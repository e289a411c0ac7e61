"""The two standard merge modes behind the interface of mergers, by the same decision tables, and partial update modes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import pyarrow as pa

from hudi_reference.files.log.deletes import Ordering
from hudi_reference.layout.merge_config import COMMIT_TIME_STRATEGY, EVENT_TIME_STRATEGY, MergeMode
from hudi_reference.records.merge import DECISIONS, Version, cell_of
from hudi_reference.records.merge_tables import Fill, Result
from hudi_reference.records.mergers.fill import Filling
from hudi_reference.records.mergers.merger import BufferedRecord, RecordContext, RecordMerger
from hudi_reference.records.row import Row
from hudi_reference.requirement import implements


class _ByTables(RecordMerger):
    """Merges by the decision table of a mode."""

    is_projection_compatible = True
    mode: ClassVar[MergeMode]

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The version that wins by the decision table."""
        mode = self.mode if context.ordering else "COMMIT_TIME_ORDERING"
        cell = cell_of(DECISIONS[mode], Version(older.kind, older.ordering, 0), Version(newer.kind, newer.ordering, 1))
        return newer if cell.result is Result.NEWER else older

    @implements("API-013", "API-014", "API-016")
    def partial_merge(
        self, older: BufferedRecord, newer: BufferedRecord, schema: pa.Schema, context: RecordContext
    ) -> BufferedRecord:
        """If the newer version wins, its columns replace those of the older one; otherwise the older version."""
        entry = replace(newer, ordering=_ordering(older, newer, context))
        if self.merge(older, entry, context) is older:
            return older
        if entry.row is None or entry.is_delete or older.is_delete:
            return entry
        cells = {**Row.cells_of(older.row or {}), **Row.cells_of(entry.row)}
        return replace(entry, row=Row(cells), is_partial=older.is_partial)


def _ordering(older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> Ordering | None:
    """The ordering value of the newer version; fields that it does not have are those of the older one."""
    if newer.row is None or not newer.is_partial:
        return newer.ordering
    lacks = [field.partition(".")[0] not in newer.row for field in context.ordering]
    if not any(lacks) or older.ordering is None:
        return newer.ordering
    if not isinstance(newer.ordering, tuple) or not isinstance(older.ordering, tuple):
        return older.ordering
    return tuple(a if lack else b for a, b, lack in zip(older.ordering, newer.ordering, lacks, strict=True))


class EventTimeMerger(_ByTables):
    """The version with the greater ordering value wins, the newer of equals."""

    strategy_id = EVENT_TIME_STRATEGY
    mode = "EVENT_TIME_ORDERING"


class CommitTimeMerger(_ByTables):
    """The newer version wins."""

    strategy_id = COMMIT_TIME_STRATEGY
    mode = "COMMIT_TIME_ORDERING"


#: Partial update mode of a table -> the columns of the winner that are filled from the other version.
PARTIAL_UPDATE_MODES: Mapping[str, Fill] = {"IGNORE_DEFAULTS": Fill.DEFAULT, "FILL_UNAVAILABLE": Fill.UNAVAILABLE}
_STANDARD: Mapping[str, _ByTables] = {one.mode: one for one in (EventTimeMerger(), CommitTimeMerger())}


@implements("MRG-048", "MRG-049", "MRG-050")
@dataclass(frozen=True)
class PartialUpdateMerger(RecordMerger):
    """A standard merge mode with a partial update mode: the merge mode decides, and columns of the winner are filled.

    Blocks of partial updates are merged without it, because what they store is what they change.
    """

    standard: RecordMerger
    filling: Filling
    #: No table names it by an id.
    strategy_id = ""
    is_projection_compatible = True

    @classmethod
    def from_modes(cls, mode: MergeMode, partial_mode: str, unavailable: str) -> Self:
        """The merger of a table with this merge mode and partial update mode."""
        return cls(_STANDARD[mode], Filling(PARTIAL_UPDATE_MODES[partial_mode], unavailable))

    @property
    def name(self) -> str:
        """The name for messages."""
        return f"{self.standard.name} with a partial update mode"

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The version that wins, filled from the other one."""
        return self.filling.merged(older, newer, self.standard.merge(older, newer, context), context)

    def partial_merge(
        self, older: BufferedRecord, newer: BufferedRecord, schema: pa.Schema, context: RecordContext
    ) -> BufferedRecord:
        """As without a partial update mode."""
        return self.standard.partial_merge(older, newer, schema, context)
