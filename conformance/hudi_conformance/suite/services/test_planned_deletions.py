"""Plans of cleans and restores that would remove what must stay: a plan in storage may come from another program, or may have
been changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.actions_by_hand import edit_plan
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.concurrent.pending_writes import begin_write
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.metadata_tables import FILTERS, LISTED
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    Json,
    Known,
    create_updated_table,
    data_file_names,
    deleted_files,
    file_names,
    keep_commits,
    planned_deletions,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.tables_with_logs import DUE
from hudi_conformance.suite.support.tables.written_tables import (
    CAPTURED,
    INSERT,
    contents_of_data,
    data_files,
    files_below,
    table_folder,
    write_table,
)
from hudi_reference import open_table
from hudi_reference.services.rollback.restore import schedule_restore
from hudi_reference.services.rollback.rollback import schedule_rollback

CLEANS = pytest.mark.needs(*WRITES, "service.clean", "copy-on-write")


def base_file_of(table: Known, instant: str) -> Path:
    """Return the base file that this write stored for the updated row."""
    (found,) = (table_folder(table.uri) / "oslo").glob(f"*_{instant}.parquet")
    return found


def add_to_plan(table: Known, instant: str, partition: str, file: Path) -> set[str]:
    """Add a file to the pending clean plan, after the files that it names already; return the names of these."""
    before = set[str]()

    def add(plan: Json) -> None:
        before.update(planned_deletions(plan))
        planned = plan["filePathsToBeDeletedPerPartition"]
        added = {"filePath": file.as_uri().replace("file://", "file:"), "isBootstrapBaseFile": False}
        planned[partition] = [*planned.get(partition, ()), added]

    edit_plan(table.uri, f"{instant}.clean.requested", add)
    return before


def check_kept(engine: Client, table: Known, instant: str, file: Path) -> None:
    """Execute the plan: the file stays. If the engine refuses the plan, it has changed no data file."""
    content, before = file.read_bytes(), contents_of_data(table.uri)
    try:
        engine.service(table.uri, "clean", phase="execute", instant=instant)
    except ContractError:
        assert contents_of_data(table.uri) == before, "the engine deleted files of a plan that it refused"
    assert file.exists() and file.read_bytes() == content, "the clean deleted a file that must stay"
    assert read_snapshot(engine, table.uri) == table.rows[-1]


def plan_deletions(engine: Client, table: Known, commits: int = 1) -> str:
    """Let the engine plan a clean that keeps this many commits; return its requested time."""
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    instant = engine.service(table.uri, "clean", phase="schedule", options=keep_commits(commits))
    assert instant is not None
    return instant


@CLEANS
@pytest.mark.requirements("CLN-002")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_clean_keeps_the_latest_slice(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-002: a plan names, after old files, the base file that a snapshot reads. That file stays; if the plan is refused,
    nothing was deleted.
    """
    table = create_updated_table(engine, new_uri(), 4)
    newest, instant = base_file_of(table, table.instants[-1]), plan_deletions(engine, table)
    assert add_to_plan(table, instant, "oslo", newest)
    check_kept(engine, table, instant, newest)


@CLEANS
@pytest.mark.requirements("CLN-003")
@pytest.mark.parametrize("write", [-2, -3], ids=["the earliest retained", "the one before it"])
def test_a_planned_clean_keeps_what_its_plan_retains(engine: Client, new_uri: Callable[[], str], write: int) -> None:
    """CLN-003: a plan names a file that reads from its own earliest retained instant on need: that of the instant, or the one
    before it, to which the changes of the instant are made. That file stays.
    """
    table = create_updated_table(engine, new_uri(), 5)
    retained, instant = base_file_of(table, table.instants[write]), plan_deletions(engine, table, commits=2)
    assert add_to_plan(table, instant, "oslo", retained)
    check_kept(engine, table, instant, retained)


