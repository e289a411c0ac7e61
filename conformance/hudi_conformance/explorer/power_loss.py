"""Power losses: every state in which a power loss may leave a table on a local file system.

A file system keeps in memory what was written and not synced, and may write any part of it to the disk, in any order. A power
loss may therefore lose each of these changes alone: the bytes of a file, and each entry of a folder. `RecordedCalls` records
the system calls of a `LocalStorage` on a real folder. At each call, `power_losses` gives the table that any subset of the
changes not yet synced would leave:

    for loss in power_losses(folder, [create, insert, upsert]):
        assert rows(loss.storage) in (states[loss.acknowledged], states[loss.acknowledged + 1]), loss

The model is weaker than most file systems, which keep more than they must. A call of `fsync` for a file keeps its bytes, and
nothing else; one for a folder keeps its entries, and nothing else.
"""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from hudi_reference.storage import STAGING, LocalStorage, MemoryStorage, Storage, SystemCalls

#: With more changes not synced than this, subsets are drawn.
MOST_CHANGES = 7
#: The number of subsets that are drawn then, besides those that lose or keep one change or all.
DRAWN = 12


@dataclass
class _File:
    """A file: its bytes in memory, and those on the disk."""

    content: bytes = b""
    synced: bytes = b""


@dataclass
class _Folder:
    """A folder: its entries on the disk, and the later changes of entries in their order. None removes an entry."""

    synced: "dict[str, _File | _Folder]" = field(default_factory=dict)
    changes: "list[_Change]" = field(default_factory=list)

    @property
    def entries(self) -> "dict[str, _File | _Folder]":
        """The entries as processes see them."""
        return self.after(self.changes)

    def after(self, changes: "Sequence[_Change]") -> "dict[str, _File | _Folder]":
        """The entries on the disk after these changes."""
        found: dict[str, _File | _Folder | None] = {**self.synced}
        for _, change in changes:
            found |= change
        return {name: node for name, node in found.items() if node is not None}


#: A change of entries, with its name for messages.
_Change = tuple[str, dict[str, _File | _Folder | None]]


@dataclass(frozen=True)
class PowerLoss:
    """A table after a power loss.

    Attributes:
        storage: what was on the disk.
        call: the system call before which the power was lost.
        lost: the changes that are not on the disk.
        acknowledged: how many steps of the program had returned.
    """

    storage: MemoryStorage
    call: str
    lost: tuple[str, ...]
    acknowledged: int

    def __str__(self) -> str:
        return f"power loss before {self.call}, after {self.acknowledged} steps; lost: {', '.join(self.lost) or 'nothing'}"


