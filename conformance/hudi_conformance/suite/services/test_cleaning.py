"""Cleaning: what goes, what stays under every policy, what the plan and its completion say."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    as_of,
    deleted_by,
    golden,
    instant_files,
    keep_commits,
    keep_versions,
    names_of,
    pending,
    planned_by,
    said,
    snapshot,
    updated,
)
from hudi_conformance.suite.support.tables.written_tables import data_files, folder_of

CLEANS = pytest.mark.needs(*WRITES, "service.clean", "copy-on-write")
#: The columns of the golden tables.
COLUMNS = ("id", "ts", "name")
PARTED = (*COLUMNS, "p")


def base_files_in(uri: str, folder: str) -> list[str]:
    """The paths of the base files in a partition."""
    return [path for path in data_files(uri) if path.startswith(folder) and path.endswith(".parquet")]


def by_instant(uri: str, folder: str = "oslo") -> list[str]:
    """The instants of the base files in a partition."""
    return sorted(path.rpartition("_")[2][:17] for path in base_files_in(uri, folder))


@CLEANS
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("TL-013", "CLN-001", "CLN-005", "CLN-002")
def test_a_clean_keeps_what_the_last_commits_read(engine: Client, new_uri: Callable[[], str]) -> None:
    """With two commits retained these two and the slice before them stay, older ones go; every retained read is as before."""
    known = updated(engine, new_uri(), 5)
    before = data_files(known.uri)
    assert engine.service(known.uri, "clean", options=keep_commits(2)) is not None
    assert by_instant(known.uri) == known.instants[-3:]
    assert by_instant(known.uri, "rio") == known.instants[:1], "the only slice of a quiet group stays"
    assert data_files(known.uri) < before
    assert snapshot(engine, known.uri) == known.rows[-1]
    for instant, rows in zip(known.instants[-2:], known.rows[-2:], strict=True):
        assert as_of(engine, known.uri, instant) == rows


@CLEANS
@pytest.mark.requirements("TL-013", "TL-014")
def test_a_clean_deletes_what_it_planned_and_reports_it(engine: Client, new_uri: Callable[[], str]) -> None:
    """The requested file lists what will go; after the completion just that is gone, and the completed file reports it."""
    known = updated(engine, new_uri(), 4)
    before = names_of(known.uri)
    instant = engine.service(known.uri, "clean", phase="schedule", options=keep_commits(1))
    assert instant is not None
    assert names_of(known.uri) == before, "a plan deletes nothing"
    name, plan = said(known.uri, instant, "clean.requested")
    assert (name, plan["policy"], plan["version"]) == ("HoodieCleanerPlan", "KEEP_LATEST_COMMITS", 2)
    assert plan["earliestInstantToRetain"]["timestamp"] == known.instants[-1]
    assert len(planned_by(plan)) == 3
    assert engine.service(known.uri, "clean", phase="execute", instant=instant) == instant
    name, record = said(known.uri, instant, "clean")
    assert name == "HoodieCleanMetadata"
    assert before - names_of(known.uri) == planned_by(plan) == deleted_by(record)
    assert (record["totalFilesDeleted"], record["earliestCommitToRetain"]) == (3, known.instants[-1])
    assert record["startCleanTime"] == instant


@CLEANS
@pytest.mark.requirements("CLN-006", "CLN-002")
def test_so_many_versions_of_each_file_group_stay(engine: Client, new_uri: Callable[[], str]) -> None:
    """With two versions retained a busy group keeps its two newest slices, a quiet one its only one, whatever its age."""
    known = updated(engine, new_uri(), 4)
    engine.service(known.uri, "clean", options=keep_versions(2))
    assert by_instant(known.uri) == known.instants[-2:]
    assert by_instant(known.uri, "rio") == known.instants[:1]
    assert snapshot(engine, known.uri) == known.rows[-1]


@CLEANS
@pytest.mark.requirements("CLN-004")
def test_policies_keep_different_files(engine: Client, new_uri: Callable[[], str]) -> None:
    """Of one history, one version keeps the newest slice of a group; one commit keeps also what a reader at it started from."""
    kept = []
    for options in (keep_versions(1), keep_commits(1)):
        known = updated(engine, new_uri(), 3)
        engine.service(known.uri, "clean", options=options)
        kept.append(len(by_instant(known.uri)))
    assert kept == [1, 2]


@pytest.mark.needs(*WRITES, "service.clean")
@BOTH_TYPES
@pytest.mark.requirements("CLN-001", "TL-013")
def test_nothing_to_delete_leaves_no_instant(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """A clean that finds nothing, but what a snapshot reads, changes neither files nor timeline."""
    known = updated(engine, new_uri(), 2, type)
    before, files = instant_files(known.uri), data_files(known.uri)
    assert engine.service(known.uri, "clean", options=keep_commits(5)) is None
    assert (instant_files(known.uri), data_files(known.uri)) == (before, files)


@CLEANS
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("CLN-003")
def test_a_read_of_what_was_cleaned_is_an_error(engine: Client, new_uri: Callable[[], str]) -> None:
    """As of an instant whose files are gone there is no answer, and not one from the files still there."""
    known = updated(engine, new_uri(), 4)
    engine.service(known.uri, "clean", options=keep_commits(1))
    with pytest.raises(ContractError):
        as_of(engine, known.uri, known.instants[1])


@CLEANS
@pytest.mark.needs("read.as-of", "service.archive")
@pytest.mark.requirements("CLN-003")
def test_a_read_of_what_was_cleaned_and_archived_is_an_error(engine: Client, new_uri: Callable[[], str]) -> None:
    """Neither is there when the history alone still knows the commit."""
    known = updated(engine, new_uri(), 7)
    engine.service(known.uri, "clean", options=keep_commits(1))
    limits = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    engine.service(known.uri, "archive", options=limits)
    assert not [name for name in instant_files(known.uri) if name.startswith(known.instants[1])]
    with pytest.raises(ContractError):
        as_of(engine, known.uri, known.instants[1])


@CLEANS
@pytest.mark.needs("read.as-of", "service.archive")
@pytest.mark.requirements("CLN-003")
def test_a_group_that_archived_writes_made_is_not_left_out(engine: Client, new_uri: Callable[[], str]) -> None:
    """As of a commit behind which a quiet group was written again and its earlier slice cleaned there is an error, and not the
    rows of the other groups: that the group was there then only the history tells.
    """
    known = updated(engine, new_uri(), 7)
    limits = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    assert engine.service(known.uri, "archive", options={**limits, "hoodie.clean.automatic": "false"}) is not None
    assert as_of(engine, known.uri, known.instants[-1]) == known.rows[-1]
    newest = engine.write(known.uri, "upsert", as_arrow([row("c", 2, "again", "rio")]))
    engine.service(known.uri, "clean", options=keep_versions(1))
    with pytest.raises(ContractError):
        as_of(engine, known.uri, known.instants[-1])
    assert as_of(engine, known.uri, newest) == snapshot(engine, known.uri)


@CLEANS
@pytest.mark.needs("read.cdc")
@pytest.mark.requirements("CLN-001", "TYP-005")
def test_change_capture_files_go_with_their_slices(engine: Client, new_uri: Callable[[], str]) -> None:
    """Of a table that logs its changes nothing is left of the slices that a clean deletes; those of the retained stay."""
    uri, program = new_uri(), Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True, ())
    engine.create(uri, replace(program.spec(), properties={"hoodie.table.cdc.enabled": "true"}))
    times = [engine.write(uri, "upsert", as_arrow([row("a", number, f"update {number}")])) for number in range(1, 6)]

    def captured() -> list[str]:
        return [time for time in times if any(time in path.name for path in folder_of(uri).rglob(".*.cdc"))]

    assert captured() == times[1:], "the first write makes the group, and changes nothing in it"
    engine.service(uri, "clean", options=keep_commits(2))
    assert by_instant(uri) == captured() == times[2:]


@pytest.mark.needs("read.snapshot", "read.projection", "timeline.pending-compaction", "service.clean", "write.upsert")
@pytest.mark.requirements("CLN-002", "SVC-008")
def test_what_a_planned_compaction_reads_stays(engine: Client, tmp_path: Path) -> None:
    """Base file and logs that a pending compaction needs outlive a clean that keeps one version."""
    uri, _ = golden("timeline.compaction.pending", tmp_path)
    rows, files = snapshot(engine, uri, COLUMNS), data_files(uri)
    engine.service(uri, "clean", options=keep_versions(1))
    assert data_files(uri) == files
    assert snapshot(engine, uri, COLUMNS) == rows


@pytest.mark.needs(
    "read.snapshot", "read.as-of", "read.projection", "timeline.replaced-groups", "service.clean", "write.upsert"
)
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("CLN-007", "CLN-008", "TL-013")
def test_replaced_groups_go_when_they_are_out_of_retention(engine: Client, tmp_path: Path) -> None:
    """While a reader before an insert overwrite is within the retained commits, what it replaced stays; then it goes, and the
    completed clean says so.
    """
    uri, times = golden("timeline.insert-overwrite", tmp_path)
    before, files = as_of(engine, uri, times[0], PARTED), data_files(uri)
    replaced = {path for path in files if times[0] in path and path.startswith("n/")}
    engine.service(uri, "clean", options=keep_commits(2))
    assert data_files(uri) == files
    assert as_of(engine, uri, times[0], PARTED) == before
    rows = snapshot(engine, uri, PARTED)
    instant = engine.service(uri, "clean", options=keep_commits(1))
    assert instant is not None
    assert replaced == files - data_files(uri)
    assert deleted_by(said(uri, instant, "clean")[1]) == {path.rpartition("/")[2] for path in replaced}
    assert snapshot(engine, uri, PARTED) == rows


@CLEANS
@pytest.mark.needs("read.as-of", "service.savepoint")
@pytest.mark.requirements("TL-021", "TL-041", "CLN-002")
def test_a_savepoint_outlives_cleaning(engine: Client, new_uri: Callable[[], str]) -> None:
    """The savepointed slice stays and can be read as of its instant; unprotected ones of the same age go."""
    known = updated(engine, new_uri(), 5)
    assert engine.service(known.uri, "savepoint", instant=known.instants[2]) == known.instants[2]
    engine.service(known.uri, "clean", options=keep_versions(1))
    assert by_instant(known.uri) == [known.instants[2], known.instants[-1]]
    assert snapshot(engine, known.uri) == known.rows[-1]


@CLEANS
@pytest.mark.needs("read.as-of", "service.savepoint")
@pytest.mark.requirements("TL-041")
def test_a_savepointed_instant_can_be_read_past_retention(engine: Client, new_uri: Callable[[], str]) -> None:
    """As of a savepointed instant there are its rows, also when the clean retained only later commits."""
    known = updated(engine, new_uri(), 5)
    engine.service(known.uri, "savepoint", instant=known.instants[2])
    engine.service(known.uri, "clean", options=keep_commits(1))
    assert as_of(engine, known.uri, known.instants[2]) == known.rows[2]


@pytest.mark.needs("read.snapshot", "read.as-of", "read.projection", "merge-on-read", "service.clean", "service.savepoint")
@pytest.mark.requirements("TL-041", "TL-021")
def test_a_savepoint_keeps_base_files_and_logs(engine: Client, tmp_path: Path) -> None:
    """Of a slice with logs that a compaction has superseded a savepoint keeps the logs, too."""
    uri, times = golden("timeline.compaction.completed-then-log", tmp_path)
    before, files = as_of(engine, uri, times[1], COLUMNS), data_files(uri)
    engine.service(uri, "savepoint", instant=times[1])
    engine.service(uri, "clean", options=keep_versions(1))
    assert data_files(uri) == files
    assert as_of(engine, uri, times[1], COLUMNS) == before


@CLEANS
@pytest.mark.needs("service.savepoint")
@pytest.mark.requirements("TL-021")
def test_a_deleted_savepoint_protects_nothing(engine: Client, new_uri: Callable[[], str]) -> None:
    """Deleting a savepoint takes both its files away, and the next clean takes what it protected."""
    known = updated(engine, new_uri(), 4)
    engine.service(known.uri, "savepoint", instant=known.instants[1])
    engine.service(known.uri, "savepoint", instant=known.instants[1], options={"delete": "true"})
    assert not instant_files(known.uri, "savepoint")
    engine.service(known.uri, "clean", options=keep_versions(1))
    assert by_instant(known.uri) == known.instants[-1:]


@CLEANS
@pytest.mark.needs("inspect.table")
@pytest.mark.requirements("TL-029", "SVC-005", "SVC-006")
def test_a_clean_that_died_is_finished(engine: Client, new_uri: Callable[[], str]) -> None:
    """A clean whose executor died with one file deleted is carried out again: the same files go, one instant comes of it.

    Whether it reports the file that was gone already is left to the engine.
    """
    known = updated(engine, new_uri(), 4)
    instant = engine.service(known.uri, "clean", phase="schedule", options=keep_commits(1))
    assert instant is not None
    _, plan = said(known.uri, instant, "clean.requested")
    before = names_of(known.uri)
    doomed = sorted(planned_by(plan))
    timeline = folder_of(known.uri) / ".hoodie" / "timeline"
    (timeline / f"{instant}.clean.inflight").write_bytes((timeline / f"{instant}.clean.requested").read_bytes())
    next(folder_of(known.uri).rglob(doomed[0])).unlink()
    assert snapshot(engine, known.uri) == known.rows[-1]
    engine.service(known.uri, "clean", options=keep_commits(1))
    assert before - names_of(known.uri) == set(doomed)
    assert set(doomed[1:]) <= deleted_by(said(known.uri, instant, "clean")[1]) <= set(doomed)
    assert len(instant_files(known.uri, "clean")) == 3, "the plan that was there, and no other"
    assert pending(engine, known.uri) == []
    assert snapshot(engine, known.uri) == known.rows[-1]


@pytest.mark.needs("read.snapshot", "read.projection", "read.as-of", "timeline.replaced-groups")
@pytest.mark.requirements("TL-011")
def test_a_clustering_changes_no_row(engine: Client, tmp_path: Path) -> None:
    """The rows as of a clustering are those as of the write before it."""
    uri, times = golden("timeline.clustering.completed", tmp_path)
    assert as_of(engine, uri, times[2], PARTED) == as_of(engine, uri, times[1], PARTED)


@pytest.mark.needs(*WRITES, "service.clustering", "copy-on-write")
@pytest.mark.requirements("TL-011")
def test_a_clustering_of_ones_own_changes_no_row(engine: Client, new_uri: Callable[[], str]) -> None:
    """The same for a clustering that the engine carries out, nulls among the values."""
    known = updated(engine, new_uri(), 1)
    engine.write(known.uri, "insert", as_arrow([row("d", 1, "x"), {**row("e", 1, "x"), "value": None}]))
    before = snapshot(engine, known.uri)
    assert engine.service(known.uri, "clustering") is not None
    assert snapshot(engine, known.uri, tuple(TYPES)) == before
