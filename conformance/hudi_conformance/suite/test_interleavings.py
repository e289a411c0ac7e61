"""Every order of the requests of two or three processes, within bounds: no invariant is broken, whoever dies where.

Only an engine in this process can be made to take turns. Larger bounds: `hudi-conformance explore --preemptions 2`.
"""

from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines import find
from hudi_conformance.schedule.programs import MEETINGS

#: Rules that a scenario is about, by what its name has in it.
RULES = {
    "writers": ("OCC-001", "OCC-002", "OCC-005", "OCC-010", "OCC-011", "OCC-012", "OCC-013", "OCC-019", "OCC-022", "OCC-025",
                "S3-007", "TT-003", "TT-004", "LOCK-001"),
    "different-groups": ("OCC-014",),
    "optimistic": ("OCC-026", "TL-030"),
    "writer-and-rollback": ("TL-019", "TL-030", "TL-051"),
    "writer-and-restore": ("TL-023",),
    "writer-and-compaction": ("NBC-002", "NBC-007", "SVC-001", "SVC-002", "SVC-011", "OCC-004"),
    "writer-and-log-compaction": ("LCP-001", "LCP-005"),
    "writer-and-clustering": ("OCC-016", "SVC-009", "CLU-037"),
    "writer-and-archive": ("ARC-003",),
    "compaction-plan-and": ("SVC-004", "SVC-002"),
    "compaction-execution-and": ("SVC-005", "SVC-007", "TL-050", "SVC-004"),
    "compaction-and": ("SVC-004",),
    "log-compaction-and": ("SVC-004",),
    "compaction-and-clustering": ("SVC-010",),
    "and-restore": ("TL-023", "TL-024"),
    "clean-and": ("CLN-002", "SVC-008"),
    "-rollback-of-the-newest": ("TL-019", "CLN-003"),
    "and-savepoint": ("TL-021", "TL-022"),
    "-archive": ("ARC-001", "ARC-002"),
    "reader-and": ("RDR-005", "RDR-008", "OCC-003"),
    "-dies": ("SVC-006", "OCC-027", "TL-019"),
}  # fmt: skip


def _cases() -> list[Any]:
    found = []
    for name in MEETINGS:
        rules = sorted({rule for part, rules in RULES.items() if part in name for rule in rules}) or ["OCC-001"]
        found.append(pytest.param(name, marks=pytest.mark.requirements(*rules), id=name))
    return found


@pytest.mark.parametrize("name", _cases())
def test_no_order_breaks_an_invariant(engine: Client, name: str) -> None:
    """In every order with the scenario's bound on preemptions, or with a death at any step, all invariants hold."""
    if find(engine.name).name != "reference":
        pytest.skip("the engine's requests to storage cannot be put in order from here")
    found = MEETINGS[name].scenario(name).explore()
    assert found.failure is None, f"after {found.runs} runs: {found.failure.violation}"
    assert found.is_complete
    assert found.runs > 1
