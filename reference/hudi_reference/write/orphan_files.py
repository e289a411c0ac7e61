"""Files that attempts left behind which lost against another attempt of the same action, spec "Base Files", "Log Files".

Which attempt won says the action's metadata, which names its files; write tokens tell attempts apart, but the greatest one need
not have won, and tokens of different actions have nothing to do with each other (ER-022).
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

#: Whether a data file was left behind, by its path and the instant in its name.
Judge = Callable[[str, str], bool]


@implements("BF-007", "LF-007")
def lost(named: Mapping[str, Collection[str]]) -> Judge:
    """Files that the metadata of their action does not name. `named` are those that it does, by requested time, of the actions
    that are asked about; they have completed.
    """
    return lambda path, instant: instant in named and path not in named[instant]


@implements("ARC-004")
def uncommitted(timeline: Timeline, before: str) -> Judge:
    """Files whose action was requested before that time and did not complete.

    Once the active timeline begins at `before`, they would count as those of archived actions. Nothing may be pending there.
    """
    return lambda _, instant: instant < before and timeline.completion_of(instant) is None


@implements("BF-007", "LF-007")
def files_left_behind(storage: Storage, *judges: Judge) -> tuple[str, ...]:
    """The paths of the data files that one of these finds were left behind, sorted; one listing.

    A log file of such a name that holds blocks of other actions, or a command, belongs to those: tables before version 8 named
    log files by their base file.
    """
    found = []
    for info in storage.list(skip=META_FOLDER):
        name = parse_data_file_name(split_path(info.path)[1])
        if name is None or not any(judge(info.path, name.instant) for judge in judges):
            continue
        if isinstance(name, BaseFileName) or _is_of_its_action(storage, info.path, name):
            found.append(info.path)
    return tuple(sorted(found))


def leftover_files(storage: Storage, groups: FileGroups) -> tuple[str, ...]:
    """The paths of data files of completed actions that the metadata of their action does not name, sorted.

    Only actions of the active timeline are judged, for only their metadata is at hand.
    """
    return files_left_behind(storage, lost(groups.written_files))


def _is_of_its_action(storage: Storage, path: str, name: LogFileName) -> bool:
    """Whether nothing in a log file comes from an action that its name does not tell. Damaged blocks come from nobody; a file
    that cannot be read is left alone.
    """
    try:
        blocks = [block for block in read_log_file(storage, path) if not isinstance(block, CorruptBlock)]
    except (MalformedTable, UnsupportedFeature):
        return False
    return all(block.instant == name.instant and block.kind is not BlockType.COMMAND for block in blocks)


def remove_leftover_files(storage: Storage, groups: FileGroups) -> tuple[str, ...]:
    """Delete these files; their paths. No reader of the table sees a difference."""
    found = leftover_files(storage, groups)
    for path in found:
        storage.delete(path)
    return found
