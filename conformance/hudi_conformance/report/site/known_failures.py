"""The known failures of the engines, grouped by their causes: silent wrong answers first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from hudi_conformance.cases.verdict import Outcome
from hudi_conformance.report.evidence.evidence import CitedCase

#: The outcomes of known failures, in the order of reports, with their headings.
SECTIONS: dict[Outcome, str] = {
    Outcome.FAIL: "Wrong answers",
    Outcome.CRASH: "Crashes",
    Outcome.TIMEOUT: "Hangs",
    Outcome.ERROR: "Errors instead of answers",
}


class Failure(Protocol):
    """An entry of a list of expected failures."""

    @property
    def case(self) -> str:
        """The id of the case, with the parameters of a Python case."""

    @property
    def outcome(self) -> Outcome:
        """The expected outcome."""

    @property
    def message(self) -> str:
        """The expected message."""

    @property
    def reason(self) -> str:
        """The cause."""

    @property
    def recipe(self) -> str | None:
        """The steps that reproduce it by hand."""

    @property
    def erratum(self) -> str | None:
        """The erratum that explains the decision of the project."""


#: An engine's entry about one case.
Listed = tuple[str, Failure]

#: Engine -> the entries of its list.
Failures = Mapping[str, tuple[Failure, ...]]


@dataclass(frozen=True)
class Difference:
    """The failures of one or several engines for one reason."""

    reason: str
    listed: tuple[Listed, ...]

    def cases_of(self, engine: str) -> list[str]:
        """The cases in which an engine fails for this reason."""
        return sorted(entry.case for name, entry in self.listed if name == engine)

    @property
    def shortest(self) -> str:
        """The case with the shortest id, as an example."""
        return min((entry.case for _, entry in self.listed), key=lambda case: (len(case), case))

    @property
    def recipe(self) -> str:
        """The steps that reproduce it by hand; empty if there are none."""
        return next((entry.recipe for _, entry in self.listed if entry.recipe), "")

    @property
    def errata(self) -> list[str]:
        """The errata that explain the decision of the project."""
        return sorted({entry.erratum for _, entry in self.listed if entry.erratum})

    def danger(self, cases: Mapping[str, CitedCase]) -> list[str]:
        """What is dangerous about the wrong answers: the flags of their cases."""
        return sorted({flag for _, entry in self.listed if entry.case in cases for flag in cases[entry.case].flags})


def group_by_reason(listed: Iterable[Listed]) -> list[Difference]:
    """One for each reason; first those of most engines, then of most cases."""
    by_reason: dict[str, list[Listed]] = defaultdict(list)
    for engine, entry in listed:
        by_reason[entry.reason].append((engine, entry))
    found = [Difference(reason, tuple(entries)) for reason, entries in by_reason.items()]
    return sorted(found, key=lambda one: (-len({name for name, _ in one.listed}), -len(one.listed), one.reason))


def sections_by_outcome(failures: Failures) -> list[tuple[Outcome, str, list[Difference]]]:
    """Outcome, heading and differences of each section that is not empty."""
    found = [
        (
            outcome,
            title,
            group_by_reason((name, e) for name, listed in failures.items() for e in listed if e.outcome is outcome),
        )
        for outcome, title in SECTIONS.items()
    ]
    return [section for section in found if section[2]]


@dataclass(frozen=True)
class Overview:
    """How many known failures an engine has: differences, cases, and cases with wrong answers."""

    engine: str
    differences: int
    cases: int
    wrong: int


def list_overviews(failures: Failures) -> list[Overview]:
    """One for each engine with known failures."""
    return [
        Overview(name, len({e.reason for e in listed}), len(listed), sum(e.outcome is Outcome.FAIL for e in listed))
        for name, listed in failures.items()
        if listed
    ]
