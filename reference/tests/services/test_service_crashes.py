"""Services that crash at any request: the next call finishes or reverts the action."""

import pytest
from reference_samples import TABLE_TYPES, trip, trips
from service_tables import RETAIN_ONE, check_crashes, end_state, failed_writer, opened, rows, table_of

from hudi_conformance.explorer.crash_points import crash_states
from hudi_reference import clean, delete_savepoint, restore, rollback, savepoint
from hudi_reference.services.planning.plan_execution import hold_for_planning


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_rollback_crash_at_every_point(kind):
    """Of a failed write: the rows are always those before it, and a second run has the result of one run."""
    table, _, states = table_of(kind, 2)
    failed = failed_writer(table)
    check_crashes(table.storage, lambda found: rollback_unless_done(found, failed), [states[-1]])


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_rollback_of_completed_commit_crash_at_every_point(kind):
    """Of the newest commit: the rows are those after it or those before it."""
    table, times, states = table_of(kind, 3)
    check_crashes(table.storage, lambda found: rollback_unless_done(found, times[-1]), states[-2:])


def rollback_unless_done(table, instant):
    """A run after its completion raises CannotUndo: there is no such write."""
    known = any(found.requested == instant for found in table.timeline.writes)
    if known or any(found.action == "rollback" for found in table.timeline.pending):
        rollback(table, instant)


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_restore_crash_at_every_point(kind):
    """The rows are those after one of the removed commits, newest first; rollbacks after the target are removed."""
    table, times, states = table_of(kind, 4)
    rollback(table, table.upsert(trips(trip("c", "rolled back"))))
    failed_writer(table)
    savepoint(table, times[1])
    check_crashes(table.storage, lambda found: restore(found, times[1]), states[1:])


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_crash_of_a_restore_whose_plan_has_another_order(kind):
    """TL-023: writes are removed newest first and once each, whatever a plan of another engine says."""
    table, times, states = table_of(kind, 4)
    writes = [{"commitTime": time, "action": table.timeline.commits[-1].action} for time in (times[2], times[3], times[2])]
    with hold_for_planning(table) as publish:
        publish("restore", {"instantsToRollback": writes, "version": 2, "savepointToRestoreTimestamp": times[1]})
    check_crashes(table.storage, lambda found: restore(found, times[1]), states[1:])


def test_clean_crash_at_every_point():
    """The rows are always the same, and the same files are deleted."""
    table, _, states = table_of("COPY_ON_WRITE", 4)
    check_crashes(table.storage, lambda found: clean(found, RETAIN_ONE), [states[-1]])


def test_savepoint_crash_at_every_point():
    """An inflight savepoint protects nothing and does not block another attempt; the same holds for a deletion."""
    table, times, states = table_of("COPY_ON_WRITE", 2)

    def protect(found):
        if not any(i.action == "savepoint" for i in found.timeline.completed):
            savepoint(found, times[0])

    points = list(crash_states(table.storage, lambda store: protect(opened(store))))
    for point in points:
        protect(opened(point.storage, 2))
        assert "savepoint.savepoint" not in str(end_state(point.storage))
        assert end_state(point.storage) == end_state(points[-1].storage)
        for deletion in crash_states(point.storage, lambda store: delete_savepoint(opened(store, 3), times[0])):
            if any(i.action == "savepoint" for i in opened(deletion.storage).timeline.instants):
                delete_savepoint(opened(deletion.storage, 4), times[0])
            assert end_state(deletion.storage) == end_state(table.storage)
    assert rows(table) == states[-1]
