"""What the suite covers: every requirement beside its code, its cases, its mutants and the engines' verdicts."""

import difflib
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence import gaps
from hudi_conformance.report.evidence import levels as evidence_levels
from hudi_conformance.report.evidence.evidence import ROOT, CitedCase, Evidence, SourcePlace
from hudi_conformance.report.evidence.levels import Basis, Level
from hudi_conformance.requirements import errata as errata_list
from hudi_conformance.requirements import requirement as index
from hudi_conformance.requirements.chapters import chapter_of_rule
from hudi_conformance.requirements.requirement import Area, Requirement

FILE = ROOT / "spec_coverage.md"

Status = Literal["proven", "mutation-tested", "cited", "cited in part", "implemented", "uncovered", "excluded"]

#: The levels of evidence that cases give a rule, highest first.
BY_CASES: tuple[Level, ...] = ("proven", "judged", "mutation-tested", "cited")

#: The outcome of several cases of one rule: the first of these that is among them. Outcomes without an answer of the engine
#: come last.
DECIDING = ("fail", "crash", "timeout", "error", "refused", "pass", "open", "unsupported")


@dataclass(frozen=True)
class CoverageEntry:
    """All that is known of one requirement."""

    requirement: Requirement
    implemented: tuple[SourcePlace, ...]
    cases: tuple[CitedCase, ...]
    mutants: tuple[Kill, ...]
    excluded: str | None
    #: Engine -> citing case -> outcome.
    answers: Mapping[str, Mapping[str, str]]
    #: Engine -> cases of a drawn version that it ran at the newest version.
    at_newest: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Engine -> table version -> case -> outcome in a run that named the version.
    answers_by_version: Mapping[str, Mapping[int, Mapping[str, str]]] = field(default_factory=dict)

    @cached_property
    def roles_reached(self) -> dict[Level, tuple[str, ...]]:
        """The roles of the rule for which it is cited, mutation-tested and judged."""
        return evidence_levels.roles_reached(self.requirement, self.cases, self.mutants, self.answers)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels of evidence that the rule has, weakest first."""
        return evidence_levels.levels(self.requirement, bool(self.implemented), self.roles_reached)

    @cached_property
    def by_version(self) -> dict[int, tuple[Level, ...]]:
        """The levels of evidence by the cases of each table version for which the rule holds."""
        return {version: self._levels_at(version) for version in self.requirement.versions}

    def _levels_at(self, version: int) -> tuple[Level, ...]:
        cases = [case for case in self.cases if version in case.versions]
        reached = evidence_levels.roles_reached(self.requirement, cases, self.mutants, self._answers_at(version))
        return evidence_levels.levels(self.requirement, bool(self.implemented), reached)

    def _answers_at(self, version: int) -> Mapping[str, Mapping[str, str]]:
        """The answers of cases that were run at that version: older records of cases with a drawn version are of the first."""
        drawn = {case.id for case in self.cases if case.for_each_version}
        return {
            engine: {case: outcome for case, outcome in found.items()
                     if version == index.VERSIONS[0] or case not in drawn or case in self.at_newest.get(engine, ())}
            | {case: outcome for case, outcome in self.answers_by_version.get(engine, {}).get(version, {}).items()
               if case in drawn}
            for engine, found in self.answers.items()
        }  # fmt: skip

    def status_at(self, version: int) -> str:
        """The highest level that the cases of a table version give the rule; empty if it does not hold there."""
        if version not in self.by_version:
            return ""
        otherwise = "cited in part" if any(version in case.versions for case in self.cases) else "uncovered"
        return next((level for level in BY_CASES if level in self.by_version[version]), otherwise)

    @property
    def basis(self) -> Basis:
        """What decides the right answer."""
        return evidence_levels.decide_basis(self.requirement.id, self.levels)

    @property
    def status(self) -> Status:
        """The highest level of the rule; "cited in part" if cases cite it, but not for each of its roles."""
        if self.excluded:
            return "excluded"
        statuses: tuple[Status, ...] = ("proven", "mutation-tested", "cited")
        if reached := next((status for status in statuses if status in self.levels), None):
            return reached
        if self.cases:
            return "cited in part"
        return "implemented" if self.implemented else "uncovered"

    @property
    def outcomes(self) -> dict[str, Counter[str]]:
        """How often each outcome is among the citing cases, by engine."""
        return {engine: Counter(found.values()) for engine, found in self.answers.items()}

    @property
    def judged(self) -> dict[str, list[str]]:
        """The citing cases with a definite verdict, by engine that is not part of this project."""
        judges: dict[str, list[str]] = {}
        for case in self.cases:
            for engine in evidence_levels.judging_engines(case, self.answers):
                judges.setdefault(engine, []).append(case.id)
        return judges

    def killers(self, kill: Kill) -> tuple[str, ...]:
        """Those of the rule's own cases that kill a mutant."""
        return tuple(c.id for c in self.cases if c.id in (kill.killed_by or ()))

    @property
    def verdicts(self) -> dict[str, str]:
        """One verdict per engine that was asked."""
        return {engine: next(o for o in DECIDING if found[o]) for engine, found in self.outcomes.items() if found}


