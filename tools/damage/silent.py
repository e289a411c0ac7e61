"""The damages that the bytes of a table do not show, with the reason. docs/damage.md explains each.

A reason holds for a kind of damage to a class of files, never for a table or a place that a seed has drawn.
"""

from collections.abc import Mapping

from tools.damage.experiment import Result
from tools.damage.kinds import class_of
from tools.damage.tables import Sample

from hudi_reference.layout.names import LogFileName, parse_data_file_name

#: Kinds of damage that keep the length of the file, and those that remove a file from its name.
_IN_PLACE, _REMOVED = ("flip", "zeros", "junk"), ("delete", "rename", "move")
PENDING = "the action looks pending"
LOG_VALUES = "values in log blocks have no checksum"
FOOTER = "Parquet footers have no checksum, and pages need none"
PROPERTIES = "the checksum of hoodie.properties covers two names"
ARCHIVED = "no file that a reader reads names the files of archived writes"
SHARED = "before version 8 any write appended to a log file"
TIME = "nothing else has the completion time"
#: The reason for damage in place, by the class of the file.
_VALUES = {"log file": LOG_VALUES, "base file": FOOTER}


def reason_of(result: Result, samples: Mapping[str, Sample]) -> str | None:
    """Why the bytes of the table do not show this damage; None if they do."""
    kind, path = result.damage.kind, result.damage.path
    where, sample = class_of(path), samples[result.table]
    if where == "completed instant" and kind in _REMOVED:
        return PENDING if kind != "rename" or _instant_of(path) not in _instant_of(result.damage.detail) else TIME
    if where == "properties":
        return PROPERTIES
    files = [p for p in sample.objects if (p == path or p.startswith(f"{path}/")) and not p.startswith(".hoodie/")]
    if files and all(_is_archived(p, sample) for p in files):
        return ARCHIVED
    if kind in _IN_PLACE and where in _VALUES:
        return _VALUES[where]
    name = parse_data_file_name(path.rpartition("/")[2])
    if isinstance(name, LogFileName) and path not in sample.written.get(name.instant, ()):
        return SHARED
    return None


def _instant_of(path: str) -> str:
    return path.rpartition("/")[2].partition("_")[0]


def _is_archived(path: str, sample: Sample) -> bool:
    """Whether no action of the active timeline names the file."""
    return not any(path in paths for paths in sample.written.values())
