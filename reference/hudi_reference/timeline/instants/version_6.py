"""The timeline of version 6, which is layout 1: what it has instead of completion times and Avro.

    .hoodie/<requested time>.<action>           completed; the time when is nowhere but in the file's modification time
    .hoodie/<requested time>.<action>.inflight  pending, as in version 8; a clustering is called replacecommit here, too

Commits, delta commits and replacecommits are JSON. Nothing in a table of version 6 is decided by completion times: which slice
a log file belongs to is in its name.
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
    """An instant whose completed file does not tell its completion time."""

    @property
    def file_name(self) -> str:
        """The name of the instant's file in `.hoodie`."""
        if self.state is State.COMPLETED:
            return f"{self.requested}.{ACTIONS[self.action].completes_as}"
        return super().file_name


@implements("COMPAT-001")
def parse_legacy_name(name: str) -> LegacyInstant | None:
    """The instant that the name of a file in `.hoodie` stands for, its completion time left out; None for any other file."""
    requested, _, extension = name.partition(".")
    if not (requested.isascii() and requested.isdigit()) or extension not in EXTENSIONS:
        return None
    return LegacyInstant(requested, *EXTENSIONS[extension])


@implements("COMPAT-001", "COMPAT-003")
def legacy_instants(files: Iterable[ObjectInfo], properties: TableProperties) -> tuple[LegacyInstant, ...]:
    """The instants of a listing of `.hoodie`, one for each action in its highest state, by requested time.

    A completion time is the time when the file was modified, or one millisecond after the request where the file claims to be
    older: a copied table may have any modification times.
    """
    highest: dict[tuple[str, str], LegacyInstant] = {}
    for file in files:
        found = parse_legacy_name(file.path.removeprefix(f"{META_FOLDER}/"))
        if found is None:
            continue
        if found.state is State.COMPLETED:
            found = LegacyInstant(found.requested, found.action, found.state, completion_of(found.requested, file, properties))
        known = highest.get(found.identity)
        if known is None or known.state < found.state:
            highest[found.identity] = found
    return tuple(highest[identity] for identity in sorted(highest))


def completion_of(requested: str, file: ObjectInfo, properties: TableProperties) -> str:
    """When an action completed whose completed file is `file`, in the zone of the table's times."""
    zone = datetime.UTC if properties.get("hoodie.table.timeline.timezone") == "UTC" else None
    return max(format_time(file.modified, zone), just_after(requested))


def just_after(requested: str) -> str:
    """The time one millisecond later."""
    try:
        return format_time(milliseconds_of(requested) + 1)
    except MalformedInstantTime:  # a reserved time such as 00000000000001
        return str(int(requested) + 1).zfill(len(requested))


def list_legacy_files(storage: Storage) -> list[ObjectInfo]:
    """What lies directly in `.hoodie`."""
    found = storage.list(META_FOLDER, skip=f"{META_FOLDER}/metadata")
    return [file for file in found if file.path.count("/") == META_FOLDER.count("/") + 1]


@implements("COMPAT-005", "COMPAT-006")
def check_migrated(storage: Storage, properties: TableProperties) -> None:
    """What every action asks first: is this a table of version 8, and nothing of an older timeline left beside the present one?

    Raises UnsupportedTableVersion, UnfinishedMigration.
    """
    check_writable(properties)
    for name in storage.names(META_FOLDER):
        if parse_legacy_name(name) is not None:
            raise UnfinishedMigration(
                "an instant of version 6 in a table of version 8", rule="COMPAT-006", path=f"{META_FOLDER}/{name}",
                expected=f"every instant in {properties.timeline_folder}", remedy="finish it: hudi-conformance migrate TABLE",
            )  # fmt: skip


@implements("COMPAT-001", "COMPAT-003")
def read_json_record(data: bytes, path: str, rule: str = "COMPAT-003") -> dict[str, Any]:
    """The record of an action as releases before version 8 stored it; raises MalformedMetadata, which names `path` and `rule`,
    when it is cut, or anything else than a JSON object.
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
        "not the metadata of an action", rule=rule, path=path, expected="a JSON object", found=found[:80],
        remedy="restore the file from another copy of the table; it was cut or overwritten",
    )  # fmt: skip
