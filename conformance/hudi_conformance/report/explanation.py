"""What is known of a rule, a case, an erratum or a mutant, as lines with labels."""

import difflib
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from hudi_conformance.cases.case import Case
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.coverage import Entry, entries
from hudi_conformance.report.evidence import CitedCase, Evidence
from hudi_conformance.requirements import errata
from hudi_conformance.requirements import requirement as index
from hudi_conformance.requirements.errata import Erratum
from hudi_conformance.requirements.requirement import Requirement

Line = tuple[str, str]

#: So many expected rows are shown.
ROWS = 5


@dataclass(frozen=True)
class Explanation:
    """A heading, and label and text of each line; a label that repeats the one above is left out when shown."""

    heading: str
    lines: tuple[Line, ...]


class Unknown(LookupError):
    """Nothing has this name; `near` are names that were perhaps meant."""

    def __init__(self, name: str, near: list[str]) -> None:
        super().__init__(f"nothing is called {name!r}")
        self.near = near


def explain(name: str, evidence: Evidence) -> Explanation:
    """What is known of `name`: an id of a requirement, case or erratum, or a mutant. Raises `Unknown`."""
    if name.upper() in index.requirements():
        return _requirement(index.requirement(name.upper()), evidence)
    for case in evidence.cases:
        if case.id == name:
            return Explanation(f"{case.id}: {case.description}", tuple(_case(case, evidence)))
    for erratum in errata.errata():
        if erratum.id == name.upper():
            return Explanation(f"{erratum.id}: {erratum.text}", tuple(_erratum(erratum, evidence)))
    for kill in evidence.kills:
        if kill.name == name:
            return Explanation(f"{kill.name}: {kill.description}", tuple(_mutant(kill, evidence)))
    raise Unknown(name, _near(name, evidence))


def _near(name: str, evidence: Evidence) -> list[str]:
    known = [*index.requirements(), *(c.id for c in evidence.cases), *(e.id for e in errata.errata())]
    known += [k.name for k in evidence.kills]
    lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), lower, n=5, cutoff=0.5)
    inside = [k for k in lower if name.lower() in k and k not in close]
    return [lower[k] for k in [*close, *inside][:8]]


def _requirement(rule: Requirement, evidence: Evidence) -> Explanation:
    (entry,) = (e for e in entries(evidence) if e.requirement.id == rule.id)
    return Explanation(f"{rule.id} ({rule.level}): {rule.text}", (*_rule(rule), *_covered(entry)))


def _rule(rule: Requirement) -> Iterator[Line]:
    yield "source", rule.cited
    yield "", rule.url
    yield "sentence", rule.quote
    yield "for", ", ".join(rule.role)
    yield "check", rule.check
    yield "a fault", rule.mutant
    if rule.ambiguity:
        yield "open", rule.ambiguity
    for erratum in errata.about(rule.id):
        yield "errata", f"{erratum.id}  engines: {erratum.deployed}"


def _covered(entry: Entry) -> Iterator[Line]:
    yield "status", f"excluded: {entry.excluded}" if entry.excluded else entry.status
    for place, file in entry.implemented:
        yield "implemented", f"{place}  ({file})"
    for case in entry.cases:
        yield "cases", f"{case.id}  {case.description}"
    for kill in entry.mutants:
        killers = ", ".join(entry.killers(kill)) or ("not run yet" if kill.killed_by is None else "no case of this rule")
        yield "mutants", f"{kill.name}, killed by: {killers}"
    for engine, verdict in entry.verdicts.items():
        counted = ", ".join(f"{n} {outcome}" for outcome, n in sorted(entry.outcomes[engine].items()))
        yield "verdicts", f"{engine}: {verdict} ({counted})"


def _case(case: CitedCase, evidence: Evidence) -> Iterator[Line]:
    for id_ in case.requirements:
        yield "rules", f"{id_}  {index.requirement(id_).text}"
    known = {e.id: e for e in errata.errata()}
    for id_ in case.errata:
        yield "errata", f"{id_}  {known[id_].deployed}"
    yield "file", case.path
    if case.golden is not None:
        yield from _golden(case.golden)
    for kill in evidence.kills:
        if case.id in (kill.killed_by or ()):
            yield "kills", f"{kill.name}  {kill.description}"
    for engine, outcomes in evidence.verdicts.items():
        if case.id in outcomes:
            yield "verdicts", f"{engine}: {outcomes[case.id]}"
    yield "again", f"hudi-conformance run ENGINE --only '{case.id}'"


def _golden(case: Case) -> Iterator[Line]:
    kind = "table" if case.table else "file" if case.file else "vectors"
    yield kind, f"{case.subject.name}, written by {case.producer} ({case.producer.recipe})"
    yield "question", _question(case)
    yield from (("expected", line) for line in _expected(case))
    yield "needs", ", ".join(case.needs)
    if case.flags:
        yield "danger", ", ".join(case.flags)
    yield "if it fails", case.if_it_fails


def _expected(case: Case) -> Iterator[str]:
    expected = case.expected
    if expected.open:
        yield "open: the answers are recorded and nobody fails"
    if expected.refused is not None:
        yield f"refused: {expected.refused}"
    if expected.error is not None:
        yield f"error: {expected.error}"
    if case.rows:
        right = case.rows[0].rows
        yield f"{len(right)} rows ({', '.join(expected.derived_by) or 'by hand'})"
        yield from (textwrap.shorten(str(row), 100) for row in right[:ROWS])
    if expected.inspect is not None:
        yield f"what is in {expected.inspect}"
    if expected.accept:
        yield f"also right: {', '.join(expected.accept)}"


def _erratum(erratum: Erratum, evidence: Evidence) -> Iterator[Line]:
    for id_ in erratum.requirements:
        yield "rules", f"{id_}  {index.requirement(id_).text}"
    yield "engines", erratum.deployed
    yield "reference", erratum.reference
    for line in erratum.evidence:
        yield "evidence", line
    if erratum.open:
        yield "open", "neither side is clearly right: cases record the answers and nobody fails"
    for case in evidence.cases:
        if erratum.id in case.errata:
            yield "cases", f"{case.id}  {case.description}"


def _mutant(kill: Kill, evidence: Evidence) -> Iterator[Line]:
    for id_ in kill.breaks:
        yield "breaks", f"{id_}  {index.requirement(id_).text}"
    rules = set(kill.breaks)
    for case in evidence.cases:
        if case.id in (kill.killed_by or ()):
            yield "killed by", case.id if rules & set(case.requirements) else f"{case.id} (cites other rules)"
    if not kill.killed_by:
        yield "killed by", "no case" if kill.killed_by is not None else "not run yet"
    yield "again", f"hudi-conformance mutants --only {kill.name}"


def _question(case: Case) -> str:
    if case.vectors is not None:
        return f"{case.vectors.function} of {len(case.vectors.tests)} inputs"
    if case.variants:
        return f"inspect {len(case.variants)} damaged copies"
    if case.reads:
        return f"{len(case.reads)} queries of the table"
    return "inspect" if case.inspects else ", ".join(f"{k} {v}" for k, v in case.query.to_json().items())
