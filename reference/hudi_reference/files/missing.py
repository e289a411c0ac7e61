"""The error for a data file that a completed action wrote and that is not in storage."""

from hudi_reference.errors import MissingDataFile


def missing(path: str) -> MissingDataFile:
    """The error, for the file at `path`."""
    return MissingDataFile(
        "the file of a completed action is missing",
        rule="TL-036", path=path, expected="the file in storage until a clean removes its slice",
        cure="restore the file, or read the table as of an earlier instant",
    )  # fmt: skip
