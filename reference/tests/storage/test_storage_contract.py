"""The contract of every storage, on which the rest of the reference relies."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from reference_samples import SCHEMA, TABLE_TYPES, data_rows, keys, trip, trips

from hudi_reference import clean, create_table, open_table, restore, rollback
from hudi_reference.errors import Misuse, NameNotStorable, PathOutsideTable, SymbolicLinkInTable
from hudi_reference.storage import (
    LocalStorage,
    MemoryStorage,
    ObjectChanged,
    ObjectExists,
    Storage,
    is_below,
    require_inside_table,
    storage_of,
)
from hudi_reference.storage.azure_and_google import AzureObjects
from hudi_reference.storage.uris import canonical_uri

ODD_KEYS = [
    "with space/and more.txt",
    "city=a%2Fb/file",
    "plain%20percent",
    "Zürich/日本/🚲",
    "h=1:2/x",
    "plus+and&and?question",
    "hash#mark",
    "quote'\"s",
    "tilde~/brackets[1]{2}",
    "back\\slash",
]


def test_get_returns_the_object_that_was_put(storage: Storage) -> None:
    """S3-006: an object appears whole, and a later put replaces it whole."""
    storage.put("a/b", b"first")
    storage.put("a/b", b"2")
    assert storage.get("a/b") == b"2"


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        (0, None, b"0123456789"),
        (3, 4, b"3456"),
        (8, 100, b"89"),
        (10, 5, b""),
        (99, None, b""),
        (4, None, b"456789"),
        (2, 0, b""),
    ],
)
def test_ranges_end_where_the_object_ends(storage: Storage, start: int, length: int | None, expected: bytes) -> None:
    """Storage.get: `length` bytes from byte `start` on, fewer if the object ends before, none beyond its end."""
    storage.put("digits", b"0123456789")
    assert storage.get("digits", start, length) == expected


def test_an_opened_object_can_be_read_anywhere(storage: Storage) -> None:
    """Storage.open: random access, which the footer of a Parquet file needs."""
    storage.put("digits", b"0123456789")
    with storage.open("digits") as file:
        file.seek(6)
        assert file.read(2) == b"67"
        file.seek(1)
        assert file.read(3) == b"123"


def test_a_large_object_can_be_read_anywhere(storage: Storage) -> None:
    """Storage.open: of an object of several megabytes an object store sends its end first, and then the parts that are read."""
    data = b"".join(number.to_bytes(4, "big") for number in range(600_000))
    storage.put("large", data)
    with storage.open("large") as file:
        assert file.size() == len(data)
        for place in (len(data) - 8, 0, len(data) - (1 << 20) - 3, 1_000_001):
            file.seek(place)
            assert file.read(11) == data[place : place + 11]
        file.seek(0)
        assert bytes(file.read()) == data


@pytest.mark.parametrize("data", [b"", b"\x00" * 70_000])
def test_objects_may_be_empty_or_larger_than_a_buffer(storage: Storage, data: bytes) -> None:
    """ER-008: requested files are empty objects, and an empty object exists like any other."""
    storage.create("object", data)
    with storage.open("object") as file:
        assert bytes(file.read()) == data
    found = storage.head("object")
    assert found is not None
    assert found.size == len(data)


@pytest.mark.parametrize("path", ["missing", "folder/missing", "folder", "file/below"])
def test_a_missing_object_is_reported(storage: Storage, path: str) -> None:
    """Storage: `get` and `open` raise FileNotFoundError, `head` gives None, `delete` raises no error; a folder is not an
    object.
    """
    storage.put("folder/there", b"x")
    storage.put("file", b"x")
    assert storage.head(path) is None
    with pytest.raises(FileNotFoundError):
        storage.get(path)
    with pytest.raises(FileNotFoundError):
        storage.get(path, 3, 2)
    with pytest.raises(FileNotFoundError):
        storage.open(path)
    if path != "folder":
        storage.delete(path)


def test_create_never_overwrites(storage: Storage) -> None:
    """S3-002: creation is exclusive, also against `put`; the first content stays."""
    storage.create("t/1.commit", b"mine")
    with pytest.raises(ObjectExists):
        storage.create("t/1.commit", b"yours")
    storage.put("other", b"put")
    with pytest.raises(ObjectExists):
        storage.create("other", b"yours")
    assert storage.get("t/1.commit") == b"mine"


def test_of_many_creators_exactly_one_succeeds(storage: Storage) -> None:
    """S3-002: however many writers create one object at once, one of them succeeds, and its bytes are stored."""
    for turn in range(5):
        start = threading.Barrier(8)

        def create(writer: int, turn: int = turn, start: threading.Barrier = start) -> int | None:
            start.wait()
            try:
                storage.create(f"race/{turn}", b"%d" % writer * 1000)
            except ObjectExists:
                return None
            return writer

        with ThreadPoolExecutor(8) as pool:
            winners = [writer for writer in pool.map(create, range(8)) if writer is not None]
        assert len(winners) == 1
        assert storage.get(f"race/{turn}") == b"%d" % winners[0] * 1000


def test_replace_succeeds_only_for_the_current_version(storage: Storage) -> None:
    """S3-001: a writer that knows an earlier version cannot replace the current one."""
    storage.put("lock", b"1")
    seen = storage.head("lock")
    assert seen is not None
    storage.replace("lock", b"2 bytes", seen.version)
    with pytest.raises(ObjectChanged):
        storage.replace("lock", b"3", seen.version)
    with pytest.raises(ObjectChanged):
        storage.replace("missing", b"3", seen.version)
    assert storage.get("lock") == b"2 bytes"
    assert storage.head("missing") is None


def test_of_many_replacers_of_one_version_exactly_one_succeeds(storage: Storage) -> None:
    """S3-001: compare and overwrite are one step."""
    storage.put("lock", b"start")
    seen = storage.head("lock")
    assert seen is not None
    start = threading.Barrier(6)

    def replace(writer: int) -> bool:
        start.wait()
        try:
            storage.replace("lock", b"writer %d" % writer, seen.version)
        except ObjectChanged:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(replace, range(6))) == 1


def test_listings_are_sorted_complete_and_by_folder(storage: Storage) -> None:
    """Storage.list: everything below the folder at any depth, by path; `ab` does not lie below `a`."""
    for path in ("b", "a/2", "a/1/x", "ab/1", "a/10", ".hoodie/t/1", ".hoodie/h/1", ".hoodiex"):
        storage.put(path, path.encode())
    assert [info.path for info in storage.list()] == [
        ".hoodie/h/1", ".hoodie/t/1", ".hoodiex", "a/1/x", "a/10", "a/2", "ab/1", "b",
    ]  # fmt: skip
    assert [info.path for info in storage.list("a")] == ["a/1/x", "a/10", "a/2"]
    assert [info.path for info in storage.list("a/")] == ["a/1/x", "a/10", "a/2"]
    assert [info.path for info in storage.list(skip=".hoodie")] == [".hoodiex", "a/1/x", "a/10", "a/2", "ab/1", "b"]
    assert [info.path for info in storage.list(".hoodie", skip=".hoodie/h/")] == [".hoodie/t/1"]
    assert storage.list("nothing") == []
    assert [info.size for info in storage.list("a")] == [5, 4, 3]


def test_head_and_listing_agree(storage: Storage) -> None:
    """Storage: the version of an object is the same in `head` and in a listing."""
    storage.put("a/b", b"xyz")
    assert storage.list("a") == [storage.head("a/b")]


def test_deleted_objects_are_gone(storage: Storage) -> None:
    """Storage.delete: a deleted object is not listed or found, and can be created again."""
    storage.put("a/b", b"x")
    storage.delete("a/b")
    storage.delete("a/b")
    assert storage.list() == []
    storage.create("a/b", b"y")


@pytest.mark.parametrize("key", ODD_KEYS)
def test_keys_are_taken_literally(storage: Storage, key: str) -> None:
    """LAY-006: partition values in paths are plain or percent-encoded; storage does not decode or encode them.

    Azure, which would store a backslash as a slash, refuses the name.
    """
    if isinstance(storage, AzureObjects) and "\\" in key:
        with pytest.raises(NameNotStorable, match="backslash"):
            storage.create(key, b"x")
        return
    storage.create(key, b"x")
    assert [info.path for info in storage.list()] == [key]
    assert storage.get(key) == b"x"
    assert storage.head(key) == storage.list()[0]
    with pytest.raises(ObjectExists):
        storage.create(key, b"y")
    storage.delete(key)
    assert storage.list() == []


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "a/./b", "..", ".", "a\0b", "a/.."])
def test_no_path_leads_outside(storage: Storage, path: str) -> None:
    """LAY-005: absolute paths, `.` and `..` steps and NUL are refused by every operation."""
    operations = [
        lambda: storage.get(path),
        lambda: storage.open(path),
        lambda: storage.head(path),
        lambda: storage.put(path, b""),
        lambda: storage.create(path, b""),
        lambda: storage.replace(path, b"", "1"),
        lambda: storage.delete(path),
        lambda: storage.list(path),
    ]
    for operation in operations:
        with pytest.raises(PathOutsideTable):
            operation()
    assert storage.list() == []


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_table_can_be_stored_on_each_storage(storage: Storage, table_type: str) -> None:
    """LAY-004: create, insert, upsert, delete and read work on every storage, with odd partition values too."""
    options = {"partition": ("p",), "ordering": ("ts",), "url_encode": True, "hive_style": True}
    table = create_table("x:", name="t", schema=SCHEMA, record_key=("id",), table_type=table_type, storage=storage, **options)
    table.insert(trips(trip("1", "a", 1, "São Paulo/1"), trip("2", "b", 1, "p:1"), trip("3", "c", 1, "p:1")))
    table.upsert(trips(trip("1", "late", 0, "São Paulo/1"), trip("2", "new", 2, "p:1"), trip("4", "d", 2, None)))
    table.delete(keys("3", p=["p:1"]))
    expected = [trip("1", "a", 1, "São Paulo/1"), trip("2", "new", 2, "p:1"), trip("4", "d", 2, None)]
    assert data_rows(open_table("x:", storage=storage).snapshot()) == expected
    folders = {info.path.rpartition("/")[0] for info in storage.list(skip=".hoodie")}
    assert folders == {"p=São Paulo%2F1", "p=p%3A1", "p=__HIVE_DEFAULT_PARTITION__"}


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_the_folder_of_all_markers_stays(tmp_path: Path, table_type: str) -> None:
    """OCC-026: writers of Apache Hudi with early conflict detection list the folder of all markers, and fail without it."""
    uri, folder = (tmp_path / "table").as_uri(), tmp_path / "table" / ".hoodie" / ".temp"
    table = create_table(uri, name="t", schema=SCHEMA, record_key=("id",), table_type=table_type)
    assert list(folder.iterdir()) == []
    table.insert(trips(trip("1", "a", 1, "x")))
    table.upsert(trips(trip("1", "b", 2, "x")))
    assert list(folder.iterdir()) == []


def test_partial_files_are_not_listed(tmp_path: Path) -> None:
    """S3-006: on a local disk a partially written file has a hidden name, and its remains have no effect."""
    storage = LocalStorage(tmp_path)
    storage.put("a/b", b"x")
    (tmp_path / "a" / ".staging~crashed").write_bytes(b"half")
    assert [info.path for info in storage.list()] == ["a/b"]
    assert [path.name for path in (tmp_path / "a").iterdir() if path.name != "b"] == [".staging~crashed"]


@pytest.mark.parametrize("name", ["hoodie.properties", "n" * 255])
def test_the_checksums_of_hadoop_are_removed_with_what_they_belong_to(tmp_path: Path, name: str) -> None:
    """S3-001: Hadoop's local file system stores checksums beside each file, and refuses a file that has those of earlier
    content. A file that is overwritten or deleted has none any more; those of other files stay.
    """
    storage, checksums = LocalStorage(tmp_path), tmp_path / "a" / f".{name[:200]}.crc"
    for change in (lambda: storage.put(f"a/{name}", b"second"), lambda: storage.delete(f"a/{name}")):
        storage.put(f"a/{name}", b"first")
        storage.put("a/other", b"")
        (tmp_path / "a" / ".other.crc").write_bytes(b"crc")
        checksums.write_bytes(b"crc")
        change()
        assert checksums.exists() == (len(name) > 200)
        assert (tmp_path / "a" / ".other.crc").exists()


def test_files_can_be_deleted_during_a_listing(tmp_path: Path) -> None:
    """Storage.list: a file that is deleted while the folder is walked is omitted."""
    storage = LocalStorage(tmp_path)
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            for number in range(50):
                storage.put(f"f{number}", b"x")
            for number in range(50):
                storage.delete(f"f{number}")

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(300):
            storage.list()
    finally:
        stop.set()
        thread.join()


def test_each_uri_scheme_selects_its_storage(tmp_path: Path) -> None:
    """LAY-004: plain paths and file URIs are folders, memory URIs are shared within the process, other schemes are refused."""
    folder = tmp_path / "with space"
    storage_of(str(folder)).put("x", b"1")
    assert storage_of(folder.as_uri()).get("x") == b"1"
    name = f"memory:///{tmp_path.name}"
    assert isinstance(storage_of(name), MemoryStorage)
    assert storage_of(name) is storage_of(name)
    with pytest.raises(Misuse, match="unknown storage scheme 'gopher'"):
        storage_of("gopher://host/table")


def test_the_uri_of_a_table_has_one_spelling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TL-014: relative paths, `.`, `..`, empty steps and symbolic links before `..` give the same absolute URI; URIs of other
    stores are unchanged."""
    table = tmp_path / "with space" / "t"
    table.mkdir(parents=True)
    (tmp_path / "link").symlink_to(table)
    monkeypatch.chdir(tmp_path)
    spelled = [
        "with space/t",
        "./with space//t/",
        f"{tmp_path}/x/../with space/t",
        table.as_uri(),
        f"{table.as_uri()}/",
        "link/../t",
    ]
    assert {canonical_uri(one) for one in spelled} == {table.as_uri()}
    assert canonical_uri("link") == (tmp_path / "link").as_uri()
    assert [canonical_uri(one) for one in ("s3://b/t", "memory:///t")] == ["s3://b/t", "memory:///t"]


