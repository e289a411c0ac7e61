"""`.hoodie/hoodie.properties`, spec "Table Properties".

The file is Java properties text. `property_table` defines the keys, their defaults and their allowed values. ER-020: the
checksum covers only the names of database and table, so that it detects a truncated file, but not a changed property.
"""

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import lru_cache

from hudi_reference.caching import cached_property
from hudi_reference.errors import (
    InvalidProperty,
    MalformedProperties,
    MissingProperty,
    TableNotFound,
    UnsupportedTableVersion,
    UnsupportedTimelineLayout,
)
from hudi_reference.layout.java_properties import load
from hudi_reference.layout.merge_config import MODE_ONLY, MergeConfiguration, MergeMode, infer
from hudi_reference.layout.property_table import BY_KEY, MERGE_PROPERTY, always_stored
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage

META_FOLDER = ".hoodie"
#: ER-018: the text also has the file directly below the base path.
PROPERTIES_PATH = ".hoodie/hoodie.properties"
BACKUP_PATH = ".hoodie/hoodie.properties.backup"

#: The property of tables whose dates are split into folders.
SLASH_DATES = "hoodie.datasource.write.slash.separated.date.partitioning"

#: The version of new tables.
TABLE_VERSION = 8
#: The newest version that is read and written.
NEWEST_VERSION = 9
TIMELINE_LAYOUT = 2
#: Tables of this version can be read and migrated to version 8, but not written.
LEGACY_VERSION = 6
#: How tables of earlier versions get one that is supported: before version 6, and between 6 and 8.
_UPGRADES = (
    "upgrade the table to version 6 with Apache Hudi 0.15, then run: hudi-conformance migrate TABLE",
    "upgrade the table to version 8 with Apache Hudi 1.0",
)
#: How a table of a later version gets one that is supported.
_DOWNGRADE = (
    f"downgrade the table to version {NEWEST_VERSION} with the release of Apache Hudi that wrote it (call downgrade_table), or"
    f" read it with that release; its option hoodie.write.table.version={NEWEST_VERSION} makes new tables of that version"
)
#: Table version -> its timeline layout.
LAYOUTS = {LEGACY_VERSION: 1, TABLE_VERSION: TIMELINE_LAYOUT, NEWEST_VERSION: TIMELINE_LAYOUT}


