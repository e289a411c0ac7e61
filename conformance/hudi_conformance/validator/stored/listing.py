"""One listing of a whole table, which does not end at objects that readers refuse or ignore."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hudi_reference.storage import LocalStorage, ObjectInfo, Storage

#: The prefix of files that a writer of the reference is about to link to their names; readers never see them.
STAGING = ".staging~"


@dataclass(frozen=True)
class Listing:
    """Everything below the base path.

    Attributes:
        files: all files by path.
        folders: the paths of all folders; empty on an object store, which has none.
        links: the paths of symbolic links, which are not followed.
        staged: hidden files of writers that crashed, or that are about to store a file.
    """

    files: dict[str, ObjectInfo]
    folders: frozenset[str] = frozenset()
    links: tuple[str, ...] = ()
    staged: tuple[ObjectInfo, ...] = ()

    def below(self, folder: str) -> "Listing":
        """The part below a folder, with paths relative to it."""
        start = f"{folder}/"
        files = {
            path.removeprefix(start): ObjectInfo(path.removeprefix(start), info.size, info.modified, info.version)
            for path, info in self.files.items()
            if path.startswith(start)
        }
        return Listing(
            files,
            frozenset(path.removeprefix(start) for path in self.folders if path.startswith(start)),
        )


def list_everything(storage: Storage) -> Listing:
    """List a table once."""
    if not isinstance(storage, LocalStorage):
        return Listing({info.path: info for info in storage.list("")})
    files: dict[str, ObjectInfo] = {}
    folders, links, staged = set(), [], []
    for entry, path in _entries(storage.root, ""):
        if entry.is_symlink():
            links.append(path)
        elif entry.is_dir():
            folders.add(path)
        elif (found := _status(entry)) is not None:
            info = ObjectInfo(path, found.st_size, found.st_mtime_ns // 1_000_000, "")
            if entry.name.startswith(STAGING):
                staged.append(info)
            else:
                files[path] = info
    return Listing(dict(sorted(files.items())), frozenset(folders), tuple(sorted(links)), tuple(staged))


def _status(entry: "os.DirEntry[str]") -> os.stat_result | None:
    """The status of a file; None for other entries, and for a file that was deleted after its folder was read."""
    try:
        return entry.stat() if entry.is_file() else None
    except FileNotFoundError:
        return None


def _entries(root: Path, folder: str) -> Iterator[tuple["os.DirEntry[str]", str]]:
    try:
        with os.scandir(root / folder) as entries:
            found = [(entry, f"{folder}/{entry.name}" if folder else entry.name) for entry in entries]
    except (FileNotFoundError, NotADirectoryError):  # there is no table, or the folder was removed meanwhile
        return
    for entry, path in found:
        yield entry, path
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(root, path)
