"""Reading the timeline history, the archived instants of a table, spec "LSM Timeline".

A level file is a Parquet file with one row for each action: requested time, completion time, action, completion metadata and
plan. Only the files and columns that an answer needs are read; the times of each file are read at most once.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from threading import RLock
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_reference.caching import cached_property
from hudi_reference.errors import MalformedHistory
from hudi_reference.limits import INSTANTS
from hudi_reference.parquet_statistics import chunk_statistics
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.history.manifest import LevelFile, Manifest, load_manifest
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, COMMITS, State

#: Times before and after every instant; `:` sorts after the digits.
START_OF_TIME, END_OF_TIME = "", ":"

#: The columns that contain the times of actions.
_TIMES = pa.schema([(name, pa.string()) for name in ("instantTime", "completionTime", "action")])
_CONTENT = pa.schema([("metadata", pa.binary()), ("plan", pa.binary())])
#: A module variable, because the lookup of an enumeration member is slow.
_COMPLETED = State.COMPLETED
#: How many times a reader follows a newer manifest before it fails.
_PATIENCE = 5
_T = TypeVar("_T")


@dataclass(frozen=True)
class ArchivedAction:
    """A completed action with the contents of its files; None for an absent file, and for contents that were not requested."""

    instant: Instant
    metadata: bytes | None = None
    plan: bytes | None = None


@dataclass(frozen=True)
class Level:
    """The part of a level file that was read."""

    instants: tuple[Instant, ...]

    @cached_property
    def completions(self) -> dict[str, str]:
        """Completion times of the writes among them, by requested time."""
        return {i.requested: i.completion or i.requested for i in reversed(self.instants) if i.action in COMMITS}


@dataclass(eq=False, repr=False)
class History:
    """The history of a table as of one manifest, read lazily. All methods raise MalformedHistory.

    A reader keeps the manifest with which it began, also when a newer one is published. If a file of this manifest was
    removed meanwhile, the reader continues with the newest manifest, which has the same actions and more. Threads may share
    an instance.

    `levels` are the files that were read already, also by an earlier instance of the same history.
    """

    _storage: Storage
    _folder: str
    levels: dict[LevelFile, Level] = field(default_factory=dict)
    _manifest: Manifest | None = field(default=None, init=False)
    _lock: RLock = field(default_factory=RLock, init=False)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the lock, for pickling."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state with a new lock."""
        self.__dict__.update(state, _lock=RLock())

    @property
    def manifest(self) -> Manifest:
        """The manifest of this reader. Raises MalformedHistory."""
        with self._lock:
            if self._manifest is None:
                self._manifest = load_manifest(self._storage, self._folder)
                live = set(self._manifest.files)
                self.levels = {file: level for file, level in self.levels.items() if file in live}
            return self._manifest

    @implements("LSM-006", "LSM-025")
    def instants(self, begin: str = START_OF_TIME, end: str = END_OF_TIME) -> tuple[Instant, ...]:
        """The actions requested from `begin` to `end`, both included, by requested time."""
        found = self._collect_instants(lambda file: file.may_hold(begin, end))
        return tuple(instant for instant in found if begin <= instant.requested <= end)

    @implements("LSM-025")
    def completed(self, begin: str = START_OF_TIME, end: str = END_OF_TIME) -> tuple[Instant, ...]:
        """The actions completed from `begin` to `end`, both included, by completion time.

        The name of a file does not contain completion times, but its footer does. Of a file without such actions, only the
        footer is read.
        """
        found = self._collect_instants(lambda file: file.may_hold(START_OF_TIME, end) and self._completed_since(file, begin))
        done = (instant for instant in found if begin <= (instant.completion or instant.requested) <= end)
        return tuple(sorted(done, key=lambda instant: instant.completion or instant.requested))

    @implements("RDR-009", "LSM-025")
    def completion_of(self, requested: str, *, everywhere: bool = False) -> str | None:
        """Completion time of the archived write with that requested time; None if there is none.

        Reads the files whose names cover the time, and with `everywhere` the other files if those do not contain it.
        """

        def look(manifest: Manifest) -> str | None:
            likely, others = list[LevelFile](), list[LevelFile]()
            for file in manifest.files:
                (likely if file.may_hold(requested, requested) else others).append(file)
            found = (self._level(file).completions.get(requested) for file in (*likely, *(others if everywhere else ())))
            return next((completion for completion in found if completion is not None), None)

        return self._read_with_manifest(look)

    @implements("LSM-002", "LSM-020", "LSM-021")
    def actions(
        self, begin: str = START_OF_TIME, end: str = END_OF_TIME, *, metadata: bool = True, plan: bool = True
    ) -> tuple[ArchivedAction, ...]:
        """The actions requested from `begin` to `end`, both included, with the requested contents."""
        wanted = [name for name, asked in (("metadata", metadata), ("plan", plan)) if asked]

        def read(manifest: Manifest) -> dict[tuple[str, str], ArchivedAction]:
            found: dict[tuple[str, str], ArchivedAction] = {}
            for file in manifest.files:
                if file.may_hold(begin, end):
                    for action in read_level_file(self._storage, self._folder, file, wanted):
                        found.setdefault(action.instant.identity, action)
            return found

        found = (action for action in self._read_with_manifest(read).values() if begin <= action.instant.requested <= end)
        return tuple(sorted(found, key=lambda action: action.instant.requested))

    @implements("LSM-018", "LSM-022")
    def _collect_instants(self, chosen: Callable[[LevelFile], bool]) -> tuple[Instant, ...]:
        """The actions in the chosen files by requested time; of an action in several files, the first one counts."""
        levels = self._read_with_manifest(lambda manifest: [self._level(file) for file in manifest.files if chosen(file)])
        found: dict[tuple[str, str], Instant] = {}
        for level in levels:
            for instant in level.instants:
                found.setdefault(instant.identity, instant)
        return tuple(sorted(found.values(), key=attrgetter("requested")))

    def _level(self, file: LevelFile) -> Level:
        known = self.levels.get(file)
        if known is None:
            with opened_level_file(self._storage, self._folder, file) as parquet:
                rows = parquet.read(columns=_TIMES.names, use_threads=False).select(_TIMES.names).cast(_TIMES)
            known = self.levels[file] = Level(tuple(instants_of(rows, f"{self._folder}/{file.name}")))
        return known

    def _completed_since(self, file: LevelFile, begin: str) -> bool:
        """Whether an action in the file may have completed at `begin` or later."""
        if file in self.levels or file.maximum >= begin or file.minimum > file.maximum:
            return True
        with opened_level_file(self._storage, self._folder, file) as parquet:
            latest = _latest(parquet.metadata, "completionTime")
        return latest is None or latest >= begin

    @implements("LSM-006")
    def _read_with_manifest(self, read: Callable[[Manifest], _T]) -> _T:
        """The result of `read` on the manifest, or on a newer one if a file of this manifest was removed."""
        with self._lock:
            for _ in range(_PATIENCE):
                manifest = self.manifest
                try:
                    return read(manifest)
                except FileNotFoundError as error:
                    missing = error
                    newer = load_manifest(self._storage, self._folder)
                    if newer.number <= manifest.number:
                        break
                    self._manifest = newer
            raise MalformedHistory(
                "a file of the manifest is missing", rule="LSM-012", path=f"{self._folder}/{missing.args[0]}",
                expected=f"every file of manifest_{manifest.number} lists",
                remedy="restore the file; it contains the completion times of its actions",
            ) from missing  # fmt: skip