@implements(
    "MRG-019", "PROP-005", "PROP-007", "PROP-008", "PROP-009", "PROP-020", "PROP-021", "TYP-001", "COMPAT-001", "COMPAT-007"
)
@dataclass(frozen=True)
class TableProperties:
    """The properties of a table. Settings are computed once: those that most code needs as fields, others when they are needed.

    Attributes:
        entries: the keys and values of the file.
        path: the file that they were read from.
        is_ended: whether the file has a checksum and its last line is terminated.
        version: the table version; 0 if it is not a number.
        is_legacy: whether the table follows the rules of version 6 instead of version 8.
        is_merge_on_read: whether the table is merge-on-read, so that it may have log files.
        is_metadata_table: whether this is the metadata table of another table.
        was_created_at_version_8: whether the table was created at version 8 or later, so that no writer of an earlier release
            wrote to it.
        record_key: the record key fields, in order; empty if keys are generated.
        partition_fields: the partition fields, in order; empty for an unpartitioned table.
        ordering_fields: the ordering fields: `hoodie.table.ordering.fields`, or its version 8 name
            `hoodie.table.precombine.field`.
        timeline_folder: the folder of the active timeline, below the base path.
        history_folder: the folder of the timeline history, or in version 6 of the archived timeline, below the base path.
    """

    entries: Mapping[str, str]
    path: str = field(default=PROPERTIES_PATH, compare=False)
    is_ended: bool = field(default=True, compare=False)
    version: int = field(init=False, compare=False)
    is_legacy: bool = field(init=False, compare=False)
    is_merge_on_read: bool = field(init=False, compare=False)
    is_metadata_table: bool = field(init=False, compare=False)
    was_created_at_version_8: bool = field(init=False, compare=False)
    record_key: tuple[str, ...] = field(init=False, compare=False)
    partition_fields: tuple[str, ...] = field(init=False, compare=False)
    ordering_fields: tuple[str, ...] = field(init=False, compare=False)
    timeline_folder: str = field(init=False, compare=False)
    history_folder: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Compute the settings. No value is checked here, so that damaged tables can be inspected."""
        text = self.entries.get("hoodie.table.version", "")
        version = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
        is_legacy = version == LEGACY_VERSION
        timeline = META_FOLDER if is_legacy else f"{META_FOLDER}/{self.get('hoodie.timeline.path')}"
        initial = self.entries.get("hoodie.table.initial.version", "")
        history = self.get("hoodie.archivelog.folder" if is_legacy else "hoodie.timeline.history.path")
        vars(self).update(
            version=version,
            is_legacy=is_legacy,
            is_merge_on_read=self.entries.get("hoodie.table.type") == "MERGE_ON_READ",
            is_metadata_table=self.entries.get("hoodie.table.keygenerator.type") == "HOODIE_TABLE_METADATA",
            was_created_at_version_8=bool(re.fullmatch("[89]|[1-9][0-9]", initial)),
            record_key=self.fields("hoodie.table.recordkey.fields"),
            partition_fields=self.fields("hoodie.table.partition.fields"),
            # ER-030: both names occur in tables of version 8: Apache Hudi 1.0 writes the older one, 1.2 the newer one.
            ordering_fields=self.fields("hoodie.table.ordering.fields"),
            timeline_folder=timeline,
            history_folder=f"{timeline}/{history}",
        )

    def get(self, key: str) -> str | None:
        """The value of a key under its own or an older name, else its default. Raises InvalidProperty."""
        known = BY_KEY.get(key)
        if known is None:
            return self.entries.get(key)
        names = (key, *known.alternatives)
        value = next((self.entries[name] for name in names if self.entries.get(name)), known.default)
        if value is None:
            return None
        # ER-262: Apache Hudi reads booleans and some other values in capital and in small letters.
        allowed = known.allowed(value)
        if allowed is None:
            raise InvalidProperty(
                f"{key} has an unknown value", rule=known.rule, path=PROPERTIES_PATH,
                expected=" or ".join(known.values or ()), found=repr(value),
            )  # fmt: skip
        return allowed

    def require(self, key: str) -> str:
        """The value of a key; raises MissingProperty if it has neither value nor default."""
        value = self.get(key)
        if value is None:
            raise MissingProperty(
                f"the key {key} is missing",
                rule=_rule_of(key),
                path=PROPERTIES_PATH,
                expected=f"a line {key}=...",
                found=f"{len(self.entries)} other keys",
                remedy="restore the file from hoodie.properties.backup, or from another copy of the table",
            )
        return value

    def is_set(self, key: str) -> bool:
        """Whether a boolean key is true."""
        return self.get(key) == "true"

    def fields(self, key: str) -> tuple[str, ...]:
        """A comma-separated list of column names; the types of a custom key generator (`name:TYPE`) are removed."""
        listed = (self.get(key) or "").split(",")
        # ER-149: custom key generators store each partition field with its kind, as p:SIMPLE.
        return tuple(name.strip().partition(":")[0] for name in listed if name.strip())

    @property
    def name(self) -> str:
        """The table's name."""
        return self.require("hoodie.table.name")

    @cached_property
    def zone(self) -> tzinfo | None:
        """The time zone of the timeline, None for that of this process."""
        # ER-024: times are local times of the writer unless the table has the zone UTC.
        return UTC if self.get("hoodie.table.timeline.timezone") == "UTC" else None

    @cached_property
    @implements("MRG-014", "MRG-051")
    def delete_marker(self) -> tuple[str, str] | None:
        """The column that marks deleted rows, and its value in them. Raises InvalidProperty if only one of them is set."""
        pair = tuple(self.merge_property(f"hoodie.payload.delete.{name}") for name in ("field", "marker"))
        match pair:
            case (str(column), str(value)):
                return column, value
            case (None, None):
                return None
        raise InvalidProperty(
            "a delete marker needs a column and a value", rule="MRG-014", path=PROPERTIES_PATH,
            expected="hoodie.payload.delete.field and hoodie.payload.delete.marker", found=f"{pair[0]} and {pair[1]}",
        )  # fmt: skip

    @implements("PROP-024")
    def merge_property(self, key: str) -> str | None:
        """The value of a property for merging. It may be stored with a prefix, which then counts first."""
        # ER-225: 1.2.0 stores the prefix in tables of version 8, too.
        return self.entries.get(f"{MERGE_PROPERTY}{key}") or self.get(key)

    @cached_property
    @implements("PROP-023")
    def partial_update_mode(self) -> str | None:
        """How columns of the version that wins are filled from the other one; None if they are not. Raises InvalidProperty."""
        return self.get("hoodie.table.partial.update.mode") if self.version >= MODE_ONLY else None

    @cached_property
    def base_file_extension(self) -> str:
        """The extension of base files, without the dot."""
        return (self.get("hoodie.table.base.file.format") or "PARQUET").lower()

    @cached_property
    @implements("LAY-025", "PROP-016")
    def splits_dates(self) -> bool:
        """Whether a writer splits a date into three folders, as in 2026/07/03; the data files have it as it is."""
        of_hive = self.is_set("hoodie.datasource.write.hive_style_partitioning")
        # ER-275: the DataFrame writer stores the class, and not the setting.
        extractor = "" if SLASH_DATES in self.entries else self.get("hoodie.table.partition_extractor_class") or ""
        splits = self.is_set(SLASH_DATES) or extractor.endswith(".SlashEncodedDayPartitionValueExtractor")
        return len(self.partition_fields) == 1 and not of_hive and splits

    @cached_property
    def populates_meta_fields(self) -> bool:
        """Whether the five meta columns of a row are filled."""
        return self.is_set("hoodie.populate.meta.fields")

    @property
    @implements("MRG-031")
    def merge_mode(self) -> MergeMode:
        """The merge mode, inferred if it is not stored. Raises InvalidProperty for a contradiction."""
        return self.merging.mode

    @cached_property
    @implements("MRG-023")
    def merging(self) -> MergeConfiguration:
        """Merge mode, strategy and payload class, inferred if they are not stored. Raises InvalidProperty."""
        keys = ("hoodie.record.merge.mode", "hoodie.record.merge.strategy.id", "hoodie.compaction.payload.class")
        try:
            return infer(*map(self.get, keys), is_ordered=bool(self.ordering_fields), version=self.version or TABLE_VERSION)
        except InvalidProperty as error:
            error.path = PROPERTIES_PATH
            raise


