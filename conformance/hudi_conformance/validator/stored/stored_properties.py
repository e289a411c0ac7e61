"""The properties of a table as stored, in the properties file and its backup, and those with which it is examined."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hudi_conformance.validator.stored.listing import Listing
from hudi_reference.caching import cached_property
from hudi_reference.errors import HudiError
from hudi_reference.layout.java_properties import load
from hudi_reference.layout.properties import (
    BACKUP_PATH,
    LAYOUTS,
    LEGACY_VERSION,
    META_FOLDER,
    NEWEST_VERSION,
    PROPERTIES_PATH,
    TABLE_VERSION,
    TableProperties,
)
from hudi_reference.layout.property_table import BY_KEY
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.version_6 import parse_legacy_name

#: What the properties of every metadata table say.
OF_METADATA_TABLES = {
    "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.base.file.format": "HFILE",
    "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA", "hoodie.table.recordkey.fields": "key",
    "hoodie.record.merge.mode": "CUSTOM", "hoodie.populate.meta.fields": "false",
    "hoodie.compaction.payload.class": "org.apache.hudi.metadata.HoodieMetadataPayload",
}  # fmt: skip
#: What a metadata table shares with its table.
_SHARED = ("hoodie.table.version", "hoodie.table.initial.version", "hoodie.timeline.layout.version")


@dataclass(frozen=True)
class StoredProperties:
    """The files of properties. `outer` are the properties of the table whose metadata table it is, or None."""

    storage: Storage
    listing: Listing
    outer: Mapping[str, str] | None = None

    @cached_property
    def _bytes(self) -> Mapping[str, bytes | HudiError]:
        found: dict[str, bytes | HudiError] = {}
        for path in (one for one in (PROPERTIES_PATH, BACKUP_PATH) if one in self.listing.files):
            try:
                found[path] = self.storage.get(path)
            except HudiError as error:
                found[path] = error
        return found

    @cached_property
    def texts(self) -> Mapping[str, bytes]:
        """The bytes of the properties file and of its backup, as far as they can be read."""
        return {path: text for path, text in self._bytes.items() if not isinstance(text, HudiError)}

    @cached_property
    def files(self) -> Mapping[str, Mapping[str, str] | HudiError]:
        """The entries of each of these files, or why it cannot be read."""
        found: dict[str, Mapping[str, str] | HudiError] = {}
        for path, text in self._bytes.items():
            try:
                found[path] = text if isinstance(text, HudiError) else load(text, path)
            except HudiError as error:
                found[path] = error
        return found

    @cached_property
    def entries(self) -> Mapping[str, str]:
        """The entries of the file that counts: the one with more entries, because the other one is truncated."""
        readable = [entries for entries in self.files.values() if not isinstance(entries, HudiError)]
        if not readable:
            return {}
        main, *backup = readable
        lost = backup[0].keys() - main.keys() if backup else ()
        return backup[0] if lost else main

    @property
    def version(self) -> int | None:
        """The table version as stored; None if there is none."""
        text = self.entries.get("hoodie.table.version", "")
        return int(text) if re.fullmatch("[0-9]{1,9}", text) else None

    @cached_property
    def usable(self) -> TableProperties:
        """The valid entries. An unknown version is replaced, and a metadata table that lost its file has those of every one."""
        valid = {key: value for key, value in (self.entries or self._probable()).items() if is_allowed(key, value)}
        if valid.get("hoodie.table.version", "") not in map(str, LAYOUTS):
            valid["hoodie.table.version"] = str(self._nearest_version(valid))
        return TableProperties(valid)

    def _probable(self) -> Mapping[str, str]:
        if self.outer is None:
            return {}
        return {**OF_METADATA_TABLES, **{key: self.outer[key] for key in _SHARED if key in self.outer}}

    def _nearest_version(self, entries: Mapping[str, str]) -> int:
        """The known version by whose rules a table of another version is examined; files decide if no version is stored."""
        if self.version is not None and self.version > NEWEST_VERSION:
            return NEWEST_VERSION
        folder = f"{META_FOLDER}/{entries.get('hoodie.timeline.path') or 'timeline'}/"
        is_current = any(path.startswith(folder) for path in self.listing.files)
        return TABLE_VERSION if is_current or not self._has_legacy_instants else LEGACY_VERSION

    @property
    def _has_legacy_instants(self) -> bool:
        folder = f"{META_FOLDER}/"
        names = (path.removeprefix(folder) for path in self.listing.files if path.startswith(folder))
        return any(parse_legacy_name(name) is not None for name in names)


def is_allowed(key: str, value: str) -> bool:
    """Whether a property may have that value."""
    known = BY_KEY.get(key)
    return known is None or not value or known.allowed(value) is not None
