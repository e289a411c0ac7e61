"""Further kills of mutants: for rules, and roles of rules, that no recorded kill covers yet."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from hudi_conformance.mutants import Mutant
from hudi_conformance.mutants.harness.mutant import changed_places
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence
from hudi_conformance.report.evidence.freshness import Record, make_record
from hudi_conformance.report.evidence.levels import has_role, roles_reached
from hudi_conformance.requirements.requirement import requirements
from hudi_conformance.runner.mutation.named import PLAIN, PLUGINS, TIME_LIMIT, target_of
from hudi_conformance.runner.mutation.worker import Worker

#: A rule, and a role in which cases that cite it should kill a mutant; None for any role.
Missing = tuple[str, str | None]


def find_missing(kill: Kill, evidence: Evidence) -> Iterator[Missing]:
    """The rules of a mutant that no killer cites, and the roles of its rules in which no mutant of the rule is killed."""
    cases = {case.id: case for case in evidence.cases}
    killers = [cases[id_] for id_ in kill.killed_by or () if id_ in cases]
    for rule in kill.breaks:
        if not any(rule in case.requirements for case in killers):
            yield rule, None
        known, mutants = evidence.cases_citing(rule), evidence.mutants_breaking(rule)
        reached = roles_reached(requirements()[rule], known, mutants, evidence.verdicts)["mutation-tested"]
        yield from ((rule, role) for role in requirements()[rule].role if role not in reached)


def extend_kills(mutants: Sequence[Mutant], evidence: Evidence, done: Callable[[Kill, Record], None]) -> None:
    """Run each mutant on the cases that may cover what its recorded kills do not, up to the first that fails for each.

    `done` is called for each mutant for which there were such cases.
    """
    known = {kill.name: kill for kill in evidence.kills}
    worker = Worker()
    try:
        for mutant in mutants:
            kill, found = known[mutant.name], list[CitedCase]()
            for missing in find_missing(kill, evidence):
                if not any(_covers(case, missing) for case in found):
                    found += _first_killer(mutant, _candidates(missing, kill, evidence), worker)
            kill = replace(kill, killed_by=tuple(sorted({*(kill.killed_by or ()), *(case.id for case in found)})))
            if found:
                done(kill, make_record(kill, changed_places(mutant), evidence))
    finally:
        worker.close()


def _covers(case: CitedCase, missing: Missing) -> bool:
    rule, role = missing
    return rule in case.requirements and (role is None or has_role(case, role))


def _candidates(missing: Missing, kill: Kill, evidence: Evidence) -> list[CitedCase]:
    """The cases that would cover it and pass on the reference, golden cases first."""
    answers = evidence.verdicts.get("reference", {})
    fitting = [c for c in evidence.cases_citing(missing[0]) if _covers(c, missing) and c.id not in (kill.killed_by or ())]
    return sorted((c for c in fitting if answers.get(c.id, "pass") == "pass"), key=lambda case: case.golden is None)


def _first_killer(mutant: Mutant, cases: Sequence[CitedCase], worker: Worker) -> list[CitedCase]:
    """The first of the cases that fails with the mutant and passes without it, in a list; an empty list if there is none."""
    while cases:
        failed = _failing(cases, worker, f"--mutant={mutant.name}")
        if failed is None or _failing([failed], worker) is None:
            return [] if failed is None else [failed]
        cases = [case for case in cases if case is not failed]
    return []


def _failing(cases: Sequence[CitedCase], worker: Worker, *options: str) -> CitedCase | None:
    arguments = [*PLUGINS, *PLAIN, "--maxfail=1", *options, *map(target_of, cases)]
    answer = worker.run(arguments, cpu_seconds=TIME_LIMIT, seconds=2 * TIME_LIMIT)
    failed = {id_.partition("[")[0] for id_ in answer.failed} | set(answer.failed)
    return next((case for case in cases if case.id in failed), None)