@CLEANS
@pytest.mark.needs("write.insert-overwrite", "read.cdc")
@pytest.mark.requirements("CLN-003", "TYP-012")
def test_a_planned_clean_keeps_what_its_first_commit_replaced(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-003: the earliest commit that a plan retains replaced a file group, and the plan names a file of this group. That
    file stays: the changes of the commit are deletes of its rows.
    """
    table = create_updated_table(engine, new_uri(), 2)
    replaced = base_file_of(table, table.instants[-1])
    for number in (1, 2):
        table.instants.append(engine.write(table.uri, "insert_overwrite", as_arrow([row("a", number, "replacing")])))
    table.rows.append(read_snapshot(engine, table.uri))
    instant = plan_deletions(engine, table, commits=2)
    assert replaced.name not in add_to_plan(table, instant, "oslo", replaced)
    check_kept(engine, table, instant, replaced)


@CLEANS
@pytest.mark.requirements("SVC-005", "TL-013")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_clean_is_finished_after_its_folder_is_gone(engine: Client, new_uri: Callable[[], str]) -> None:
    """SVC-005: an execution has deleted the files of a partition, and the empty folder, before it crashed; the writes of the
    partition are archived. The next execution deletes the other files of the plan and completes.
    """
    table = create_updated_table(engine, new_uri(), 4)
    instant = plan_deletions(engine, table)
    gone = table_folder(table.uri) / "gone" / base_file_of(table, table.instants[0]).name
    planned = add_to_plan(table, instant, "gone", gone)
    engine.service(table.uri, "clean", phase="execute", instant=instant)
    assert planned and not planned & data_file_names(table.uri)
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@CLEANS
@pytest.mark.needs("service.savepoint")
@pytest.mark.requirements("TL-021", "CLN-002")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_clean_keeps_savepointed_files(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-021: a plan names a file that a savepoint protects. That file stays."""
    table = create_updated_table(engine, new_uri(), 4)
    protected = base_file_of(table, table.instants[1])
    engine.service(table.uri, "savepoint", instant=table.instants[1])
    instant = plan_deletions(engine, table)
    assert protected.name not in add_to_plan(table, instant, "oslo", protected)
    check_kept(engine, table, instant, protected)


@CLEANS
@pytest.mark.requirements("CLN-001")
@pytest.mark.parametrize("partition", ["../outside", ".hoodie", "oslo", ".hoodie/copies", "copies"])
def test_a_planned_clean_deletes_data_files_only(engine: Client, new_uri: Callable[[], str], partition: str) -> None:
    """CLN-001: a plan names a file outside of the table, a file that is no base or log file, or one with the name of a base
    file below .hoodie or in a folder that is no partition. That file stays: it belongs to no slice of the table.
    """
    table = create_updated_table(engine, new_uri(), 4)
    folder, name = table_folder(table.uri), f"other-0_0-0-0_{table.instants[0]}.parquet"
    other = {
        "../outside": folder.parent / f"{folder.name}-outside" / name,
        ".hoodie": folder / ".hoodie" / "hoodie.properties",
        "oslo": folder / "oslo" / "notes.txt",
    }.get(partition, folder / partition / name)
    if not other.exists():
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(b"of another program")
    instant = plan_deletions(engine, table)
    add_to_plan(table, instant, partition.replace("outside", f"{folder.name}-outside"), other)
    check_kept(engine, table, instant, other)


@CLEANS
@pytest.mark.requirements("CLN-002")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_clean_keeps_files_of_pending_writes(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-002: a plan names a base file that a pending write has stored. That file stays, and the write can complete."""
    table = create_updated_table(engine, new_uri(), 4)
    slow = begin_write(table.uri, (row("c", 90, "slow", "rio"),))
    (stored,) = (table_folder(table.uri) / "rio").glob(f"*_{slow.instant}.parquet")
    instant = plan_deletions(engine, table)
    add_to_plan(table, instant, "rio", stored)
    check_kept(engine, table, instant, stored)
    slow.complete()
    assert [found["value"] for found in read_snapshot(engine, table.uri)] == ["update 5", "x", "slow"]


@CLEANS
@pytest.mark.needs("read.cdc")
@pytest.mark.requirements("CLN-002")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_clean_keeps_change_files_of_the_latest_slice(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-002: a plan names the change file of the newest write, whose base file a snapshot reads. That file stays: a query
    reads the changes of this write from it.
    """
    uri = new_uri()
    engine.create(uri, replace(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec(), properties=CAPTURED))
    times = [engine.write(uri, "upsert", as_arrow([row("a", number, f"update {number}")])) for number in range(1, 5)]
    table = Known(uri, times, [read_snapshot(engine, uri)])
    (changes,) = (path for path in (table_folder(uri) / "oslo").glob(f".*{times[-1]}*.cdc"))
    instant = plan_deletions(engine, table)
    assert changes.name not in add_to_plan(table, instant, "oslo", changes)
    check_kept(engine, table, instant, changes)


@CLEANS
@pytest.mark.needs("service.index", "write.metadata-table")
@pytest.mark.requirements("SVC-012", "CLN-002")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_clean_keeps_what_an_index_plan_reads(engine: Client, new_uri: Callable[[], str]) -> None:
    """SVC-012: a plan names a base file of the state from which a pending plan builds an index. That file stays."""
    table = create_updated_table(engine, new_uri(), 2)
    table.instants.append(engine.write(table.uri, "upsert", as_arrow([row("a", 5, "listed")]), options=LISTED))
    read = base_file_of(table, table.instants[-1])
    assert engine.service(table.uri, "index", phase="schedule", options={**LISTED, **FILTERS}) is not None
    for number in range(2):
        engine.write(table.uri, "upsert", as_arrow([row("a", 10 + number, "afterwards")]), options=LISTED)
    table.rows.append(read_snapshot(engine, table.uri))
    instant = plan_deletions(engine, table)
    assert read.name not in add_to_plan(table, instant, "oslo", read)
    check_kept(engine, table, instant, read)


@CLEANS
@pytest.mark.requirements("TL-014", "CLN-001")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_plan_of_an_earlier_form_lists_names(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-014: plans before version 2 list the names of files by their partition, and no paths. The files are deleted too, and
    reported.
    """
    table = create_updated_table(engine, new_uri(), 4)
    instant = plan_deletions(engine, table)
    due = {base_file_of(table, time).name for time in table.instants[:-2]}

    def use_earlier_form(plan: Json) -> None:
        assert planned_deletions(plan) == due
        paths = plan["filePathsToBeDeletedPerPartition"]
        names = {partition: sorted(file_names([info["filePath"] for info in infos])) for partition, infos in paths.items()}
        plan.update(version=1, filesToBeDeletedPerPartition=names, filePathsToBeDeletedPerPartition=None)

    edit_plan(table.uri, f"{instant}.clean.requested", use_earlier_form)
    before = data_file_names(table.uri)
    assert engine.service(table.uri, "clean", phase="execute", instant=instant) == instant
    assert before - data_file_names(table.uri) == due == deleted_files(read_instant_file(table.uri, instant, "clean")[1])
    assert read_snapshot(engine, table.uri) == table.rows[-1]


Writes = list[Json]
#: Changes of the writes in the plan of a restore, newest first; the last argument is its target.
UNSAFE: Mapping[str, Callable[[Writes, str], Writes]] = {
    "without the newest write": lambda writes, target: writes[1:],
    "with its target": lambda writes, target: [*writes, {"commitTime": target, "action": "commit"}],
    "with a path": lambda writes, target: [*writes, {"commitTime": "../..", "action": "commit"}],
    "without a write in between, and without its target": lambda writes, target: [writes[0], writes[-1]],
    "with the newest write last, and another one twice": lambda writes, target: [writes[-1], *reversed(writes)],
}


@pytest.mark.needs(*WRITES, "service.restore", "copy-on-write")
@pytest.mark.requirements("TL-023")
@pytest.mark.leaves_damage("it edits the plan")
@pytest.mark.parametrize("edit", UNSAFE)
def test_a_planned_restore_ends_at_its_target(engine: Client, new_uri: Callable[[], str], edit: str) -> None:
    """TL-023: the plan of a restore leaves a write that is later than its target, removes more than these writes, or names them
    in another order. The table is that of its target, or the plan is refused and nothing has changed.
    """
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    table = create_updated_table(engine, new_uri(), 4)
    target = table.instants[1]
    planned = schedule_restore(open_table(table.uri), target)
    has_target = not edit.endswith("without its target")
    named = {} if has_target else {"savepointToRestoreTimestamp": None}
    writes = UNSAFE[edit]
    edit_plan(table.uri, f"{planned}.restore.requested",
              lambda plan: plan.update(instantsToRollback=writes(plan["instantsToRollback"], target), **named))  # fmt: skip
    before = contents_of_data(table.uri).keys()
    expected = table.rows[1]
    try:
        if has_target:
            engine.service(table.uri, "restore", instant=target)
        else:
            engine.service(table.uri, "restore", phase="execute", instant=planned)
    except ContractError:
        expected = table.rows[-1]
        assert contents_of_data(table.uri).keys() == before
    assert read_snapshot(engine, table.uri) == expected


@pytest.mark.needs(*WRITES, "service.restore", "service.compaction", "merge-on-read")
@pytest.mark.requirements("TL-023", "CMP-002")
@pytest.mark.leaves_damage("it edits the plan")
@pytest.mark.parametrize("planned", ["before the removed writes", "after one of them"])
def test_a_planned_restore_leaves_no_compaction_of_removed_writes(
    engine: Client, new_uri: Callable[[], str], planned: str
) -> None:
    """TL-023: the plan of a restore leaves a compaction that is later than the target. If it has merged the logs of a removed
    write, its file has rows of that write: the plan is refused, or the table is that of the target, as it is otherwise.
    """
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    table = create_updated_table(engine, new_uri(), 2, "MERGE_ON_READ")
    for step in ("plan", "write") if planned.startswith("before") else ("write", "plan"):
        if step == "plan":
            compaction = engine.service(table.uri, "compaction", phase="schedule", options=DUE)
        else:
            engine.write(table.uri, "upsert", as_arrow([row("a", 50, "removed")]))
    engine.service(table.uri, "compaction", phase="execute", instant=compaction, options=DUE)
    engine.write(table.uri, "upsert", as_arrow([row("a", 60, "removed, too")]))
    expected, latest = table.rows[-1], read_snapshot(engine, table.uri)
    restore = schedule_restore(open_table(table.uri), table.instants[-1])

    def keep_compaction(plan: Json) -> None:
        plan["instantsToRollback"] = [one for one in plan["instantsToRollback"] if one["commitTime"] != compaction]

    edit_plan(table.uri, f"{restore}.restore.requested", keep_compaction)
    try:
        engine.service(table.uri, "restore", instant=table.instants[-1])
    except ContractError:
        assert not planned.startswith("before")
        expected = latest
    assert read_snapshot(engine, table.uri) == expected


@pytest.mark.needs(*WRITES, "service.rollback", "write.metadata-table", "copy-on-write")
@pytest.mark.requirements("TL-019")
@pytest.mark.leaves_damage("it edits the plan")
@pytest.mark.parametrize("other", ["an earlier write", "a later write", "the metadata table"])
def test_a_planned_rollback_deletes_files_of_its_write(engine: Client, new_uri: Callable[[], str], other: str) -> None:
    """TL-019: the plan of a rollback names, after the files of its write, a base file of another write, or the log file by
    which the metadata table lists them. That file stays; if the plan is refused, nothing was deleted.
    """
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    uri = new_uri()
    _, (first,) = write_table(engine, uri, INSERT)
    newest = engine.write(uri, "upsert", as_arrow([row("a", 2, "newest")]), options=LISTED)
    planned = schedule_rollback(open_table(uri), newest)
    later = begin_write(uri, (row("c", 3, "later", "rio"),))
    pattern = {
        "an earlier write": f"oslo/*_{first}.parquet",
        "a later write": f"rio/*_{later.instant}.parquet",
        "the metadata table": f".hoodie/metadata/files/*_{newest}.log.*",
    }[other]
    (kept,) = (path for path in table_folder(uri).glob(pattern) if path.suffix != ".crc")

    def add(plan: Json) -> None:
        request = plan["RollbackRequests"][0]
        partition = kept.parent.relative_to(table_folder(uri)).as_posix()
        added = {**request, "partitionPath": partition, "filesToBeDeleted": [kept.as_uri().replace("file://", "file:")]}
        plan["RollbackRequests"].append(added)

    edit_plan(uri, f"{planned}.rollback.requested", add)
    before = data_files(uri)
    try:
        engine.service(uri, "rollback", phase="execute", instant=planned)
    except ContractError:
        assert data_files(uri) == before, "the engine deleted files of a plan that it refused"
    assert kept.exists()


@pytest.mark.needs(*WRITES, "service.rollback", "copy-on-write")
@pytest.mark.requirements("TL-019", "TL-020")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_rollback_of_a_path_removes_nothing(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-020: the plan of a rollback names a path in the place of an instant, and no files. It is refused, and no file of the
    table is removed, neither data nor markers of other writes.
    """
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    table = create_updated_table(engine, new_uri(), 2)
    pending = begin_write(table.uri, (row("c", 3, "pending", "rio"),))
    planned = schedule_rollback(open_table(table.uri), pending.instant)
    target = {"commitTime": "../.temp", "action": "commit"}
    edit_plan(
        table.uri, f"{planned}.rollback.requested", lambda plan: plan.update(instantToRollback=target, RollbackRequests=[])
    )
    before = set(files_below(table_folder(table.uri)))
    with pytest.raises(ContractError):
        engine.service(table.uri, "rollback", phase="execute", instant=planned)
    assert set(files_below(table_folder(table.uri))) == before
    assert read_snapshot(engine, table.uri) == table.rows[-1]
