"""Programs of writes and of plans that do not fit the table: no row is lost, doubled or revived."""

import pytest
from tools.hostile.plan_programs import plan_programs

from hudi_reference.services.rollback import rollback


def test_plans_that_do_not_fit_change_no_row():
    """SVC-005, TL-019, TL-023: a plan is executed without a change of the rows that it must not change, or is refused."""
    found = list(plan_programs(40, 1))
    assert sum(one.executed for one in found) > 20
    assert [(one.seed, one.broken) for one in found if one.broken] == []


@pytest.mark.long
def test_the_programs_notice_that_rollbacks_are_not_checked(monkeypatch):
    """Without the check of planned rollbacks, rows of later writes are lost."""
    monkeypatch.setattr(rollback, "check_rollback_plan", lambda *_: None)
    assert any(one.broken for one in plan_programs(150, 9))
