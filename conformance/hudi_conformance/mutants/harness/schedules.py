"""The scenario that finds each mutant of concurrency, and the length of its shortest failing schedule.

    python -m hudi_conformance.mutants.harness.schedules [NAME...]      explores again and writes schedules.json

The bound on preemptions grows from 0 until the mutant is found. Steps are requests and clock readings up to the violation.
"""

import json
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from hudi_conformance.cases.renames import current_mutant
from hudi_conformance.mutants.harness.mutant import apply_mutant

FILE = Path(__file__).parents[1] / "schedules.json"
#: Mutant -> scenario.
SCENARIO_OF = {
    "table-lock-not-taken": "two-writers-of-one-group",
    "lock-released-between-check-and-publication": "two-writers-of-one-group",
    "conflict-check-skipped": "two-writers-of-one-group",
    "completion-published-after-lock": "two-writers-of-one-group",
    "request-published-after-lock": "two-writers-of-one-group",
    "instant-is-current-time": "two-writers-of-different-groups",
    "completion-time-after-own-request-only": "two-writers-with-clock-skew",
    "lock-released-twice": "two-writers-of-one-group",
    "successful-write-keeps-lock": "two-writers-of-one-group",
    "concurrent-base-files-of-group-allowed": "two-writers-of-one-group",
    "concurrent-logs-always-allowed": "two-writers-of-logs",
    "writes-to-clustered-groups-complete": "writer-and-clustering",
    "compaction-plan-made-before-lock": "compaction-plan-and-compaction-plan",
    "clean-planned-before-lock": "clean-and-restore",
    "rollback-planned-before-lock": "writer-and-rollback",
    "inflight-plans-ignored-by-planner": "compaction-execution-and-compaction-plan",
    "clustering-of-groups-planned-for-compaction": "compaction-and-clustering",
    "log-compaction-of-groups-planned-for-compaction": "compaction-and-log-compaction",
    "compaction-deletes-files-of-other-attempts": "compaction-execution-and-compaction-execution",
    "plan-completed-twice": "compaction-execution-and-compaction-execution",
    "compaction-rollback-without-lock": "compaction-execution-and-rollback-of-attempt",
    "plan-started-without-lock": "compaction-and-restore",
    "compaction-completes-during-restore": "compaction-execution-and-restore",
    "write-completes-during-restore": "writer-and-restore",
    "write-completes-despite-rollback-plan": "writer-and-rollback",
    "write-and-rollback-both-complete": "writer-and-rollback",
    "rolled-back-write-completes": "writer-and-rollback",
    "rollback-deletes-files-first": "reader-and-rollback-of-latest-write",
    "restore-without-lock": "restore-and-restore",
    "rollback-deletes-requested-file-first": "rollback-and-rollback",
    "clean-planned-during-restore": "clean-and-restore",
    "restore-ignores-planned-cleans": "clean-and-restore",
    "rolled-back-to-a-cleaned-state": "clean-and-rollback-of-latest-write",
    "savepoint-ignores-planned-clean": "clean-and-savepoint",
    "archiving-during-restore": "restore-and-archive",
    "archiving-without-lock": "archive-and-archive",
    "clustering-conflict-check-skipped": "writer-and-clustering",
    "pending-base-files-start-slices": "writer-and-compaction",
    "writer-ignores-planned-rollback-of-base": "writer-and-rollback-of-latest-write",
    "compaction-of-planned-rollback": "compaction-and-rollback-of-latest-write",
    "savepoint-of-archived-write-completes": "savepoint-and-archive",
    "clustering-of-overwritten-groups-completes": "clustering-and-tolerated-overwrite",
    "overwrites-ignored-in-conflict-check": "writer-and-overwrite",
    "conflict-check-before-lock": "two-writers-of-one-group",
    "files-uploaded-after-completion": "two-writers-of-one-group",
    "conflict-check-on-stale-timeline": "two-writers-of-one-group",
    "completion-time-generated-before-lock": "two-writers-of-one-group",
    "conflicting-write-completes": "two-writers-of-one-group",
    "base-file-conflicts-ignored": "two-writers-of-one-group",
    "log-file-conflicts-ignored": "two-writers-of-logs",
    "heartbeat-starts-after-request": "two-optimistic-writers",
    "completed-instant-created-empty": "reader-and-writer",
    "archiving-deletes-completed-file-first": "reader-and-archive",
    "active-timeline-cleared-before-manifest": "reader-and-archive",
    "logs-assigned-by-begin-time": "writer-and-compaction",
    "overlapping-compaction-plans": "compaction-plan-and-compaction-plan",
    "service-plans-before-lock": "compaction-plan-and-compaction-plan",
    "compaction-plan-ignores-clusterings": "compaction-and-clustering",
    "commit-deletes-all-heartbeats": "two-optimistic-writers-of-different-groups",
    "clean-ignores-log-compaction-plans": "reader-of-planned-log-compaction-and-clean",
    "clean-ignores-clustering-plans": "reader-of-planned-clustering-and-clean",
}
#: The greatest bound on preemptions that is tried.
MOST = 2


@dataclass(frozen=True)
class Schedule:
    """How a mutant is found: the scenario, the preemptions needed, the length of the schedule, and the violation."""

    scenario: str
    preemptions: int
    steps: int
    violation: str


def shortest(mutant: str) -> Schedule | None:
    """The schedule with the fewest preemptions that finds the mutant in its scenario; None if none does."""
    from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS

    name = SCENARIO_OF[mutant]
    for preemptions in range(MOST + 1):
        scenario = SCENARIOS[name].make_scenario(name, preemptions=preemptions)
        with apply_mutant(mutant):
            failure = scenario.explore_exhaustively().failure
        if failure is not None:
            found = re.search(r"\(step (\d+)[:)]", failure.violation)
            steps = int(found[1]) if found else len(failure.run.steps)
            return Schedule(name, preemptions, steps, failure.violation.partition("\n")[0].partition(" (step")[0])
    return None


def recorded() -> dict[str, Schedule]:
    """The recorded schedules, by mutant."""
    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    return {current_mutant(name): Schedule(**found) for name, found in stored.items()}


def main(mutants: list[str]) -> None:
    """Find the schedules of these mutants, or of all, and record them."""
    found = recorded()
    for mutant in map(current_mutant, mutants or SCENARIO_OF):
        schedule = shortest(mutant)
        print(mutant, "->", schedule or "NOT FOUND", flush=True)
        if schedule is not None:
            found[mutant] = schedule
            FILE.write_text(json.dumps({name: asdict(found[name]) for name in sorted(found)}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