def list_entries(evidence: Evidence, areas: Iterable[Area] | None = None) -> tuple[CoverageEntry, ...]:
    """One entry per requirement, in order."""
    return tuple(_entry(r, evidence) for area in areas or index.areas() for r in area.requirements)


def _entry(rule: Requirement, evidence: Evidence) -> CoverageEntry:
    citing = evidence.cases_citing(rule.id)
    answers = {engine: {c.id: found[c.id] for c in citing if c.id in found} for engine, found in evidence.verdicts.items()}
    places = tuple(evidence.implemented.get(rule.id, ()))
    excluded = index.excluded().get(rule.id)
    kills = evidence.mutants_breaking(rule.id)
    return CoverageEntry(rule, places, citing, kills, excluded, answers, evidence.at_newest, evidence.by_version)


def entries_as_json(found: Iterable[CoverageEntry]) -> dict[str, Any]:
    """The answer of `coverage --json`."""
    found = tuple(found)
    return {"requirements": [_json(e) for e in found], "totals": count_evidence(found)}


def _json(entry: CoverageEntry) -> dict[str, Any]:
    return {
        "id": entry.requirement.id,
        "area": entry.requirement.area,
        "chapter": chapter_of_rule(entry.requirement.id),
        "level": entry.requirement.level,
        "versions": list(entry.requirement.versions),
        "implemented": [place.name for place in entry.implemented],
        "cases": [c.id for c in entry.cases],
        "mutants": [{"name": k.name, "killed_by": list(entry.killers(k))} for k in entry.mutants],
        "excluded": entry.excluded,
        "verdicts": entry.verdicts,
        "basis": entry.basis,
        "evidence": list(entry.levels),
        "evidence_by_version": {str(version): list(levels) for version, levels in entry.by_version.items()},
        "judged": entry.judged,
    }


def count_evidence(found: Iterable[CoverageEntry]) -> dict[str, int]:
    """How many rules there are, and how many have which evidence. A rule may count in several columns."""
    found = tuple(found)
    return {
        "requirements": len(found),
        "implemented": sum(bool(e.implemented) for e in found),
        "with_cases": sum(bool(e.cases) for e in found),
        "proved": sum(not e.excluded and any(map(e.killers, e.mutants)) for e in found),
        **{f"level_{level}".replace("-", "_"): sum(level in e.levels for e in found) for level in get_args(Level)},
        **{f"{key}_{version}": n for version in index.VERSIONS for key, n in _totals_at(found, version).items()},
        "uncovered": sum(e.status == "uncovered" for e in found),
        "excluded": sum(e.status == "excluded" for e in found),
        "cases": len({c.id for e in found for c in e.cases}),
        "mutants": len({k.name for e in found for k in e.mutants}),
        "mutants_killed": len({k.name for e in found for k in e.mutants if e.killers(k)}),
    }


