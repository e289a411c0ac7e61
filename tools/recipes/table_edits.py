"""Edits of the files of a finished table, for cases that a correct writer does not produce.

Each function returns an edit: a callable that gets the table's folder and the requested times of its steps.
"""

import os
import shutil
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.recipes.recipe import TableEdit

TIMELINE = Path(".hoodie") / "timeline"
PROPERTIES = Path(".hoodie") / "hoodie.properties"


def find_file(folder: Path, pattern: str) -> Path:
    """The one file below `folder` that matches `pattern`."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise LookupError(f"{pattern} matches {len(found)} files in {folder}, and not one: {[f.name for f in found]}")
    return found[0]


def uncommit(step: int) -> TableEdit:
    """Delete the completed file of an instant: it is inflight, and its data files exist."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        find_file(folder / TIMELINE, f"{instants[step]}_*").unlink()

    return act


def back_to_requested(step: int) -> TableEdit:
    """Delete the completed and the inflight file: the instant is requested, and its data files exist."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        uncommit(step)(folder, instants)
        find_file(folder / TIMELINE, f"{instants[step]}*.inflight").unlink()

    return act


def erase_instant(step: int) -> TableEdit:
    """Delete every timeline file of an instant and keep its data files: a write without an instant."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        for file in (folder / TIMELINE).glob(f"{instants[step]}*"):
            file.unlink()

    return act


def add(path: str, content: bytes | str = b"") -> TableEdit:
    """Add a file; `{0}`, `{1}`, ... in its path stand for the requested times of the steps."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        target = folder / path.format(*instants)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    return act


def copy(pattern: str, path: Callable[[str, Sequence[str]], str]) -> TableEdit:
    """Copy the one file that matches `pattern` to the path that `path` returns for its path and the requested times."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        source = find_file(folder, pattern.format(*instants))
        target = folder / path(source.relative_to(folder).as_posix(), instants)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)

    return act


def remove(pattern: str) -> TableEdit:
    """Remove the one file that matches `pattern`."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        find_file(folder, pattern.format(*instants)).unlink()

    return act


def edit_file(pattern: str, change: Callable[[bytes], bytes]) -> TableEdit:
    """Replace the content of the one file that matches `pattern` by the result of `change`."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        file = find_file(folder, pattern.format(*instants))
        content = change(file.read_bytes())
        file.unlink()
        file.write_bytes(content)

    return act


def truncate_file(pattern: str, keep: float) -> TableEdit:
    """Truncate a file: `keep` is a share of its length, or if negative the number of bytes to remove at its end."""

    def change(content: bytes) -> bytes:
        return content[: int(len(content) * keep) if keep > 0 else int(keep)]

    return edit_file(pattern, change)


def overwrite(pattern: str, offset: int, new: bytes) -> TableEdit:
    """Overwrite the bytes at `offset` with `new`; a negative offset counts from the end."""

    def change(content: bytes) -> bytes:
        at = offset if offset >= 0 else len(content) + offset
        return content[:at] + new + content[at + len(new) :]

    return edit_file(pattern, change)


def set_property(key: str, value: str | None) -> TableEdit:
    """Set or delete a table property."""

    def change(content: bytes) -> bytes:
        lines = [line for line in content.decode().splitlines() if not line.startswith(f"{key}=")]
        return ("\n".join([*lines, *([f"{key}={value}"] if value is not None else [])]) + "\n").encode()

    return edit_file(str(PROPERTIES), change)


def long_at(value: int) -> bytes:
    """A length of a log block: eight bytes."""
    return struct.pack(">q", value)


def int_at(value: int) -> bytes:
    """A version or type of a log block: four bytes."""
    return struct.pack(">i", value)


def rollback_block(instant: str, target: str) -> bytes:
    """A whole command block that rolls back `target`: magic, length, version, type, header, no content, no footer, total."""
    entries = {0: instant, 1: target, 3: "0"}
    header = int_at(len(entries)) + b"".join(int_at(key) + int_at(len(text)) + text.encode() for key, text in entries.items())
    body = int_at(1) + int_at(0) + header + long_at(0) + int_at(0)
    return b"#HUDI#" + long_at(len(body) + 8) + body + long_at(len(body) + 8 + 6)


def strip(folder: Path) -> None:
    """Remove files that are not part of a fixture: checksum files of Hadoop's local file system, empty folders."""
    for file in folder.rglob(".*.crc"):
        file.unlink()
    for path, _, _ in os.walk(folder, topdown=False):
        if not any(Path(path).iterdir()):
            Path(path).rmdir()
