"""Each file of `.hoodie` is damaged in each way: a query returns the rows of the table or raises a typed error.

One damage cannot be detected: an action whose completed file was deleted is, by the rules of the format, not completed.
"""

import random
from collections.abc import Callable, Iterator

import pytest
from history_samples import FOLDER, Counting, level_file, name_of, put_history
from reference_samples import TABLE_TYPES, new_table, trip, trips

from hudi_reference import open_table
from hudi_reference.errors import HudiError, MalformedTable, UnsupportedFeature
from hudi_reference.layout.properties import TableProperties
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.active import load_timeline

META = ".hoodie/"
Damage = Callable[[MemoryStorage, str], None]
Row = tuple[object, ...]


def table_with_history(table_type: str) -> MemoryStorage:
    """Four writes to two groups of files, of which the first is in the history, and a write that is still inflight."""
    table = new_table(table_type=table_type, partition=("p",))
    first = table.insert(trips(trip("1", "a", 1, "x"), trip("2", "b", 1, "y")))
    table.upsert(trips(trip("1", "c", 2, "x")))
    table.upsert(trips(trip("2", "d", 3, "y"), trip("3", "e", 1, "y")))
    last = table.upsert(trips(trip("1", "not committed", 9, "x")))
    storage = table.storage
    assert isinstance(storage, MemoryStorage)
    (done,) = [instant for instant in table.timeline.completed if instant.requested == first]
    for name in storage.names(".hoodie/timeline"):
        if name.startswith(first) or name.startswith(f"{last}_"):
            storage.delete(f".hoodie/timeline/{name}")
    archived = (first, done.completion, done.action)
    put_history(storage, {name_of([archived]): level_file(archived)})
    return storage


def copy_of(storage: Storage) -> MemoryStorage:
    """The same objects once more."""
    copy = MemoryStorage()
    for info in storage.list():
        copy.put(info.path, storage.get(info.path))
    return copy


def rows_of(storage: Storage) -> list[Row]:
    """The rows of a snapshot, sorted."""
    found = open_table("x:", storage=storage).snapshot(["id", "name", "ts"])
    return sorted(zip(*(found.column(name).to_pylist() for name in ("id", "name", "ts")), strict=True))


def answer(storage: Storage) -> list[Row] | None:
    """The rows of a snapshot, None for a typed error; the timeline with its whole history must not crash either."""
    for ask in (
        lambda: open_table("x:", storage=storage).inspect(),
        lambda: open_table("x:", storage=storage).timeline.history,
    ):
        try:
            ask()
        except (MalformedTable, UnsupportedFeature):
            continue
    try:
        return rows_of(storage)
    except HudiError as error:
        assert isinstance(error, MalformedTable | UnsupportedFeature), "the table is to blame"
        assert error.rule is not None
        return None


def gone(storage: MemoryStorage, path: str) -> None:
    """The file is not there."""
    storage.delete(path)


def emptied(storage: MemoryStorage, path: str) -> None:
    """The file has no bytes."""
    storage.put(path, b"")


def replaced(storage: MemoryStorage, path: str) -> None:
    """Noise of the same length."""
    storage.put(path, random.Random(path).randbytes(len(storage.get(path))))


def zeroed(storage: MemoryStorage, path: str) -> None:
    """Zeros of the same length, as a file system may leave them after a crash."""
    storage.put(path, bytes(len(storage.get(path))))


def folder(storage: MemoryStorage, path: str) -> None:
    """A folder with an object in it."""
    storage.delete(path)
    storage.put(f"{path}/x", b"x")


def doubled(storage: MemoryStorage, path: str) -> None:
    """The content twice."""
    storage.put(path, storage.get(path) * 2)


def longer(storage: MemoryStorage, path: str) -> None:
    """Noise after the content."""
    storage.put(path, storage.get(path) + b"\0\1\2noise")


DAMAGES: tuple[Damage, ...] = (gone, emptied, replaced, zeroed, folder, doubled, longer)


def is_completed(path: str) -> bool:
    """Whether a path is that of a completed action on the active timeline."""
    return path.startswith(".hoodie/timeline/2") and "_" in path.rpartition("/")[2]


@pytest.fixture(params=TABLE_TYPES, scope="module")
def whole(request: pytest.FixtureRequest) -> MemoryStorage:
    """The undamaged table."""
    return table_with_history(request.param)


RIGHT: list[Row] = [("1", "c", 2), ("2", "d", 3), ("3", "e", 1)]


