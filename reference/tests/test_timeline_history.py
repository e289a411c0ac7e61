"""The timeline history, read from Parquet files and manifests that were put there by hand."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reference_samples import new_table, trip, trips

from hudi_reference.errors import HudiError, MalformedHistory, PathOutsideTable
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.history import read_history
from hudi_reference.timeline.instant import Instant
from hudi_reference.timeline.states import State

FOLDER = ".hoodie/timeline/history"
A, B, D = "20250101000000001", "20250101000000002", "20250101000000003"


def level_file(*rows: tuple[str, str, str], **columns: Any) -> bytes:
    """The bytes of a level file: requested time, completion time and action of each row, and the columns nobody asked for."""
    names = ("instantTime", "completionTime", "action")
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)} | {"version": [1] * len(rows)})
    for name, values in columns.items():
        table = table.drop_columns(name) if values is None else table.set_column(table.column_names.index(name), name, values)
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def manifest(*names: str) -> bytes:
    """A manifest as Jackson prints it."""
    return json.dumps({"files": [{"fileName": name, "fileLen": 1} for name in names]}, indent=2).encode()


LISTS_A = manifest("a.parquet")


def history_of(**files: bytes) -> MemoryStorage:
    """A storage with these files in the history's folder; `__` in a name stands for `.`."""
    storage = MemoryStorage()
    for name, data in files.items():
        storage.put(f"{FOLDER}/{name.replace('__', '.')}", data)
    return storage


def requested(storage: MemoryStorage) -> list[str]:
    """Requested times in the history."""
    return [instant.requested for instant in read_history(storage, FOLDER)]


def test_the_files_of_the_current_manifest_are_the_history() -> None:
    """LSM-007, LSM-010: `_version_` names the manifest; older manifests and files that it does not list are not read."""
    storage = history_of(
        _version_=b"2",
        manifest_1=manifest("old.parquet"),
        manifest_2=manifest("a.parquet", "b.parquet"),
        manifest_3=manifest("not-yet.parquet"),
        a__parquet=level_file((B, "9", "deltacommit"), (D, "9", "clean")),
        b__parquet=level_file((A, "8", "commit")),
        stray__parquet=b"garbage",
    )
    assert read_history(storage, FOLDER) == (
        Instant(A, "commit", State.COMPLETED, "8"),
        Instant(B, "deltacommit", State.COMPLETED, "9"),
        Instant(D, "clean", State.COMPLETED, "9"),
    )


def test_without_a_version_file_the_newest_manifest_counts() -> None:
    """ER-005: the version file is deleted and made anew; between, the manifest with the largest number is the valid one."""
    storage = history_of(manifest_9=manifest("a.parquet"), manifest_10=manifest("b.parquet"), manifest_x=b"",
                         a__parquet=level_file((A, "8", "commit")), b__parquet=level_file((B, "8", "commit")))  # fmt: skip
    assert requested(storage) == [B]


def test_nothing_archived_is_an_empty_history() -> None:
    """LSM-001: no folder, an empty one, or an empty manifest."""
    assert requested(MemoryStorage()) == []
    assert requested(history_of(x=b"")) == []
    assert requested(history_of(_version_=b"1", manifest_1=b"")) == []


def test_an_instant_in_two_files_counts_once() -> None:
    """LSM-018: while levels are compacted an instant may be listed twice; the first one met counts."""
    storage = history_of(_version_=b"1", manifest_1=manifest("a.parquet", "b.parquet"),
                         a__parquet=level_file((A, "8", "commit")), b__parquet=level_file((A, "9", "commit")))  # fmt: skip
    assert [instant.completion for instant in read_history(storage, FOLDER)] == ["8"]


def test_actions_of_other_releases_are_passed_over() -> None:
    """LSM-005: an action that this release does not know changes no answer."""
    storage = history_of(_version_=b"1", manifest_1=manifest("a.parquet"),
                         a__parquet=level_file((A, "8", "schemacommit"), (B, "9", "commit")))  # fmt: skip
    assert requested(storage) == [B]


@pytest.mark.parametrize(
    ("files", "error", "path"),
    [
        ({"_version_": b"x"}, MalformedHistory, "_version_"),
        ({"_version_": b"\xff\xfe"}, MalformedHistory, "_version_"),
        ({"_version_": "²".encode()}, MalformedHistory, "_version_"),
        ({"_version_": b"9" * 6000}, MalformedHistory, "_version_"),
        ({"_version_": b""}, MalformedHistory, "_version_"),
        ({"_version_": b"2"}, MalformedHistory, "manifest_2"),
        ({"manifest_1": b"garbage"}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b"\xff"}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b"[]"}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b'{"entries": []}'}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b'{"files": [{"name": "a"}]}'}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b'{"files": [{"fileName": 5}]}'}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b"[" * 100_000}, MalformedHistory, "manifest_1"),
        ({"manifest_1": manifest("gone.parquet")}, MalformedHistory, "gone.parquet"),
        ({"manifest_1": LISTS_A, "a__parquet": b"garbage"}, MalformedHistory, "a.parquet"),
        ({"manifest_1": LISTS_A, "a__parquet": b""}, MalformedHistory, "a.parquet"),
        ({"manifest_1": LISTS_A, "a__parquet": level_file((A, B, "commit"))[:-20]}, MalformedHistory, "a.parquet"),
        ({"manifest_1": LISTS_A, "a__parquet": level_file((A, B, "clean"), action=None)}, MalformedHistory, "a.parquet"),
        ({"manifest_1": LISTS_A, "a__parquet": level_file((A, B, "clean"), instantTime=[[[7]]])}, MalformedHistory, "a.parquet"),
        ({"manifest_1": manifest("../../../other")}, PathOutsideTable, "manifest_1"),
        ({"manifest_1": manifest("/etc/passwd")}, PathOutsideTable, "manifest_1"),
    ],
)  # fmt: skip
def test_damage_is_an_error_that_names_the_file(files: dict[str, bytes], error: type[HudiError], path: str) -> None:
    """LSM-003, LSM-007, LSM-009, LSM-010, LSM-012: an unreadable history must not pass for an empty one."""
    with pytest.raises(error) as raised:
        requested(history_of(**files))
    assert raised.value.path == f"{FOLDER}/{path}"
    assert raised.value.rule is not None


def test_files_of_an_archived_write_belong_to_the_table() -> None:
    """RDR-009: when the instant of a write has moved to the history its files count as before."""
    table = new_table()
    first = table.insert(trips(trip("1", "a")))
    table.insert(trips(trip("2", "b")))
    (done,) = [instant for instant in table.timeline.completed if instant.requested == first]
    for info in table.storage.list(".hoodie/timeline"):
        if f"/{first}" in info.path:
            table.storage.delete(info.path)
    table.storage.put(f"{FOLDER}/_version_", b"1")
    table.storage.put(f"{FOLDER}/manifest_1", manifest("a.parquet"))
    table.storage.put(f"{FOLDER}/a.parquet", level_file((first, str(done.completion), "commit")))
    assert sorted(table.snapshot(["id"]).column("id").to_pylist()) == ["1", "2"]
    assert [row["where"] for row in table.inspect()["timeline"]["completed"]] == ["archived", "active"]
    assert table.as_of(first, ["id"]).column("id").to_pylist() == ["1"]
