"""`.hoodie/hoodie.properties`, spec "Table Properties".

The file is Java properties text. Which keys there are, their defaults and their allowed values is a table; reading, checking
and writing follow it. The checksum
covers the two names of the table only. It tells a cut file, not a changed property (ER-020).
"""

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from hudi_reference.errors import (
    InvalidProperty,
    MalformedProperties,
    MissingProperty,
    TableNotFound,
    UnsupportedMergeStrategy,
    UnsupportedTableVersion,
    UnsupportedTimelineLayout,
)
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage

META_FOLDER = ".hoodie"
PROPERTIES_PATH = ".hoodie/hoodie.properties"
BACKUP_PATH = ".hoodie/hoodie.properties.backup"

TABLE_VERSION = 8
TIMELINE_LAYOUT = 2
#: Tables of this version are read, and migrated to version 8; nothing else changes them.
LEGACY_VERSION = 6
#: Table version -> the one timeline layout that it goes with.
LAYOUTS = {LEGACY_VERSION: 1, TABLE_VERSION: TIMELINE_LAYOUT}

MergeMode = Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM"]


@dataclass(frozen=True)
class Property:
    """One key of the file: what a reader takes when it is absent (None: nothing), and which values it may have."""

    key: str
    default: str | None = None
    values: tuple[str, ...] | None = None
    required: bool = False
    alternatives: tuple[str, ...] = ()


_BOOLEAN = ("true", "false")

#: The keys that this implementation looks at. Every other key is kept as it is.
PROPERTIES = (
    Property("hoodie.table.name", required=True),
    Property("hoodie.database.name", default=""),
    Property("hoodie.table.type", values=("COPY_ON_WRITE", "MERGE_ON_READ"), required=True),
    Property("hoodie.table.version", required=True),
    Property("hoodie.timeline.layout.version", required=True),
    Property("hoodie.timeline.path", default="timeline"),
    Property("hoodie.timeline.history.path", default="history"),
    Property("hoodie.archivelog.folder", default="archived"),
    Property("hoodie.table.checksum"),
    Property("hoodie.table.recordkey.fields", default=""),
    Property("hoodie.table.partition.fields", default=""),
    Property("hoodie.table.ordering.fields", default="", alternatives=("hoodie.table.precombine.field",)),
    Property("hoodie.table.keygenerator.type"),
    Property("hoodie.table.keygenerator.class"),
    Property("hoodie.record.merge.mode", values=("COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM")),
    Property("hoodie.record.merge.strategy.id", alternatives=("hoodie.compaction.record.merger.strategy",)),
    Property("hoodie.compaction.payload.class"),
    Property("hoodie.table.create.schema"),
    Property("hoodie.populate.meta.fields", default="true", values=_BOOLEAN),
    Property("hoodie.datasource.write.hive_style_partitioning", default="false", values=_BOOLEAN),
    Property("hoodie.datasource.write.partitionpath.urlencode", default="false", values=_BOOLEAN),
    Property("hoodie.datasource.write.drop.partition.columns", default="false", values=_BOOLEAN),
    Property("hoodie.table.base.file.format", default="PARQUET", values=("PARQUET", "ORC", "HFILE")),
    Property("hoodie.table.timeline.timezone", default="LOCAL", values=("LOCAL", "UTC")),
)
_BY_KEY = {p.key: p for p in PROPERTIES}

EVENT_TIME_STRATEGY = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
COMMIT_TIME_STRATEGY = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
PAYLOAD_STRATEGY = "00000000-0000-0000-0000-000000000000"