@contextmanager
@implements("LSM-011")
def opened_level_file(storage: Storage, folder: str, file: LevelFile) -> Iterator[pq.ParquetFile]:
    """Open a level file. Raises FileNotFoundError with its name, and MalformedHistory if the file is damaged."""
    path = f"{folder}/{file.name}"
    try:
        with storage.open(path) as source:
            if source.size() != file.length:  # ER-082: the file was truncated or replaced
                raise MalformedHistory(
                    "the length differs from the manifest", rule="LSM-011", path=path,
                    expected=f"{file.length} bytes", found=f"{source.size()} bytes",
                    remedy="restore file and manifest from the same copy of the table",
                )  # fmt: skip
            parquet = pq.ParquetFile(source)
            INSTANTS.check(parquet.metadata.num_rows, path)
            yield parquet
    except FileNotFoundError as error:
        raise FileNotFoundError(file.name) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError, KeyError) as error:
        raise MalformedHistory(
            "the file is not a level file of the history", rule="LSM-003", path=path, found=str(error)
        ) from error


@implements("LSM-003", "LSM-017", "LSM-018", "LSM-019")
def instants_of(rows: pa.Table, path: str) -> Iterator[Instant]:
    """The instants of rows of a level file; unknown actions are ignored. Raises MalformedHistory."""
    requested, completion, action = (rows.column(name).to_pylist() for name in _TIMES.names)
    completed = [c if c is not None else r for c, r in zip(completion, requested, strict=True)]
    for rule, times in (("LSM-017", requested), ("LSM-018", completed)):
        joined = "".join(time or "" for time in times)
        if not all(times) or (joined and not (joined.isascii() and joined.isdigit())):
            raise _no_instant(rule, path, next(repr(t) for t in times if not (t and t.isascii() and t.isdigit())))
    if None in action:
        raise _no_instant("LSM-019", path, "no action")
    for r, c, a in zip(requested, completion, action, strict=True):
        if a in ACTIONS:
            yield Instant(r, a, _COMPLETED, c)


def _no_instant(rule: str, path: str, found: str) -> MalformedHistory:
    return MalformedHistory(
        "a row is not a completed action", rule=rule, path=path,
        expected="requested time and completion time in digits, and an action", found=found,
    )  # fmt: skip


def read_level_file(storage: Storage, folder: str, file: LevelFile, wanted: Iterable[str]) -> list[ArchivedAction]:
    """The actions in a level file with the requested contents, `metadata` and `plan`; unknown actions are ignored.

    Raises FileNotFoundError, MalformedHistory.
    """
    contents = pa.schema([_CONTENT.field(name) for name in wanted])
    with opened_level_file(storage, folder, file) as parquet:
        wanted_columns = pa.unify_schemas([_TIMES, contents])
        rows = parquet.read(columns=wanted_columns.names, use_threads=False).select(wanted_columns.names).cast(wanted_columns)
    known = rows.filter(pa.array([action in ACTIONS for action in rows.column("action").to_pylist()], pa.bool_()))
    columns = [known.column(name).to_pylist() if name in contents.names else [None] * len(known) for name in _CONTENT.names]
    return [ArchivedAction(*parts) for parts in zip(instants_of(known, f"{folder}/{file.name}"), *columns, strict=True)]


def _latest(metadata: pq.FileMetaData, column: str) -> str | None:
    """The greatest value of a column of strings from the statistics of the file; None without statistics."""
    if column not in metadata.schema.names:
        return None
    place = metadata.schema.names.index(column)
    found = []
    for group in range(metadata.num_row_groups):
        statistics = chunk_statistics(metadata.row_group(group).column(place), metadata.schema.column(place))
        if statistics is None or not statistics.has_min_max:
            return None
        found.append(str(statistics.max))
    return max(found, default=None)
