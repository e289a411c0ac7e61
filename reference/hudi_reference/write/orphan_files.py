"""Orphan files: data files of failed attempts at tasks of an action, spec "Base Files", "Log Files".

The metadata of an action names the files of its successful attempts. Write tokens distinguish attempts, but the greatest token
need not be that of the successful one, and tokens of different actions are unrelated (ER-022).
"""

from collections.abc import Callable, Collection, Mapping

from hudi_reference.errors import MalformedTable, UnsupportedFeature
from hudi_reference.files.log.block import BlockType, CorruptBlock
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline

#: Whether a data file is an orphan, by its path and the instant in its name.
Judge = Callable[[str, str], bool]


@implements("BF-007", "LF-007")
def unnamed_files(named: Mapping[str, Collection[str]]) -> Judge:
    """Finds files that the metadata of their action does not name.

    `named` are the files that the metadata names, by the requested time of each completed action that is examined.
    """
    return lambda path, instant: instant in named and path not in named[instant]


@implements("ARC-004")
def uncommitted_files(timeline: Timeline, before: str) -> Judge:
    """Finds files whose action was requested before that time and did not complete.

    If the active timeline began at `before`, they would count as files of archived actions. No action may be pending there.
    """
    return lambda _, instant: instant < before and timeline.completion_of(instant) is None


@implements("BF-007", "LF-007")
def orphan_files(storage: Storage, *judges: Judge) -> tuple[str, ...]:
    """The paths of the data files that one of the judges selects, sorted; one listing.

    A log file that contains blocks of other actions, or a command block, is not an orphan: before table version 8 log files
    were named by their base file and shared.
    """
    orphans = []
    for info in storage.list(skip=META_FOLDER):
        name = parse_data_file_name(split_path(info.path)[1])
        if name is None or not any(judge(info.path, name.instant) for judge in judges):
            continue
        if isinstance(name, BaseFileName) or _is_of_its_action(storage, info.path, name):
            orphans.append(info.path)
    return tuple(sorted(orphans))


def leftover_files(storage: Storage, groups: FileGroups) -> tuple[str, ...]:
    """The paths of data files of completed actions that the metadata of their action does not name, sorted.

    Only actions of the active timeline are examined, because only their metadata is loaded.
    """
    return orphan_files(storage, unnamed_files(groups.committed_files().by_write))


def _is_of_its_action(storage: Storage, path: str, name: LogFileName) -> bool:
    """Whether all blocks of a log file were written by the action in its name.

    Damaged blocks are ignored. A file that cannot be read counts as shared, so that it is kept.
    """
    try:
        blocks = [block for block in read_log_file(storage, path) if not isinstance(block, CorruptBlock)]
    except (MalformedTable, UnsupportedFeature):
        return False
    return all(block.instant == name.instant and block.kind is not BlockType.COMMAND for block in blocks)


def remove_leftover_files(storage: Storage, groups: FileGroups) -> tuple[str, ...]:
    """Delete these files; their paths. No reader of the table sees a difference."""
    leftovers = leftover_files(storage, groups)
    for path in leftovers:
        storage.delete(path)
    return leftovers
