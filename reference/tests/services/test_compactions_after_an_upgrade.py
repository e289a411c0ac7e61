"""Tables that Apache Hudi upgraded from version 6 while a compaction was pending: log files of writes have its time (ER-085)."""

import shutil
from pathlib import Path

import pytest
from reference_samples import data_files

from hudi_reference import compact, open_table, rollback
from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.services.planning.plan_execution import hold_for_planning
from hudi_reference.services.rollback.rollback import execute_rollback
from hudi_reference.services.withdrawal import withdraw_plan

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "compatibility"
TABLES = ["upgraded.mor.pending-compaction", "upgraded.mor.pending-compaction.by-hudi-1-2"]


@pytest.fixture(params=TABLES)
def table(request, tmp_path):
    shutil.copytree(FIXTURES / request.param / "table", tmp_path / "t")
    return open_table(str(tmp_path / "t"))


def values(table):
    return sorted(
        repr({name: value for name, value in row.items() if not name.startswith("_hoodie")})
        for row in table.snapshot().to_pylist()
    )


def test_a_compaction_keeps_log_files_with_its_time(table):
    """CMP-001, SVC-005: they are no files of an earlier execution."""
    before, files = values(table), set(data_files(table))
    assert compact(table) is not None
    assert files <= set(data_files(table))
    assert values(table) == before


def test_an_execution_is_rolled_back_without_log_files(table):
    """TL-050: the plan is requested again, and the log files stay."""
    (pending,) = table.timeline.pending
    table.storage.put(f".hoodie/timeline/{pending.requested}.compaction.inflight", b"")
    before, files = values(table), set(data_files(table))
    assert rollback(table, pending.requested) == pending.requested
    assert (values(table), set(data_files(table))) == (before, files)


def test_the_slice_of_log_files_stays(table):
    """TL-019, TL-050: without the compaction the log files belong to no slice. It is neither withdrawn nor rolled back."""
    (pending,) = table.timeline.pending
    target = {"commitTime": pending.requested, "action": "compaction"}
    with hold_for_planning(table) as publish:
        planned = publish("rollback", {"instantToRollback": target, "RollbackRequests": [], "version": 1})
    before, files = values(table), set(data_files(table))
    for act in (lambda: execute_rollback(table, planned), lambda: withdraw_plan(table, pending.requested)):
        with pytest.raises(UnsupportedTableFeature, match="before table version 8"):
            act()
    assert (values(table), set(data_files(table))) == (before, files)
