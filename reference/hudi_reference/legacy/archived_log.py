"""The archived timeline of version 6: log files with one record for each state of an action.

    .hoodie/<archive folder>/.commits_.archive.<n>_<token>

Writers append to files, and merge small files into new ones before they delete the old ones, so a state may be stored twice.
Windows of incremental queries, inspection and migration read the archive; a snapshot does not depend on it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hudi_reference.caching import cached_property
from hudi_reference.errors import MalformedHistory, MalformedLogBlock, MalformedSchema
from hudi_reference.files.log.block import BlockType, CorruptBlock
from hudi_reference.files.log.content import plain_records
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.avro_container import schema_of, write_record
from hudi_reference.timeline.history.history import END_OF_TIME, START_OF_TIME, ArchivedAction, History
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, COMMITS, State
from hudi_reference.timeline.instants.version_6 import LegacyInstant, just_after

_NAME = re.compile(r"\.commits_\.archive\.(\d{1,9})(?:_\d+-\d+-\d+)?", re.ASCII)

#: Completed action -> the field with its metadata.
_METADATA = {
    "commit": "hoodieCommitMetadata",
    "deltacommit": "hoodieCommitMetadata",
    "replacecommit": "hoodieReplaceCommitMetadata",
    "clean": "hoodieCleanMetadata",
    "rollback": "hoodieRollbackMetadata",
    "savepoint": "hoodieSavePointMetadata",
    "indexing": "hoodieIndexCommitMetadata",
}
#: Pending action -> the fields that may have its plan, with the type of each; the last one with a value counts.
_PLANS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "clean": (("hoodieCleanerPlan", "HoodieCleanerPlan"),),
    "compaction": (("hoodieCompactionPlan", "HoodieCompactionPlan"),),
    "logcompaction": (("hoodieCompactionPlan", "HoodieCompactionPlan"),),
    "replacecommit": (
        ("hoodieRequestedReplaceMetadata", "HoodieRequestedReplaceMetadata"),
        ("HoodieInflightReplaceMetadata", "HoodieCommitMetadata"),
    ),
}


@dataclass(frozen=True)
class ArchivedInstant:
    """A completed action. Metadata and plan are records as plain values; the plan has the name of its record type."""

    instant: Instant
    metadata: Mapping[str, Any] | None = None
    plan: tuple[str, Mapping[str, Any]] | None = None

    def as_action(self, completion: str, sync_marker: Callable[[], bytes]) -> ArchivedAction:
        """The action as the history of version 8 stores it, with this completion time."""
        instant = Instant(self.instant.requested, self.instant.action, State.COMPLETED, completion)
        name = ACTIONS[instant.action].contents[State.COMPLETED].records[0]
        metadata = None if self.metadata is None else encode_record(name, self.metadata, sync_marker)
        return ArchivedAction(instant, metadata, None if self.plan is None else encode_record(*self.plan, sync_marker))


def encode_record(name: str, record: Mapping[str, Any], sync_marker: Callable[[], bytes]) -> bytes:
    """The record of an action as an Avro container. Members that only the JSON has (column statistics) are left out."""
    return write_record(schema_of(name), {"version": None, **record}, sync_marker())


@implements("COMPAT-001", "COMPAT-003")
def read_archived_log(storage: Storage, folder: str) -> tuple[ArchivedInstant, ...]:
    """Every completed action in the archive, by requested time; empty if nothing was archived.

    Raises MalformedHistory for a damaged file. An incomplete block at the end of a file is the append of a crashed writer; it
    is ignored, because the instants are then still on the active timeline.
    """
    completed: dict[tuple[str, str], ArchivedInstant] = {}
    plans: dict[tuple[str, str], tuple[str, Mapping[str, Any]]] = {}
    for path in archived_log_files(storage, folder):
        for record in _records(storage, path):
            instant, state = _instant(record, path)
            if state is State.COMPLETED:
                metadata = record.get(_METADATA.get(instant.action, ""))
                completed.setdefault(instant.identity, ArchivedInstant(instant, metadata))
            for field, name in _PLANS.get(instant.action, ()):
                if record.get(field) is not None:
                    plans[instant.identity] = (name, record[field])
    found = (ArchivedInstant(a.instant, a.metadata, plans.get(identity)) for identity, a in completed.items())
    return tuple(sorted(found, key=lambda archived: archived.instant.requested))


def archived_log_files(storage: Storage, folder: str) -> list[str]:
    """The paths of the files in the archive, oldest first."""
    numbered = [(int(match[1]), name) for name in storage.names(folder) if (match := _NAME.fullmatch(name))]
    return [f"{folder}/{name}" for _, name in sorted(numbered)]


def _records(storage: Storage, path: str) -> Iterator[dict[str, Any]]:
    blocks = list(read_log_file(storage, path))
    for number, block in enumerate(blocks, 1):
        if isinstance(block, CorruptBlock):
            if number == len(blocks):
                return
            raise _malformed(path, block.offset, block.reason)
        if block.kind is not BlockType.AVRO_DATA:
            raise _malformed(path, block.offset, f"a block of kind {block.kind.name}")
        try:
            yield from plain_records(block)
        except (MalformedLogBlock, MalformedSchema) as error:
            raise _malformed(path, block.offset, str(error.found)) from error


def _instant(record: Mapping[str, Any], path: str) -> tuple[Instant, State]:
    try:
        requested, action = str(record["commitTime"]), str(record["actionType"])
        state = State[record.get("actionState") or "COMPLETED"]
        ACTIONS[action]
    except KeyError as error:
        raise _malformed(path, None, f"{error.args[0]} in a record") from error
    if not (requested.isascii() and requested.isdigit()):
        raise _malformed(path, None, f"the instant {requested!r}")
    completion = None
    if state is State.COMPLETED:
        completion = max(record.get("stateTransitionTime") or "", just_after(requested))
    return LegacyInstant(requested, action, state, completion), state


def _malformed(path: str, offset: int | None, found: str) -> MalformedHistory:
    return MalformedHistory(
        "not a file of the archived timeline", rule="COMPAT-003", path=path, offset=offset, expected="states of instants",
        found=found, remedy="restore the file from another copy of the table",
    )  # fmt: skip


class ArchivedLog(History):
    """The archived timeline of version 6 with the interface of the history of version 8; actions count from their requests."""

    @cached_property
    def _archived(self) -> tuple[ArchivedInstant, ...]:
        return read_archived_log(self._storage, self._folder)

    @cached_property
    def _instants(self) -> tuple[Instant, ...]:
        return tuple(replace(one.instant, completion=one.instant.requested) for one in self._archived)

    def instants(self, begin: str = START_OF_TIME, end: str = END_OF_TIME) -> tuple[Instant, ...]:
        """The actions requested from `begin` to `end`, both included, by requested time."""
        return tuple(instant for instant in self._instants if begin <= instant.requested <= end)

    def actions(
        self, begin: str = START_OF_TIME, end: str = END_OF_TIME, *, metadata: bool = True, plan: bool = True
    ) -> tuple[ArchivedAction, ...]:
        """The actions requested from `begin` to `end`, both included, by requested time, with all their contents."""
        chosen = (archived for archived in self._archived if begin <= archived.instant.requested <= end)
        return tuple(archived.as_action(archived.instant.requested, lambda: bytes(16)) for archived in chosen)

    def completed(self, begin: str = START_OF_TIME, end: str = END_OF_TIME) -> tuple[Instant, ...]:
        """The actions completed from `begin` to `end`, both included, by completion time."""
        done = [instant for instant in self._instants if begin <= (instant.completion or "") <= end]
        return tuple(sorted(done, key=lambda instant: instant.completion or ""))

    def completion_of(self, requested: str, *, everywhere: bool = False) -> str | None:
        """Completion time of the archived write with that requested time; None if there is none."""
        writes = (instant for instant in self._instants if instant.requested == requested and instant.action in COMMITS)
        return next((write.completion for write in writes), None)