class RecordedCalls(SystemCalls):
    """System calls that record what is on the disk. `losses` are the distinct states after a power loss so far."""

    def __init__(self) -> None:
        self.root = _Folder()
        self.losses: list[PowerLoss] = []
        self.acknowledged = 0
        self._nodes: dict[int, _File | _Folder] = {}
        self._opened: dict[int, _File | _Folder] = {}
        self._seen: set[tuple[int, int]] = set()
        self._draw = random.Random(0)

    def start(self, folder: Path) -> None:
        """Take what is in the folder as being on the disk."""
        folder.mkdir(parents=True, exist_ok=True)
        self._nodes[folder.stat().st_ino] = self.root
        for path in sorted(folder.rglob("*")):
            above = self._nodes[path.parent.stat().st_ino]
            assert isinstance(above, _Folder)
            node = _Folder() if path.is_dir() else _File(path.read_bytes(), path.read_bytes())
            above.synced[path.name] = self._nodes[path.stat().st_ino] = node

    # The calls.

    def open_root(self, path: str) -> int:
        """Open."""
        return self._open(super().open_root(path))

    def open_folder(self, name: str, /, *, dir_fd: int) -> int:
        """Open."""
        return self._open(super().open_folder(name, dir_fd=dir_fd))

    def open_file(self, name: str, /, *, dir_fd: int) -> int:
        """Open."""
        return self._open(super().open_file(name, dir_fd=dir_fd))

    def create_file(self, name: str, /, *, dir_fd: int) -> int:
        """Add an entry."""
        self.record(f"create {name}")
        file = super().create_file(name, dir_fd=dir_fd)
        self._change(dir_fd, f"create {name}", {name: self._new(os.fstat(file).st_ino, _File())})
        return self._open(file)

    def make_folder(self, name: str, /, *, dir_fd: int) -> None:
        """Add an entry."""
        self.record(f"mkdir {name}")
        super().make_folder(name, dir_fd=dir_fd)
        self._change(dir_fd, f"mkdir {name}", {name: self._new(self.status(name, dir_fd=dir_fd).st_ino, _Folder())})

    def remove_folder(self, name: str, /, *, dir_fd: int) -> None:
        """Remove an entry."""
        super().remove_folder(name, dir_fd=dir_fd)
        self._change(dir_fd, f"rmdir {name}", {name: None})

    def link(self, name: str, new: str, /, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        """Add an entry."""
        self.record(f"link {new}")
        super().link(name, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        self._change(dst_dir_fd, f"link {new}", {new: self._entry(src_dir_fd, name)})

    def rename(self, name: str, new: str, /, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        """Replace an entry and remove another one, in one step."""
        self.record(f"rename to {new}")
        node = self._entry(src_dir_fd, name)
        super().rename(name, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        self._change(dst_dir_fd, f"rename to {new}", {new: node, name: None})

    def remove(self, name: str, /, *, dir_fd: int) -> None:
        """Remove an entry."""
        super().remove(name, dir_fd=dir_fd)
        self._change(dir_fd, f"remove {name}", {name: None})

    def write(self, file: int, data: memoryview) -> int:
        """Change the bytes of a file."""
        written = super().write(file, data)
        node = self._opened[file]
        assert isinstance(node, _File)
        node.content += bytes(data[:written])
        return written

    def sync(self, descriptor: int) -> None:
        """Put the bytes of a file, or the entries of a folder, on the disk. The real disk need not take part."""
        node = self._opened.get(descriptor)
        self.record("fsync")
        if isinstance(node, _File):
            node.synced = node.content
        elif isinstance(node, _Folder):
            node.synced, node.changes = node.entries, []

    # The states.

    def record(self, call: str) -> None:
        """Record every state that a power loss before this call may leave."""
        pending = [(folder, change) for folder in _folders(self.root) for change in folder.changes]
        for kept in self._subsets(len(pending)):
            chosen = [change for change, is_kept in zip(pending, kept, strict=True) if is_kept]
            lost = tuple(change[0] for (_, change), is_kept in zip(pending, kept, strict=True) if not is_kept)
            for torn in (False, True):  # bytes that were not synced are lost, or on the disk in part
                found = dict(_contents(self.root, chosen, torn=torn))
                key = (self.acknowledged, hash(frozenset(found.items())))
                if key not in self._seen:
                    self._seen.add(key)
                    self.losses.append(PowerLoss(_storage_of(found), call, lost, self.acknowledged))

    def _subsets(self, number: int) -> Iterator[tuple[bool, ...]]:
        if number <= MOST_CHANGES:
            yield from product((True, False), repeat=number)
            return
        yield from ((value,) * number for value in (True, False))
        for place in range(number):
            yield tuple(other != place for other in range(number))
        for _ in range(DRAWN):
            yield tuple(self._draw.random() < 0.5 for _ in range(number))

    def _open(self, descriptor: int) -> int:
        node = self._nodes.get(os.fstat(descriptor).st_ino)
        if node is None:  # a folder above the table
            self._opened.pop(descriptor, None)
        else:
            self._opened[descriptor] = node
        return descriptor

    def _new(self, inode: int, node: _File | _Folder) -> _File | _Folder:
        self._nodes[inode] = node
        return node

    def _entry(self, folder: int, name: str) -> _File | _Folder:
        node = self._opened[folder]
        assert isinstance(node, _Folder)
        return node.entries[name]

    def _change(self, folder: int, what: str, change: dict[str, _File | _Folder | None]) -> None:
        node = self._opened[folder]
        assert isinstance(node, _Folder)
        node.changes.append((what, change))


def _folders(folder: _Folder) -> Iterator[_Folder]:
    """The folder and all below it, also those that are about to be removed."""
    yield folder
    nodes = [*folder.synced.values(), *(node for _, change in folder.changes for node in change.values())]
    for node in {id(node): node for node in nodes}.values():
        if isinstance(node, _Folder):
            yield from _folders(node)


def _contents(
    folder: _Folder, kept: "Sequence[tuple[_Folder, _Change]]", *, torn: bool, path: str = ""
) -> Iterator[tuple[str, bytes]]:
    """The files below a folder after these changes, by path, without hidden ones."""
    for name, node in folder.after([change for other, change in kept if other is folder]).items():
        place = f"{path}/{name}" if path else name
        if isinstance(node, _Folder):
            yield from _contents(node, kept, torn=torn, path=place)
        elif not name.startswith(STAGING):
            yield place, node.content[: (len(node.synced) + len(node.content)) // 2] if torn else node.synced


def _storage_of(found: dict[str, bytes]) -> MemoryStorage:
    storage = MemoryStorage()
    for path, content in found.items():
        storage.put(path, content)
    return storage


def power_losses(
    folder: Path, steps: Sequence[Callable[[Storage], object]], calls: RecordedCalls | None = None, *, sync: bool = True
) -> Iterator[PowerLoss]:
    """The distinct states in which a power loss may leave the table in `folder` while the steps run, and after them.

    Args:
        folder: the base path on the local file system; what is there counts as synced.
        steps: the parts of the program; each acknowledges something when it returns.
        calls: the system calls; None records them. Another class can leave out calls.
        sync: whether the storage syncs.
    """
    recorded = calls or RecordedCalls()
    recorded.start(folder)
    storage = LocalStorage(folder, sync=sync, calls=recorded)
    for number, step in enumerate(steps):
        step(storage)
        recorded.acknowledged = number + 1
        recorded.record("the next step")
    yield from recorded.losses