def _rule_of(key: str) -> str:
    return BY_KEY[key].rule if key in BY_KEY else "PROP-001"


@implements("PROP-011")
def checksum(database: str, table: str) -> str:
    """CRC-32 of `<database>.<table>` as decimal text; the dot remains if there is no database."""
    return str(zlib.crc32(f"{database}.{table}".encode()))


@implements("LAY-013", "PROP-001", "PROP-004", "PROP-011", "S3-005")
def read_properties(storage: Storage) -> TableProperties:
    """The properties of the table: those of the valid file.

    The backup is read only if the file is missing, malformed or possibly truncated: without a key that every writer stores.
    Raises TableNotFound, MalformedProperties, MissingProperty, UnsupportedTableVersion,
    UnsupportedTimelineLayout.
    """
    main, problem = _load_file(storage, PROPERTIES_PATH)
    if main is not None and main.is_ended and all(key in main.entries for key in always_stored(main.version)):
        return main
    backup, other_problem = _load_file(storage, BACKUP_PATH)
    if main is None and backup is None:
        raise problem or other_problem or _missing_properties(storage)
    if main is None or (backup is not None and _is_truncated(main, backup)):
        assert backup is not None
        return backup
    return main


@implements("PROP-011", "S3-005")
def _is_truncated(main: TableProperties, backup: TableProperties) -> bool:
    """ER-095: whether the file, which may be truncated, has fewer entries than its backup.

    The checksum does not decide this, because it covers two names only, and its line may be missing too. The backup has the
    properties before the update, which are valid until the update is complete.
    """
    lost = backup.entries.keys() - main.entries.keys()
    return backup.is_ended and (not main.is_ended or bool(lost))


