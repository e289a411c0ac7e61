"""Manifests of the timeline history, which list its live files, spec "LSM Timeline".

    _version_                       the number of the valid manifest in digits
    manifest_<n>                    JSON: name and length of every live file
    <min>_<max>_<level>.parquet     the files themselves, see `history`

Manifests and level files never change; only the version file does. A reader may therefore finish with the manifest with which
it began, and may reuse files that it has read before.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from hudi_reference.errors import MalformedHistory, PathOutsideTable
from hudi_reference.limits import LEVEL_FILES
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage, require_inside_table

VERSION_FILE = "_version_"
_VERSION = re.compile(r"\d{1,18}", re.ASCII)
_MANIFEST = re.compile(r"manifest_(\d{1,18})", re.ASCII)
_LEVEL_FILE = re.compile(r"(\d+)_(\d+)_(\d+)\.parquet", re.ASCII)


@implements("LSM-013", "LSM-014")
@dataclass(frozen=True)
class LevelFile:
    """A level file of a manifest: the parts of its name, and its length in bytes.

    `minimum` is the smallest requested time of the actions in it, `maximum` the largest requested time (ER-039).
    """

    name: str
    length: int
    minimum: str
    maximum: str
    level: int

    @implements("LSM-025")
    def may_hold(self, begin: str, end: str) -> bool:
        """Whether, by its name, the file may contain an action requested from `begin` to `end`, both included.

        ER-083: the upgrade from version 6 writes names whose minimum is above the maximum; they may contain any action.
        """
        return self.minimum > self.maximum or (self.minimum <= end and begin <= self.maximum)


@dataclass(frozen=True)
class Manifest:
    """The live files of one manifest. Number 0, without files, is a history that was never written."""

    number: int = 0
    files: tuple[LevelFile, ...] = ()


def parse_level_file_name(name: str) -> tuple[str, str, int] | None:
    """Minimum, maximum and level in the name of a level file; None for any other name."""
    match = _LEVEL_FILE.fullmatch(name)
    return None if match is None or len(match[3]) > 9 else (match[1], match[2], int(match[3]))


@implements("LSM-001", "LSM-005", "LSM-009")
def load_manifest(storage: Storage, folder: str) -> Manifest:
    """The valid manifest of the history in `folder`.

    Raises MalformedHistory if the version file is not a number, or the manifest is missing, malformed or without bytes: then it
    lost the names of the files.
    """
    number = current_version(storage, folder)
    while number:
        path = f"{folder}/manifest_{number}"
        try:
            found = read_manifest(storage, folder, number)
            if found.files or storage.get(path).strip():
                return found
        except FileNotFoundError as error:
            newer = current_version(storage, folder)
            if newer <= number:  # otherwise it was superseded and removed after the version file was read
                raise MalformedHistory(
                    "the manifest is missing", rule="LSM-009", path=path,
                    remedy="restore the manifest; it lists the live files of the history",
                ) from error  # fmt: skip
            number = newer
        else:
            raise MalformedHistory(
                "the valid manifest is empty", rule="LSM-009", path=path, found="no byte",
                expected="the names of the live files of the history",
                remedy="restore the manifest, or name the one before it in _version_",
            )  # fmt: skip
    return Manifest()


@implements("LSM-005", "LSM-007")
def current_version(storage: Storage, folder: str) -> int:
    """The number in the version file; 0 if nothing was archived yet.

    ER-005: an interrupted update leaves no version file, or an empty one; then the manifest with the greatest number counts.
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
            "the version file has no manifest number", rule="LSM-007", path=path, expected="digits", found=repr(text[:40]),
            remedy="remove the file; then the manifest with the greatest number counts",
        )  # fmt: skip
    return int(text)


def _greatest_manifest(storage: Storage, folder: str) -> int:
    names = storage.names(folder)
    if not names and storage.head(folder) is not None:
        raise MalformedHistory("a file is in the place of the history folder", rule="LSM-001", path=folder)
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
        LEVEL_FILES.check(len(listed), path)
        return Manifest(number, tuple(_level_file(entry, path) for entry in listed))
    except PathOutsideTable as error:
        error.path = path
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedHistory(
            "the manifest is malformed", rule="LSM-010", path=path, found=f"{type(error).__name__}: {error}",
            expected='{"files": [{"fileName": ..., "fileLen": ...}]}',
        ) from error  # fmt: skip


def _level_file(entry: dict[str, Any], path: str) -> LevelFile:
    name, length = require_inside_table(entry["fileName"]), entry["fileLen"]
    if not isinstance(length, int) or isinstance(length, bool):
        raise TypeError(f"the length of {name} is {length!r}")
    parts = parse_level_file_name(name)
    if parts is None:
        raise MalformedHistory(
            "the manifest lists a file that is not a level file", rule="LSM-013", path=path,
            expected="<min>_<max>_<level>.parquet", found=repr(name[:100]),
        )  # fmt: skip
    return LevelFile(name, length, *parts)
