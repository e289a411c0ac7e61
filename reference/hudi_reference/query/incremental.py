"""Incremental queries: the records that were written in a window, each once, in their state at its end, spec "Query types".

Records are selected by `_hoodie_commit_time`, the requested time of the write whose change produced the row. Table services
keep this column, so a record does not appear because it was rewritten. A change that the merge mode did not retain has produced
no row.

The bounds of a window are completion times: the begin is exclusive, the end inclusive. So each completion is in exactly one of
several consecutive windows, and a long write is in the window in which it became visible.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, tzinfo

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import InvalidQuery, UnsupportedTableFeature
from hudi_reference.layout.properties import PROPERTIES_PATH, TableProperties
from hudi_reference.query.file_groups import FileGroups, FileSlice
from hudi_reference.query.retention import check_state_retained, files_were_cleaned, was_cleaned
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.history.history import END_OF_TIME, START_OF_TIME
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS
from hudi_reference.timeline.instants.time_parsing import instant_of

COMMIT_TIME = "_hoodie_commit_time"


@implements("TYP-009", "TYP-012")
@dataclass(frozen=True)
class Window:
    """Completion times after `begin`, or from `begin` on if `include_begin`, up to `end`; None is an open side."""

    begin: str | None = None
    end: str | None = None
    include_begin: bool = False

    @classmethod
    def between(cls, begin: str | None, end: str | None, include_begin: bool = False, zone: tzinfo | None = UTC) -> "Window":
        """The window between two times, given as texts that `instant_of` accepts. Raises InvalidQuery."""
        first, last = (None if time is None else instant_of(time, zone) for time in (begin, end))
        if first is not None and last is not None and last < first:
            raise InvalidQuery(
                "the window ends before it begins", rule="TYP-009", expected=f"an end from {first} on", found=last,
                remedy="exchange the bounds; for all writes up to the end omit begin",
            )  # fmt: skip
        return cls(first, last, include_begin)

    @implements("TYP-009", "NBC-006")
    def holds(self, completion: str | None) -> bool:
        """Whether a write with this completion time is in the window; None is a write that did not complete."""
        if completion is None or (self.end is not None and completion > self.end):
            return False
        if self.begin is None:
            return True
        # ER-101: the begin is exclusive, as from release 1.1 on; 1.0.2 includes it.
        return completion >= self.begin if self.include_begin else completion > self.begin

    @implements("TYP-009")
    def of(self, timeline: Timeline) -> tuple[Instant, ...]:
        """The writes in the window, archived ones included, by completion time."""
        found = timeline.completed_between(self.begin or START_OF_TIME, self.end or END_OF_TIME)
        return tuple(i for i in found if i.action in COMMITS and self.holds(i.completion or i.requested))

    @property
    def after(self) -> "Window":
        """The window after this one; empty if this one has no end."""
        return Window(self.end or END_OF_TIME)

    @property
    def until(self) -> str:
        """The least text that is greater than every time in the window: `!` sorts before the digits."""
        return END_OF_TIME if self.end is None else f"{self.end}!"


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
    """Whether the present rows are those at the window's end: only table services that keep commit times completed later."""
    later = () if window.end is None else window.after.of(timeline)
    known = (groups.commits.get(instant) for instant in later)
    # ER-198: a log compaction of Apache Hudi gives rows its own time, which hides in which window they were written.
    return all(one is not None and one.is_service and one.operation != "LOG_COMPACT" for one in known)


@implements("TYP-009", "RDR-007")
def _slices(window: Window, timeline: Timeline, groups: FileGroups) -> tuple[FileSlice, ...]:
    """The latest slices of the file groups that were written in the window; of all groups if that is only in the history."""
    instants = window.of(timeline)
    if window.begin is None or any(instant not in groups.commits for instant in instants):
        return groups.latest_slices
    # ER-198: a compaction writes no row of the window, though rows of a log compaction may have its time.
    commits = (groups.commits[instant] for instant in instants)
    written = {(stat.partition, stat.file_id) for one in commits if not one.is_compaction for stat in one.stats}
    return tuple(one for one in groups.latest_slices if one.group in written)


def _check_present(found: IncrementalPlan, timeline: Timeline) -> None:
    gone = (one.path(name) for one in found.slices for name in sorted(one.missing))
    if (path := next(gone, None)) is not None and was_cleaned(timeline):
        raise files_were_cleaned(found.window.end or "", None, path)


@implements("TYP-009", "TYP-011", "NBC-006")
def rows_written_in(rows: pa.Table, window: Window, timeline: Timeline) -> pa.Table:
    """The rows whose `_hoodie_commit_time` is that of a write in the window."""
    if window.begin is None:  # the state at the window's end has no later rows
        return rows
    times: Iterable[str | None] = pc.unique(rows.column(COMMIT_TIME)).to_pylist()
    chosen = [time for time in times if time is not None and window.holds(timeline.completion_of(time))]
    return rows.filter(pc.is_in(rows.column(COMMIT_TIME), value_set=pa.array(chosen, pa.string())))
