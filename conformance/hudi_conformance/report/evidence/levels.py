"""How well a rule is shown to be kept: levels of evidence, and the basis of what counts as right. Both are computed.

| level | condition |
|---|---|
| implemented | code carries `@implements(ID)` |
| cited | for each role of the rule a case cites it |
| mutation-tested | for each role a citing case that passes on the reference kills a mutant of the rule |
| judged | for each role a citing case has a definite verdict of an engine that is not part of this project |
| proven | cited, mutation-tested and judged |

A case whose answer is open has no definite verdict, so it neither tests mutants nor judges. The basis of a rule is open if an
open erratum concerns it and its other cases do not make it mutation-tested and judged.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence.evidence import CitedCase
from hudi_conformance.requirements import errata
from hudi_conformance.requirements.requirement import Requirement

Level = Literal["implemented", "cited", "mutation-tested", "judged", "proven"]
Basis = Literal["text", "deployed", "open"]

#: Engines of this project: their verdicts judge the suite, not the rule.
OWN_ENGINES = ("reference", "spark")

#: The features that show which role a case puts an engine in; the name itself, or the beginning of one. A case without needs
#: runs the reference in this process and counts for every role.
ROLE_FEATURES: Mapping[str, tuple[str, ...]] = {
    "reader": ("read.", "inspect.", "compute."),
    "writer": ("write.", "create", "compute."),
    "service": ("service.", "compute."),
    "archiver": ("service.archive", "archive.", "compute."),
    "indexer": ("service.index", "write.", "compute."),
    "merger": ("read.", "write.", "service.compaction", "service.log-compaction", "compute."),
    "time-generator": ("write.", "create", "service.", "compute."),
    "lock-provider": ("write.", "service."),
}


def has_role(case: CitedCase, role: str) -> bool:
    """Whether a case checks an engine in a role, by the features that it needs."""
    needs = (*case.needs, *case.writer_needs)
    return not needs or any(need.startswith(ROLE_FEATURES[role]) for need in needs)


def roles_checked(case: CitedCase, rule: Requirement) -> tuple[str, ...]:
    """The roles of a rule in which a case checks it."""
    return tuple(role for role in rule.role if has_role(case, role))


def roles_reached(
    rule: Requirement, cases: Iterable[CitedCase], mutants: Iterable[Kill], verdicts: Mapping[str, Mapping[str, str]]
) -> dict[Level, tuple[str, ...]]:
    """The roles of a rule for which it is cited, mutation-tested and judged."""
    cases, killers = tuple(cases), {id_ for kill in mutants for id_ in kill.killed_by or ()}

    def roles_with(condition: Callable[[CitedCase], bool]) -> tuple[str, ...]:
        fitting = [case for case in cases if condition(case)]
        return tuple(role for role in rule.role if any(has_role(case, role) for case in fitting))

    def passes(case: CitedCase) -> bool:
        return verdicts.get("reference", {}).get(case.id, "pass") == "pass"

    return {
        "cited": roles_with(lambda case: True),
        "mutation-tested": roles_with(lambda case: case.id in killers and passes(case)),
        "judged": roles_with(lambda case: any(True for _ in judging_engines(case, verdicts))),
    }


def levels(rule: Requirement, implemented: bool, reached: Mapping[Level, tuple[str, ...]]) -> tuple[Level, ...]:
    """The levels that a rule has, weakest first; `reached` are the roles of `roles_reached`."""
    found: tuple[Level, ...] = tuple(level for level, roles in reached.items() if roles == rule.role)
    proven: tuple[Level, ...] = ("proven",) if len(found) == len(reached) else ()
    return (*(("implemented",) if implemented else ()), *found, *proven)


def judging_engines(case: CitedCase, verdicts: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """The engines that are not part of this project and passed or failed a case."""
    for engine, outcomes in verdicts.items():
        if not engine.startswith(OWN_ENGINES) and outcomes.get(case.id) in ("pass", "fail"):
            yield engine


def decide_basis(rule: str, reached: Iterable[Level]) -> Basis:
    """What decides the right answer: the text, the deployed format against it, or neither."""
    about = errata.about(rule)
    if any(erratum.open for erratum in about) and not {"mutation-tested", "judged"} <= set(reached):
        return "open"
    return "deployed" if any(erratum.deviates and not erratum.open for erratum in about) else "text"


def basis_text(rule: str, reached: Iterable[Level]) -> str:
    """The basis with the errata that decide it."""
    found = decide_basis(rule, reached)
    if found == "text":
        return found
    deciding = [e.id for e in errata.about(rule) if (e.open if found == "open" else e.deviates and not e.open)]
    return f"{found} ({', '.join(deciding)})"