def _totals_at(found: tuple[CoverageEntry, ...], version: int) -> dict[str, int]:
    """How many rules hold for a table version, and how many of them its cases cite and judge."""
    levels = [e.by_version[version] for e in found if version in e.by_version and not e.excluded]
    return {"rules": len(levels), **{key: sum(key in one for one in levels) for key in ("cited", "judged", "proven")}}


def find_problems(evidence: Evidence) -> Iterator[str]:
    """What is wrong with the evidence, each with its remedy."""
    yield from _unknown_citations(evidence)
    yield from _cases_without_rules(evidence)
    yield from _weak_cases(evidence)
    yield from _unmarked_errata(evidence)


def find_old_evidence(evidence: Evidence) -> Iterator[str]:
    """What of the recorded evidence of this checkout is missing or faulty."""
    yield from gaps.find_faults(evidence)
    yield from gaps.describe_gaps(gaps.load_gaps(), gaps.find_gaps(evidence))


def _unknown_citations(evidence: Evidence) -> Iterator[str]:
    citing: list[tuple[str, tuple[str, ...]]]
    citing = [(f"code of {place.name}", (rule,)) for rule, places in evidence.implemented.items() for place in places]
    citing += [(f"case {c.id}", c.requirements) for c in evidence.cases]
    citing += [(f"mutant {k.name}", k.breaks) for k in evidence.kills]
    citing += [(f"erratum {e.id}", e.requirements) for e in errata_list.errata()]
    citing += [("requirements/excluded.toml", tuple(index.excluded()))]
    for source, rules in citing:
        yield from (f"{source} cites {rule}, which is not in requirements/" for rule in index.unknown(rules))
    known = {e.id for e in errata_list.errata()}
    for case in evidence.cases:
        yield from (f"case {case.id} cites {e}, which is not in errata.toml" for e in case.errata if e not in known)


def _cases_without_rules(evidence: Evidence) -> Iterator[str]:
    yield from (f"case {c.id} ({c.path}) cites no requirement" for c in evidence.cases if not c.requirements)
    counted = Counter(c.id for c in evidence.cases)
    yield from (f"case id {id_} is given {n} times" for id_, n in counted.items() if n > 1)


def _weak_cases(evidence: Evidence) -> Iterator[str]:
    """Mutants that no case of their own rules kills."""
    cases = {c.id: set(c.requirements) for c in evidence.cases}
    for kill in evidence.kills:
        if kill.killed_by is None:
            yield f"mutant {kill.name} was never run: hudi-conformance mutants --only {kill.name}"
            continue
        gone = (c for c in kill.killed_by if c not in cases)
        yield from (f"mutant {kill.name} is killed by {c}, which is no case: run it again" for c in gone)
        if not any(cases.get(c, set()) & set(kill.breaks) for c in kill.killed_by):
            rules = ", ".join(kill.breaks)
            yield f"mutant {kill.name} is killed by no case that cites {rules}: make such a case stronger"


def _unmarked_errata(evidence: Evidence) -> Iterator[str]:
    """Errata of which neither the code nor errata.toml says where the reference follows the deployed format."""
    for erratum in errata_list.errata():
        if evidence.deviations and erratum.deviates and erratum.id not in evidence.deviations:
            yield f'{erratum.id} is named nowhere in the reference: mark the line, or add code = "none: …" to errata.toml'


def describe_page_difference(fresh: str) -> str | None:
    """How the committed page differs from the fresh one, shortened; None if it does not."""
    committed = FILE.read_text(encoding="utf-8") if FILE.is_file() else ""
    if committed == fresh:
        return None
    lines = list(difflib.unified_diff(committed.splitlines(), fresh.splitlines(), "committed", "fresh", n=0, lineterm=""))
    shown = [textwrap.shorten(line, 160) for line in lines[2:14]]
    rest = [f"… and {len(lines) - 14} more lines"] if len(lines) > 14 else []
    return "\n".join([f"{FILE.name} is stale: run hudi-conformance coverage", *shown, *rest])
