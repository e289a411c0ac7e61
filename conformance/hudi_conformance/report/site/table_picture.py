"""The picture of a stored table: its timeline, and the slices of its file groups with their files."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hudi_conformance.cases.case import Case
from hudi_reference import open_table
from hudi_reference.errors import HudiError

#: Instants, file groups and slices of a group that are drawn at most.
SHOWN = 24


@dataclass(frozen=True)
class DrawnInstant:
    """An action of the timeline; `state` is completed, inflight or requested, `where` active or archived."""

    requested: str
    completion: str
    action: str
    state: str


@dataclass(frozen=True)
class DrawnSlice:
    """A file slice; `latest` if a snapshot query reads it. Names are without the id of the file group."""

    instant: str
    base_file: str | None
    log_files: tuple[str, ...]
    latest: bool


@dataclass(frozen=True)
class DrawnGroup:
    """A file group with its slices, newest first."""

    partition: str
    file_id: str
    replaced_by: str | None
    slices: tuple[DrawnSlice, ...]


@dataclass(frozen=True)
class TablePicture:
    """What is drawn of a table; `omitted` counts instants and file groups that are not drawn."""

    name: str
    type: str
    version: str
    instants: tuple[DrawnInstant, ...]
    groups: tuple[DrawnGroup, ...]
    omitted: int


def draw_table(case: Case) -> TablePicture | str | None:
    """The picture of the table of a case, the reason why it cannot be drawn, or None for a case without table."""
    if case.table is None:
        return None
    try:
        return picture_of(open_table(case.subject.as_uri()).inspect())
    except (HudiError, OSError) as error:
        return type(error).__name__


def picture_of(found: dict[str, Any]) -> TablePicture:
    """The picture of a table from its inspection."""
    entries = found["properties"]
    instants, groups = list(_instants(found["timeline"])), list(_groups(found["file_groups"]))
    return TablePicture(
        entries.get("hoodie.table.name") or "",
        entries.get("hoodie.table.type") or "",
        entries.get("hoodie.table.version") or "",
        tuple(instants[-SHOWN:]),
        tuple(groups[:SHOWN]),
        max(0, len(instants) - SHOWN) + max(0, len(groups) - SHOWN),
    )


def _instants(timeline: dict[str, Any]) -> Iterator[DrawnInstant]:
    found = [
        *(DrawnInstant(i["requested"], i["completion"] or "", i["action"], i["where"]) for i in timeline["completed"]),
        *(DrawnInstant(i["requested"], "", i["action"], i.get("state", "pending")) for i in timeline["pending"]),
    ]
    yield from sorted(found, key=lambda instant: instant.requested)


def _groups(partitions: dict[str, Any]) -> Iterator[DrawnGroup]:
    for partition, groups in sorted(partitions.items()):
        for file_id, group in sorted(groups.items()):
            latest = _files(group["latest"]) if group["latest"] else set()
            slices = tuple(_slice(part, file_id, latest) for part in group["slices"][:SHOWN])
            replaced = group["replaced_by"]
            yield DrawnGroup(partition, file_id, None if replaced is None else str(replaced), slices)


def _slice(part: dict[str, Any], file_id: str, latest: set[str]) -> DrawnSlice:
    files, base = _files(part), part["base_file"]
    logs = tuple(_short(name, file_id) for name in part["log_files"])
    return DrawnSlice(part["base_instant"], base and _short(base, file_id), logs, bool(files) and files <= latest)


def _files(part: dict[str, Any]) -> set[str]:
    return {name for name in (part["base_file"], *part["log_files"]) if name}


def _short(name: str, file_id: str) -> str:
    """The name of a file without the id of its group, which the picture has above it."""
    return name.removeprefix(".").removeprefix(f"{file_id}_")
