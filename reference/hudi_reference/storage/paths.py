"""Paths of objects, relative to the table's base path."""

from hudi_reference.errors import PathOutsideTable


def is_below(path: str, folder: str) -> bool:
    """Whether `path` lies in `folder` or deeper; every path lies below the empty folder."""
    folder = folder.rstrip("/")
    return not folder or path.startswith(folder + "/")


def inside(path: str) -> str:
    """`path` itself, if it stays inside the table.

    Raises PathOutsideTable for absolute paths and those with `.` or `..` steps: a hostile name in the table's metadata must
    not reach other files.
    """
    steps = path.split("/")
    if path.startswith("/") or "\0" in path or ".." in steps or "." in steps:
        raise PathOutsideTable("a path that leads outside the table", rule="LAY-005", found=repr(path))
    return path.strip("/")
