"""Files below `.hoodie` that no reader reads and that no writer removes any more."""

from collections import defaultdict
from collections.abc import Iterator

from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.pending import EXPIRED
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.timeline.instants.states import EXTENSIONS
from hudi_reference.write.concurrency.heartbeats import FOLDER as HEARTBEATS

_MARKERS = f"{META_FOLDER}/.temp/"
#: The ends of names of temporary files: of Hadoop's writers, of copying tools, of editors and of this project.
_TEMPORARY = (".tmp", ".temp", ".part", ".bak", ".swp", ".inprogress", "_COPYING_", "~")


def _markers(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """OCC-027: the markers of an action are removed after its completion, with its rollback, or with its archiving."""
    pending = {instant.requested for instant in table.timeline.pending}
    kept: dict[str, list[str]] = defaultdict(list)
    for path, info in table.listing.files.items():
        if path.startswith(_MARKERS):
            requested = path.removeprefix(_MARKERS).partition("/")[0]
            tally.looked("OCC-027")
            if requested not in pending and table.now - info.modified > EXPIRED:
                kept[requested].append(path)
    for requested, paths in sorted(kept.items()):
        yield Finding(
            "OCC-027", "lost-space", f"{_MARKERS}{requested}", "No query reads the files.", "markers of pending actions alone",
            f"{len(paths)} markers of {requested}, which is not pending", "delete the folder", key=requested,
        )  # fmt: skip


def _heartbeats(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """A writer removes its heartbeat at the end; one that is left belongs to a writer that crashed."""
    pending = {instant.requested for instant in table.timeline.pending}
    for path, info in table.listing.files.items():
        folder, name = split_path(path)
        if folder == HEARTBEATS:
            tally.looked("OCC-027")
            if name not in pending and table.now - info.modified > EXPIRED:
                yield Finding("OCC-027", "lost-space", path, "No query reads the file.", "heartbeats of pending actions alone",
                              f"a heartbeat of {name}, which is not pending", "delete the file", key=name)  # fmt: skip


def _temporary_files(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LAY-017: the folder of the timeline has files of instants. Others are what a writer or a tool left."""
    folder = table.properties.timeline_folder
    for path, info in table.listing.files.items():
        parent, name = split_path(path)
        if parent != folder or not name[:14].isdigit():
            continue
        tally.looked("LAY-017")
        extension = name.partition(".")[2]
        if extension not in EXTENSIONS and any(end in extension for end in _TEMPORARY) and table.now - info.modified > EXPIRED:
            yield Finding("LAY-017", "lost-space", path, "No query reads the file.", "files of instants",
                          f"{info.size} bytes under the name of a temporary file", "delete the file")  # fmt: skip


CHECKS = (
    Check("leftovers.markers", ("OCC-027",), "cheap", _markers),
    Check("leftovers.heartbeats", ("OCC-027",), "cheap", _heartbeats),
    Check("leftovers.temporary-files", ("LAY-017",), "cheap", _temporary_files),
)
