"""Which scenario shows each mutant of concurrency, and how short a schedule does.

    python -m hudi_conformance.mutants.harness.schedules [NAME...]      explores anew and writes schedules.json

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
SCENARIOS = {
    "nobody-takes-the-lock": "two-writers-of-one-group",
    "the-lock-is-given-up-between-check-and-publication": "two-writers-of-one-group",
    "writers-never-look-for-conflicts": "two-writers-of-one-group",
    "completions-are-published-after-the-lock": "two-writers-of-one-group",
    "requests-are-published-after-the-lock": "two-writers-of-one-group",
    "times-are-the-clocks-of-the-moment": "two-writers-of-different-groups",
    "completion-times-are-compared-with-their-own-request": "two-writers-with-other-clocks",
    "the-lock-is-given-up-twice": "two-writers-of-one-group",
    "a-writer-that-has-written-keeps-the-lock": "two-writers-of-one-group",
    "base-files-of-one-group-may-both-be-written": "two-writers-of-one-group",
    "logs-are-never-in-conflict": "two-writers-of-logs",
    "writers-complete-in-clustered-groups": "writer-and-clustering",
    "plans-are-made-before-the-lock": "compaction-plan-and-compaction-plan",
    "cleans-are-planned-before-the-lock": "clean-and-savepoint",
    "rollbacks-are-planned-before-the-lock": "writer-and-rollback",
    "plans-that-are-carried-out-are-forgotten": "compaction-execution-and-compaction-plan",
    "clusterings-take-what-is-planned": "compaction-and-clustering",
    "log-compactions-take-what-is-planned": "compaction-and-log-compaction",
    "executors-clear-the-way": "compaction-execution-and-compaction-execution",
    "plans-complete-more-than-once": "compaction-execution-and-compaction-execution",
    "attempts-are-taken-back-without-the-lock": "compaction-execution-and-taking-back",
    "plans-start-without-the-lock": "compaction-and-restore",
    "services-complete-during-a-restore": "compaction-execution-and-restore",
    "writes-complete-during-a-restore": "writer-and-restore",
    "writers-do-not-ask-for-rollbacks": "writer-and-rollback",
    "writers-and-rollbacks-pass-each-other": "writer-and-rollback",
    "what-was-rolled-back-begins-and-completes": "writer-and-rollback",
    "files-go-before-the-write-is-hidden": "reader-and-rollback-of-the-newest",
    "restores-hide-writes-without-the-lock": "restore-and-restore",
    "requested-files-go-first": "rollback-and-rollback",
    "cleans-are-planned-during-a-restore": "clean-and-restore",
    "what-a-clean-is-about-to-delete-is-restored": "clean-and-restore",
    "rollbacks-do-not-ask-what-is-left": "clean-and-rollback-of-the-newest",
    "savepoints-complete-beside-a-planned-clean": "clean-and-savepoint",
    "archiving-goes-on-during-a-restore": "restore-and-archive",
    "archivers-take-no-lock": "archive-and-archive",
    "clusterings-never-look-for-changes": "writer-and-clustering",
    "uncommitted-base-files-begin-slices": "writer-and-compaction",
    "writers-build-on-what-is-being-rolled-back": "writer-and-rollback-of-the-newest",
    "what-is-being-rolled-back-is-compacted": "compaction-and-rollback-of-the-newest",
    "archived-writes-get-savepoints": "savepoint-and-archive",
    "overwritten-groups-are-clustered": "clustering-and-tolerated-overwrite",
    "overwrites-are-nobodys-concern": "writer-and-overwrite",
    # Mutants of other topics.
    "conflicts-are-checked-before-the-lock": "two-writers-of-one-group",
    "files-follow-the-completion": "two-writers-of-one-group",
    "the-concurrent-set-is-that-of-the-beginning": "two-writers-of-one-group",
    "completion-times-are-drawn-before-the-lock": "two-writers-of-one-group",
    "losers-complete-all-the-same": "two-writers-of-one-group",
    "base-files-are-in-nobodys-way": "two-writers-of-one-group",
    "log-files-are-in-nobodys-way": "two-writers-of-logs",
    "hearts-beat-after-the-request": "two-optimistic-writers",
    "completed-files-appear-empty": "reader-and-writer",
    "completed-files-go-before-pending-ones": "reader-and-archive",
    "the-active-timeline-is-cleared-first": "reader-and-archive",
    "logs-sliced-by-their-begin": "writer-and-compaction",
    "plans-of-compactions-overlap": "compaction-plan-and-compaction-plan",
    "services-plan-without-the-lock": "compaction-plan-and-compaction-plan",
    "compaction-overlooks-planned-clusterings": "compaction-and-clustering",
    "whoever-completes-stops-all-hearts": "two-optimistic-writers-of-different-groups",
    "plans-of-log-compactions-hold-no-clean-back": "reader-of-joined-logs-and-clean",
    "plans-of-clusterings-hold-no-clean-back": "reader-of-clustered-groups-and-clean",
}
#: More preemptions than these are not tried.
MOST = 2


@dataclass(frozen=True)
class Schedule:
    """How a mutant shows: the scenario, the preemptions that it takes, the length of the schedule, what is broken."""

    scenario: str
    preemptions: int
    steps: int
    violation: str


def shortest(mutant: str) -> Schedule | None:
    """The schedule with the fewest preemptions that finds the mutant in its scenario; None if none does."""
    from hudi_conformance.explorer.scenarios.scenarios import MEETINGS

    name = SCENARIOS[mutant]
    for preemptions in range(MOST + 1):
        scenario = MEETINGS[name].scenario(name, preemptions=preemptions)
        with apply_mutant(mutant):
            failure = scenario.explore().failure
        if failure is not None:
            told = re.search(r"\(step (\d+)[:)]", failure.violation)
            steps = int(told[1]) if told else len(failure.run.steps)
            return Schedule(name, preemptions, steps, failure.violation.partition("\n")[0].partition(" (step")[0])
    return None


def recorded() -> dict[str, Schedule]:
    """What the file says, by mutant."""
    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    return {current_mutant(name): Schedule(**found) for name, found in stored.items()}


def main(mutants: list[str]) -> None:
    """Find the schedules of these mutants, of all if none is named, and record them."""
    found = recorded()
    for mutant in map(current_mutant, mutants or SCENARIOS):
        schedule = shortest(mutant)
        print(mutant, "->", schedule or "NOT FOUND", flush=True)
        if schedule is not None:
            found[mutant] = schedule
            FILE.write_text(json.dumps({name: asdict(found[name]) for name in sorted(found)}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
