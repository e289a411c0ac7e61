"""Further kills of mutants: for rules, and roles and table versions of rules, that no recorded kill covers yet."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from hudi_conformance.mutants import Mutant
from hudi_conformance.mutants.harness.mutant import changed_places
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence
from hudi_conformance.report.evidence.freshness import Record, make_record
from hudi_conformance.report.evidence.levels import has_role, roles_reached
from hudi_conformance.requirements.requirement import requirements
from hudi_conformance.runner.mutation.named import PLAIN, PLUGINS, TIME_LIMIT, target_of
from hudi_conformance.runner.mutation.worker import Worker


class Missing(NamedTuple):
    """A rule, and the role and the table version in which cases that cite it should kill a mutant; None for any."""

    rule: str
    role: str | None = None
    version: int | None = None


def find_missing(kill: Kill, evidence: Evidence) -> Iterator[Missing]:
    """The rules of a mutant that no killer cites, and the roles and table versions of its rules without a killed mutant."""
    cases = {case.id: case for case in evidence.cases}
    killers = [cases[id_] for id_ in kill.killed_by or () if id_ in cases]
    for rule in kill.breaks:
        if not any(rule in case.requirements for case in killers):
            yield Missing(rule)
        requirement, known, mutants = requirements()[rule], evidence.cases_citing(rule), evidence.mutants_breaking(rule)
        for version in requirement.versions:
            of_version = [case for case in known if version in case.versions]
            reached = roles_reached(requirement, of_version, mutants, evidence.verdicts)["mutation-tested"]
            yield from (Missing(rule, role, version) for role in requirement.role if role not in reached)


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
                    found += _first_killer(mutant, _candidates(missing, kill, evidence), missing.version, worker)
            kill = replace(kill, killed_by=tuple(sorted({*(kill.killed_by or ()), *(case.id for case in found)})))
            if found:
                done(kill, make_record(kill, changed_places(mutant), evidence))
    finally:
        worker.close()


def _covers(case: CitedCase, missing: Missing) -> bool:
    return (
        missing.rule in case.requirements
        and (missing.role is None or has_role(case, missing.role))
        and (missing.version is None or missing.version in case.versions)
    )


def _candidates(missing: Missing, kill: Kill, evidence: Evidence) -> list[CitedCase]:
    """The cases that would cover it and pass on the reference, golden cases first."""
    answers = evidence.verdicts.get("reference", {})
    fitting = [c for c in evidence.cases_citing(missing.rule) if _covers(c, missing) and c.id not in (kill.killed_by or ())]
    return sorted((c for c in fitting if answers.get(c.id, "pass") == "pass"), key=lambda case: case.golden is None)


def _first_killer(mutant: Mutant, cases: Sequence[CitedCase], version: int | None, worker: Worker) -> list[CitedCase]:
    """The first of the cases that fails with the mutant and passes without it, in a list; an empty list if there is none.

    Cases that make tables make those of `version`.
    """
    options = [] if version is None else [f"--table-version={version}"]
    while cases:
        failed = _failing(cases, worker, *options, f"--mutant={mutant.name}")
        if failed is None or _failing([failed], worker, *options) is None:
            return [] if failed is None else [failed]
        cases = [case for case in cases if case is not failed]
    return []


def _failing(cases: Sequence[CitedCase], worker: Worker, *options: str) -> CitedCase | None:
    arguments = [*PLUGINS, *PLAIN, "--maxfail=1", *options, *map(target_of, cases)]
    answer = worker.run(arguments, cpu_seconds=TIME_LIMIT, seconds=2 * TIME_LIMIT)
    failed = {id_.partition("[")[0] for id_ in answer.failed} | set(answer.failed)
    return next((case for case in cases if case.id in failed), None)
