"""The damages that the bytes of a table do not show, each with a condition on the damage and the reason.

A condition compares the table before and after the damage; it never names a table or a place that a seed has drawn.
docs/damage.md explains each.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
from tools.damage.experiment import Result, damaged
from tools.damage.kinds import Objects, class_of
from tools.damage.tables import Sample

from hudi_reference.errors import HudiError
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock
from hudi_reference.files.log.reader import read_blocks
from hudi_reference.layout.java_properties import load
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.query.slice_reader import partial_columns
from hudi_reference.timeline.contents.metadata import read_commit_metadata

#: Kinds of damage that remove a file from its name, those that change bytes and no length, and those that exchange whole files.
_REMOVED, _IN_PLACE, _EXCHANGED = ("delete", "rename", "move", "delete folder"), ("flip", "zeros", "junk"), ("replace", "swap")
#: The keys that the checksum of the properties covers, and itself.
_COVERED = {"hoodie.table.name", "hoodie.database.name", "hoodie.table.checksum"}
_DATA = ("log file", "base file")
#: Blocks whose content has neither checksums nor lengths of compressed parts.
_WITHOUT_CHECKSUM = (BlockType.AVRO_DATA, BlockType.DELETE, BlockType.CDC_DATA, BlockType.COMMAND)

#: The end of the path of a completed file; of version 6 without a completion time.
_COMPLETED = re.compile(r"^\.hoodie/(?!metadata/)(.*/)?\d{17}(_\d{17})?\.[a-z]+$")

Condition = Callable[[Result, Sample, Objects], bool]


def reason_of(result: Result, samples: Mapping[str, Sample]) -> str | None:
    """Why the bytes of the table do not show this damage; None if they do."""
    sample, after = samples[result.table], damaged(result.seed, list(samples.values()))
    return next((reason for reason, holds in REASONS.items() if holds(result, sample, after)), None)


def _looks_pending(result: Result, sample: Sample, after: Objects) -> bool:
    """A completed file is gone, no other file completes its action, and a pending file of the action is left."""
    gone = _gone_actions(sample, after)
    return bool(gone) and all(
        any(_time(one) == _time(path) for one in after if class_of(one) == "pending instant") for path in gone
    )


def _looks_rolled_back(result: Result, sample: Sample, after: Objects) -> bool:
    """A completed file is gone, and no file of its action is left on the timeline."""
    gone = _gone_actions(sample, after)
    return bool(gone) and not any(_time(one) == _time(path) for one in after if "instant" in class_of(one) for path in gone)


def _gone_actions(sample: Sample, after: Objects) -> list[str]:
    """The completed files of actions that no file completes after the damage."""
    completed = {_action(path) for path in after if _COMPLETED.search(path)}
    return [path for path in sample.objects if _COMPLETED.search(path) and _action(path) not in completed]


def _has_other_time(result: Result, sample: Sample, after: Objects) -> bool:
    """The completed file of an action got another completion time, which is not before its requested time."""
    first, second = (re.search(r"/(\d{17})_(\d{17})\.\w+$", path) for path in (result.damage.path, result.damage.detail))
    if result.damage.kind != "rename" or first is None or second is None:
        return False
    return second[1] <= second[2] and _action(first[0]) == _action(second[0])


def _action(path: str) -> str:
    """The path of a completed file without its completion time; the path of another file."""
    return re.sub(r"/(\d+)_\d+\.(\w+)$", r"/\1.\2", path)


def _time(path: str) -> str:
    """The requested time in the name of a file of the timeline."""
    return re.split("[_.]", path.rpartition("/")[2])[0]


def _changes_a_property(result: Result, sample: Sample, after: Objects) -> bool:
    """The properties are valid, and an entry that the checksum does not cover differs or is lost; or the checksum itself is."""
    if class_of(result.damage.path) != "properties" or PROPERTIES_PATH not in after:
        return False
    with suppress(HudiError):
        before, now = load(sample.objects[PROPERTIES_PATH]), load(after[PROPERTIES_PATH])
        changed = {key for key, _ in before.items() ^ now.items()}
        return bool(changed) and (not changed & _COVERED or "hoodie.table.checksum" not in now)
    return False


def _is_archived(result: Result, sample: Sample, after: Objects) -> bool:
    """Data files of archived writes are gone, shorter, or have the content of other files."""
    changed = _changed_data(sample, after)
    first = min((_time(path) for path in sample.objects if _COMPLETED.search(path)), default="")
    named = {path for paths in sample.written.values() for path in paths}
    names = [parse_data_file_name(path.rpartition("/")[2]) for path in changed]
    are_older = all(name is not None and name.instant < first for name in names)
    return result.damage.kind not in _IN_PLACE and bool(changed) and are_older and not named.intersection(changed)


def _is_rollback_command(result: Result, sample: Sample, after: Objects) -> bool:
    """Log files that hold rollback commands only, which no metadata names, are gone or have other content."""
    changed = _changed_data(sample, after)
    named = {path for paths in sample.written.values() for path in paths}
    return (
        bool(changed) and not named.intersection(changed) and all(_has_commands_only(sample.objects[path]) for path in changed)
    )


def _has_commands_only(data: bytes) -> bool:
    with suppress(HudiError):
        kinds = {one.kind for one in read_blocks(memoryview(data), "log")}
        return kinds == {BlockType.COMMAND}
    return False


def _changed_data(sample: Sample, after: Objects) -> list[str]:
    return [path for path, data in sample.objects.items() if after.get(path) != data and class_of(path) in _DATA]


def _has_no_history(result: Result, sample: Sample, after: Objects) -> bool:
    """No file of the timeline history is left."""
    return any(class_of(path) == "history" for path in sample.objects) and not any(class_of(p) == "history" for p in after)


def _has_no_version_file(result: Result, sample: Sample, after: Objects) -> bool:
    """No file names the valid manifest of the timeline history; that file or a manifest is gone, and manifests are left."""
    gone = [path for path in sample.objects if re.search(r"/(_version_|manifest_\d+)$", path) and path not in after]
    is_named = any(path.endswith("/_version_") for path in after)
    return bool(gone) and not is_named and any("/manifest_" in path for path in after)


def _changes_values_of_blocks(result: Result, sample: Sample, after: Objects) -> bool:
    """A log file has the same blocks, with their places and types; bytes of headers differ, or values without a checksum."""
    path = result.damage.path
    if class_of(path) != "log file" or result.damage.kind not in _IN_PLACE:
        return False
    with suppress(HudiError):
        before, now = (list(read_blocks(memoryview(data), path)) for data in (sample.objects[path], after[path]))
        are_there = [(one.kind, one.offset, one.size) for one in before] == [(one.kind, one.offset, one.size) for one in now]
        values = (one for one, other in zip(before, now, strict=False) if bytes(one.content) != bytes(other.content))
        return are_there and all(one.kind in _WITHOUT_CHECKSUM or _lacks_checksums(one) for one in values)
    return False


def _lacks_checksums(block: Block | CorruptBlock) -> bool:
    """Whether it is a Parquet block of a writer that stores no checksums of pages."""
    is_parquet = isinstance(block, Block) and block.kind is BlockType.PARQUET_DATA
    return is_parquet and not _is_by_parquet_mr(bytes(block.content))


def _is_by_parquet_mr(data: bytes) -> bool:
    return str(pq.read_metadata(pa.BufferReader(data)).created_by).startswith("parquet-mr")


def _changes_bytes_of_parquet(result: Result, sample: Sample, after: Objects) -> bool:
    """A Parquet file has its length, and other bytes: in its footer, or in the pages of a writer that stores no checksums."""
    path = result.damage.path
    if not path.endswith(".parquet") or class_of(path) != "base file" or result.damage.kind not in _IN_PLACE:
        return False
    data = sample.objects[path]
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    first = next(place for place, (a, b) in enumerate(zip(data, after[path], strict=True)) if a != b)
    return first >= footer or not _is_by_parquet_mr(data)


def _is_of_another_attempt(result: Result, sample: Sample, after: Objects) -> bool:
    """A log file has the content of another attempt of the same write to the same file group."""
    names = _exchanged_logs(result)
    folders = {path.rpartition("/")[0] for path in (result.damage.path, result.damage.detail.removeprefix("by "))}
    return (
        names is not None
        and len(folders) == 1
        and names[0].instant == names[1].instant
        and names[0].file_id == names[1].file_id
    )


def _is_shared(result: Result, sample: Sample, after: Objects) -> bool:
    """A log file of a table of version 6 has the content of another one of its group."""
    names = _exchanged_logs(result)
    is_old = load(sample.objects[PROPERTIES_PATH]).get("hoodie.table.version") == "6"
    return names is not None and is_old and names[0].file_id == names[1].file_id


def _may_keep_names(result: Result, sample: Sample, after: Objects) -> bool:
    """A base file of a table from before version 8 has the content of an earlier one of its group."""
    other = result.damage.detail.removeprefix("by ")
    own, given = (parse_data_file_name(path.rpartition("/")[2]) for path in (result.damage.path, other))
    entries = load(sample.objects[PROPERTIES_PATH])
    is_exchange = result.damage.kind in _EXCHANGED and isinstance(own, BaseFileName) and isinstance(given, BaseFileName)
    return is_exchange and own.file_id == given.file_id and int(entries.get("hoodie.table.initial.version", "0")) < 8


def _exchanged_logs(result: Result) -> tuple[LogFileName, LogFileName] | None:
    other = result.damage.detail.removeprefix("by ")
    first, second = (parse_data_file_name(path.rpartition("/")[2]) for path in (result.damage.path, other))
    is_exchange = result.damage.kind in _EXCHANGED and isinstance(first, LogFileName) and isinstance(second, LogFileName)
    return (first, second) if is_exchange else None  # type: ignore[return-value]


def _names_no_file(result: Result, sample: Sample, after: Objects) -> bool:
    """A completed file has the content of a write that named no file, and no data file has the instant of the action."""
    path = result.damage.path
    if result.damage.kind not in _EXCHANGED or class_of(path) != "completed instant":
        return False
    with suppress(HudiError):
        found = read_commit_metadata(after[path], path)
        names = (parse_data_file_name(one.rpartition("/")[2]) for one in after)
        return not any(stat.path for stat in found.stats) and _time(path) not in {one.instant for one in names if one}
    return False


def _changes_a_schema_alone(result: Result, sample: Sample, after: Objects) -> bool:
    """Only the schema in the metadata of a write has changed, and the query reads none of its files, or a part of the columns.

    A read-optimized query reads no log file, and blocks of partial updates have a part of the columns.
    """
    path = result.damage.path
    if class_of(path) != "completed instant" or path not in after:
        return False
    with suppress(HudiError):
        before, now = (read_commit_metadata(objects[path], path) for objects in (sample.objects, after))
        return before != now == replace(before, schema=now.schema) and all(
            _is_partial(sample.objects.get(stat.path, b"")) or (result.question == "read-optimized" and ".log." in stat.path)
            for stat in before.stats
        )
    return False


def _is_partial(data: bytes) -> bool:
    with suppress(HudiError):
        blocks = list(read_blocks(memoryview(data), "log"))
        return bool(blocks) and all(isinstance(one, Block) and partial_columns(one) is not None for one in blocks)
    return False


REASONS: Mapping[str, Condition] = {
    "the action looks pending": _looks_pending,
    "the action looks rolled back": _looks_rolled_back,
    "nothing else has the completion time": _has_other_time,
    "the checksum of hoodie.properties covers two names": _changes_a_property,
    "no file that a reader reads names the files of archived writes": _is_archived,
    "nothing names the files of rollback commands": _is_rollback_command,
    "without a history, archived writes count as completed at their requested times": _has_no_history,
    "without the version file of the history its newest manifest counts": _has_no_version_file,
    "headers and values of log blocks have no checksum": _changes_values_of_blocks,
    "Parquet footers have no checksum, and pages need none": _changes_bytes_of_parquet,
    "log files of two attempts of one write have no mark of the attempt": _is_of_another_attempt,
    "before version 8 any write appended to a log file": _is_shared,
    "before version 8 rows may have the name of an earlier file of their group": _may_keep_names,
    "metadata without files has no mark of its action": _names_no_file,
    "no file that the query reads has the columns of the write": _changes_a_schema_alone,
}
