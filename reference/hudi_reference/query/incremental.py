"""Incremental queries: the records that were written in a window, each once, in their state at its end, spec "Query types".

Records are selected by `_hoodie_commit_time`, the requested time of the write whose change produced the row. Table services
keep this column, so a record does not appear because it was rewritten. A change that lost by the merge mode has produced no
row.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.layout.properties import PROPERTIES_PATH, TableProperties
from hudi_reference.query.file_groups import FileGroups, FileSlice
from hudi_reference.query.incremental_window import Window
from hudi_reference.query.retention import check_state_retained, cleaned_away, was_cleaned
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline

COMMIT_TIME = "_hoodie_commit_time"


@implements("TYP-009", "TYP-010", "RDR-005", "RDR-006")
@dataclass(frozen=True)
class IncrementalPlan:
    """The table at the end of a window, and those of its slices that may contain rows of the window."""

    window: Window
    timeline: Timeline
    groups: FileGroups
    slices: tuple[FileSlice, ...]


@implements("TYP-009", "TYP-010", "RDR-006", "CLN-003", "META-012")
def plan_incremental(
    window: Window, storage: Storage, properties: TableProperties, timeline: Timeline, groups: FileGroups
) -> IncrementalPlan:
    """The slices that an incremental query reads.

    Raises:
        InvalidQuery: files of the state at the window's end were cleaned; rows that changed again since would be missing.
        UnsupportedTableFeature: the table has no meta columns, so rows do not have a commit time.
    """
    if not properties.populates_meta_fields:
        raise UnsupportedTableFeature(
            "rows of this table have no commit time", rule="META-012", path=PROPERTIES_PATH,
            expected="hoodie.populate.meta.fields=true", found="false", remedy="read snapshots and compare them",
        )  # fmt: skip
    if _is_present(window, timeline, groups):
        present = Window(window.begin, None, window.include_begin)
        return IncrementalPlan(present, timeline, groups, _slices(present, timeline, groups))
    then = timeline.completed_before(window.until)
    if any(instant not in groups.commits for instant in window.of(timeline)):
        check_state_retained(storage, properties, timeline, window.end or "")
    past = groups.at(then, is_legacy=properties.is_legacy)
    found = IncrementalPlan(window, then, past, _slices(window, then, past))
    _check_present(found, timeline)
    return found


@implements("TYP-011", "RDR-006")
def _is_present(window: Window, timeline: Timeline, groups: FileGroups) -> bool:
    """Whether the present rows are those at the window's end: only table services completed later."""
    later = () if window.end is None else window.after.of(timeline)
    return all(instant in groups.commits and groups.commits[instant].is_service for instant in later)


@implements("TYP-009", "RDR-007")
def _slices(window: Window, timeline: Timeline, groups: FileGroups) -> tuple[FileSlice, ...]:
    """The latest slices of the file groups that were written in the window; of all groups if that is only in the history."""
    instants = window.of(timeline)
    if window.begin is None or any(instant not in groups.commits for instant in instants):
        return groups.latest_slices
    written = {(stat.partition, stat.file_id) for instant in instants for stat in groups.commits[instant].stats}
    return tuple(one for one in groups.latest_slices if one.group in written)


def _check_present(found: IncrementalPlan, timeline: Timeline) -> None:
    gone = (one.path(name) for one in found.slices for name in sorted(one.missing))
    if (path := next(gone, None)) is not None and was_cleaned(timeline):
        raise cleaned_away(found.window.end or "", None, path)


@implements("TYP-009", "TYP-011", "NBC-006")
def rows_written_in(rows: pa.Table, window: Window, timeline: Timeline) -> pa.Table:
    """The rows whose `_hoodie_commit_time` is that of a write in the window."""
    if window.begin is None:  # the state at the window's end has no later rows
        return rows
    times: Iterable[str | None] = pc.unique(rows.column(COMMIT_TIME)).to_pylist()
    chosen = [time for time in times if time is not None and window.holds(timeline.completion_of(time))]
    return rows.filter(pc.is_in(rows.column(COMMIT_TIME), value_set=pa.array(chosen, pa.string())))