_PACKAGE = "org.apache.hudi.common.model."
#: Merge mode -> strategy id and payload class that a version 8 table stores for it.
MERGE_CONFIGURATION: dict[MergeMode, tuple[str, str]] = {
    "EVENT_TIME_ORDERING": (EVENT_TIME_STRATEGY, f"{_PACKAGE}DefaultHoodieRecordPayload"),
    "COMMIT_TIME_ORDERING": (COMMIT_TIME_STRATEGY, f"{_PACKAGE}OverwriteWithLatestAvroPayload"),
}
_MODE_OF_STRATEGY: dict[str, MergeMode] = {
    EVENT_TIME_STRATEGY: "EVENT_TIME_ORDERING",
    COMMIT_TIME_STRATEGY: "COMMIT_TIME_ORDERING",
}
_MODE_OF_PAYLOAD: dict[str, MergeMode] = {
    f"{_PACKAGE}DefaultHoodieRecordPayload": "EVENT_TIME_ORDERING",
    f"{_PACKAGE}EventTimeAvroPayload": "EVENT_TIME_ORDERING",
    f"{_PACKAGE}OverwriteWithLatestAvroPayload": "COMMIT_TIME_ORDERING",
}


@dataclass(frozen=True)
class TableProperties:
    """The properties of a table, with defaults and inference applied by the accessors. `entries` are as in the file."""

    entries: Mapping[str, str]

    def get(self, key: str) -> str | None:
        """The value of a key under its own or an older name, else its default. Raises InvalidProperty."""
        known = _BY_KEY.get(key, Property(key))
        names = (key, *known.alternatives)
        value = next((self.entries[name] for name in names if self.entries.get(name)), known.default)
        if known.values is not None and value is not None and value not in known.values:
            raise InvalidProperty(
                f"{key} has an unknown value",
                rule=_RULES.get(key, "PROP-001"),
                path=PROPERTIES_PATH,
                expected=" or ".join(known.values),
                found=repr(value),
            )
        return value

    def require(self, key: str) -> str:
        """The value of a key; raises MissingProperty if there is neither value nor default."""
        value = self.get(key)
        if value is None:
            raise MissingProperty(
                f"the key {key} is missing",
                rule=_RULES.get(key, "PROP-001"),
                path=PROPERTIES_PATH,
                expected=f"a line {key}=...",
                found=f"{len(self.entries)} other keys",
                cure="restore the file from hoodie.properties.backup, or from another copy of the table",
            )
        return value

    def is_set(self, key: str) -> bool:
        """Whether a boolean key is true."""
        return self.get(key) == "true"

    def fields(self, key: str) -> tuple[str, ...]:
        """A comma-separated list of column names; a custom key generator's `name:TYPE` items lose their type."""
        listed = (self.get(key) or "").split(",")
        return tuple(name.strip().partition(":")[0] for name in listed if name.strip())

    @property
    def name(self) -> str:
        """The table's name."""
        return self.require("hoodie.table.name")

    @property
    @implements("PROP-005", "TYP-001")
    def is_merge_on_read(self) -> bool:
        """Whether log files may lie beside base files."""
        return self.get("hoodie.table.type") == "MERGE_ON_READ"

    @property
    @implements("PROP-007")
    def record_key(self) -> tuple[str, ...]:
        """The record key fields, in order; empty where keys are generated."""
        return self.fields("hoodie.table.recordkey.fields")

    @property
    @implements("PROP-008")
    def partition_fields(self) -> tuple[str, ...]:
        """The partition fields, in order; empty for an unpartitioned table."""
        return self.fields("hoodie.table.partition.fields")

    @property
    @implements("MRG-019", "PROP-009")
    def ordering_fields(self) -> tuple[str, ...]:
        """The ordering fields: `hoodie.table.ordering.fields`, or its version 8 name `hoodie.table.precombine.field`.

        Both names occur in version 8 tables: Apache Hudi 1.0 writes the one, 1.2 the other (ER-030).
        """
        return self.fields("hoodie.table.ordering.fields")

    @property
    @implements("COMPAT-001")
    def is_legacy(self) -> bool:
        """Whether the table follows the rules of version 6, and not those of version 8."""
        return self.get("hoodie.table.version") == str(LEGACY_VERSION)

    @property
    def timeline_folder(self) -> str:
        """The folder of the active timeline, below the base path."""
        return META_FOLDER if self.is_legacy else f"{META_FOLDER}/{self.get('hoodie.timeline.path')}"

    @property
    def history_folder(self) -> str:
        """The folder of the timeline history, or in version 6 of the archived timeline, below the base path."""
        key = "hoodie.archivelog.folder" if self.is_legacy else "hoodie.timeline.history.path"
        return f"{self.timeline_folder}/{self.get(key)}"

    @property
    def populates_meta_fields(self) -> bool:
        """Whether the five meta columns of a row are filled."""
        return self.is_set("hoodie.populate.meta.fields")

    @cached_property
    @implements("MRG-010", "MRG-016", "MRG-017", "MRG-018", "MRG-021", "MRG-023")
    def merge_mode(self) -> MergeMode:
        """The merge mode, inferred where it is not stored; CUSTOM modes are refused.

        Raises UnsupportedMergeStrategy for mergers that are not built in, InvalidProperty for a contradiction.
        """
        stored = self.get("hoodie.record.merge.mode")
        inferred = self._inferred_merge_mode()
        if inferred is None:
            mode = stored or ("EVENT_TIME_ORDERING" if self.ordering_fields else "COMMIT_TIME_ORDERING")
        elif stored is not None and stored != inferred:
            raise InvalidProperty(
                "merge mode and merge strategy contradict each other",
                rule="MRG-021",
                path=PROPERTIES_PATH,
                expected=f"hoodie.record.merge.mode={inferred}",
                found=f"hoodie.record.merge.mode={stored}",
            )
        else:
            mode = inferred
        if mode == "EVENT_TIME_ORDERING":
            return "EVENT_TIME_ORDERING"
        if mode == "COMMIT_TIME_ORDERING":
            return "COMMIT_TIME_ORDERING"
        raise UnsupportedMergeStrategy(
            "the table merges by a custom strategy",
            rule="MRG-031",
            path=PROPERTIES_PATH,
            expected=f"{EVENT_TIME_STRATEGY} (event time) or {COMMIT_TIME_STRATEGY} (commit time)",
            found=f"{self.get('hoodie.record.merge.strategy.id')}, {self.get('hoodie.compaction.payload.class')}",
            cure="read the table with an engine that has this merger",
        )

    def _inferred_merge_mode(self) -> MergeMode | None:
        """The mode that strategy id or payload class stand for; the id has priority in version 8, the class in version 6."""
        strategy, payload = self.get("hoodie.record.merge.strategy.id"), self.get("hoodie.compaction.payload.class")
        by_strategy = None if strategy is None else _MODE_OF_STRATEGY.get(strategy, "CUSTOM")
        by_payload = None if payload is None else _MODE_OF_PAYLOAD.get(payload, "CUSTOM")
        return (by_payload or by_strategy) if self.is_legacy else (by_strategy or by_payload)


