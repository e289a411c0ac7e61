"""One listing of a whole table, which does not end at objects that readers refuse or ignore."""

from dataclasses import dataclass

from hudi_reference.storage import STAGING, LocalStorage, ObjectInfo, Storage


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
    for entry in storage.entries():
        if entry.kind == "link":
            links.append(entry.path)
        elif entry.kind == "folder":
            folders.add(entry.path)
        elif entry.info is not None and entry.name.startswith(STAGING):
            staged.append(entry.info)
        elif entry.info is not None:
            files[entry.path] = entry.info
    return Listing(dict(sorted(files.items())), frozenset(folders), tuple(sorted(links)), tuple(staged))
