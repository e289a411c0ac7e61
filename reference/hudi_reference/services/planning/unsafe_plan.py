"""The error for a plan that breaks the rules of its kind."""

from hudi_reference.errors import UnsafePlan
from hudi_reference.query.table import Table
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State


def unsafe_plan(table: Table, action: str, requested: str, message: str, *, rule: str, expected: str, found: str) -> UnsafePlan:
    """The error for the plan of that action, with the command that withdraws it. Nothing was changed."""
    return UnsafePlan(
        message, rule=rule, path=f"{table.properties.timeline_folder}/{Instant(requested, action, State.REQUESTED).file_name}",
        expected=expected, found=found,
        remedy="nothing was deleted; find out which program wrote the plan, then withdraw it: "
        f"hudi-conformance service TABLE withdraw --instant {requested}",
    )  # fmt: skip
