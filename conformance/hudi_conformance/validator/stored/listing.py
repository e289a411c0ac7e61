"""One listing of a whole table, which does not end at objects that readers refuse or ignore."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hudi_reference.errors import StorageFault
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.storage import STAGING, LocalStorage, ObjectInfo, Storage


@dataclass(frozen=True)
class Listing:
    """Everything below the base path.

    Attributes:
        files: all files by path.
        folders: the paths of all folders; empty on an object store, which has none.
        links: the paths of symbolic links, which are not followed.
        staged: hidden files of writers that crashed, or that are about to store a file.
        unlisted: the paths of folders that the storage did not list, with its errors. What is below them is unknown.
    """

    files: dict[str, ObjectInfo]
    folders: frozenset[str] = frozenset()
    links: tuple[str, ...] = ()
    staged: tuple[ObjectInfo, ...] = ()
    unlisted: Mapping[str, StorageFault] = field(default_factory=dict)

    def knows(self, path: str) -> bool:
        """Whether it is known what is at a path: no folder that leads to it is unlisted."""
        return not any(is_in(path, folder) for folder in self.unlisted)

    @property
    def knows_metadata_table(self) -> bool:
        """Whether all folders of the metadata table were listed."""
        return self.knows(METADATA_FOLDER) and not any(is_in(one, METADATA_FOLDER) for one in self.unlisted)

    @property
    def knows_actions(self) -> bool:
        """Whether the folders of the timeline and what belongs to it were listed; without them no file can be judged."""
        return not any(is_in(one, META_FOLDER) and not is_in(one, METADATA_FOLDER) for one in self.unlisted)

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


def is_in(path: str, folder: str) -> bool:
    """Whether a path is that of the folder or leads through it. The base path is that of all folders but `.hoodie`.

    `.hoodie` is listed by its name, also if the base path cannot be listed.
    """
    return f"{path}/".startswith(f"{folder}/") if folder else not is_in(path, META_FOLDER)


def list_everything(storage: Storage) -> Listing:
    """List a table once."""
    if not isinstance(storage, LocalStorage):
        return Listing({info.path: info for info in storage.list("")})
    files: dict[str, ObjectInfo] = {}
    folders, links, staged, unlisted = set(), [], [], dict[str, StorageFault]()
    entries = list(storage.entries(unlisted=unlisted))
    if "" in unlisted:
        entries += storage.entries(META_FOLDER, unlisted=unlisted)
    for entry in entries:
        if entry.kind == "link":
            links.append(entry.path)
        elif entry.kind == "folder":
            folders.add(entry.path)
        elif entry.info is not None and entry.name.startswith(STAGING):
            staged.append(entry.info)
        elif entry.info is not None:
            files[entry.path] = entry.info
    return Listing(dict(sorted(files.items())), frozenset(folders), tuple(sorted(links)), tuple(staged), unlisted)
