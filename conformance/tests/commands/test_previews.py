"""The files that the preview of a service shows are those that it deletes; a plan that it would refuse is refused there too."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from tools.damage.tables import stored
from tools.fuzz.targets.plans import opened, published

from hudi_conformance.commands.tables.previews import Options, Step, compaction_steps, log_compaction_steps
from hudi_conformance.commands.tables.service import JOBS, Name
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_reference import WritableTable, create_table
from hudi_reference.errors import UnsafePlan, WriteConflict
from hudi_reference.layout.metadata_settings import ENABLE
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import plan_compaction, schedule_compaction
from hudi_reference.services.compaction.log_compaction import schedule_log_compaction
from hudi_reference.services.planning.compaction_plan import plan_record
from hudi_reference.services.planning.plan_execution import hold_for_planning
from hudi_reference.services.rollback.restore import schedule_restore
from hudi_reference.services.rollback.rollback import schedule_rollback
from hudi_reference.write.concurrency.conflict_resolution import ALLOW, STRATEGY_KEY

FILE_ID = "e4b06ce6-0741-47a8-bce4-2c8218072e8c-0"
RETAIN_ONE = {"hoodie.clean.commits.retained": "1"}
LAZY = {"hoodie.clean.failed.writes.policy": "LAZY", "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}


def table_of(folder: Path, kind: str, writes: int = 4) -> tuple[WritableTable, list[str]]:
    """A table without a metadata table, with writes to one record, and their times."""
    spec = Program(kind, "COMMIT_TIME_ORDERING", False).spec()
    made = create_table(
        str(folder / "t"), name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, table_type=kind,
        options={ENABLE: "false"},
    )  # fmt: skip
    return made, [made.upsert(as_arrow([row("a", n, f"value {n}")])) for n in range(writes)]


def data_files(table: WritableTable) -> set[str]:
    """The paths of all files outside of `.hoodie`."""
    return {info.path for info in table.storage.list(skip=".hoodie")}


def deleted_by(steps: list[Step]) -> set[str]:
    """The paths that a preview shows as deleted."""
    return {text.split("  ")[0] for verb, text in steps if verb == "delete"}


def run_and_compare(table: WritableTable, name: Name, options: Options) -> set[str]:
    """Run a service; the files that it deleted, which its preview has shown."""
    shown, before = JOBS[name].preview(table, "", options), data_files(table)
    JOBS[name].do(table, "", options)
    deleted = before - data_files(table)
    assert deleted_by(shown) == deleted
    return deleted


@pytest.mark.parametrize("policy", [{}, LAZY], ids=["eager", "lazy"])
def test_a_clean_beside_the_rollback_of_a_completed_write(tmp_path: Path, policy: Options) -> None:
    """CLN-002: no clean is planned before that rollback is executed; with policy LAZY it is, and the clean follows."""
    table, times = table_of(tmp_path, "COPY_ON_WRITE")
    schedule_rollback(table, times[-1])
    deleted = run_and_compare(table, "clean", {**RETAIN_ONE, **policy})
    assert any(times[-1] in path for path in deleted) is bool(policy)
    assert any(times[0] in path for path in deleted) is bool(policy)


@pytest.mark.parametrize("name", ["compaction", "clustering"])
def test_no_service_is_planned_beside_the_rollback_of_a_completed_write(tmp_path: Path, name: Name) -> None:
    """TL-019: the slices of the table are about to change."""
    table, times = table_of(tmp_path, "MERGE_ON_READ")
    schedule_rollback(table, times[-1])
    assert JOBS[name].preview(table, "", {}) == []
    assert JOBS[name].do(table, "", {}) is None


@pytest.mark.parametrize("action", ["compaction", "logcompaction", "clustering"])
def test_a_plan_beside_a_restore(action: str) -> None:
    """TL-023: a restore removes what the plan is based on. The preview refuses it as the execution does, which stores nothing."""
    _, _, objects = published(action)
    storage = stored(objects)
    schedule_restore(opened(storage), opened(storage).timeline.commits[-3].requested)
    before = {info.path for info in storage.list()}
    job = JOBS["log-compaction" if action == "logcompaction" else cast(Name, action)]
    for act in (job.preview, job.do):
        with pytest.raises(WriteConflict, match="being restored"):
            act(opened(storage), "", {})
    assert {info.path for info in storage.list()} == before


def test_files_of_an_earlier_execution(tmp_path: Path) -> None:
    """SVC-005: a compaction deletes what other executions of its plan have stored under other names."""
    table, _ = table_of(tmp_path, "MERGE_ON_READ")
    planned = schedule_compaction(table)
    (found,) = table.file_groups().latest_slices
    stray = f"{found.file_id}_7-8-9_{planned}.parquet"
    table.storage.put(stray, b"of an execution that was interrupted")
    assert run_and_compare(table, "compaction", {"hoodie.compact.inline.max.delta.commits": "9"}) == {stray}


def test_a_log_compaction_that_a_compaction_has_overtaken(tmp_path: Path) -> None:
    """LCP-001: the plan is dropped with the files of its executions, and the preview says so."""
    table, _ = table_of(tmp_path, "MERGE_ON_READ")
    planned = schedule_log_compaction(table)
    (found,) = table.file_groups().latest_slices
    with hold_for_planning(table) as publish:  # log compactions of Apache Hudi do not keep their groups from compactions
        publish("compaction", plan_record(plan_compaction(table, {})))
    stray = f".{found.file_id}_{planned}.log.1_7-8-9"
    table.storage.put(stray, b"of an execution that was interrupted")
    assert ("drop", f"{planned} logcompaction, whose log files a later compaction merges") in log_compaction_steps(
        table, "", {}
    )
    assert run_and_compare(table, "log-compaction", {}) == {stray}


def test_a_plan_that_would_be_refused(tmp_path: Path) -> None:
    """CMP-003: a plan that leaves a log file out is refused by the preview as by the execution."""
    table, _ = table_of(tmp_path, "MERGE_ON_READ")
    record = plan_record(plan_compaction(table))
    record["operations"][0]["deltaFilePaths"].pop()
    with hold_for_planning(table) as publish:
        publish("compaction", record)
    for act in (lambda: compaction_steps(table, "", {}), lambda: JOBS["compaction"].do(table, "", {})):
        with pytest.raises(UnsafePlan):
            act()


def test_a_clustering_whose_group_was_changed(tmp_path: Path) -> None:
    """SVC-009: the plan is withdrawn, and the preview says so."""
    table, _ = table_of(tmp_path, "COPY_ON_WRITE", writes=1)
    steps, do = JOBS["clustering"].preview, JOBS["clustering"].do
    planned = schedule_clustering(table)
    assert [verb for verb, _ in steps(table, "", {})] == ["rewrite"]
    allowing = replace(table, options={**table.options, STRATEGY_KEY: ALLOW})
    allowing.upsert(as_arrow([row("a", 9, "later")]))
    assert [verb for verb, text in steps(table, "", {}) if planned in text] == ["withdraw"]
    do(table, "", {})
    assert planned not in {found.requested for found in table.timeline.instants if found.action == "clustering"}


def test_withdrawal_shows_the_files_of_the_execution(tmp_path: Path) -> None:
    """TL-050: what an interrupted compaction has stored is deleted with its plan."""
    table, _ = table_of(tmp_path, "MERGE_ON_READ")
    planned = schedule_compaction(table)
    (found,) = table.file_groups().latest_slices
    table.storage.put(f".hoodie/timeline/{planned}.compaction.inflight", b"")
    table.storage.put(f"{found.file_id}_7-8-9_{planned}.parquet", b"of an execution that was interrupted")
    shown, before = JOBS["withdraw"].preview(table, planned, {}), data_files(table)
    JOBS["withdraw"].do(table, planned, {})
    assert deleted_by(shown) == before - data_files(table) != set()


def test_an_index_with_files_of_an_earlier_build(tmp_path: Path) -> None:
    """INX-002: files in the folder of an index that is not in use are deleted before it is built."""
    table, _ = table_of(tmp_path, "COPY_ON_WRITE")
    options = {ENABLE: "true", "hoodie.metadata.record.index.enable": "true"}
    left = ".hoodie/metadata/record_index/record-index-0000-0_0-0-0_20200101000000000.hfile"
    table.storage.put(left, b"of an earlier build")
    assert ("delete", left) in JOBS["index"].preview(table, "", options)


@pytest.mark.parametrize("schedule", [schedule_compaction, schedule_clustering])
def test_a_rollback_of_an_execution_shows_its_files(tmp_path: Path, schedule: Callable[[WritableTable], str | None]) -> None:
    """TL-050: the plan stays, and what its execution has stored is deleted."""
    table, _ = table_of(tmp_path, "MERGE_ON_READ")
    planned = schedule(table)
    assert planned is not None
    action = next(found.action for found in table.timeline.pending if found.requested == planned)
    table.storage.put(f".hoodie/timeline/{planned}.{action}.inflight", b"")
    table.storage.put(f"{FILE_ID}_7-8-9_{planned}.parquet", b"of an execution that was interrupted")
    shown, before = JOBS["rollback"].preview(table, planned, {}), data_files(table)
    JOBS["rollback"].do(table, planned, {})
    assert ("revert", f"{planned} {action}") in shown
    assert deleted_by(shown) == before - data_files(table) != set()
    assert [found.requested for found in table.timeline.pending] == [planned]


def test_a_withdrawal_whose_plan_is_gone(tmp_path: Path) -> None:
    """SVC-009: a clustering completes the rollback of a plan that it has removed from the timeline, and shows its files."""
    table, _ = table_of(tmp_path, "COPY_ON_WRITE", writes=1)
    planned = schedule_clustering(table)
    assert planned is not None
    schedule_rollback(table, planned)
    table.storage.delete(f".hoodie/timeline/{planned}.clustering.requested")
    left = f"{FILE_ID}_7-8-9_{planned}.parquet"
    record = {"instantToRollback": {"commitTime": planned, "action": "clustering"}, "version": 1, "RollbackRequests": [
        {"partitionPath": "", "fileId": "", "latestBaseInstant": "", "filesToBeDeleted": [left], "logBlocksToBeDeleted": {}}
    ]}  # fmt: skip
    (rollback,) = (found for found in table.timeline.pending if found.action == "rollback")
    table.storage.delete(f".hoodie/timeline/{rollback.file_name}")
    with hold_for_planning(table) as publish:
        publish("rollback", record)
    table.storage.put(left, b"of an execution that was interrupted")
    assert left in run_and_compare(table, "clustering", {"hoodie.clustering.inline.max.commits": "99"})
