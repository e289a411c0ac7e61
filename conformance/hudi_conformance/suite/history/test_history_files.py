"""The files of the history as they grow: manifests, the version file, names, rows, levels; inspected after each of many
writes.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from io import BytesIO
from itertools import pairwise
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.actions_by_hand import add_milliseconds
from hudi_conformance.suite.support.programs.write_programs import Program, expect_rows
from hudi_conformance.suite.support.tables.archived_tables import (
    LEVEL_FILE,
    NOT_BY_ITSELF,
    Histories,
    archive_limits,
    completed_actions,
    expected_rows,
    new_table,
    read_step,
    write_times,
)
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, table_folder

ARCHIVE = pytest.mark.needs("create", "write.upsert", "service.archive", "copy-on-write", "partition.plain")
NewUri = Callable[[], str]


@ARCHIVE
@pytest.mark.requirements("LSM-004")
def test_manifests_never_change(engine: Client, histories: Histories) -> None:
    """LSM-004: each change of the history adds manifests of higher numbers; existing manifests stay byte-identical."""
    _, steps = histories.recorded(engine)
    for before, after in pairwise(steps):
        for number, data in after.manifests.items():
            assert before.manifests.get(number, data) == data, f"manifest_{number} was changed"
        new = after.manifests.keys() - before.manifests.keys()
        assert bool(new) == (before.current != after.current), "the history changed without a new manifest"
        assert all(number > before.version for number in new)
    assert len({name for step in steps for name in step.manifests}) > 9


@ARCHIVE
@pytest.mark.requirements("LSM-007", "LSM-008", "LSM-009")
def test_the_version_file_names_a_whole_manifest(engine: Client, histories: Histories) -> None:
    """LSM-009: after each write the version file is the decimal number of an existing manifest, and never smaller
    than before.
    """
    _, steps = histories.recorded(engine)
    versions = [step.version for step in steps]
    assert versions == sorted(versions)
    assert versions[-1] > 9
    for step in steps:
        assert step.version == 0 or set(step.current) <= step.history.keys()
        assert step.history.get("_version_", b"0") == str(step.version).encode()


@ARCHIVE
@pytest.mark.requirements("LSM-010", "LSM-011")
def test_a_manifest_lists_every_live_file_with_its_length(engine: Client, histories: Histories) -> None:
    """LSM-010: the current manifest lists everything that was archived, and each length is that of the file in bytes."""
    _, steps = histories.recorded(engine)
    archived: set[tuple[str, str]] = set()
    for step in steps:
        assert step.current == {name: len(step.history[name]) for name in step.current}
        assert archived <= step.archived.keys(), "an archived action is missing from the history"
        archived = set(step.archived)
    assert len(archived) == len(steps) - len(steps[-1].completed)


@ARCHIVE
@pytest.mark.requirements("LSM-013", "LSM-014", "LSM-015", "LSM-016")
def test_files_are_named_by_times_and_level(engine: Client, histories: Histories) -> None:
    """LSM-016: a name consists of the least and the greatest requested time of the file's actions and its level; flushes are of
    level 0.
    """
    _, steps = histories.recorded(engine)
    for step in steps:
        for name in step.current:
            match = LEVEL_FILE.fullmatch(name)
            assert match is not None
            times = [one["instantTime"] for one in step.rows(name)]
            assert (match[1], match[2]) == (min(times), max(times)), name
    first = next(step for step in steps if step.current)
    assert set(first.levels) == {0}


@ARCHIVE
@pytest.mark.requirements("LSM-014", "LSM-015", "LSM-018")
@pytest.mark.leaves_damage("it makes a write complete after one that was based on it")
def test_file_names_have_the_greatest_requested_time(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """LSM-015: the second field is the greatest requested time, also where an earlier action completed last (ER-039)."""
    uri = histories.copy(engine, 5, new_uri())
    timeline = table_folder(uri) / ".hoodie" / "timeline"
    completed = sorted(timeline.glob("*_*.commit"))
    late = completed[0].name.partition("_")[0]
    newest = completed[2].name.partition(".")[0].partition("_")[2]
    time = (datetime.strptime(newest, "%Y%m%d%H%M%S%f") + timedelta(milliseconds=1)).strftime("%Y%m%d%H%M%S%f")[:17]
    completed[0].rename(timeline / f"{late}_{time}.commit")
    engine.service(uri, "archive", options=archive_limits(4, 2))
    step = read_step(uri)
    (name,) = step.current
    rows = step.rows(name)
    assert max(one["completionTime"] for one in rows) == time == rows[0]["completionTime"]
    assert name == f"{late}_{rows[-1]['instantTime']}_0.parquet"


@ARCHIVE
@pytest.mark.requirements("LSM-003", "LSM-017", "LSM-018", "LSM-019", "LSM-020", "LSM-021")
def test_history_files_have_the_specified_columns(engine: Client, histories: Histories) -> None:
    """LSM-021: times and action are texts, metadata and plan bytes, all of them optional; the version is a number, and always
    1.
    """
    _, steps = histories.recorded(engine)
    texts = [pa.field(name, pa.string()) for name in ("instantTime", "completionTime", "action")]
    contents = [pa.field(name, pa.binary()) for name in ("metadata", "plan")]
    expected = pa.schema([*texts, *contents, pa.field("version", pa.int32(), nullable=False)])
    for name in steps[-1].current:
        assert steps[-1].schema(name).remove_metadata().equals(expected), name
        assert {one["version"] for one in steps[-1].rows(name)} == {1}


@ARCHIVE
@pytest.mark.requirements("LSM-002", "LSM-018", "LSM-019", "LSM-020", "LSM-021", "LSM-024")
def test_the_history_keeps_the_contents_of_the_files(engine: Client, histories: Histories) -> None:
    """LSM-002: times, action and the bytes of the completed file are those of the active timeline; a plain write has
    no plan.
    """
    _, steps = histories.recorded(engine)
    before = {key: (time, step.active[f"{key[0]}_{time}.{key[1]}"]) for step in steps for key, time in step.completed.items()}
    assert len(before) == len(steps)
    for step in steps:
        for key, one in step.archived.items():
            assert (one["completionTime"], one["metadata"]) == before[key]
            assert one["plan"] is None


@ARCHIVE
@pytest.mark.requirements("LSM-022", "LSM-024")
def test_rows_are_in_the_order_of_requested_times(engine: Client, histories: Histories) -> None:
    """LSM-022: within a file, and over the files of a level by name, requested times only increase."""
    _, steps = histories.recorded(engine)
    for step in steps:
        for names in step.levels.values():
            times = [one["instantTime"] for name in names for one in step.rows(name)]
            assert times == sorted(times)


@ARCHIVE
@pytest.mark.requirements("LSM-023", "LSM-024", "ARC-010")
def test_a_full_batch_is_merged_into_one_file_of_the_next_level(engine: Client, histories: Histories) -> None:
    """LSM-023: with batches of three, three flushes become one file of level 1, and three of those one of level 2; nothing is
    lost.
    """
    _, steps = histories.recorded(engine)
    shapes = [tuple(len(step.levels.get(level, ())) for level in range(3)) for step in steps if step.current]
    distinct = [shape for number, shape in enumerate(shapes) if shape not in shapes[:number]]
    assert distinct == [
        *((1, 0, 0), (2, 0, 0), (0, 1, 0)),
        *((1, 1, 0), (2, 1, 0), (0, 2, 0)),
        *((1, 2, 0), (2, 2, 0), (0, 0, 1)),
    ]
    for before, after in pairwise(steps):
        assert before.archived.items() <= after.archived.items(), "a merge has changed an archived action"


@ARCHIVE
@pytest.mark.requirements("LSM-006")
def test_superseded_files_stay_for_running_readers(engine: Client, histories: Histories) -> None:
    """LSM-006: all files of the three newest manifests still exist; files that no manifest lists are deleted eventually."""
    _, steps = histories.recorded(engine)
    for step in steps:
        kept = sorted(step.manifests)[-3:]
        assert kept == list(range(max(1, step.version - 2), step.version + 1)) if step.version else not kept
        for number in step.manifests:
            assert step.listed(number).keys() <= step.history.keys(), f"manifest_{number} lists a file that does not exist"
        listed = {name for number in step.manifests for name in step.listed(number)}
        assert {name for name in step.history if LEVEL_FILE.fullmatch(name)} == listed


@ARCHIVE
@pytest.mark.requirements("ARC-010", "LSM-023")
def test_by_default_ten_files_are_merged(engine: Client, new_uri: NewUri) -> None:
    """ARC-010: nine flushes are nine files of level 0; the tenth makes them one of level 1."""
    uri, options = new_uri(), archive_limits(3, 2, **{"hoodie.archive.automatic": "true"})
    new_table(engine, uri)
    write_times(engine, uri, 21, options)
    assert {level: len(names) for level, names in read_step(uri).levels.items()} == {0: 9}
    write_times(engine, uri, 1, options, first=21)
    assert {level: len(names) for level, names in read_step(uri).levels.items()} == {1: 1}


@ARCHIVE
@pytest.mark.needs("read.snapshot", "inspect.table", "timeline.history")
@pytest.mark.requirements("ARC-002", "LSM-002", "LSM-024", "RDR-009")
def test_a_table_with_a_long_history_is_read(engine: Client, histories: Histories) -> None:
    """ARC-002: after flushes and merges the engine shows every write once, with its times, and the newest rows."""
    uri, steps = histories.recorded(engine)
    found = completed_actions(engine, uri)
    last = steps[-1]
    expected = {key: one["completionTime"] for key, one in last.archived.items()} | last.completed
    assert {(i["requested"], i["action"]): i["completion"] for w in found.values() for i in w} == expected
    assert len(found["archived"]) == len(last.archived)
    expect_rows(engine, uri, expected_rows(len(steps)), "after all writes")


@ARCHIVE
@pytest.mark.requirements("LSM-001")
def test_the_history_is_stored_in_its_folder_only(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """LSM-001: everything that archiving adds is in .hoodie/timeline/history."""
    uri = histories.copy(engine, 8, new_uri())
    before = {path for path in table_folder(uri).rglob("*") if path.is_file()}
    engine.service(uri, "archive", options=archive_limits(4, 2))
    after = {path for path in table_folder(uri).rglob("*") if path.is_file() and path.suffix != ".crc"}
    assert {path.parent for path in after - before} == {table_folder(uri) / ".hoodie" / "timeline" / "history"}
    assert read_step(uri).current


def rewrite_history(uri: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    """Replace the rows of the one file of the history."""
    step = read_step(uri)
    (name,) = step.current
    folder = table_folder(uri) / ".hoodie" / "timeline" / "history"
    pq.write_table(pa.Table.from_pylist(change(step.rows(name)), schema=step.schema(name)), folder / name)
    manifest = folder / f"manifest_{step.version}"
    manifest.write_text(manifest.read_text().replace(str(step.current[name]), str((folder / name).stat().st_size)))
    for checked in (name, manifest.name):
        (folder / f".{checked}.crc").unlink(missing_ok=True)


def write_logged_changes(engine: Client, uri: str) -> None:
    """Write five times to a table that logs changes, and archive the first three writes."""
    engine.create(uri, replace(Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", True).spec(), properties=CAPTURED))
    write_times(engine, uri, 5, NOT_BY_ITSELF)
    engine.service(uri, "archive", options=archive_limits(4, 2))


def with_unknown_action(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, and after the first of them one with an action of a later release."""
    first, *others = rows
    return [first, {**first, "action": "futureaction", "instantTime": add_milliseconds(first["instantTime"], 1)}, *others]