def metadata_files(storage: Storage) -> Iterator[str]:
    """Every file below `.hoodie`."""
    return (info.path for info in storage.list(".hoodie"))


def test_the_undamaged_table_is_read(whole: MemoryStorage) -> None:
    """The tests below depend on this."""
    assert rows_of(whole) == RIGHT
    assert len(open_table("x:", storage=whole).timeline.history) == 1
    assert len(list(metadata_files(whole))) > 10


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_an_error_or_changes_nothing(whole: MemoryStorage, damage: Damage) -> None:
    """LAY-017, TL-002, LSM-003, LSM-009, LSM-012, PROP-011: each file of `.hoodie` in turn."""
    for path in metadata_files(whole):
        storage = copy_of(whole)
        damage(storage, path)
        found = answer(storage)
        if not (damage is gone and is_completed(path)):
            assert found in (None, RIGHT), f"{path}: {damage.__doc__}"


def test_a_truncated_file_is_an_error_or_changes_nothing(whole: MemoryStorage) -> None:
    """The same files, of each of them every beginning up to 40 bytes, and some longer ones."""
    chance = random.Random(7)
    for path in metadata_files(whole):
        data = whole.get(path)
        cuts = {*range(min(len(data), 40)), *chance.choices(range(len(data) + 1), k=20), max(0, len(data) - 1)}
        for cut in cuts - {len(data)}:
            storage = copy_of(whole)
            storage.put(path, data[:cut])
            if "hoodie.properties" in path:  # a cut may leave a whole properties file that says less (ER-020)
                answer(storage)
            else:
                assert answer(storage) in (None, RIGHT), f"{path} cut to {cut} bytes"


def test_a_changed_byte_gives_rows_or_a_typed_error(whole: MemoryStorage) -> None:
    """No file but a level file has a checksum over its content, so another answer may be right; a crash never is."""
    chance = random.Random(11)
    for path in metadata_files(whole):
        data = whole.get(path)
        for place in chance.choices(range(len(data)), k=10) if data else ():
            storage = copy_of(whole)
            storage.put(path, data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1 :])
            answer(storage)


def is_legal(path: str) -> bool:
    """Whether the content of this file of the timeline is valid for a completed write."""
    return path.endswith((".inflight", ".deltacommit"))


def test_exchanged_contents_are_errors_or_change_nothing(whole: MemoryStorage) -> None:
    """BF-009, LSM-011: each file of the timeline and its history with the content of each other one.

    Valid contents are excluded: metadata of a write that wrote nothing, which the inflight files here have, and of a write that
    appended to the log files of another one.
    """
    paths = [path for path in metadata_files(whole) if path.startswith(".hoodie/timeline/")]
    for path in paths:
        for other in paths:
            if whole.get(other) != whole.get(path) and not (is_completed(path) and is_legal(other)):
                storage = copy_of(whole)
                storage.put(path, whole.get(other))
                assert answer(storage) in (None, RIGHT), f"{path} with the content of {other}"


def test_two_completions_of_one_instant_count_once(whole: MemoryStorage) -> None:
    """TL-052: a second completed file with a later time changes no row."""
    for path in filter(is_completed, metadata_files(whole)):
        storage = copy_of(whole)
        times, _, action = path.partition(".hoodie/timeline/")[2].partition(".")
        requested, completion = times.split("_")
        storage.put(f".hoodie/timeline/{requested}_{int(completion) + 1:017}.{action}", whole.get(path))
        assert answer(storage) == RIGHT


@pytest.mark.parametrize("path", [".hoodie/timeline", FOLDER, ".hoodie"])
def test_a_file_in_place_of_a_folder_is_an_error(whole: MemoryStorage, path: str) -> None:
    """LAY-012, LAY-017, LSM-001: it must not be read as an empty folder."""
    storage = copy_of(whole)
    for info in whole.list(path):
        storage.delete(info.path)
    storage.put(path, b"no folder")
    with pytest.raises(MalformedTable):
        open_table("x:", storage=storage).timeline.history  # noqa: B018


def test_a_hundred_thousand_instants_cost_one_listing() -> None:
    """TL-046: one listing, as many instants; the requests do not grow with them."""
    storage = MemoryStorage()
    storage._objects = {f".hoodie/timeline/2026{n:013}_2027{n:013}.commit": (b"", n) for n in range(100_000)}
    counted = Counting(storage)
    timeline = load_timeline(counted, TableProperties({}))
    assert len(timeline.completed) == 100_000
    assert timeline.completion_of("20260000000099999") == "20270000000099999"
    assert counted.taken() == {"names": 1}