def _load_file(storage: Storage, path: str) -> tuple[TableProperties | None, MalformedProperties | None]:
    """A parsed file, or its error; (None, None) if there is no file."""
    try:
        text = storage.get(path)
    except FileNotFoundError:
        return None, None
    try:
        return _parse_properties_file(text, path), None
    except MalformedProperties as error:
        error.path = path
        return None, error


@lru_cache(maxsize=16)
def _parse_properties_file(text: bytes, path: str) -> TableProperties:
    """The properties in a file, cached because every operation reads the file and few change it."""
    entries = load(text, path)
    is_ended = "hoodie.table.checksum" in entries and text.endswith((b"\n", b"\r"))
    found = TableProperties(entries, path, is_ended)
    _check(found, path)
    return found


def _missing_properties(storage: Storage) -> MalformedProperties | TableNotFound:
    if storage.list(META_FOLDER):
        return MalformedProperties(
            "the file is missing",
            rule="LAY-013",
            path=PROPERTIES_PATH,
            remedy="restore it from another copy of the table",
        )
    return TableNotFound(
        "there is no table at this path",
        rule="LAY-012",
        path=META_FOLDER,
        expected="a folder .hoodie",
        remedy="check the base path",
    )


def _check(properties: TableProperties, path: str) -> None:
    name = properties.require("hoodie.table.name")
    stored = properties.entries.get("hoodie.table.checksum")
    expected = checksum(properties.get("hoodie.database.name") or "", name)
    if stored is not None and stored != expected:
        raise MalformedProperties(
            "wrong checksum", rule="PROP-011", path=path, expected=expected, found=stored,
            remedy="the file was truncated or edited; restore it from another copy of the table",
        )  # fmt: skip
    _check_versions(properties, path)
    properties.require("hoodie.table.type")


@implements("COMPAT-002", "COMPAT-003", "COMPAT-004", "PROP-006", "PROP-010", "PROP-018", "PROP-019")
def _check_versions(properties: TableProperties, path: str) -> None:
    texts = {key: properties.require(key) for key in ("hoodie.table.version", "hoodie.timeline.layout.version")}
    for key, text in texts.items():
        if not re.fullmatch("[0-9]{1,9}", text):
            raise InvalidProperty(f"{key} is not a number", rule=_rule_of(key), path=path, found=repr(text))
    version, layout = map(int, texts.values())
    if version not in LAYOUTS:
        newer = version > NEWEST_VERSION
        raise UnsupportedTableVersion(
            f"table version {version} is not supported", rule="COMPAT-004" if newer else "COMPAT-002", path=path,
            expected=f"hoodie.table.version={', '.join(map(str, LAYOUTS))}", found=f"hoodie.table.version={version}",
            remedy=_DOWNGRADE if newer else _UPGRADES[version > LEGACY_VERSION],
        )  # fmt: skip
    if layout != LAYOUTS[version]:
        raise UnsupportedTimelineLayout(
            f"timeline layout {layout} does not belong to table version {version}", rule="PROP-010", path=path,
            expected=f"hoodie.timeline.layout.version={LAYOUTS[version]}", found=str(layout),
            remedy="restore the file from another copy of the table",
        )  # fmt: skip


@implements("COMPAT-005")
def check_writable(properties: TableProperties) -> None:
    """Raises UnsupportedTableVersion for a table that can only be read. Writes never change the table version."""
    if properties.is_legacy:
        raise UnsupportedTableVersion(
            f"tables of version {LEGACY_VERSION} can only be read", rule="COMPAT-005", path=PROPERTIES_PATH,
            expected=f"hoodie.table.version={TABLE_VERSION}", found=f"hoodie.table.version={LEGACY_VERSION}",
            remedy="if all readers and writers support version 8, run: hudi-conformance migrate TABLE --yes",
        )  # fmt: skip
