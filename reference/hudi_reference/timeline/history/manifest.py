"""Which files make up the timeline history now, spec "LSM Timeline".

    _version_                       the number of the valid manifest, as text
    manifest_<n>                    JSON: name and length of every live file
    <min>_<max>_<level>.parquet     the files themselves, see `history`

Manifests and files never change once they are there; only the version file does. So a reader may finish with the manifest it
began with, and files that are kept from an earlier look are as good as new.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from hudi_reference.errors import MalformedHistory, PathOutsideTable
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage, inside

VERSION_FILE = "_version_"
_VERSION = re.compile(r"\d{1,18}", re.ASCII)
_MANIFEST = re.compile(r"manifest_(\d{1,18})", re.ASCII)
_LEVEL_FILE = re.compile(r"(\d+)_(\d+)_(\d+)\.parquet", re.ASCII)


@implements("LSM-013", "LSM-014")
@dataclass(frozen=True)
class LevelFile:
    """A file that a manifest lists: its name taken apart, its length in bytes.

    `minimum` is the smallest requested time of the actions in it, `maximum` the largest requested time (ER-039).
    """

    name: str
    length: int
    minimum: str
    maximum: str
    level: int

    @implements("LSM-025")
    def may_hold(self, begin: str, end: str) -> bool:
        """Whether an action requested from `begin` to `end`, both included, may be in the file, going by the name alone.

        The upgrade from version 6 writes names whose minimum is above the maximum (ER-083): those tell nothing.
        """
        return self.minimum > self.maximum or (self.minimum <= end and begin <= self.maximum)


@dataclass(frozen=True)
class Manifest:
    """The files that are live by one manifest. Number 0, without files, stands for a history that was never written."""

    number: int = 0
    files: tuple[LevelFile, ...] = ()


def parse_level_file_name(name: str) -> tuple[str, str, int] | None:
    """Minimum, maximum and level in the name of a level file; None for any other name."""
    match = _LEVEL_FILE.fullmatch(name)
    return None if match is None or len(match[3]) > 9 else (match[1], match[2], int(match[3]))


@implements("LSM-001", "LSM-005", "LSM-009")
def load_manifest(storage: Storage, folder: str) -> Manifest:
    """The valid manifest of the history in `folder`.

    Raises MalformedHistory when the version file is no number, or the manifest it names is missing or is none.
    """
    number = current_version(storage, folder)
    while True:
        try:
            return read_manifest(storage, folder, number) if number else Manifest()
        except FileNotFoundError as error:
            newer = current_version(storage, folder)
            if newer <= number:  # else it was superseded and removed since the version file was read
                raise MalformedHistory(
                    "the manifest is missing", rule="LSM-009", path=f"{folder}/manifest_{number}",
                    remedy="restore it; without it nobody knows which files of the history are live",
                ) from error  # fmt: skip
            number = newer


@implements("LSM-005", "LSM-007")
def current_version(storage: Storage, folder: str) -> int:
    """The number in the version file; 0 where nothing was archived yet.

    An interrupted switch leaves no version file, or an empty one: then the manifest with the greatest number counts (ER-005).
    """
    path = f"{folder}/{VERSION_FILE}"
    try:
        text = storage.get(path).decode("ascii", "replace").strip(" \r\n\t")
    except FileNotFoundError:
        text = ""
    if not text:
        return _greatest_manifest(storage, folder)
    if not _VERSION.fullmatch(text) or not int(text):
        raise MalformedHistory(
            "not a manifest number", rule="LSM-007", path=path, expected="digits", found=repr(text[:40]),
            remedy="remove the file: then the manifest with the greatest number counts",
        )  # fmt: skip
    return int(text)


def _greatest_manifest(storage: Storage, folder: str) -> int:
    names = storage.names(folder)
    if not names and storage.head(folder) is not None:
        raise MalformedHistory("a file where the folder of the history belongs", rule="LSM-001", path=folder)
    return max((number for name in names if (number := manifest_number(name)) is not None), default=0)


def manifest_number(name: str) -> int | None:
    """The number in the name of a manifest; None for any other name."""
    match = _MANIFEST.fullmatch(name)
    return None if match is None else int(match[1])


@implements("LSM-010", "LSM-012")
def read_manifest(storage: Storage, folder: str, number: int) -> Manifest:
    """The manifest of that number, valid or not. Raises FileNotFoundError, MalformedHistory."""
    path = f"{folder}/manifest_{number}"
    text = storage.get(path)
    try:
        listed = json.loads(text)["files"] if text.strip() else []
        return Manifest(number, tuple(_level_file(entry, path) for entry in listed))
    except PathOutsideTable as error:
        error.path = path
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedHistory(
            "not a manifest", rule="LSM-010", path=path, found=f"{type(error).__name__}: {error}",
            expected='{"files": [{"fileName": ..., "fileLen": ...}]}',
        ) from error  # fmt: skip


def _level_file(entry: dict[str, Any], path: str) -> LevelFile:
    name, length = inside(entry["fileName"]), entry["fileLen"]
    if not isinstance(length, int) or isinstance(length, bool):
        raise TypeError(f"the length of {name} is {length!r}")
    parts = parse_level_file_name(name)
    if parts is None:
        raise MalformedHistory(
            "the manifest lists a file of another kind", rule="LSM-013", path=path,
            expected="<min>_<max>_<level>.parquet", found=repr(name[:100]),
        )  # fmt: skip
    return LevelFile(name, length, *parts)