@ARCHIVE
@pytest.mark.needs("read.snapshot", "inspect.table", "timeline.history")
@pytest.mark.requirements("LSM-019", "TL-046")
@pytest.mark.leaves_damage("its history has an action that no release writes")
def test_an_unknown_action_of_the_history_is_no_damage(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """LSM-019: a later release may archive an action that an engine does not know. It reads the others, and writes on."""
    uri = histories.copy(engine, 5, new_uri())
    engine.service(uri, "archive", options=archive_limits(4, 2))
    before = completed_actions(engine, uri)["archived"]
    rewrite_history(uri, with_unknown_action)
    found = completed_actions(engine, uri)["archived"]
    assert [one for one in found if one["action"] != "futureaction"] == before
    write_times(engine, uri, 1, archive_limits(4, 2), first=5)
    expect_rows(engine, uri, expected_rows(6), "after a further write")


@ARCHIVE
@pytest.mark.needs("read.cdc")
@pytest.mark.requirements("LSM-019", "LSM-020", "TYP-012")
@pytest.mark.leaves_damage("its history has an action that no release writes")
def test_changes_are_read_beside_an_unknown_action(engine: Client, new_uri: NewUri) -> None:
    """LSM-020: the history has an action of an unknown kind among archived writes. A change query of all writes has the
    changes of each of them, because the metadata of the others is that of their own rows.
    """
    uri = new_uri()
    write_logged_changes(engine, uri)
    rewrite_history(uri, with_unknown_action)
    changes = engine.read(uri, Query("cdc")).to_pylist()
    assert sorted(one["after"]["value"] for one in changes) == ["never changed", *(f"write {number}" for number in range(5))]


@ARCHIVE
@pytest.mark.needs("read.cdc")
@pytest.mark.requirements("LSM-020", "TYP-012")
@pytest.mark.leaves_damage("the history has bytes after the metadata of an action")
def test_bytes_after_archived_metadata_are_damage(engine: Client, new_uri: NewUri) -> None:
    """LSM-020: the history has metadata as bare records (ER-038), and a change query reads them. With one byte after each of
    them, as from a writer with another schema, it is an error.
    """

    def as_bare_records(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for one in rows:
            records, bare = fastavro.reader(BytesIO(one["metadata"])), BytesIO()
            fastavro.schemaless_writer(bare, records.writer_schema, next(records))
            one["metadata"] = bare.getvalue()
        return rows

    uri = new_uri()
    write_logged_changes(engine, uri)
    rewrite_history(uri, as_bare_records)
    assert engine.read(uri, Query("cdc")).num_rows == 6
    rewrite_history(uri, lambda rows: [{**one, "metadata": one["metadata"] + b"\0"} for one in rows])
    with pytest.raises(ContractError):
        engine.read(uri, Query("cdc"))
