"""The timeline history, read from Parquet files and manifests that were put there by hand."""

import io
import json
import pickle

import fastavro
import pyarrow as pa
import pytest
from history_samples import FOLDER, history_storage, level_file, manifest, name_of, put_history
from reference_samples import new_table, trip, trips

from hudi_reference.errors import HudiError, InvalidQuery, MalformedHistory, MalformedMetadata, PathOutsideTable
from hudi_reference.storage import LocalStorage, MemoryStorage
from hudi_reference.timeline.contents.avro_container import schema_of
from hudi_reference.timeline.history.archived import plan_of
from hudi_reference.timeline.history.history import ArchivedAction, History
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

A, B, D = "20250101000000001", "20250101000000002", "20250101000000003"
C = "20250101000000005"
EARLIER, LATER = f"{A}_{A}_0.parquet", f"{B}_{D}_0.parquet"


def history_of(**files: bytes) -> MemoryStorage:
    """A storage with these files in the history's folder."""
    storage = MemoryStorage()
    for name, data in files.items():
        storage.put(f"{FOLDER}/{name}", data)
    return storage


def requested(storage: MemoryStorage) -> list[str]:
    """Requested times in the history."""
    return [instant.requested for instant in History(storage, FOLDER).instants()]


def test_the_files_of_the_current_manifest_are_the_history() -> None:
    """LSM-007, LSM-010: `_version_` names the manifest; older manifests and files that it does not list are not read."""
    second, first = level_file((B, C, "deltacommit"), (D, "20250101000000009", "clean")), level_file((A, C, "commit"))
    storage = history_of(
        _version_=b"2",
        manifest_1=manifest({"1_1_0.parquet": 1}),
        manifest_2=manifest({LATER: second, EARLIER: first}),
        manifest_3=manifest({"3_3_0.parquet": 1}),
        **{LATER: second, EARLIER: first, f"{A}_{A}_1.parquet": b"garbage"},
    )
    assert History(storage, FOLDER).instants() == (
        Instant(A, "commit", State.COMPLETED, C),
        Instant(B, "deltacommit", State.COMPLETED, C),
        Instant(D, "clean", State.COMPLETED, "20250101000000009"),
    )


def test_without_a_version_file_the_newest_manifest_counts() -> None:
    """ER-005: the version file is deleted and created again; in between, the manifest with the largest number is valid."""
    first, second = level_file((A, C, "commit")), level_file((B, C, "commit"))
    files = {"manifest_9": manifest({EARLIER: first}), "manifest_10": manifest({LATER: second}), "manifest_x": b"",
             EARLIER: first, LATER: second}  # fmt: skip
    assert requested(history_of(**files)) == [B]
    assert requested(history_of(_version_=b"", **files)) == [B]
    assert requested(history_of(_version_=b"9", **files)) == [A]


def test_nothing_archived_is_an_empty_history() -> None:
    """LSM-001: no folder, or an empty one."""
    assert requested(MemoryStorage()) == []
    assert requested(history_of(x=b"")) == []
    assert requested(history_of(**{EARLIER: b"a first flush that was not finished"})) == []


def test_empty_manifest_that_the_version_file_names_is_an_error() -> None:
    """LSM-009: it lost the names of its files; a manifest without files is valid."""
    with pytest.raises(MalformedHistory):
        requested(history_of(_version_=b"1", manifest_1=b""))
    assert requested(history_of(_version_=b"1", manifest_1=b'{"files": []}')) == []


def test_an_instant_in_two_files_counts_once() -> None:
    """LSM-018: while levels are compacted an instant may be listed twice; the first one met counts."""
    storage = MemoryStorage()
    put_history(storage, {EARLIER: level_file((A, C, "commit")), f"{A}_{A}_1.parquet": level_file((A, D, "commit"))})
    assert [instant.completion for instant in History(storage, FOLDER).instants()] == [C]


def test_actions_of_other_releases_are_ignored() -> None:
    """LSM-005: an action that this release does not know changes no answer."""
    assert requested(history_storage(((A, C, "somethingnew"), (B, C, "commit")))) == [B]


def test_rows_of_an_upgraded_table_may_be_unordered() -> None:
    """LSM-022, ER-039: the upgrade from version 6 does not sort them; the answer is sorted by requested time nevertheless."""
    assert requested(history_storage(((B, C, "commit"), (A, C, "clean"), (D, None, "commit")))) == [A, B, D]


WHOLE = level_file((A, B, "commit"))
LISTS_A = manifest({EARLIER: WHOLE})


def listed(data: bytes) -> dict[str, bytes]:
    """A history whose one file is `data`, of the length that the manifest tells."""
    return {"manifest_1": manifest({EARLIER: data}), EARLIER: data}