_RULES = {
    "hoodie.table.name": "PROP-004",
    "hoodie.table.type": "PROP-005",
    "hoodie.table.version": "PROP-006",
    "hoodie.timeline.layout.version": "PROP-010",
    "hoodie.record.merge.mode": "MRG-016",
}


@implements("PROP-011")
def checksum(database: str, table: str) -> str:
    """CRC-32 of `<database>.<table>` as decimal text; the dot stays where there is no database."""
    return str(zlib.crc32(f"{database}.{table}".encode()))


@implements("LAY-013", "PROP-001", "PROP-004", "PROP-011", "S3-005")
def read_properties(storage: Storage) -> TableProperties:
    """The properties of the table, from the backup where an interrupted update left only that.

    Raises TableNotFound, MalformedProperties, MissingProperty, UnsupportedTableVersion, UnsupportedTimelineLayout.
    """
    problems: list[MalformedProperties] = []
    for path in (PROPERTIES_PATH, BACKUP_PATH):
        try:
            text = storage.get(path)
        except FileNotFoundError:
            continue
        try:
            return _checked(TableProperties(load(text)), path)
        except MalformedProperties as error:
            problems.append(error)
    if problems:
        raise problems[0]
    raise _nothing_there(storage)


def _nothing_there(storage: Storage) -> MalformedProperties | TableNotFound:
    if storage.list(META_FOLDER):
        return MalformedProperties(
            "the file is missing",
            rule="LAY-013",
            path=PROPERTIES_PATH,
            cure="restore it from another copy of the table",
        )
    return TableNotFound(
        "no table at this path",
        rule="LAY-012",
        path=META_FOLDER,
        expected="a folder .hoodie",
        cure="check the base path",
    )


