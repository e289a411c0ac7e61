"""The inspection of a properties file, and functions on its entries."""

from collections.abc import Mapping
from typing import Any

from hudi_reference.errors import MalformedProperties, missing_data_file
from hudi_reference.layout import java_properties
from hudi_reference.layout.merge_config import MODE_ONLY
from hudi_reference.layout.properties import BACKUP_PATH, PROPERTIES_PATH, checksum
from hudi_reference.layout.stored_merging import stored_merging
from hudi_reference.storage import Storage

Json = Any
_NAMES = tuple(path.rpartition("/")[2] for path in (PROPERTIES_PATH, BACKUP_PATH))


def is_properties_file(path: str) -> bool:
    """Whether a file has the name of the table properties or of their backup."""
    return path.rpartition("/")[2] in _NAMES


def entries_of(storage: Storage, path: str) -> dict[str, str]:
    """The entries of the file. Raises MissingDataFile, MalformedProperties."""
    try:
        return java_properties.load(storage.get(path))
    except FileNotFoundError as error:
        raise missing_data_file(path) from error
    except MalformedProperties as error:
        error.path = path
        raise


def properties_file(storage: Storage, path: str) -> dict[str, Json]:
    """The inspection of a properties file, as the contract answers it."""
    entries = entries_of(storage, path)
    return {"format": "properties", "entries": entries, "checksum": state_of_checksum(entries)}


def state_of_checksum(entries: Mapping[str, str]) -> str:
    """`valid`, `wrong` or `absent`."""
    stored = entries.get("hoodie.table.checksum")
    if stored is None:
        return "absent"
    right = checksum(entries.get("hoodie.database.name", ""), entries.get("hoodie.table.name", ""))
    return "valid" if "hoodie.table.name" in entries and stored == right else "wrong"


def parse(text: str) -> dict[str, str]:
    """The function `properties.parse`; a character of the text is a byte of the file."""
    return java_properties.load(text.encode("latin-1"))


def table_checksum(database: str | None, table: str) -> str:
    """The function `properties.checksum`."""
    return checksum(database or "", table)


def infer(
    mode: str | None, strategy: str | None, payload: str | None, ordering: str | None, version: int = 8
) -> dict[str, str | None]:
    """The function `properties.infer`, for a new table of this version."""
    found = stored_merging(mode, strategy, payload, is_ordered=bool(ordering), version=version)
    shown = {"mode": found.mode, "strategy": found.strategy, "payload": found.payload}
    if version < MODE_ONLY:
        return shown
    return {**shown, "legacy_payload": found.legacy_payload, "partial_update": found.partial_update}
