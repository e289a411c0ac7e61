"""Accidents of copying, restoring and parallel writers: each is found once, by the fault itself and not by what follows from it."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import deep_damage_samples as d
import pyarrow as pa
import pytest
import validated_tables_samples as t
from log_compaction_damages_samples import list_times, log_compacted
from pyarrow import orc
from tools.damage.tables import stored

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_conformance.validator.checks.finding import UNSOUND, Finding
from hudi_reference.layout.names import BaseFileName, join_path, parse_data_file_name, split_path
from hudi_reference.storage import MemoryStorage, Storage

_HISTORY = f"{t.TIMELINE}/history"


def _unsound(storage: Storage) -> list[Finding]:
    """The findings of all checks that affect rows."""
    return [one for one in t.validated(storage, ALL).findings if one.severity in UNSOUND]


def _kinds(storage: Storage) -> set[tuple[str, str]]:
    return {(one.rule, one.severity) for one in _unsound(storage)}


def _fixture(name: str) -> MemoryStorage:
    folder: Path = fixtures_root() / name / "table"
    return stored({path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()})


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_base_file_that_lost_a_column(table_type: str) -> None:
    """LF-038: a tool rewrote one file without a column; other files of writes with this schema show that it had values."""
    storage = t.changed("COPY_ON_WRITE") if table_type == "COPY_ON_WRITE" else t.compacted()
    path = t.base_files(storage)[-1]
    d.rewrite(storage, path, lambda rows: rows.drop_columns(["fare"]))
    (found,) = [one for one in t.validated(storage, CHEAP).findings if one.rule == "LF-038"]
    assert (found.severity, found.path, found.key) == ("wrong-answers", path, "fare")


def test_a_column_that_came_while_a_write_was_at_work() -> None:
    """LF-038: the schema of a write has the columns of writes that completed meanwhile, which its files may lack."""
    storage = t.changed("COPY_ON_WRITE")
    requested = parse_data_file_name(split_path(t.base_files(storage)[-1])[1]).instant
    for path in t.base_files(storage):
        if parse_data_file_name(split_path(path)[1]).instant == requested:
            d.rewrite(storage, path, lambda rows: rows.drop_columns(["fare"]))
    assert "LF-038" in {one.rule for one in t.validated(storage, CHEAP).findings}
    for path in t.paths(storage, ".commit"):
        name = split_path(path)[1]
        if not name.startswith(requested):
            storage.put(join_path(t.TIMELINE, f"{name.partition('_')[0]}_{requested[:-1]}9.commit"), storage.get(path))
            storage.delete(path)
    assert "LF-038" not in {one.rule for one in t.validated(storage, CHEAP).findings}


@pytest.mark.parametrize("service", ["compaction", "clustering"])
def test_two_plans_of_one_kind_for_one_file_group(service: str) -> None:
    """SVC-004: Apache Hudi refuses every query of a table with two pending plans of one kind for one file group."""
    storage = t.with_plan(service)
    (path,) = t.paths(storage, f".{service}.requested")
    requested = split_path(path)[1].partition(".")[0]
    storage.put(path.replace(requested, str(int(requested) + 1)), storage.get(path))
    assert ("SVC-004", "wrong-answers") in _kinds(storage)


@pytest.mark.parametrize(("make", "severity"), [(t.copy_on_write, "wrong-answers"), (t.with_metadata_table, "cosmetic")])
def test_a_partition_without_its_metadata_file(make: Callable[[], Storage], severity: str) -> None:
    """LAY-003: without a metadata table Apache Hudi finds a partition by this file alone."""
    storage = make()
    storage.delete("north/.hoodie_partition_metadata")
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "LAY-003"]
    assert [one.severity for one in found] == [severity]


def test_a_folder_without_files_of_writes_is_no_partition() -> None:
    """LAY-003: a file of another program in a folder of its own has no rows of the table."""
    storage = t.copy_on_write()
    storage.put("copies/other-0_0-0-0_20200101000000000.parquet", b"of another program")
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "LAY-003"]
    assert [one.severity for one in found] == ["cosmetic"]


def test_markers_of_folders_are_no_files_of_the_table() -> None:
    """LAY-019: clients of some object stores store an empty object for each folder."""
    storage = t.with_metadata_table()
    folders = {path.rpartition("/")[0] for path in t.paths(storage, "")}
    for folder in folders | {".hoodie"}:
        storage.put(f"{folder}_$folder$", b"")
    assert not t.validated(storage, ALL).findings


def test_a_version_file_of_an_older_copy() -> None:
    """LSM-007: a copy by size leaves the old number. Nothing is said about the archived actions that are lost with it."""
    storage = t.archived()
    table = t.reopened(storage)
    for fare in range(20, 26):
        table.upsert(t.rows(1, 2, fare=fare))
    older = storage.get(f"{_HISTORY}/_version_")
    assert t.archive(table, {"hoodie.keep.max.commits": "4", "hoodie.keep.min.commits": "3"}).instants
    assert t.clean(table, t.CLEANING)
    assert not _unsound(storage)
    storage.put(f"{_HISTORY}/_version_", older)
    assert _kinds(storage) == {("LSM-007", "wrong-answers")}


def test_files_of_a_clean_whose_record_is_damaged() -> None:
    """TL-002: the plan of the clean tells which files it deleted, so that none of them is lost."""
    storage = t.cleaned()
    path = t.completed(storage, "clean")
    storage.put(path, gzip.compress(storage.get(path)))
    assert _kinds(storage) == {("TL-002", "wrong-answers")}


@pytest.mark.parametrize("name", ["v6.cow.archived", "v6.mor.archived"])
def test_a_write_of_version_6_that_a_clean_saw_completed(name: str) -> None:
    """TL-052: a copy lost the completed file of the last write that the last clean saw."""
    storage = _fixture(f"compatibility/{name}")
    assert not _unsound(storage)
    cleans = sorted(path for path in t.paths(storage, ".clean") if path.endswith(".clean") and "/metadata/" not in path)
    writes = sorted(path for path in t.paths(storage, "commit") if path.endswith("commit") and path.count("/") == 1)
    seen = [path for path in writes if split_path(path)[1] < split_path(cleans[-1])[1]]
    storage.delete(seen[-1])
    assert ("TL-052", "data-lost") in _kinds(storage)


def test_a_copy_of_a_completed_file_under_another_name() -> None:
    """LAY-017: no reader takes the copy for an action."""
    storage = t.copy_on_write()
    folder, name = split_path(t.completed(storage, "commit"))
    storage.put(f"{folder}/Copy of {name}", storage.get(f"{folder}/{name}"))
    (found,) = t.validated(storage, ALL).findings
    assert (found.rule, found.severity, found.path) == ("LAY-017", "lost-space", f"{folder}/Copy of {name}")


def _lose_the_timeline(storage: Storage) -> None:
    for path in t.paths(storage, f"{t.TIMELINE}/"):
        storage.delete(path)


def _damage_a_commit(storage: Storage) -> None:
    storage.put(t.completed(storage, "commit"), b"")


@pytest.mark.parametrize("damage", [_lose_the_timeline, _damage_a_commit])
def test_an_index_is_not_blamed_for_unknown_writes(damage: Callable[[Storage], None]) -> None:
    """IDX-010: which rows the table has is not known, so that no entry of the record index is said to be wrong."""
    storage = d.indexed()
    damage(storage)
    found = _unsound(storage)
    assert "IDX-010" not in {one.rule for one in found}
    assert found


def test_the_lost_timeline_of_a_metadata_table() -> None:
    """LAY-017: each finding has the path of the folder that is lost, and nothing is said of its indexes."""
    storage = d.indexed()
    folder = f".hoodie/metadata/{t.TIMELINE}"
    for path in t.paths(storage, f"{folder}/"):
        storage.delete(path)
    found = _unsound(storage)
    assert {(one.rule, one.path) for one in found} == {("LAY-017", folder)}
    assert all("delete_metadata_table" in one.remedy for one in found)


def test_an_orc_file_that_lost_a_column() -> None:
    """LF-038: the same for a file of another format."""
    storage = d.with_statistics_of_orc()
    path = [path for path in t.paths(storage, ".orc") if not path.startswith(".hoodie")][-1]
    rows = orc.read_table(pa.BufferReader(storage.get(path)))
    sink = pa.BufferOutputStream()
    orc.write_table(rows.drop_columns(["fare"]), sink)
    storage.put(path, sink.getvalue().to_pybytes())
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "LF-038"]
    assert [(one.severity, one.path, one.key) for one in found] == [("wrong-answers", path, "fare")]


def test_a_replaced_file_group_that_never_was() -> None:
    """TL-039: the metadata of all writes is known, and none of them stored a file in the group."""
    storage = t.overwritten()
    path = t.completed(storage, "replacecommit")
    name = "00000000-1111-2222-3333-444444444444-0"
    t.change_record(storage, path, lambda record: record["partitionToReplaceFileIds"]["north"].append(name))
    found = [one for one in t.validated(storage, ALL).findings if one.rule == "TL-039"]
    assert [(one.severity, one.path, one.key) for one in found] == [("cosmetic", path, name)]


def test_a_column_that_the_definition_of_the_statistics_lost() -> None:
    """PROP-014: entries of the column are there, and readers that follow the definition do not use them."""
    storage = d.indexed_of_version_9()
    (path,) = t.paths(storage, ".index_defs/")
    record = json.loads(storage.get(path))
    columns = record["indexDefinitions"]["column_stats"]["sourceFields"]
    lost = columns.pop()
    storage.put(path, json.dumps(record).encode())
    found = [one for one in t.validated(storage, ALL).findings if one.rule == "PROP-014"]
    assert [(one.severity, one.key) for one in found] == [("cosmetic", lost)]


def _examined_changes(old: bytes, new: bytes) -> set[tuple[str, str]]:
    """The findings after an edit of the changes that a compaction captured."""
    storage = _fixture("queries/changes.compacted.version-9")
    assert not _unsound(storage)
    (path,) = t.paths(storage, ".cdc")
    data = storage.get(path)
    assert data.count(old) == 1
    storage.put(path, data.replace(old, new))
    return _kinds(storage)


@pytest.mark.parametrize(("old", "new"), [(b"first", b"fifth"), (b"second", b"minute")])
def test_changes_that_a_compaction_captured(old: bytes, new: bytes) -> None:
    """TYP-012: an image before is a row of the base file before the compaction, and an image after is one of the new file."""
    assert _examined_changes(old, new) == {("TYP-012", "wrong-answers")}


def _with_a_failed_attempt() -> Storage:
    """A copy of a base file under the token of another attempt, with rows of the write that stored it."""
    storage = d.copy_on_write()
    path = d.base_files(storage)[-1]
    name = parse_data_file_name(split_path(path)[1])
    assert isinstance(name, BaseFileName)
    storage.put(join_path(split_path(path)[0], str(replace(name, write_token="9-9-9"))), storage.get(path))
    return storage


@pytest.mark.parametrize("make", [d.clustered, _with_a_failed_attempt])
def test_rows_are_not_compared_if_a_write_is_unknown(make: Callable[[], Storage]) -> None:
    """TL-011 and TL-007: which rows an action stored or replaced cannot be told from a record that cannot be read."""
    storage = make()
    storage.put(t.completed(storage, "commit", 0), b"")
    assert _kinds(storage) == {("TL-002", "wrong-answers")}


def test_log_compactions_are_not_compared_without_the_history() -> None:
    """LCP-005: an archived write may be needed to tell which blocks count."""
    storage = log_compacted()
    assert t.validated(storage, ALL).checked["LCP-005"]
    storage.put(f"{_HISTORY}/_version_", b"x")
    found = t.validated(storage, ALL)
    assert {one.rule for one in found.findings} == {"LSM-007"}
    assert not found.checked["LCP-005"]


def test_log_compactions_of_an_unknown_merger() -> None:
    """LCP-005: rows of a merger of the user are not compared."""
    assert not _unsound(d.with_foreign_merger(log_compacted))


def test_a_log_compaction_that_lists_no_block() -> None:
    """LCP-002 says what is wrong; the rows with and without the block are not compared."""
    storage = log_compacted()
    list_times(lambda times: [""])(storage)
    assert "LCP-005" not in {one.rule for one in t.validated(storage, ALL).findings}


def test_blocks_of_a_write_of_version_6_whose_metadata_is_damaged() -> None:
    """COMPAT-003: which files the write named is not known, so that no block is said to be in a wrong one."""
    storage = _fixture("compatibility/v6.mor")
    path = sorted(path for path in t.paths(storage, ".deltacommit") if path.endswith("commit") and "/metadata/" not in path)[-1]
    storage.put(path, gzip.compress(storage.get(path)))
    assert _kinds(storage) == {("COMPAT-003", "wrong-answers")}
