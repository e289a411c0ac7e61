"""The published results: the recorded outcomes of each engine as results, and the comparison of a run with them."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.engines.registry import shipped
from hudi_conformance.report.evidence.evidence import CitedCase, recorded_verdicts
from hudi_conformance.report.matrix import Line, build_matrix
from hudi_conformance.report.run import EngineRun
from hudi_conformance.requirements.chapters import chapter_of_golden_case, chapter_of_test

#: Engine -> case -> outcome, as `recorded_verdicts` returns them.
Verdicts = Mapping[str, Mapping[str, str]]


def chapter_of_case(case: CitedCase) -> str:
    """The chapter of a golden case or of a Python case."""
    return chapter_of_golden_case(case.id) if case.golden is not None else chapter_of_test(Path(case.path), case.requirements)


def published_engine(name: str) -> EngineRun:
    """The facts of an engine with published results, for headings."""
    summaries = {info.name: info.summary for info in shipped()}
    return EngineRun(name, name.partition("@")[2] or None, summaries.get(name, "not shipped with the suite"))


def published_results(verdicts: Verdicts, cases: Iterable[CitedCase]) -> list[Result]:
    """A result for each recorded outcome of a case that there still is."""
    return [
        Result(case.id, engine, Outcome(found[case.id]), chapter, case.requirements, case.description)
        for case in cases
        for chapter in (chapter_of_case(case),)
        for engine, found in verdicts.items()
        if case.id in found
    ]


@dataclass(frozen=True)
class PublishedComparison:
    """A matrix of the cases of a run: the engines of the run, then the published ones."""

    engines: tuple[EngineRun, ...]
    lines: tuple[Line, ...]


def compare_with_published(
    results: Sequence[Result], engines: Sequence[EngineRun], verdicts: Verdicts | None = None
) -> PublishedComparison | None:
    """The results of a run beside the published results of the same cases; None if no case of the run has a published one."""
    verdicts = _recorded() if verdicts is None else verdicts
    chapters = {result.case.partition("[")[0]: result.chapter for result in results}
    shared = {case for found in verdicts.values() for case in found} & chapters.keys()
    if not shared:
        return None
    own = [
        Result(case, engine, Outcome(outcome), chapters[case])
        for engine, found in outcomes_by_case(results).items()
        for case, outcome in found.items()
        if case in shared
    ]
    others = [
        Result(case, f"published {engine}", Outcome(found[case]), chapters[case])
        for engine, found in verdicts.items()
        for case in sorted(shared & found.keys())
    ]
    columns = [*engines, *(replace(published_engine(name), name=f"published {name}") for name in verdicts)]
    return PublishedComparison(tuple(columns), tuple(build_matrix([*own, *others], columns)))


def words_by_case(cases: Set[str], verdicts: Verdicts | None = None) -> dict[str, list[tuple[str, Outcome]]]:
    """Case -> the published outcome of each engine, for these cases without parameters."""
    found: dict[str, list[tuple[str, Outcome]]] = {}
    for engine, answers in (_recorded() if verdicts is None else verdicts).items():
        for case in cases & answers.keys():
            found.setdefault(case, []).append((engine, Outcome(answers[case])))
    return found


@cache
def _recorded() -> Verdicts:
    return recorded_verdicts()


def outcomes_by_case(results: Iterable[Result]) -> dict[str, dict[str, str]]:
    """Engine -> case -> outcome; the results of a Python test for each of its parameters are one case."""
    found: dict[str, dict[str, str]] = {}
    for result in results:
        if result.outcome is not Outcome.NOT_RUN:
            known, case = found.setdefault(result.engine, {}), case_without_parameters(result)
            known[case] = _worse(known.get(case), result.outcome)
    return found


def case_without_parameters(result: Result) -> str:
    """The case that a result belongs to; a Python test has one result for each of its parameters, in brackets."""
    return result.case.partition("[")[0]


def _worse(known: str | None, found: Outcome) -> str:
    """The outcome of two results of one case: the failure if there is one, else the one that is not "unsupported"."""
    if known is None or known == Outcome.UNSUPPORTED or found.is_failure or found is Outcome.REFUSED:
        return found.value
    return known
