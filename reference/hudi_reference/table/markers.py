"""Markers: who is about to store a data file says so first, spec "Appendix > Markers".

    .hoodie/.temp/<requested time>/<partition>/<name of the data file>.marker.<kind>      an empty file (ER-100)

By them whoever undoes a write that died finds its files without listing the table. They go when the write has completed; those
that a crash leaves behind mean nothing to readers, and go with the rollback or the archiving of the action.
"""

from collections.abc import Iterator
from enum import StrEnum

from hudi_reference.layout.names import join_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.metadata import WriteStat


class Kind(StrEnum):
    """What is about to become of the data file."""

    #: A new file. Log files are new files, too: before table version 8 they were appended to.
    CREATE = "CREATE"
    #: A base file in place of an earlier one of its file group.
    MERGE = "MERGE"


def folder_of(instant: str) -> str:
    """Where the markers of the action with that requested time lie."""
    return f"{META_FOLDER}/.temp/{instant}"


@implements("OCC-027", "LAY-011")
def mark_file(storage: Storage, instant: str, name: str, stat: WriteStat) -> None:
    """Say that a data file is about to be stored. Raises ObjectExists if it has been said before."""
    kind = Kind.CREATE if stat.is_log or stat.previous_base_file is None else Kind.MERGE
    storage.create(f"{folder_of(instant)}/{join_path(stat.partition, name)}.marker.{kind}", b"")


def markers_of(storage: Storage, instant: str) -> Iterator[str]:
    """The paths of all files in that folder: markers, or the lists of them that a server keeps."""
    return (info.path for info in storage.list(folder_of(instant)))


def remove_markers(storage: Storage, instant: str) -> None:
    """Delete them all."""
    for path in markers_of(storage, instant):
        storage.delete(path)
