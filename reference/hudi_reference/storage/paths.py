"""Paths of objects, relative to the table's base path."""

from hudi_reference.errors import PathOutsideTable


def is_below(path: str, folder: str) -> bool:
    """Whether `path` is below `folder`; every path is below the empty folder."""
    folder = folder.rstrip("/")
    return not folder or path.startswith(folder + "/")


def inside(path: str) -> str:
    """`path`, if it is inside the table.

    Raises PathOutsideTable for absolute paths and for `.` or `..` steps, so that malicious names in the metadata of a table
    do not reach other files.
    """
    steps = path.split("/")
    if path.startswith("/") or "\0" in path or ".." in steps or "." in steps:
        raise PathOutsideTable("the path leads outside the table", rule="LAY-005", found=repr(path))
    return path.strip("/")
