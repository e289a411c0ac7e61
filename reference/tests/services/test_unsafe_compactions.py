"""Plans of compactions and log compactions that are found in a table, and do not name the files of its slices."""

from dataclasses import replace

import pytest
from reference_samples import contents, trip, trips
from service_tables import rows, table_of

from hudi_reference import compact
from hudi_reference.errors import UnsafePlan
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.services.compaction.compaction import execute_compaction, schedule_compaction
from hudi_reference.services.compaction.log_compaction import execute_log_compaction
from hudi_reference.services.planning.compaction_plan import Operation, plan_record
from hudi_reference.services.planning.plan_execution import hold_for_planning
from hudi_reference.services.withdrawal import withdraw_plan

OFTEN = {"hoodie.compact.inline.max.delta.commits": "1"}


def planned_by_another(table, action, *slices):
    """A pending plan of another engine for these slices."""
    with hold_for_planning(table) as publish:
        return publish(action, plan_record([Operation(one) for one in slices]))


def check_refused(table, act, planned, found):
    """The plan is refused before anything changes, and can be withdrawn."""
    stored, before = contents(table.storage), rows(table)
    with pytest.raises(UnsafePlan) as refused:
        act(table, planned)
    assert found in (refused.value.found or "")
    assert contents(table.storage) == stored
    assert withdraw_plan(table, planned) == planned
    assert rows(table) == before


@pytest.mark.parametrize("action", ["compaction", "logcompaction"])
def test_log_files_of_an_earlier_slice(action):
    """CMP-003, LCP-001: they are merged already; merged again, they would bring earlier values back."""
    table, _, _ = table_of("MERGE_ON_READ")
    (earlier,) = table.file_groups().latest_slices
    compact(table, OFTEN)
    table.upsert(trips(trip("b", "later", 9)))
    (latest,) = table.file_groups().latest_slices
    both = replace(latest, log_files=(earlier.log_files[0], *latest.log_files))
    execute = execute_compaction if action == "compaction" else execute_log_compaction
    check_refused(table, execute, planned_by_another(table, action, both), earlier.log_files[0])


def test_the_slice_of_a_pending_compaction():
    """CMP-003: executed first, the second plan would leave the rows of the first one out."""
    table, _, _ = table_of("MERGE_ON_READ")
    first = schedule_compaction(table, OFTEN)
    table.upsert(trips(trip("b", "later", 9)))
    (group,) = table.file_groups()
    assert group.slices[0].base_instant == first and group.slices[0].base_file is None
    check_refused(table, execute_compaction, planned_by_another(table, "compaction", group.slices[0]), first)
    assert compact(table, OFTEN) is not None


def test_the_slice_before_a_pending_compaction():
    """CMP-003: later log files belong to the slice of the first compaction. The second one would hide them."""
    table, _, _ = table_of("MERGE_ON_READ")
    (before,) = table.file_groups().latest_slices
    first = schedule_compaction(table, OFTEN)
    table.upsert(trips(trip("b", "later", 9)))
    planned = planned_by_another(table, "compaction", before)
    execute_compaction(table, first)
    check_refused(table, execute_compaction, planned, first)


@pytest.mark.parametrize("partition", ["", "new", ".hoodie/metadata/files", ".hoodie/timeline"])
def test_a_file_group_that_is_not_there(partition):
    """CMP-003: no file is stored in a folder that only the plan names."""
    table, _, _ = table_of("MERGE_ON_READ")
    planned = planned_by_another(table, "compaction", FileSlice(partition, "unknown-0", ""))
    check_refused(table, execute_compaction, planned, "unknown-0")
