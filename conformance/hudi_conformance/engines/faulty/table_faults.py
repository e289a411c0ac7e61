"""Changes of a copy of a table, after which a correct reader returns wrong rows.

Each function takes the base path of the copy and changes files, never rows: a case detects the faulty engine only if its table
holds the data that the engine ignores.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from urllib.parse import unquote, urlparse

from hudi_reference.files.log.block import Block, BlockType, HeaderKey
from hudi_reference.files.log.reader import read_blocks
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_reference.timeline.contents.metadata import WriteStat, write_commit_metadata
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import State

#: Changes the copy of a table at this base path.
TableFault = Callable[[Path], None]

#: An instant time later than that of every instant.
_NEVER = "9" * 17


@contextmanager
def changed_copy(uri: str, change: TableFault) -> Iterator[str]:
    """The URI of a changed copy of the table at `uri` (a `file://` URI). The copy is deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="hudi-faulty-") as folder:
        copy = Path(folder) / "table"
        shutil.copytree(unquote(urlparse(uri).path), copy)
        change(copy)
        yield copy.as_uri()


def without_logs(table: Path) -> None:
    """Change the table so that no block of a log file is applied."""
    _detach_blocks(table, set(BlockType))


def without_delete_blocks(table: Path) -> None:
    """Change the table so that no delete block is applied."""
    _detach_blocks(table, {BlockType.DELETE})


def without_rollback_commands(table: Path) -> None:
    """Change the table so that no rollback command is applied."""
    _detach_blocks(table, {BlockType.COMMAND})


def without_the_latest_commit(table: Path) -> None:
    """Make the latest completed write pending again."""
    writes = [i for i in _instants(table) if i.state is State.COMPLETED and i.action in _WRITES]
    if writes:
        (_timeline(table) / max(writes, key=lambda i: i.completion or "").file_name).unlink()


def with_pending_writes_completed(table: Path) -> None:
    """Complete the requested and inflight writes."""
    for instant in _instants(table):
        if instant.state is not State.COMPLETED and instant.action in _WRITES:
            _complete(table, instant.requested)


def with_every_file_committed(table: Path) -> None:
    """Complete the instant of every data file, and replace no file group."""
    with_no_group_replaced(table)
    for _, parsed in _data_files(table):
        _complete(table, parsed.instant)


def with_no_group_replaced(table: Path) -> None:
    """Turn each completed replacecommit into a commit that wrote the same files."""
    for instant in _instants(table):
        if instant.action == "replacecommit" and instant.state is State.COMPLETED:
            (_timeline(table) / instant.file_name).unlink()
            _complete(table, instant.requested)


def with_a_group_for_each_base_file(table: Path) -> None:
    """Put each base file except the newest of its group into a file group of its own, so that its old rows are read."""
    groups: dict[tuple[Path, str], list[tuple[Path, BaseFileName]]] = {}
    for path, parsed in _data_files(table):
        if isinstance(parsed, BaseFileName):
            groups.setdefault((path.parent, parsed.file_id), []).append((path, parsed))
    for files in groups.values():
        for path, parsed in sorted(files, key=lambda file: file[1].instant)[:-1]:
            _copy_into_new_group(table, path, parsed)


def _copy_into_new_group(table: Path, path: Path, parsed: BaseFileName) -> None:
    """Copy a base file into a new file group and a new instant, because commit metadata names all base files of an instant."""
    used = {instant.requested for instant in _instants(table)}
    instant = next(time for n in count(1) if (time := _later(parsed.instant, n)) not in used)
    alone = BaseFileName(f"{parsed.instant}-{parsed.file_id}", parsed.write_token, instant, parsed.extension)
    shutil.copyfile(path, path.parent / str(alone))
    _complete(table, instant)


def with_commit_time_ordering(table: Path) -> None:
    """Set the merge mode to commit time, and remove properties that contradict it."""
    contradictions = ("hoodie.record.merge.strategy.id", "hoodie.compaction.payload.class")
    _set_properties(table, {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}, without=contradictions)


def with_known_versions(table: Path) -> None:
    """Replace unknown versions and merge strategies by known ones."""
    _set_properties(table, {"hoodie.table.version": "8", "hoodie.timeline.layout.version": "2"})
    if "hoodie.record.merge.mode=CUSTOM" in _properties(table).read_text().splitlines():
        with_commit_time_ordering(table)


_WRITES = frozenset({"commit", "deltacommit", "replacecommit"})


def _timeline(table: Path) -> Path:
    return table / ".hoodie" / "timeline"


def _instants(table: Path) -> list[Instant]:
    found = (parse_instant_name(path.name) for path in sorted(_timeline(table).iterdir()))
    return [instant for instant in found if instant is not None]


def _data_files(table: Path) -> Iterator[tuple[Path, BaseFileName | LogFileName]]:
    for path in sorted(table.rglob("*")):
        parsed = parse_data_file_name(path.name)
        if parsed is not None and ".hoodie" not in path.relative_to(table).parts:
            yield path, parsed


def _complete(table: Path, requested: str) -> None:
    """Give the instant a completed file that names all its data files, unless it has one."""
    if any(i.requested == requested and i.state is State.COMPLETED for i in _instants(table)):
        return
    stats = [_stat(table, path, parsed) for path, parsed in _data_files(table) if parsed.instant == requested]
    completed = Instant(requested, "commit", State.COMPLETED, _later(requested, 1))
    (_timeline(table) / completed.file_name).write_bytes(write_commit_metadata("UPSERT", stats, None, bytes(16)))


def _stat(table: Path, path: Path, parsed: BaseFileName | LogFileName) -> WriteStat:
    partition = path.parent.relative_to(table).as_posix()
    return WriteStat(
        file_id=parsed.file_id,
        partition="" if partition == "." else partition,
        path=path.relative_to(table).as_posix(),
        size=path.stat().st_size,
        is_log=isinstance(parsed, LogFileName),
    )


def _later(time: str, milliseconds: int) -> str:
    """Digits that sort after `time`. They need not be a valid date."""
    return f"{int(time) + milliseconds:0{len(time)}}"


def _detach_blocks(table: Path, kinds: set[BlockType]) -> None:
    """Make blocks of these kinds belong to an instant that does not exist, without a change of the length of a file.

    For a command block, the target instant is changed.
    """
    for path, parsed in _data_files(table):
        if isinstance(parsed, LogFileName):
            data = bytearray(path.read_bytes())
            for block in read_blocks(memoryview(bytes(data)), path.name):
                if block.kind in kinds:
                    _detach(data, block)
            path.write_bytes(data)


def _detach(data: bytearray, block: Block) -> None:
    key = HeaderKey.TARGET_INSTANT_TIME if block.kind is BlockType.COMMAND else HeaderKey.INSTANT_TIME
    if instant := block.header.get(key):
        at = data.find(instant.encode(), block.offset, block.end)
        data[at : at + len(instant)] = _NEVER[: len(instant)].encode()


def _properties(table: Path) -> Path:
    return table / ".hoodie" / "hoodie.properties"


def _set_properties(table: Path, values: dict[str, str], without: tuple[str, ...] = ()) -> None:
    """Replace entries and remove others; the checksum stays valid, because it covers the table's name only."""
    gone = {*values, *without}
    kept = [line for line in _properties(table).read_text().splitlines() if line.partition("=")[0] not in gone]
    lines = [*kept, *(f"{key}={value}" for key, value in values.items())]
    _properties(table).write_text("\n".join(lines) + "\n")