def test_folders_are_compared_by_whole_steps() -> None:
    """LAY-005: whether a path is below a folder is decided by whole steps."""
    assert is_below("a/b", "a")
    assert is_below("a", "")
    assert not is_below("ab", "a")
    assert not is_below("a", "a")
    assert require_inside_table("a/b/") == "a/b"


#: The places of a link, and of an object that is reached through it.
LINKS = {"folder": ("p", "p/x"), "deep folder": ("a/p", "a/p/x"), "file": ("a/x", "a/x"), "nothing": ("gone", "gone/x")}


@pytest.mark.parametrize("kind", LINKS)
def test_no_operation_follows_a_link(tmp_path: Path, kind: str) -> None:
    """LAY-005: no object is read, listed, written or deleted through a symbolic link below the base path; the error names
    the link. The target of the link is unchanged."""
    link, path = LINKS[kind]
    outside, storage = tmp_path / "outside", LocalStorage(tmp_path / "table")
    outside.mkdir()
    (outside / "x").write_bytes(b"of another program")
    place = tmp_path / "table" / link
    place.parent.mkdir(parents=True)
    place.symlink_to({"file": outside / "x", "nothing": tmp_path / "nothing"}.get(kind, outside))
    operations = [
        lambda: storage.get(path),
        lambda: storage.get(path, 2, 3),
        lambda: storage.open(path),
        lambda: storage.head(path),
        lambda: storage.put(path, b"mine"),
        lambda: storage.create(path, b"mine"),
        lambda: storage.replace(path, b"mine", "1"),
        lambda: storage.delete(path),
        storage.list,
        lambda: storage.list(link),
        lambda: storage.list(path),
        lambda: storage.names(link),
        lambda: storage.names(link.rpartition("/")[0]),
    ]
    for operation in operations:
        with pytest.raises(SymbolicLinkInTable) as refused:
            operation()
        assert (refused.value.path, refused.value.rule) == (link, "LAY-005")
    assert {file.name: file.read_bytes() for file in outside.iterdir()} == {"x": b"of another program"}
    assert place.is_symlink() and not (tmp_path / "nothing").exists()


