"""The trend between releases of one engine: scores by chapter, and the cases whose outcome changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.report.matrix import Line, build_matrix
from hudi_conformance.report.published import published_engine
from hudi_conformance.report.run import EngineRun


@dataclass(frozen=True)
class Change:
    """A case with different outcomes in two releases."""

    case: str
    description: str
    before: Outcome
    after: Outcome


@dataclass(frozen=True)
class Step:
    """From one release to the next: changed cases by kind; `shared` cases have results of both."""

    before: EngineRun
    after: EngineRun
    shared: int
    repaired: tuple[Change, ...]
    broken: tuple[Change, ...]
    others: tuple[Change, ...]

    @property
    def groups(self) -> list[tuple[str, tuple[Change, ...]]]:
        """Heading and changes of each group that is not empty."""
        found = [("Right only in the later release", self.repaired), ("Right only in the earlier release", self.broken)]
        return [group for group in [*found, ("Changed between other outcomes", self.others)] if group[1]]


@dataclass(frozen=True)
class Trend:
    """The releases of one engine: the matrix of the cases that all of them have results of, and the steps."""

    name: str
    engines: tuple[EngineRun, ...]
    lines: tuple[Line, ...]
    steps: tuple[Step, ...]


def compute_trends(results: Sequence[Result]) -> list[Trend]:
    """The trend of each engine that has results of two releases or more."""
    families: dict[str, list[str]] = {}
    for name in sorted({result.engine for result in results}, key=_release):
        if "@" in name:
            families.setdefault(name.partition("@")[0], []).append(name)
    return [_trend(name, releases, results) for name, releases in families.items() if len(releases) > 1]


def _release(name: str) -> tuple[str, list[int], str]:
    product, _, version = name.partition("@")
    return product, [int(part) for part in version.split(".") if part.isdigit()], version


def _trend(name: str, releases: Sequence[str], results: Iterable[Result]) -> Trend:
    by_release: dict[str, dict[str, Result]] = {release: {} for release in releases}
    for result in results:
        if result.engine in by_release:
            by_release[result.engine][result.case] = result
    shared = set.intersection(*(set(found) for found in by_release.values()))
    engines = tuple(map(published_engine, releases))
    compared = [found[case] for found in by_release.values() for case in sorted(shared)]
    steps = tuple(_step(before, after, by_release[before.name], by_release[after.name]) for before, after in pairwise(engines))
    return Trend(name, engines, tuple(build_matrix(compared, engines)), steps)


def _step(before: EngineRun, after: EngineRun, old: dict[str, Result], new: dict[str, Result]) -> Step:
    shared = sorted(old.keys() & new.keys())
    changes = [
        Change(case, new[case].description, old[case].outcome, new[case].outcome)
        for case in shared
        if old[case].outcome is not new[case].outcome
    ]
    repaired = tuple(c for c in changes if c.after is Outcome.PASS)
    broken = tuple(c for c in changes if c.before is Outcome.PASS)
    others = tuple(c for c in changes if Outcome.PASS not in (c.before, c.after))
    return Step(before, after, len(shared), repaired, broken, others)
