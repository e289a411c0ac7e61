"""Cleaning: which files are deleted, which stay under each policy, and the contents of plan and completed file."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    copy_golden_table,
    create_updated_table,
    data_file_names,
    deleted_files,
    instant_files,
    keep_commits,
    keep_versions,
    pending_actions,
    planned_deletions,
    read_as_of,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import data_files, table_folder
from hudi_reference import compact, open_table

#: Settings of a writer that begins file groups with log files.
LOGS_FIRST = {
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
}
CLEANS = pytest.mark.needs(*WRITES, "service.clean", "copy-on-write")
#: The columns of the golden tables.
COLUMNS = ("id", "ts", "name")
PARTED = (*COLUMNS, "p")


def base_files_in(uri: str, folder: str) -> list[str]:
    """Return the paths of the base files in a partition."""
    return [path for path in data_files(uri) if path.startswith(folder) and path.endswith(".parquet")]


def instants_of_base_files(uri: str, folder: str = "oslo") -> list[str]:
    """Return the instants of the base files in a partition."""
    return sorted(path.rpartition("_")[2][:17] for path in base_files_in(uri, folder))


@CLEANS
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("TL-013", "CLN-001", "CLN-005", "CLN-002")
def test_a_clean_keeps_the_files_of_retained_commits(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-001: with two commits retained, these two and the slice before them stay, older ones are deleted; every retained read
    is unchanged.
    """
    table = create_updated_table(engine, new_uri(), 5)
    before = data_files(table.uri)
    assert engine.service(table.uri, "clean", options=keep_commits(2)) is not None
    assert instants_of_base_files(table.uri) == table.instants[-3:]
    assert instants_of_base_files(table.uri, "rio") == table.instants[:1], (
        "the clean deleted the only slice of an unchanged group"
    )
    assert data_files(table.uri) < before
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    for instant, rows in zip(table.instants[-2:], table.rows[-2:], strict=True):
        assert read_as_of(engine, table.uri, instant) == rows


