"""Copies of golden tables for engines, which cases of the same table share while no engine has changed them.

Copying a table takes about as long as reading it, and one case in two asks about a table of which another case asks too. A copy
that an engine has changed is never used again: each file has to be the same object with the same size and time of change.
"""

import os
import shutil
import tempfile
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from hudi_conformance.cases.case import Case, copy_subject

#: Copies that are kept. Cases of one table mostly run one after the other.
MOST = 12

#: By path: inode, size and time of the last change of content, name or permissions in nanoseconds.
State = dict[str, tuple[int, int, int]]

#: Engine, committed table, and the table version of its copy if that is another one.
Key = tuple[str, Path, int | None]


@dataclass
class TableCopies:
    """Copies of tables by engine and table, in a temporary folder that exists until `close`."""

    most: int = MOST
    _folder: tempfile.TemporaryDirectory[str] | None = None
    _known: OrderedDict[Key, tuple[Path, str, State]] = field(default_factory=OrderedDict)
    _made: int = 0

    def find_copy(self, engine: str, case: Case) -> str:
        """The URI of an unchanged copy of the table of `case` that only this engine has been given."""
        key = engine, case.subject, case.copied_as
        if key in self._known:
            folder, uri, state = self._known[key]
            if read_state(folder) == state:
                self._known.move_to_end(key)
                return uri
            self._remove(key)
        folder = self._new_folder()
        uri = copy_subject(case, folder)
        self._known[key] = folder, uri, read_state(folder)
        if len(self._known) > self.most:
            self._remove(next(iter(self._known)))
        return uri

    def _new_folder(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="hudi-conformance-case-")
        self._made += 1
        folder = Path(self._folder.name, str(self._made))
        folder.mkdir()
        return folder

    def _remove(self, key: Key) -> None:
        folder, _, _ = self._known.pop(key)
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Delete all copies."""
        self._known.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def read_state(folder: Path) -> State:
    """The state of every file and folder below `folder`."""
    found: State = {}
    rest = [str(folder)]
    while rest:
        with os.scandir(rest.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                found[entry.path] = status.st_ino, status.st_size, status.st_ctime_ns
                if entry.is_dir(follow_symlinks=False):
                    rest.append(entry.path)
    return found
