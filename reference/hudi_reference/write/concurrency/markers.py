"""Markers: a writer records each data file before it stores it, spec "Appendix > Markers".

    .hoodie/.temp/<requested time>/<partition>/<name of the data file>.marker.<kind>      an empty file (ER-100)

The rollback of a failed write finds its files by the markers, without listing the table. Markers are deleted when the write has
completed; after a crash they are deleted with the rollback or the archiving of the action. Readers ignore them.
"""

from enum import StrEnum

from hudi_reference.errors import ConcurrentChange
from hudi_reference.layout.names import join_path, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.write.concurrency.heartbeats import Heartbeats


class Kind(StrEnum):
    """How the data file is about to be stored."""

    #: A new file. Log files are new files too; before table version 8 they were appended to.
    CREATE = "CREATE"
    #: A base file that replaces an earlier one of its file group.
    MERGE = "MERGE"


def folder_of(instant: str) -> str:
    """The folder of the markers of the action with that requested time."""
    return f"{META_FOLDER}/.temp/{instant}"


@implements("OCC-027", "LAY-011")
def mark_file(storage: Storage, instant: str, name: str, stat: WriteStat) -> None:
    """Store the marker of a data file that is about to be stored. Raises ObjectExists if there is one."""
    kind = Kind.CREATE if stat.is_log or stat.previous_base_file is None else Kind.MERGE
    storage.create(f"{folder_of(instant)}/{join_path(stat.partition, name)}.marker.{kind}", b"")


def remove_markers(storage: Storage, instant: str) -> None:
    """Delete all markers of an action, and the lists that a timeline server stores in their folder."""
    for info in storage.list(folder_of(instant)):
        storage.delete(info.path)


@implements("OCC-026")
def check_unmarked(heartbeats: Heartbeats, instant: str, stat: WriteStat) -> None:
    """Raises ConcurrentChange if an earlier, active writer has a marker in the same file group.

    Markers of expired writers are ignored. Of two writers only the later one aborts. The check before the completion remains
    necessary: two writers that store markers at the same time do not see each other's.
    """
    home = f"{META_FOLDER}/.temp"
    for path in (info.path for info in heartbeats.storage.list(home)):
        other, _, marked = path.removeprefix(f"{home}/").partition("/")
        partition, name = split_path(marked.rpartition(".marker.")[0])
        parsed = parse_data_file_name(name)
        if parsed is None or (partition, parsed.file_id) != (stat.partition, stat.file_id):
            continue
        if other < instant and heartbeats.is_active(other):
            raise ConcurrentChange(
                "an earlier writer is changing the same file group", rule="OCC-026", path=path,
                expected="no marker of another active writer",
                found=f"file group {stat.file_id} in partition {stat.partition!r}", remedy="write again when it has completed",
            )  # fmt: skip
