"""Plans of cleans and restores that would remove what must stay: a plan in storage may come from another program, or may have
been changed.
"""

import io
from collections.abc import Callable, Mapping
from pathlib import Path

import fastavro
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    Json,
    Known,
    create_updated_table,
    keep_commits,
    planned_deletions,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import files_below, table_folder
from hudi_reference import open_table
from hudi_reference.services.rollback.restore import schedule_restore

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

    edit_plan(table, f"{instant}.clean.requested", add)
    return before


def edit_plan(table: Known, name: str, change: Callable[[Json], None]) -> None:
    """Change the plan in that file of the timeline."""
    path = table_folder(table.uri) / ".hoodie" / "timeline" / name
    reader = fastavro.reader(io.BytesIO(path.read_bytes()))
    (plan,) = reader
    assert isinstance(plan, dict) and reader.writer_schema is not None
    change(plan)
    changed = io.BytesIO()
    fastavro.writer(changed, reader.writer_schema, [plan])
    path.write_bytes(changed.getvalue())
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def check_kept(engine: Client, table: Known, instant: str, file: Path) -> None:
    """Execute the plan: the file stays. If the engine refuses the plan, it has changed no data file."""
    folder, content = table_folder(table.uri), file.read_bytes()
    before = {path: data for path, data in files_below(folder).items() if ".hoodie" not in path.parts}
    try:
        engine.service(table.uri, "clean", phase="execute", instant=instant)
    except ContractError:
        after = {path: data for path, data in files_below(folder).items() if ".hoodie" not in path.parts}
        assert after == before, "the engine deleted files of a plan that it refused"
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
def test_a_planned_clean_keeps_what_its_plan_retains(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-003: a plan names a file that reads from its own earliest retained instant on need. That file stays."""
    table = create_updated_table(engine, new_uri(), 5)
    retained, instant = base_file_of(table, table.instants[-2]), plan_deletions(engine, table, commits=2)
    assert add_to_plan(table, instant, "oslo", retained)
    check_kept(engine, table, instant, retained)


@CLEANS
@pytest.mark.needs("service.savepoint")
@pytest.mark.requirements("TL-021", "CLN-002")
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


Writes = list[Json]
#: Changes of the writes in the plan of a restore, newest first; the last argument is its target.
UNSAFE: Mapping[str, Callable[[Writes, str], Writes]] = {
    "without the newest write": lambda writes, target: writes[1:],
    "with its target": lambda writes, target: [*writes, {"commitTime": target, "action": "commit"}],
    "with a path": lambda writes, target: [*writes, {"commitTime": "../..", "action": "commit"}],
}


@pytest.mark.needs(*WRITES, "service.restore", "copy-on-write")
@pytest.mark.requirements("TL-023")
@pytest.mark.leaves_damage("it edits the plan")
@pytest.mark.parametrize("edit", UNSAFE)
def test_a_planned_restore_ends_at_its_target(engine: Client, new_uri: Callable[[], str], edit: str) -> None:
    """TL-023: the plan of a restore leaves a write that is later than its target, or removes more than these writes. The table
    is that of its target, or the plan is refused and nothing has changed.
    """
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    table = create_updated_table(engine, new_uri(), 4)
    target = table.instants[1]
    planned = schedule_restore(open_table(table.uri), target)
    edit_plan(table, f"{planned}.restore.requested",
              lambda plan: plan.update(instantsToRollback=UNSAFE[edit](plan["instantsToRollback"], target)))  # fmt: skip
    before = {path for path in files_below(table_folder(table.uri)) if ".hoodie" not in path.parts}
    expected = table.rows[1]
    try:
        engine.service(table.uri, "restore", instant=target)
    except ContractError:
        expected = table.rows[-1]
        assert {path for path in files_below(table_folder(table.uri)) if ".hoodie" not in path.parts} == before
    assert read_snapshot(engine, table.uri) == expected
