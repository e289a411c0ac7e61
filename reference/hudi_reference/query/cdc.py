"""Change queries: every modification in a window with its images before and after, spec "Query types".

If a write logged its changes of a file group, they are read from its change-capture files; images that the table's logging mode
omits are looked up in the file slices. Otherwise the rows of the group just before and just after the completion of the write
are compared. In both cases a change is a change of the table's rows: a record that the merge mode did not retain is not a
change (ER-105).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.errors import (
    HudiError,
    InvalidQuery,
    MalformedLogBlock,
    MalformedLogFile,
    damaged_committed_block,
    missing_data_file,
)
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock
from hudi_reference.files.log.cdc import Operation
from hudi_reference.files.log.content import decode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import split_path
from hudi_reference.query.file_groups import FileGroups, FileSlice, GroupId
from hudi_reference.query.incremental import Window
from hudi_reference.query.retention import files_were_cleaned, was_cleaned
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records.changes import KEY
from hudi_reference.records.keys.record_keys import record_keys
from hudi_reference.records.row_diff import AFTER, BEFORE, OPERATION, RowDiff, State, image
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.schema.evolution import conform
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import CommitMetadata, WriteStat
from hudi_reference.timeline.history.archived import archived_commits
from hudi_reference.timeline.instants.instant import Instant

#: What errors call the place of logged images.
_LOGGED = "change-capture file"
#: The columns with the requested time of the write, and with the record key.
TIME, RECORD_KEY = "ts_ms", "record_key"


@dataclass(frozen=True)
class GroupChange:
    """The change of one file group by one write: the slices before and after it, and its change-capture files.

    `before` is None for a new group, `after` for a replaced one.
    """

    instant: Instant
    before: FileSlice | None
    after: FileSlice | None
    #: The paths of the change-capture files, with their sizes in bytes.
    logs: Mapping[str, int] = field(default_factory=dict)
    #: A file that is missing in the slice `before`, and one in the slice `after`; none if it is complete.
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def completion(self) -> str:
        """The completion time of the write: when the change became visible."""
        return self.instant.completion or self.instant.requested


@implements("TYP-012", "TYP-011")
@dataclass(frozen=True)
class ChangePlan:
    """The changes of a window in the order of completion; the replaced groups of a write come first."""

    timeline: Timeline
    groups: FileGroups
    is_legacy: bool
    #: Instants and paths of the files of each group that the cleans after a time deleted.
    deleted: Callable[[str], Mapping[GroupId, list[tuple[str, str]]]]

    def changes(self, window: Window) -> list[GroupChange]:
        """The changes of each file group by each write of the window. Raises InvalidQuery if files of a change were cleaned."""
        instants = window.of(self.timeline)
        archived = self._read_archived_commits([i for i in instants if i not in self.groups.commits])
        commits = ((i, self.groups.commits.get(i) or archived[i]) for i in instants)
        return [change for i, commit in commits if not commit.is_service for change in self._changes_of_write(i, commit)]

    @implements("LSM-020")
    def _read_archived_commits(self, instants: list[Instant]) -> Mapping[Instant, CommitMetadata]:
        """The metadata of these writes from the history. Raises InvalidQuery if the history has none for one of them."""
        if not instants:
            return {}
        first, last = (pick(i.requested for i in instants) for pick in (min, max))
        found = archived_commits(self.timeline.archived, first, last)
        for instant in instants:
            if instant not in found:
                raise InvalidQuery(
                    "the history has no metadata for a write of the window, so its changes are not known", rule="TYP-012",
                    found=instant.requested, expected="the metadata of the write",
                    remedy="begin the window when the write has completed, or later",
                )  # fmt: skip
        return found

    def _changes_of_write(self, instant: Instant, commit: CommitMetadata) -> Iterator[GroupChange]:
        completion = instant.completion or instant.requested
        before = self.timeline.completed_before(completion)
        after = self.timeline.completed_before(f"{completion}!")
        for partition, file_ids in sorted(commit.replaced.items()):
            for file_id in sorted(file_ids):
                old = self._slice((partition, file_id), before)
                path = f"{partition}/{file_id}".strip("/") if old is None else self._newer_file(old, instant, before)
                if old is None or path is not None:
                    raise self._file_missing(instant, path or "")
                yield self._require_files(GroupChange(instant, old, None, missing=_missing_files(old, None)))
        for group, stats in _group_stats(commit.stats):
            old, new = self._slice(group, before), self._slice(group, after)
            change = GroupChange(instant, old, new, _logs_of(stats), _missing_files(old, new, stats))
            yield change if change.logs else self._require_files(change)

    def _newer_file(self, old: FileSlice, instant: Instant, before: Timeline) -> str | None:
        """A deleted file of the group that the write replaced: then an older slice, which a savepoint kept, is not the last."""
        files = self.deleted(instant.requested).get(old.group, ())
        newer = (path for time, path in files if time > old.base_instant and before.completion_of(time) is not None)
        return next(newer, None)

    def _slice(self, group: GroupId, timeline: Timeline) -> FileSlice | None:
        """The latest slice of a group as of an earlier timeline."""
        known = self.groups.groups.get(group)
        then = None if known is None else known.at(timeline, is_legacy=self.is_legacy)
        return None if then is None else then.latest

    @implements("CLN-003", "TL-036")
    def _require_files(self, change: GroupChange) -> GroupChange:
        """The change, if all its files exist. Raises InvalidQuery or MissingDataFile otherwise."""
        for path in change.missing.values():
            raise self._file_missing(change.instant, path)
        return change

    def _file_missing(self, instant: Instant, path: str) -> HudiError:
        return _error_of(self.timeline, instant, path)


def _error_of(timeline: Timeline, instant: Instant, path: str) -> HudiError:
    """The error for a file that is missing in a change of this instant."""
    return files_were_cleaned(instant.requested, None, path) if was_cleaned(timeline) else missing_data_file(path)


def _missing_files(before: FileSlice | None, after: FileSlice | None, stats: Iterable[WriteStat] = ()) -> dict[str, str]:
    """A file that is missing in each of the slices before and after a write with these statistics."""
    found = {
        side: one.path(min(one.missing)) for side, one in ((BEFORE, before), (AFTER, after)) if one is not None and one.missing
    }
    known = () if before is None else before.files
    for stat in stats:
        if after is None or stat.path not in after.paths:
            found.setdefault(AFTER, stat.path)
        if not stat.is_log and stat.previous_base_file and stat.previous_base_file not in known:
            found.setdefault(BEFORE, stat.previous_base_file)
    return found


def _group_stats(stats: Iterable[WriteStat]) -> list[tuple[GroupId, list[WriteStat]]]:
    found: dict[GroupId, list[WriteStat]] = {}
    for stat in stats:
        if stat.path:
            found.setdefault((stat.partition, stat.file_id), []).append(stat)
    return sorted(found.items())


def _logs_of(stats: Iterable[WriteStat]) -> dict[str, int]:
    return {path: size for stat in stats for path, size in sorted(stat.changes.items())}


@implements("TYP-012", "TYP-013", "TYP-004", "BLK-031")
@dataclass(frozen=True)
class ChangeQuery:
    """Reads the changes of one file group by one write, as rows of `schema`: op, ts_ms, before, after."""

    reader: SliceReader

    @property
    def columns(self) -> list[pa.Field]:
        """The columns of images: those of the table, without its meta columns."""
        return [column for column in self.reader.schema if column.name not in META_COLUMNS]

    @property
    def schema(self) -> pa.Schema:
        """The columns of changes."""
        row = pa.struct(self.columns)
        return pa.schema([(OPERATION, pa.string()), (TIME, pa.string()), (BEFORE, row), (AFTER, row)])

    def __call__(self, change: GroupChange) -> pa.Table:
        """The changes of one group."""
        # ER-263: an insert that fills up a file group has no change-capture file; the states before and after show its changes.
        rows = (
            self._logged_changes(change)
            if change.logs
            else RowDiff(self._state_before(change), self._state_after(change)).images()
        )
        times = pa.chunked_array([pa.repeat(change.instant.requested, rows.num_rows)])
        return conform(rows.append_column(TIME, times), self.schema, "images")

    @implements("CLN-003")
    def _state_before(self, change: GroupChange) -> State:
        if BEFORE in change.missing:
            raise _error_of(self.reader.scanner.timeline, change.instant, change.missing[BEFORE])
        return self._state(change.before, change.completion)

    @implements("CLN-003")
    def _state_after(self, change: GroupChange) -> State:
        if AFTER in change.missing:
            raise _error_of(self.reader.scanner.timeline, change.instant, change.missing[AFTER])
        return self._state(change.after, f"{change.completion}!")

    @implements("TYP-012", "RDR-006")
    def _state(self, file_slice: FileSlice | None, time: str) -> State:
        """The merged rows of a slice just before a time."""
        names = [KEY, *(column.name for column in self.columns)]
        if file_slice is None:
            rows = pa.schema([self.reader.schema.field(name) for name in names]).empty_table()
        else:
            scanner = replace(self.reader.scanner, timeline=self.reader.scanner.timeline.completed_before(time))
            rows = replace(self.reader, scanner=scanner).read(file_slice, names)
        virtual = self.reader.key_fields
        keys = pa.chunked_array([record_keys(rows, virtual)], pa.string()) if virtual else rows.column(KEY)
        return State(keys, rows.drop_columns([KEY]))

    @implements("TYP-004", "BLK-031", "BLK-032")
    def _logged_changes(self, change: GroupChange) -> pa.Table:
        """The changes that the write logged, with both images."""
        instant = change.instant.requested
        blocks = (rows for path, size in change.logs.items() for rows in self._change_rows(path, size, instant))
        parts = [self._complete_images(rows, change) for rows in blocks]
        return pa.concat_tables([self.schema.remove(1).empty_table(), *parts])

    @implements("CLN-003", "TL-036")
    def _change_rows(self, path: str, size: int, instant: str) -> Iterator[pa.Table]:
        """The change records of each block of a change-capture file, which has this size in the metadata of its write."""
        end = 0
        if was_cleaned(self.reader.scanner.timeline) and self.reader.storage.head(path) is None:
            raise files_were_cleaned(instant, None, path)
        for block in read_log_file(self.reader.storage, path):
            if isinstance(block, CorruptBlock):
                raise damaged_committed_block(path, block.offset, block.reason)
            if block.instant not in ("", instant):
                raise MalformedLogBlock(
                    "the changes are those of another write", rule="LF-035", path=path, offset=block.offset, expected=instant,
                    found=block.instant, remedy="restore the file from another copy of the table",
                )  # fmt: skip
            end = block.end
            yield _decode_changes(block)
        if end != size:
            raise MalformedLogFile(
                "the changes are not all those of their write", rule="TL-036", path=path, offset=end, expected=f"{size} bytes",
                found=f"{end} bytes", remedy="restore the file from another copy of the table",
            )  # fmt: skip

    @implements("BLK-034", "BLK-035", "BLK-036")
    def _complete_images(self, rows: pa.Table, change: GroupChange) -> pa.Table:
        """Logged changes with both images; images that the mode omits are looked up by key in the slices."""
        images = {}
        for side, state in ((BEFORE, self._state_before), (AFTER, self._state_after)):
            if side in rows.column_names:
                images[side] = self._logged_images(rows.column(side), change)
            else:
                images[side] = _look_up_images(rows.column(RECORD_KEY), state(change))
        found = pa.table({OPERATION: rows.column(OPERATION), **images})
        return conform(found, self.schema.remove(1), _LOGGED)

    @implements("LF-038", "LAY-008")
    def _logged_images(self, logged: pa.ChunkedArray, change: GroupChange) -> pa.ChunkedArray:
        """Images as the table has them: columns under their present names, and with those that no data file has."""
        by_id, dropped = self.reader.by_id, self.reader.dropped
        found = logged if by_id is None else by_id.renamed_images(logged, change.instant.requested)
        if dropped is None:
            return found
        images = conform(pa.table({BEFORE: found}), pa.schema([(BEFORE, pa.struct(self.columns))]), _LOGGED).column(BEFORE)
        rows = dropped.filled(
            pa.table(images.flatten(), schema=pa.schema(self.columns)), split_path(next(iter(change.logs)))[0]
        )
        columns = [column.combine_chunks() for column in rows.columns]
        missing = images.is_null().combine_chunks()
        return pa.chunked_array([pa.StructArray.from_arrays(columns, fields=self.columns, mask=missing)])


@implements("BLK-033")
def _decode_changes(block: Block) -> pa.Table:
    """The change records of a block. Raises MalformedLogBlock for other blocks and for unknown operations."""
    rows = decode_rows(block) if block.kind is BlockType.CDC_DATA else None
    letters = [operation.value for operation in Operation]
    found = block.kind.name if rows is None else _not_changes(rows, letters)
    if rows is None or found is not None:
        raise MalformedLogBlock(
            "not change records", rule="BLK-033", path=block.path, offset=block.offset, found=found,
            expected=f"a change-capture block with operations {', '.join(letters)}, and keys or both images",
        )  # fmt: skip
    return rows


def _not_changes(rows: pa.Table, letters: Sequence[str]) -> str | None:
    """What rows have in the place of an operation, and of a key or both images; None for changes."""
    names = set(rows.column_names)
    if OPERATION not in names or not (RECORD_KEY in names or {BEFORE, AFTER} <= names):
        return f"the columns {', '.join(rows.column_names)}"[:200]
    operations = rows.column(OPERATION)
    # Deployed writers store a block without records if none of their changes won.
    known = pt.is_string(operations.type) and pc.all(pc.is_in(operations, value_set=pa.array(letters)), min_count=0).as_py()
    return None if known else str(pc.unique(operations).to_pylist())[:200]


def _look_up_images(keys: pa.ChunkedArray, state: State) -> pa.ChunkedArray:
    """The rows with these keys as images; null for keys that the state does not have."""
    places = pc.index_in(keys, value_set=state.keys)
    return image(state.rows, places.combine_chunks() if isinstance(places, pa.ChunkedArray) else places, len(keys))
