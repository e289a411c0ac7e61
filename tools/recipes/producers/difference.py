"""Differences of a regenerated table from the committed one: in rows and timeline for engines, in bytes for the reference."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.recipes.timeline_summary import table_property

_DIGITS = re.compile(r"\d{17}")


def byte_differences(old: Path, new: Path) -> Iterator[str]:
    """One line for each file that is in one folder only, or whose bytes differ."""
    names = sorted({f.relative_to(folder) for folder in (old, new) for f in folder.rglob("*") if f.is_file()})
    for name in names:
        if not (old / name).is_file():
            yield f"new file {name}"
        elif not (new / name).is_file():
            yield f"no longer there: {name}"
        elif (old / name).read_bytes() != (new / name).read_bytes():
            yield f"other bytes: {name}"


def table_structure(table: Path) -> Counter[str]:
    """The structure of a table without ids, tokens and times: instants in order, files by kind and partition."""
    timeline = table / ".hoodie" / table_property(table, "hoodie.timeline.path", "timeline")
    names = sorted(f.name for f in timeline.iterdir() if f.is_file()) if timeline.is_dir() else []
    order = {t: n for n, t in enumerate(sorted({name[:17] for name in names if _DIGITS.match(name)}))}
    found = Counter(f"timeline: instant {order.get(name[:17], '?')} {name.partition('.')[2]}" for name in names)
    for file in table.rglob("*"):
        if file.is_file() and ".hoodie" not in file.relative_to(table).parts[:-1]:
            found[f"data: {file.parent.relative_to(table)} {_kind(file.name)}"] += 1
    return found


def _kind(name: str) -> str:
    if ".log." in name:
        return "log file"
    return "base file" if name.endswith(".parquet") else name


def shape_differences(old: Path, new: Path) -> Iterator[str]:
    """One line for each kind of instant or file whose number differs between the tables."""
    before, after = table_structure(old), table_structure(new)
    for what in sorted(before.keys() | after.keys()):
        if before[what] != after[what]:
            yield f"{what}: {before[what]} -> {after[what]}"


def file_differences(folder: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    """One line for each of `files` that differs in `folder` or is missing there."""
    for name, content in files.items():
        path = folder / name
        if not path.is_file():
            yield f"new file {name}"
        elif path.read_bytes() != content:
            yield f"other content: {name}"


def timeless(content: bytes, requested_times: Sequence[str]) -> bytes:
    """An answer without times: the times of steps are replaced by step numbers, all other times by one constant."""
    text = content.decode()
    for number, time in enumerate(requested_times):
        text = text.replace(time, f"<step {number}>")
    return _DIGITS.sub("<time>", text).encode()


def answer_differences(
    folder: Path, old_times: Sequence[str], files: Mapping[str, bytes], new_times: Sequence[str]
) -> Iterator[str]:
    """One line for each expected answer in `files` that differs from the committed one in `folder`."""
    for name, content in files.items():
        path = folder / name
        if not name.startswith("expected/"):
            continue
        if not path.is_file():
            yield f"new answer {name}"
        elif timeless(path.read_bytes(), old_times) != timeless(content, new_times):
            yield f"other answer: {name}"