def _checked(properties: TableProperties, path: str) -> TableProperties:
    name = properties.require("hoodie.table.name")
    stored = properties.entries.get("hoodie.table.checksum")
    expected = checksum(properties.get("hoodie.database.name") or "", name)
    if stored is not None and stored != expected:
        raise MalformedProperties(
            "wrong checksum", rule="PROP-011", path=path, expected=expected, found=stored,
            cure="the file was cut or edited: restore it from another copy of the table",
        )  # fmt: skip
    _check_versions(properties, path)
    properties.require("hoodie.table.type")
    return properties


@implements("COMPAT-002", "COMPAT-003", "COMPAT-004", "PROP-006", "PROP-010")
def _check_versions(properties: TableProperties, path: str) -> None:
    version, layout = (_number(properties, key, path) for key in ("hoodie.table.version", "hoodie.timeline.layout.version"))
    if version not in LAYOUTS:
        newer = version > TABLE_VERSION
        raise UnsupportedTableVersion(
            f"table version {version} is not supported", rule="COMPAT-004" if newer else "COMPAT-002", path=path,
            expected=f"hoodie.table.version={TABLE_VERSION} or {LEGACY_VERSION}", found=f"hoodie.table.version={version}",
            cure="use a newer release, or another engine for this version" if newer
            else f"upgrade the table to version {LEGACY_VERSION} or {TABLE_VERSION} with Apache Hudi",
        )  # fmt: skip
    if layout != LAYOUTS[version]:
        raise UnsupportedTimelineLayout(
            f"timeline layout {layout} does not go with table version {version}", rule="PROP-010", path=path,
            expected=f"hoodie.timeline.layout.version={LAYOUTS[version]}", found=str(layout),
            cure="restore the file from another copy of the table",
        )  # fmt: skip


@implements("COMPAT-005")
def check_writable(properties: TableProperties) -> None:
    """Raises UnsupportedTableVersion for a table that is read and not written; no write raises its version."""
    if properties.is_legacy:
        raise UnsupportedTableVersion(
            f"tables of version {LEGACY_VERSION} are read, not written", rule="COMPAT-005", path=PROPERTIES_PATH,
            expected=f"hoodie.table.version={TABLE_VERSION}", found=f"hoodie.table.version={LEGACY_VERSION}",
            cure="when all readers and writers know version 8: hudi-conformance migrate TABLE",
        )  # fmt: skip


def _number(properties: TableProperties, key: str, path: str) -> int:
    value = properties.require(key)
    if not re.fullmatch("[0-9]{1,9}", value):
        raise InvalidProperty(f"{key} is not a number", rule=_RULES[key], path=path, found=repr(value))
    return int(value)


@implements("LAY-013", "PROP-003", "PROP-004", "PROP-011")
def write_properties(storage: Storage, entries: Mapping[str, str], comment: str) -> TableProperties:
    """Create the file with its checksum; raises ObjectExists where there is one."""
    database, name = entries.get("hoodie.database.name", ""), entries["hoodie.table.name"]
    complete = {**entries, "hoodie.table.checksum": checksum(database, name)}
    storage.create(PROPERTIES_PATH, dump(complete, comment))
    return TableProperties(complete)