@pytest.mark.parametrize(
    ("files", "error", "path"),
    [
        ({"_version_": b"x"}, MalformedHistory, "_version_"),
        ({"_version_": b"0", "manifest_0": LISTS_A}, MalformedHistory, "_version_"),
        ({"_version_": b"-1"}, MalformedHistory, "_version_"),
        ({"_version_": b"1 2"}, MalformedHistory, "_version_"),
        ({"_version_": b"\xff\xfe"}, MalformedHistory, "_version_"),
        ({"_version_": "²".encode()}, MalformedHistory, "_version_"),
        ({"_version_": b"9" * 6000}, MalformedHistory, "_version_"),
        ({"_version_": b"2"}, MalformedHistory, "manifest_2"),
        ({"_version_": b"2", "manifest_3": b""}, MalformedHistory, "manifest_2"),
        ({"manifest_1": b"garbage"}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b"\xff"}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b"[]"}, MalformedHistory, "manifest_1"),
        ({"manifest_1": LISTS_A[:-3]}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b'{"entries": []}'}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b'{"files": [{"name": "a"}]}'}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b'{"files": [{"fileName": 5, "fileLen": 1}]}'}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b'{"files": [{"fileName": "1_1_0.parquet"}]}'}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b'{"files": [{"fileName": "1_1_0.parquet", "fileLen": "1"}]}'}, MalformedHistory, "manifest_1"),
        ({"manifest_1": manifest({"a.parquet": 1})}, MalformedHistory, "manifest_1"),
        ({"manifest_1": manifest({f"{A}_{B}.parquet": 1})}, MalformedHistory, "manifest_1"),
        ({"manifest_1": b"[" * 100_000}, MalformedHistory, "manifest_1"),
        ({"manifest_1": manifest({f"{A}_{B}_0.parquet": 1})}, MalformedHistory, f"{A}_{B}_0.parquet"),
        ({"manifest_1": manifest({EARLIER: 7}), EARLIER: WHOLE}, MalformedHistory, EARLIER),
        ({"manifest_1": LISTS_A, EARLIER: WHOLE[:-20]}, MalformedHistory, EARLIER),
        (listed(b"garbage"), MalformedHistory, EARLIER),
        (listed(b""), MalformedHistory, EARLIER),
        (listed(WHOLE[:-20]), MalformedHistory, EARLIER),
        (listed(level_file((A, B, "clean"), action=None)), MalformedHistory, EARLIER),
        (listed(level_file((A, B, "clean"), instantTime=[[[7]]])), MalformedHistory, EARLIER),
        (listed(level_file((A, B, "clean"), instantTime=[None])), MalformedHistory, EARLIER),
        (listed(level_file((A, B, "clean"), instantTime=["today"])), MalformedHistory, EARLIER),
        (listed(level_file((A, "soon", "clean"))), MalformedHistory, EARLIER),
        (listed(level_file((A, B, "clean"), action=pa.nulls(1, pa.string()))), MalformedHistory, EARLIER),
        ({"manifest_1": manifest({"../../../other": 1})}, PathOutsideTable, "manifest_1"),
        ({"manifest_1": manifest({"/etc/passwd": 1})}, PathOutsideTable, "manifest_1"),
    ],
)  # fmt: skip
def test_damage_is_an_error_that_names_the_file(files: dict[str, bytes], error: type[HudiError], path: str) -> None:
    """LSM-003, LSM-007, LSM-009, LSM-010, LSM-012: an unreadable history must not be read as an empty one."""
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
    archived = (first, done.completion, "commit")
    put_history(table.storage, {name_of([archived]): level_file(archived)})
    assert sorted(table.snapshot(["id"]).column("id").to_pylist()) == ["1", "2"]
    assert [row["where"] for row in table.inspect()["timeline"]["completed"]] == ["archived", "active"]
    assert table.as_of(first, ["id"]).column("id").to_pylist() == ["1"]
    with pytest.raises(InvalidQuery, match=first):
        table.as_of("20200101000000000")


def test_a_pickled_history_has_the_files_that_were_read(tmp_path):
    """A worker of a distributed reader gets a copy that answers the same."""
    history = History(LocalStorage(tmp_path), "history")
    assert history.instants() == ()
    assert pickle.loads(pickle.dumps(history)).instants() == ()


@pytest.mark.parametrize(("action", "schema"), [("commit", "HoodieCompactionPlan"), ("clean", "HoodieCleanerPlan")])
def test_a_plan_without_its_schema_is_read(action: str, schema: str) -> None:
    """LSM-021: an upgrade from version 6 by Apache Hudi 1.0.2 stores plans without a container, as it stores metadata."""
    fields = {field["name"]: field.get("default") for field in schema_of(schema)["fields"]} | {"version": 1}
    if action == "clean":
        fields |= {"policy": "KEEP_LATEST_COMMITS"}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(schema_of(schema)))), fields)
    instant = Instant(A, action, State.COMPLETED, B)
    found = plan_of(ArchivedAction(instant, None, out.getvalue()), "the history")
    assert found is not None and found.get("version") == 1
    with pytest.raises(MalformedMetadata):
        plan_of(ArchivedAction(instant, None, out.getvalue() + b"\0"), "the history")
    with pytest.raises(MalformedMetadata):
        plan_of(ArchivedAction(instant, None, b""), "the history")


def test_a_profile_in_the_place_of_a_plan_may_be_json() -> None:
    """LSM-021: the inflight file of an overwrite of version 6, which an upgrade by Apache Hudi leaves and an archiving copies."""
    instant = Instant(A, "replacecommit", State.COMPLETED, B)
    profile = json.dumps({"partitionToWriteStats": {}, "operationType": "INSERT_OVERWRITE"}).encode()
    found = plan_of(ArchivedAction(instant, None, profile), "the history")
    assert found is not None and found.get("operationType") == "INSERT_OVERWRITE"
    with pytest.raises(MalformedMetadata):
        plan_of(ArchivedAction(instant, None, profile[:-1]), "the history")
