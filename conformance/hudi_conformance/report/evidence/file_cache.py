"""What was read from source files, kept in the user's cache folder, so that only changed files are parsed again.

An entry is valid as long as size and time of modification of its file are the same. A cache that is damaged, that was written
by another version of this code, or that cannot be written is ignored: everything is then parsed.
"""

import contextlib
import hashlib
import marshal
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: To be increased when a reader returns something else for the same file.
FORMAT = 11

#: What a reader returns: dictionaries, lists, texts, numbers and None.
Facts = Any


def cache_folder() -> Path:
    """The user's cache folder of this project; `HUDI_CONFORMANCE_CACHE` names another one."""
    if named := os.environ.get("HUDI_CONFORMANCE_CACHE"):
        return Path(named)
    import platformdirs

    return platformdirs.user_cache_path("hudi-conformance")


class FileCache:
    """Facts about files. `folder` is where they are kept, None to keep nothing."""

    def __init__(self, folder: Path | None, checkout: Path) -> None:
        name = hashlib.sha256(str(checkout).encode()).hexdigest()[:16]
        self._path = None if folder is None else folder / "evidence" / f"{name}.bin"
        self._version = [FORMAT, sys.version]
        self._known = self._load()
        self._used: dict[str, Any] = {}
        self.parsed = 0

    def read(self, path: str, reader: Callable[[str], Facts]) -> Facts:
        """What `reader` returns for the text of a file, from the cache if the file has not changed."""
        status = os.stat(path)  # noqa: PTH116 - two thousand files are asked for each command
        stamp = [status.st_mtime_ns, status.st_size]
        known = self._known.get(path)
        if known is not None and known[0] == stamp:
            self._used[path] = known
        else:
            self.parsed += 1
            self._used[path] = [stamp, reader(Path(path).read_text(encoding="utf-8"))]
        return self._used[path][1]

    def save(self) -> None:
        """Keep what was read; entries of files that were not read are dropped."""
        if self._path is None or (not self.parsed and self._used.keys() == self._known.keys()):
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            partial = self._path.with_suffix(f".{os.getpid()}")
            partial.write_bytes(marshal.dumps([self._version, self._used]))
            partial.replace(self._path)

    def _load(self) -> dict[str, Any]:
        if self._path is None:
            return {}
        try:
            version, known = marshal.loads(self._path.read_bytes())
        except (OSError, ValueError, EOFError, TypeError):
            return {}
        return dict(known) if version == self._version else {}