@CLEANS
@pytest.mark.requirements("TL-013", "TL-014")
def test_a_clean_deletes_and_reports_the_planned_files(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-014: the requested file lists the files to delete; after the completion exactly these are deleted, and the completed
    file reports them.
    """
    table = create_updated_table(engine, new_uri(), 4)
    before = data_file_names(table.uri)
    instant = engine.service(table.uri, "clean", phase="schedule", options=keep_commits(1))
    assert instant is not None
    assert data_file_names(table.uri) == before, "the plan deleted files"
    name, plan = read_instant_file(table.uri, instant, "clean.requested")
    assert (name, plan["policy"], plan["version"]) == ("HoodieCleanerPlan", "KEEP_LATEST_COMMITS", 2)
    assert plan["earliestInstantToRetain"]["timestamp"] == table.instants[-1]
    assert len(planned_deletions(plan)) == 3
    assert engine.service(table.uri, "clean", phase="execute", instant=instant) == instant
    name, record = read_instant_file(table.uri, instant, "clean")
    assert name == "HoodieCleanMetadata"
    assert before - data_file_names(table.uri) == planned_deletions(plan) == deleted_files(record)
    assert (record["totalFilesDeleted"], record["earliestCommitToRetain"]) == (3, table.instants[-1])
    assert record["startCleanTime"] == instant


@CLEANS
@pytest.mark.requirements("CLN-006", "CLN-002")
def test_a_clean_keeps_the_configured_file_versions(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-006: with two versions retained, a changed group keeps its two newest slices, an unchanged one its only slice,
    whatever its age.
    """
    table = create_updated_table(engine, new_uri(), 4)
    engine.service(table.uri, "clean", options=keep_versions(2))
    assert instants_of_base_files(table.uri) == table.instants[-2:]
    assert instants_of_base_files(table.uri, "rio") == table.instants[:1]
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@CLEANS
@pytest.mark.requirements("CLN-004")
def test_policies_keep_different_files(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-004: on the same history, one version keeps the newest slice of a group; one commit also keeps the slice that readers
    of it started from.
    """
    kept = []
    for options in (keep_versions(1), keep_commits(1)):
        table = create_updated_table(engine, new_uri(), 3)
        engine.service(table.uri, "clean", options=options)
        kept.append(len(instants_of_base_files(table.uri)))
    assert kept == [1, 2]


@pytest.mark.needs(*WRITES, "service.clean")
@BOTH_TYPES
@pytest.mark.requirements("CLN-001", "TL-013")
def test_a_clean_without_work_creates_no_instant(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """CLN-001: a clean that finds only files that a snapshot reads changes neither files nor timeline."""
    table = create_updated_table(engine, new_uri(), 2, type)
    before, files = instant_files(table.uri), data_files(table.uri)
    assert engine.service(table.uri, "clean", options=keep_commits(5)) is None
    assert (instant_files(table.uri), data_files(table.uri)) == (before, files)


@CLEANS
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("CLN-003")
def test_a_read_of_a_cleaned_state_is_an_error(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-003: a read as of an instant whose files were deleted is refused, not answered from the remaining files."""
    table = create_updated_table(engine, new_uri(), 4)
    assert read_as_of(engine, table.uri, table.instants[1]) == table.rows[1]
    engine.service(table.uri, "clean", options=keep_commits(1))
    with pytest.raises(ContractError):
        read_as_of(engine, table.uri, table.instants[1])


@CLEANS
@pytest.mark.needs("read.as-of", "service.archive")
@pytest.mark.requirements("CLN-003")
def test_a_read_of_a_cleaned_and_archived_state_is_an_error(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-003: the read is also refused if only the history still has the commit."""
    table = create_updated_table(engine, new_uri(), 7)
    assert read_as_of(engine, table.uri, table.instants[1]) == table.rows[1]
    engine.service(table.uri, "clean", options=keep_commits(1))
    limits = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    engine.service(table.uri, "archive", options=limits)
    assert not [name for name in instant_files(table.uri) if name.startswith(table.instants[1])]
    with pytest.raises(ContractError):
        read_as_of(engine, table.uri, table.instants[1])


@CLEANS
@pytest.mark.needs("read.as-of", "service.archive")
@pytest.mark.requirements("CLN-003")
def test_a_read_never_omits_a_cleaned_group_of_an_archived_write(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-003: a group was created by an archived write, was written again later, and its earlier slice was cleaned. A read as
    of a commit in between is an error, not the rows of the other groups: only the history shows that the group existed then.
    """
    table = create_updated_table(engine, new_uri(), 7)
    limits = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    assert engine.service(table.uri, "archive", options={**limits, "hoodie.clean.automatic": "false"}) is not None
    assert read_as_of(engine, table.uri, table.instants[-1]) == table.rows[-1]
    newest = engine.write(table.uri, "upsert", as_arrow([row("c", 2, "again", "rio")]))
    engine.service(table.uri, "clean", options=keep_versions(1))
    with pytest.raises(ContractError):
        read_as_of(engine, table.uri, table.instants[-1])
    assert read_as_of(engine, table.uri, newest) == read_snapshot(engine, table.uri)


@CLEANS
@pytest.mark.needs("read.cdc")
@pytest.mark.requirements("CLN-001", "TYP-005")
def test_change_capture_files_are_deleted_with_their_slices(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-001: in a table with change capture, the change-capture files of deleted slices are deleted, and those of retained
    slices stay.
    """
    uri, program = new_uri(), Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True, ())
    engine.create(uri, replace(program.spec(), properties={"hoodie.table.cdc.enabled": "true"}))
    times = [engine.write(uri, "upsert", as_arrow([row("a", number, f"update {number}")])) for number in range(1, 6)]

    def captured() -> list[str]:
        return [time for time in times if any(time in path.name for path in table_folder(uri).rglob(".*.cdc"))]

    assert captured() == times[1:], "the change-capture files are not those of the later writes"
    engine.service(uri, "clean", options=keep_commits(2))
    assert instants_of_base_files(uri) == captured() == times[2:]


@pytest.mark.needs("read.snapshot", "read.projection", "timeline.pending-compaction", "service.clean", "write.upsert")
@pytest.mark.requirements("CLN-002", "SVC-008")
def test_a_clean_keeps_the_inputs_of_a_planned_compaction(engine: Client, tmp_path: Path) -> None:
    """CLN-002: base file and logs that a pending compaction needs are not deleted by a clean that keeps one version."""
    uri, _ = copy_golden_table("timeline.compaction.pending", tmp_path)
    rows, files = read_snapshot(engine, uri, COLUMNS), data_files(uri)
    engine.service(uri, "clean", options=keep_versions(1))
    assert data_files(uri) == files
    assert read_snapshot(engine, uri, COLUMNS) == rows


@pytest.mark.needs(
    "read.snapshot", "read.as-of", "read.projection", "timeline.replaced-groups", "service.clean", "write.upsert"
)
@pytest.mark.needs("copy-on-write")
@pytest.mark.each_version
@pytest.mark.requirements("CLN-007", "CLN-008", "TL-013")
def test_replaced_groups_are_cleaned_after_retention(engine: Client, tmp_path: Path) -> None:
    """CLN-008: while a commit before an insert overwrite is retained, the replaced files stay; later they are deleted, and the
    completed clean reports it.
    """
    uri, times = copy_golden_table("timeline.insert-overwrite", tmp_path, engine.table_version)
    before, files = read_as_of(engine, uri, times[0], PARTED), data_files(uri)
    replaced = {path for path in files if times[0] in path and path.startswith("n/")}
    engine.service(uri, "clean", options=keep_commits(2))
    assert data_files(uri) == files
    assert read_as_of(engine, uri, times[0], PARTED) == before
    rows = read_snapshot(engine, uri, PARTED)
    instant = engine.service(uri, "clean", options=keep_commits(1))
    assert instant is not None
    assert replaced == files - data_files(uri)
    assert deleted_files(read_instant_file(uri, instant, "clean")[1]) == {path.rpartition("/")[2] for path in replaced}
    assert read_snapshot(engine, uri, PARTED) == rows


@CLEANS
@pytest.mark.needs("write.insert-overwrite", "read.as-of", "service.savepoint")
@pytest.mark.parametrize("is_savepointed", [False, True])
@pytest.mark.requirements("CLN-008", "TL-021")
def test_replaced_groups_are_cleaned_by_versions(engine: Client, new_uri: Callable[[], str], is_savepointed: bool) -> None:
    """CLN-008: with one version retained, all slices of a replaced file group are deleted: none of them is a version that a
    snapshot reads. A slice that a savepoint protects stays, and can be read.
    """
    table = create_updated_table(engine, new_uri(), 2)
    protected = table.instants[1]
    if is_savepointed:
        engine.service(table.uri, "savepoint", instant=protected)
    newest = engine.write(table.uri, "insert_overwrite", as_arrow([row("z", 1, "all")]))
    rows = read_snapshot(engine, table.uri)
    assert engine.service(table.uri, "clean", options=keep_versions(1)) is not None
    assert instants_of_base_files(table.uri) == ([protected, newest] if is_savepointed else [newest])
    assert read_snapshot(engine, table.uri) == rows
    if is_savepointed:
        assert read_as_of(engine, table.uri, protected) == table.rows[1]


@CLEANS
@pytest.mark.needs("write.delete-partition", "read.as-of", "service.savepoint")
@pytest.mark.parametrize("policy", ["commits", "versions"])
@pytest.mark.requirements("TL-021")
def test_a_savepoint_keeps_files_of_a_deleted_partition(engine: Client, new_uri: Callable[[], str], policy: str) -> None:
    """TL-021: a partition is deleted after a savepoint. Of its files only those of the savepoint have to stay; a clean
    keeps them, and the savepointed rows can be read.
    """
    table = create_updated_table(engine, new_uri(), 2)
    engine.service(table.uri, "savepoint", instant=table.instants[1])
    engine.write(table.uri, "delete_partition", as_arrow([row("any", 0, "", "rio")]))
    for number in range(2):
        engine.write(table.uri, "upsert", as_arrow([row("a", 60 + number, "later")]))
    engine.service(table.uri, "clean", options=keep_commits(1) if policy == "commits" else keep_versions(1))
    assert read_as_of(engine, table.uri, table.instants[1]) == table.rows[1]


@CLEANS
@pytest.mark.needs("read.as-of", "service.savepoint")
@pytest.mark.requirements("TL-021", "TL-041", "CLN-002")
def test_a_clean_keeps_savepointed_files(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-041: the savepointed slice stays and can be read as of its instant; unprotected ones of the same age are deleted."""
    table = create_updated_table(engine, new_uri(), 5)
    assert engine.service(table.uri, "savepoint", instant=table.instants[2]) == table.instants[2]
    engine.service(table.uri, "clean", options=keep_versions(1))
    assert instants_of_base_files(table.uri) == [table.instants[2], table.instants[-1]]
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@CLEANS
@pytest.mark.requirements("CLN-001", "TL-013")
def test_a_savepoint_that_is_pending_stops_no_clean(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-013: the process that made a savepoint crashed, and left its inflight file. Cleans go on, and delete old files."""
    table = create_updated_table(engine, new_uri(), 5)
    (table_folder(table.uri) / ".hoodie" / "timeline" / f"{table.instants[1]}.savepoint.inflight").touch()
    assert engine.service(table.uri, "clean", options=keep_versions(1)) is not None
    found = instants_of_base_files(table.uri)
    assert found[-1] == table.instants[-1]
    assert not {*found} & {table.instants[0], *table.instants[2:4]}
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@CLEANS
@pytest.mark.needs("read.as-of", "service.savepoint")
@pytest.mark.requirements("TL-041")
def test_a_savepointed_instant_can_be_read_past_retention(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-041: a read as of a savepointed instant returns its rows, also if the clean retained only later commits."""
    table = create_updated_table(engine, new_uri(), 5)
    engine.service(table.uri, "savepoint", instant=table.instants[2])
    engine.service(table.uri, "clean", options=keep_commits(1))
    assert read_as_of(engine, table.uri, table.instants[2]) == table.rows[2]


@pytest.mark.needs("read.snapshot", "read.as-of", "read.projection", "merge-on-read", "service.clean", "service.savepoint")
@pytest.mark.requirements("TL-041", "TL-021")
def test_a_savepoint_keeps_base_files_and_logs(engine: Client, tmp_path: Path) -> None:
    """TL-021: a savepoint also keeps the logs of a slice that a compaction has superseded."""
    uri, times = copy_golden_table("timeline.compaction.completed-then-log", tmp_path)
    before, files = read_as_of(engine, uri, times[1], COLUMNS), data_files(uri)
    engine.service(uri, "savepoint", instant=times[1])
    engine.service(uri, "clean", options=keep_versions(1))
    assert data_files(uri) == files
    assert read_as_of(engine, uri, times[1], COLUMNS) == before


@CLEANS
@pytest.mark.needs("service.savepoint")
@pytest.mark.requirements("TL-021")
def test_a_deleted_savepoint_protects_nothing(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-021: deleting a savepoint deletes both its files, and the next clean deletes the files that it protected."""
    table = create_updated_table(engine, new_uri(), 4)
    engine.service(table.uri, "savepoint", instant=table.instants[1])
    engine.service(table.uri, "savepoint", instant=table.instants[1], options={"delete": "true"})
    assert not instant_files(table.uri, "savepoint")
    engine.service(table.uri, "clean", options=keep_versions(1))
    assert instants_of_base_files(table.uri) == table.instants[-1:]


@CLEANS
@pytest.mark.needs("inspect.table")
@pytest.mark.requirements("TL-029", "SVC-005", "SVC-006")
def test_a_crashed_clean_is_finished(engine: Client, new_uri: Callable[[], str]) -> None:
    """SVC-005: a clean that crashed with one file deleted is executed again: the same files are deleted, and there is one
    instant.

    Whether it reports the file that was already deleted is up to the engine.
    """
    table = create_updated_table(engine, new_uri(), 4)
    instant = engine.service(table.uri, "clean", phase="schedule", options=keep_commits(1))
    assert instant is not None
    _, plan = read_instant_file(table.uri, instant, "clean.requested")
    before = data_file_names(table.uri)
    planned = sorted(planned_deletions(plan))
    timeline = table_folder(table.uri) / ".hoodie" / "timeline"
    (timeline / f"{instant}.clean.inflight").write_bytes((timeline / f"{instant}.clean.requested").read_bytes())
    next(table_folder(table.uri).rglob(planned[0])).unlink()
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    engine.service(table.uri, "clean", options=keep_commits(1))
    assert before - data_file_names(table.uri) == set(planned)
    assert set(planned[1:]) <= deleted_files(read_instant_file(table.uri, instant, "clean")[1]) <= set(planned)
    assert len(instant_files(table.uri, "clean")) == 3, "the clean made another plan"
    assert pending_actions(engine, table.uri) == []
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@pytest.mark.needs("read.snapshot", "read.projection", "read.as-of", "timeline.replaced-groups")
@pytest.mark.requirements("TL-011")
def test_a_clustering_changes_no_row(engine: Client, tmp_path: Path) -> None:
    """TL-011: the rows as of a clustering are those as of the write before it."""
    uri, times = copy_golden_table("timeline.clustering.completed", tmp_path)
    assert read_as_of(engine, uri, times[2], PARTED) == read_as_of(engine, uri, times[1], PARTED)


@pytest.mark.needs(*WRITES, "service.clustering", "copy-on-write")
@pytest.mark.requirements("TL-011")
def test_a_clustering_by_the_engine_changes_no_row(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-011: the rows as of a clustering that the engine executes are those as of the write before it, with nulls among the
    values.
    """
    table = create_updated_table(engine, new_uri(), 1)
    engine.write(table.uri, "insert", as_arrow([row("d", 1, "x"), {**row("e", 1, "x"), "value": None}]))
    before = read_snapshot(engine, table.uri)
    assert engine.service(table.uri, "clustering") is not None
    assert read_snapshot(engine, table.uri, tuple(TYPES)) == before


@pytest.mark.needs("service.clean", "read.snapshot", "read.projection", "merge-on-read", "merge.event-time")
@pytest.mark.needs("partition.plain", "log.only-slices")
@pytest.mark.each_version
@pytest.mark.requirements("CLN-002", "CLN-001")
def test_a_slice_of_logs_alone_is_a_version(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-002: the first slice of a file group has log files and no base file, as writers with a bucket index begin it. A clean
    that keeps one version deletes these log files once a compaction has merged them, and nothing before; the rows stay.
    """
    uri = new_uri()
    Reference().create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True, version=engine.table_version).spec())
    table = open_table(uri, options=LOGS_FIRST)
    table.upsert(as_arrow((row("a", 1, "first"), row("b", 1, "first"))))
    first = data_files(uri)
    engine.service(uri, "clean", options=keep_versions(1))
    assert data_files(uri) == first
    assert compact(open_table(uri), {"hoodie.compact.inline.max.delta.commits": "1"}) is not None
    table.upsert(as_arrow((row("a", 2, "second"),)))
    later = data_files(uri) - first
    engine.service(uri, "clean", options=keep_versions(1))
    assert data_files(uri) == later
    rows = {one["id"]: one["value"] for one in engine.read(uri, Query(columns=("id", "value"))).to_pylist()}
    assert rows == {"a": "second", "b": "first"}
