"""Tables without data and with long timelines."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from hudi_reference import create_table
from hudi_reference.storage import LocalStorage
from hudi_reference.timeline.contents.metadata import WriteStat, write_commit_metadata
from hudi_reference.timeline.history.history import ArchivedAction
from hudi_reference.timeline.history.history_writer import encode_level_file, encode_manifest, rows_of
from hudi_reference.timeline.history.manifest import LevelFile
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

SCHEMA = {"type": "record", "name": "bench", "fields": [{"name": "id", "type": "string"}]}
HISTORY = ".hoodie/timeline/history"
#: Number of files of one level that are merged into one file of the next level.
BATCH = 10
_BEGIN, _STEP = datetime(2020, 1, 1), timedelta(seconds=40)


def instants(count: int) -> Iterator[Instant]:
    """Completed commits, one every forty seconds, each of which took a second."""
    for number in range(count):
        begin = _BEGIN + number * _STEP
        requested, completion = (f"{time:%Y%m%d%H%M%S}000" for time in (begin, begin + timedelta(seconds=1)))
        yield Instant(requested, "commit", State.COMPLETED, completion)


def commit_content(instant: Instant) -> bytes:
    """Completion metadata of a commit that wrote two files."""
    names = (f"00000000-0000-4000-8000-00000000000{n}-0_0-1-{n}_{instant.requested}.parquet" for n in range(2))
    stats = [WriteStat(name.partition("_")[0], "", name, size=400_000, writes=1000) for name in names]
    return write_commit_metadata("UPSERT", stats, SCHEMA, b"sync marker 16 b")


def make_active_timeline(folder: Path, count: int) -> Path:
    """A table with this number of completed commits on its active timeline, three files each."""
    create_table(str(folder), name="bench", schema=SCHEMA, record_key=("id",))
    timeline = folder / ".hoodie" / "timeline"
    timeline.mkdir()
    for instant in instants(count):
        (timeline / f"{instant.requested}.commit.requested").touch()
        (timeline / f"{instant.requested}.inflight").touch()
        (timeline / instant.file_name).touch()
    return folder


def make_history(folder: Path, count: int) -> Path:
    """A table with this number of commits in the history, in files as merging leaves them: large ones first."""
    create_table(str(folder), name="bench", schema=SCHEMA, record_key=("id",))
    storage, files = LocalStorage(folder), []
    first = next(instants(1))
    pattern, time = (
        commit_content(first),
        first.requested.encode(),
    )  # all times have the same length and can be replaced in place
    rest = [ArchivedAction(instant, pattern.replace(time, instant.requested.encode())) for instant in instants(count)]
    for level, size in _shape(count):
        part, rest = rest[:size], rest[size:]
        times = part[0].instant.requested, part[-1].instant.requested
        name, data = f"{times[0]}_{times[1]}_{level}.parquet", encode_level_file(rows_of(part))
        storage.create(f"{HISTORY}/{name}", data)
        files.append(LevelFile(name, len(data), *times, level))
    storage.create(f"{HISTORY}/manifest_1", encode_manifest(files))
    storage.create(f"{HISTORY}/_version_", b"1")
    return folder


def _shape(count: int) -> Iterator[tuple[int, int]]:
    """Level and number of actions of each file, oldest first: ten files of ten actions, nine of a hundred, and so on."""
    left, level, sizes = count, 0, []
    while left > 0:
        size = BATCH ** (level + 1)
        files = min(BATCH if level == 0 else BATCH - 1, -(-left // size))
        sizes += [(level, min(size, left - number * size)) for number in range(files)]
        left -= files * size
        level += 1
    yield from reversed(sizes)
