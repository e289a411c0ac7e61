"""The timeline of version 6 (timeline layout 1), which has no completion times in names, and JSON instead of Avro.

    .hoodie/<requested time>.<action>           completed
    .hoodie/<requested time>.<action>.inflight  pending, as in version 8; a pending clustering is named replacecommit too

Commits, delta commits and replacecommits are JSON. A table of version 6 has no completion times: the name of a log file
contains the slice that it belongs to, and incremental queries go by requested times. A migration takes the modification time of
the completed file.
"""

import datetime
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hudi_reference.errors import MalformedInstantTime, MalformedMetadata, UnfinishedMigration
from hudi_reference.layout.properties import META_FOLDER, TableProperties, check_writable
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectInfo, Storage
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, EXTENSIONS, State
from hudi_reference.timeline.instants.times import format_time, milliseconds_of


@implements("COMPAT-001", "COMPAT-003")
@dataclass(frozen=True)
class LegacyInstant(Instant):
    """An instant whose completed file has no completion time in its name."""

    @property
    def file_name(self) -> str:
        """The name of the instant's file in `.hoodie`."""
        if self.state is State.COMPLETED:
            return f"{self.requested}.{ACTIONS[self.action].completes_as}"
        return super().file_name


@implements("COMPAT-001")
def parse_legacy_name(name: str) -> LegacyInstant | None:
    """The instant of the name of a file in `.hoodie`, without completion time; None for any other file."""
    requested, _, extension = name.partition(".")
    if not (requested.isascii() and requested.isdigit()) or extension not in EXTENSIONS:
        return None
    return LegacyInstant(requested, *EXTENSIONS[extension])


@implements("COMPAT-001", "COMPAT-003")
def legacy_instants(files: Iterable[ObjectInfo]) -> tuple[LegacyInstant, ...]:
    """The instants of a listing of `.hoodie`, one for each action in its highest state, by requested time.

    A completed action counts from its requested time on, as its completion time (ER-228).
    """
    highest: dict[tuple[str, str], LegacyInstant] = {}
    for file in files:
        found = parse_legacy_name(file.path.removeprefix(f"{META_FOLDER}/"))
        if found is None:
            continue
        if found.state is State.COMPLETED:
            found = LegacyInstant(found.requested, found.action, found.state, completion=found.requested)
        known = highest.get(found.identity)
        if known is None or known.state < found.state:
            highest[found.identity] = found
    return tuple(highest[identity] for identity in sorted(highest))


def completion_of(requested: str, file: ObjectInfo, properties: TableProperties) -> str:
    """The completion time that a migration gives the action with this completed file, in the time zone of the table.

    It is one millisecond after the request if the file is older than that, because a copy of a table may have any modification
    times.
    """
    zone = datetime.UTC if properties.get("hoodie.table.timeline.timezone") == "UTC" else None
    return max(format_time(file.modified, zone), just_after(requested))


def just_after(requested: str) -> str:
    """The time one millisecond later."""
    try:
        return format_time(milliseconds_of(requested) + 1)
    except MalformedInstantTime:  # a reserved time such as 00000000000001
        return str(int(requested) + 1).zfill(len(requested))


def list_legacy_files(storage: Storage) -> list[ObjectInfo]:
    """The files directly in `.hoodie`, without subfolders."""
    found = storage.list(META_FOLDER, skip=f"{META_FOLDER}/metadata")
    return [file for file in found if file.path.count("/") == META_FOLDER.count("/") + 1]


@implements("COMPAT-005", "COMPAT-006")
def check_migrated(storage: Storage, properties: TableProperties) -> None:
    """Check before every action that the table has version 8, and no instants of an older timeline.

    Raises UnsupportedTableVersion, UnfinishedMigration.
    """
    check_writable(properties)
    for name in storage.names(META_FOLDER):
        if parse_legacy_name(name) is not None:
            raise unfinished(f"{META_FOLDER}/{name}", properties)


def unfinished(path: str, properties: TableProperties) -> UnfinishedMigration:
    """The error of a table with a file of version 6 beside those of its version: an upgrade or downgrade was interrupted."""
    return UnfinishedMigration(
        f"an instant of version 6 in a table of version {properties.version}", rule="COMPAT-006", path=path,
        expected=f"every instant in {properties.timeline_folder}",
        remedy="finish the change of version: hudi-conformance migrate TABLE after an upgrade of the reference; otherwise call "
        "upgrade_table or downgrade_table of Apache Hudi again",
    )  # fmt: skip


@implements("COMPAT-001", "COMPAT-003")
def read_json_record(data: bytes, path: str, rule: str = "COMPAT-003") -> dict[str, Any]:
    """The record of an action in JSON, as releases before version 8 stored it.

    Raises MalformedMetadata with `path` and `rule` if the data is truncated or not a JSON object.
    """
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _malformed(path, rule, str(error)) from error
    if not isinstance(record, Mapping):
        raise _malformed(path, rule, type(record).__name__)
    return dict(record)


def _malformed(path: str, rule: str, found: str) -> MalformedMetadata:
    return MalformedMetadata(
        "the file does not contain the metadata of an action", rule=rule, path=path, expected="a JSON object", found=found[:80],
        remedy="restore the file from another copy of the table; it was truncated or overwritten",
    )  # fmt: skip
