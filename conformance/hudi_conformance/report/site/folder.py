"""The folder of the site: it is written beside its place and then moved there, and replaces only an earlier site."""

import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from hudi_conformance import __version__

#: The file that marks a folder as a site, so that it may be replaced.
MARKER = ".hudi-conformance-site"


class NotASite(ValueError):
    """The folder cannot be replaced, because it is not an earlier site."""


def check_folder(folder: Path) -> None:
    """Raises NoSite unless the folder is missing, empty, or an earlier site."""
    if folder.exists() and not folder.is_dir():
        raise NotASite(f"{folder} is not a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise NotASite(f"{folder} is not empty and is not a site of this command (it has no {MARKER}); name another folder")


def write_site(folder: Path, pages: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """Write the pages (path and text) and the marker; the number of files and of bytes. Raises NoSite."""
    check_folder(folder)
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        counted = _write(fresh, pages)
        fresh.chmod(0o755)
        _replace(folder, fresh)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return counted


def _replace(folder: Path, fresh: Path) -> None:
    """Give the new folder its name. The earlier site keeps it until then, and whole: what is left of it would be no site."""
    if not folder.exists():
        fresh.rename(folder)
        return
    earlier = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        folder.rename(earlier / folder.name)
        try:
            fresh.rename(folder)
        except OSError:
            (earlier / folder.name).rename(folder)
            raise
    finally:
        shutil.rmtree(earlier, ignore_errors=True)


def _write(folder: Path, pages: Iterable[tuple[str, str]]) -> tuple[int, int]:
    number = total = 0
    for name, text in pages:
        path, data = folder / name, text.encode()
        if path.exists():
            raise ValueError(f"two pages have the path {name}")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        number, total = number + 1, total + len(data)
    (folder / MARKER).write_text(json.dumps({"suite": __version__}) + "\n", encoding="utf-8")
    return number, total
