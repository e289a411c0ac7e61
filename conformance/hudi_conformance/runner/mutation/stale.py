"""Recording kills again after a mutant, the code that it changes or a case has changed: first by the cases that killed it.

All cases are run only if those that still kill it cite less: a rule in a role that no recorded killer checks any more.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from hudi_conformance.mutants import Mutant
from hudi_conformance.mutants.harness.mutant import changed_places
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence
from hudi_conformance.report.evidence.freshness import Record, make_record
from hudi_conformance.report.evidence.levels import has_role
from hudi_conformance.requirements.requirement import requirements
from hudi_conformance.runner.mutation.named import PLAIN, PLUGINS, TIME_LIMIT, run_mutants, target_of
from hudi_conformance.runner.mutation.worker import Worker


def confirm_kills(mutants: Sequence[Mutant], evidence: Evidence, done: Callable[[Kill, Record], None]) -> None:
    """Run each mutant on the cases that killed it; if those that still fail check less, on all. `done` is called for each.

    Raises:
        SuiteError: a run timed out or wrote no report.
    """
    known = {kill.name: kill for kill in evidence.kills}
    cases = {case.id: case for case in evidence.cases}
    worker = Worker()
    try:
        for mutant in mutants:
            kill = known[mutant.name]
            killers = [cases[id_] for id_ in kill.killed_by or () if id_ in cases]
            found = _failing(mutant, killers, worker)
            if not killers or _checked(mutant, killers) - _checked(mutant, [cases[id_] for id_ in found]):
                (again,) = run_mutants([mutant], evidence.cases, done=lambda _: None)
                found = set(again.killed_by or ())
            kill = replace(kill, killed_by=tuple(sorted(found)))
            done(kill, make_record(kill, changed_places(mutant), evidence))
    finally:
        worker.close()


def _checked(mutant: Mutant, cases: Sequence[CitedCase]) -> set[tuple[str, str]]:
    """The rules of the mutant that the cases cite, each with the roles in which they check it."""
    pairs = [(rule, role) for rule in mutant.breaks for role in requirements()[rule].role]
    return {(rule, role) for rule, role in pairs if any(rule in case.requirements and has_role(case, role) for case in cases)}


def _failing(mutant: Mutant, cases: Sequence[CitedCase], worker: Worker) -> set[str]:
    if not cases:
        return set()
    arguments = [*PLUGINS, *PLAIN, f"--mutant={mutant.name}", *map(target_of, cases)]
    answer = worker.run(arguments, cpu_seconds=TIME_LIMIT, seconds=2 * TIME_LIMIT, stop_early=False)
    known = {case.id for case in cases}
    return known & {id_ if id_ in known else id_.partition("[")[0] for id_ in answer.failed}