def test_a_link_in_a_skipped_folder_is_ignored(tmp_path: Path) -> None:
    """Storage.list: the folder `skip` is not read."""
    storage = LocalStorage(tmp_path / "table")
    storage.put("a/x", b"1")
    (tmp_path / "table" / ".hoodie").symlink_to(tmp_path)
    assert [info.path for info in storage.list(skip=".hoodie")] == ["a/x"]


def test_the_base_path_may_be_a_link(tmp_path: Path) -> None:
    """LAY-004: links above the base path, and a base path that is a link, are allowed."""
    (tmp_path / "real" / "table").mkdir(parents=True)
    (tmp_path / "parent").symlink_to(tmp_path / "real")
    (tmp_path / "linked").symlink_to(tmp_path / "parent" / "table")
    uri = str(tmp_path / "linked")
    table = create_table(uri, name="t", schema=SCHEMA, record_key=("id",), partition=("p",))
    first = table.insert(trips(trip("1", p="x")))
    for name in ("later", "latest"):
        table.upsert(trips(trip("1", name, p="x"), trip("2", name, p="y")))
    rollback(table, table.upsert(trips(trip("3", p="y"))))
    assert clean(table, {"hoodie.clean.commits.retained": "1"}) is not None
    assert [row["id"] for row in data_rows(open_table(uri).snapshot())] == ["1", "2"]
    assert open_table(str(tmp_path / "real" / "table")).timeline.commits[0].requested == first


