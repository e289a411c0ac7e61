"""What the pages of the site are made of: cases, rules, engines, results and known failures, linked with each other."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.report.evidence.coverage import CoverageEntry, list_entries
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence
from hudi_conformance.report.matrix import Line, build_matrix
from hudi_conformance.report.published import published_engine, published_results
from hudi_conformance.report.run import EngineRun
from hudi_conformance.report.site.known_failures import Failure, Failures
from hudi_conformance.requirements import chapters


def page_file_name(name: str) -> str:
    """The name of a page for the id of a case, rule or engine; ids have other characters only in `::` and in command lines."""
    return re.sub(r"[^\w.@-]+", "--", name, flags=re.ASCII).lstrip(".")


@dataclass(frozen=True)
class Answer:
    """The outcome of a case on an engine (None: not recorded), with the entries of the engine's list about the case."""

    engine: EngineRun
    outcome: Outcome | None
    listed: tuple[Failure, ...]


@dataclass(frozen=True)
class Content:
    """All facts of the site."""

    evidence: Evidence
    failures: Failures

    @cached_property
    def results(self) -> list[Result]:
        """The published results of the cases of today."""
        return published_results(self.evidence.verdicts, self.evidence.cases)

    @cached_property
    def engines(self) -> list[EngineRun]:
        """The engines with published results, the reference first."""
        names = sorted(self.evidence.verdicts, key=lambda name: (name != "reference", name))
        return list(map(published_engine, names))

    @cached_property
    def matrix(self) -> list[Line]:
        """Chapters by engines."""
        return build_matrix(self.results, self.engines)

    @cached_property
    def addresses(self) -> Mapping[str, str]:
        """The pages of engines and chapters, from the folder of the site."""
        engines = {engine.name: f"engines/{page_file_name(engine.name)}.html" for engine in self.engines}
        return engines | {chapter: f"chapters/{chapter}.html" for chapter in chapters.chapters()}

    def outcome(self, engine: str, case: str) -> Outcome | None:
        """The published outcome of a case on an engine; None if there is none."""
        found = self.evidence.verdicts.get(engine, {}).get(case)
        return None if found is None else Outcome(found)

    @cached_property
    def cases(self) -> Mapping[str, CitedCase]:
        """The cases by id."""
        return {case.id: case for case in self.evidence.cases}

    @cached_property
    def rules(self) -> tuple[CoverageEntry, ...]:
        """Every rule with its evidence."""
        return list_entries(self.evidence)

    @cached_property
    def rules_by_chapter(self) -> Mapping[str, list[CoverageEntry]]:
        """The rules of each chapter."""
        found: dict[str, list[CoverageEntry]] = {}
        for entry in self.rules:
            found.setdefault(chapters.chapter_of_rule(entry.requirement.id), []).append(entry)
        return found

    @cached_property
    def _listed(self) -> Mapping[tuple[str, str], list[Failure]]:
        found: dict[tuple[str, str], list[Failure]] = {}
        for engine, listed in self.failures.items():
            for entry in listed:
                found.setdefault((engine, entry.case.partition("[")[0]), []).append(entry)
        return found

    def answers(self, case: str) -> list[Answer]:
        """The outcome of each engine, and known failures of engines without published results."""
        known = (name for name in self.failures if name not in self.evidence.verdicts and (name, case) in self._listed)
        return [self._answer(case, engine) for engine in [*self.engines, *map(published_engine, known)]]

    def _answer(self, case: str, engine: EngineRun) -> Answer:
        return Answer(engine, self.outcome(engine.name, case), tuple(self._listed.get((engine.name, case), ())))