def linked_table(tmp_path: Path, link: str) -> tuple[str, list[str], Path]:
    """A table with two writes in a partition, in which `link` is put in the place of a folder; its URI, the times of the
    writes, and the folder that it links to, which holds all files that were there."""
    uri, outside = str(tmp_path / "table"), tmp_path / "outside"
    table = create_table(uri, name="t", schema=SCHEMA, record_key=("id",), partition=("p",))
    times = [table.upsert(trips(trip("1", f"name {number}", p="x"))) for number in range(2)]
    place = tmp_path / "table" / link.format(*times)
    outside.mkdir()
    (outside / "precious").mkdir()
    (outside / "precious" / "file").write_bytes(b"of another program")
    if place.exists():
        for file in place.iterdir():
            file.rename(outside / file.name)
        place.rmdir()
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside)
    return uri, times, outside


@pytest.mark.parametrize("link", [".hoodie/.temp/{1}", ".hoodie/.temp", ".hoodie/.heartbeat", "x"])
@pytest.mark.parametrize(
    "act",
    [
        lambda table, times: rollback(table, times[1]),
        lambda table, times: restore(table, times[0]),
        lambda table, times: clean(table, {"hoodie.clean.commits.retained": "1"}),
        lambda table, times: table.upsert(trips(trip("1", "later", p="x"))),
    ],
    ids=["rollback", "restore", "clean", "upsert"],
)
def test_services_and_writes_do_not_change_linked_folders(tmp_path: Path, act, link: str) -> None:  # type: ignore[no-untyped-def]
    """LAY-005: a folder of the table that is a link may lead anywhere: no service deletes what lies there, no write adds to
    it."""
    uri, times, outside = linked_table(tmp_path, link)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    with suppress(SymbolicLinkInTable):  # not every action uses every folder
        act(open_table(uri), times)
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before
