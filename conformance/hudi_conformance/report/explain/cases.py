"""What is known of cases, mutants, errata and features of the contract."""

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from hudi_conformance.cases.flags import DANGERS
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence
from hudi_conformance.report.explain.lines import Explainer, Explanation, Line, current_names, outcome_words, shorten_list
from hudi_conformance.requirements import errata
from hudi_conformance.requirements import requirement as index
from hudi_conformance.requirements.errata import Erratum

T = TypeVar("T")
#: So many expected rows are shown.
ROWS = 5


def explain_case(name: str, evidence: Evidence, everything: bool) -> Explanation | None:
    """A case: its rules, what it asks, which mutants it kills, and what engines answered."""
    case = _found({case.id: case for case in evidence.cases}, name, current_names(name)[0])
    if case is None:
        return None
    return Explanation(f"{case.id}: {case.description}", tuple(_case(case, name, evidence, everything)))


def _found(known: Mapping[str, T], name: str, current: str) -> T | None:
    """The one with a name, or the one that was renamed from it."""
    return known.get(name) or known.get(current)


def _case(case: CitedCase, asked: str, evidence: Evidence, everything: bool) -> Iterator[Line]:
    if asked.partition("[")[0] != case.id:
        yield "renamed from", asked
    yield "file", f"{case.path}:{case.line}" if case.line else case.path
    yield from (("rules", _rule(rule)) for rule in case.requirements)
    known = {e.id: e for e in errata.errata()}
    yield from (("errata", f"{id_}  {known[id_].deployed}") for id_ in case.errata)
    if case.needs:
        yield "needs", ", ".join(case.needs)
    if case.writer_needs:
        yield "writer needs", ", ".join(case.writer_needs)
    if case.golden is not None:
        yield from _golden(case.golden, case.path)
    kills = (f"{kill.name}  {kill.description}" for kill in evidence.kills if case.id in (kill.killed_by or ()))
    yield from shorten_list("kills", kills, everything)
    for engine, outcomes in evidence.verdicts.items():
        if case.id in outcomes:
            yield "verdicts", f"{engine}: {outcome_words(outcomes[case.id])}"
    yield "reproduce", f"hudi-conformance run ENGINE --only '{case.id}'"


def _rule(id_: str) -> str:
    return f"{id_}  {index.requirement(id_).text}"


def _golden(case: Mapping[str, Any], path: str) -> Iterator[Line]:
    subject = next(kind for kind in ("table", "file", "vectors") if kind in case)
    producer = case["producer"]
    version = f" {producer['version']}" if "version" in producer else ""
    yield subject, f"{case[subject]}, written by {producer['engine']}{version} ({producer['recipe']})"
    yield "question", _question(case, subject)
    yield from (("expected", line) for line in _expected(case, path))
    yield from (("danger", f"{flag}: {DANGERS.get(flag, 'an unknown flag')}") for flag in case.get("flags", ()))
    yield "if it fails", case["if_it_fails"]


def _question(case: Mapping[str, Any], subject: str) -> str:
    expected = case["expected"]
    if "variants" in expected:
        return "inspect each damaged copy"
    if "reads" in expected:
        return "several queries of the table"
    if subject == "vectors":
        return f"the function {', '.join(n for n in case['needs'] if n.startswith('compute.')) or 'of the vectors'}"
    if "inspect" in expected or subject == "file":
        return "inspect"
    return ", ".join(f"{key} {value}" for key, value in case.get("query", {"kind": "snapshot"}).items())


def _expected(case: Mapping[str, Any], path: str) -> Iterator[str]:
    expected = case["expected"]
    if expected.get("open"):
        yield "open: the answers are recorded and no engine fails"
    yield from (f"{key}: {expected[key]}" for key in ("refused", "error") if key in expected)
    if "rows" in expected:
        folder = (fixtures_root() / path.removeprefix("fixtures/")).parent
        right = json.loads((folder / expected["rows"]).read_text(encoding="utf-8"))["rows"]
        yield f"{len(right)} rows ({', '.join(expected.get('derived_by', ())) or 'by hand'})"
        yield from (textwrap.shorten(json.dumps(row, ensure_ascii=False), 100) for row in right[:ROWS])
    yield from (f"{expected[key]}" for key in ("inspect", "variants", "reads") if key in expected)
    if expected.get("accept"):
        yield f"also accepted: {', '.join(expected['accept'])}"


def explain_mutant(name: str, evidence: Evidence, everything: bool) -> Explanation | None:
    """A mutant: which rules it breaks, and which cases kill it."""
    kill = _found({kill.name: kill for kill in evidence.kills}, name, current_names(name)[1])
    if kill is None:
        return None
    return Explanation(f"{kill.name}: {kill.description}", tuple(_mutant(kill, name, evidence, everything)))


def _mutant(kill: Kill, asked: str, evidence: Evidence, everything: bool) -> Iterator[Line]:
    if asked != kill.name:
        yield "renamed from", asked
    if kill.place:
        yield "file", kill.place
    yield from (("breaks", _rule(rule)) for rule in kill.breaks)
    rules = set(kill.breaks)
    killers = [case for case in evidence.cases if case.id in (kill.killed_by or ())]
    citing = [case for case in killers if rules & set(case.requirements)]
    yield from shorten_list("killed by", (f"{case.id}  {case.path}" for case in citing), everything)
    others = [case.id for case in killers if case not in citing]
    yield from shorten_list("killed by", (f"{id_} (cites other rules)" for id_ in others), everything)
    if not killers:
        yield "killed by", "never run" if kill.killed_by is None else "no case"
    yield "reproduce", f"hudi-conformance mutants --only {kill.name}"


def explain_erratum(name: str, evidence: Evidence, everything: bool) -> Explanation | None:
    """An erratum: text, deployed format, evidence, and where the reference follows which of them."""
    found = next((e for e in errata.errata() if e.id == name.upper()), None)
    if found is None:
        return None
    return Explanation(f"{found.id}: {found.text}", tuple(_erratum(found, evidence, everything)))


def _erratum(erratum: Erratum, evidence: Evidence, everything: bool) -> Iterator[Line]:
    for id_ in erratum.requirements:
        yield "rules", _rule(id_)
        yield "rules", f"  {index.requirement(id_).url}"
    yield "deployed", erratum.deployed
    yield "reference", erratum.reference
    code = [f"{place.file}:{place.line}" for place in evidence.deviations.get(erratum.id, ())]
    yield from shorten_list("code", code or ([erratum.code] if erratum.code else ()), everything)
    yield from (("evidence", line) for line in erratum.evidence)
    if erratum.open:
        yield "open", "neither side is clearly right: cases record the answers and no engine fails"
    cases = (f"{case.id}  {case.description}" for case in evidence.cases if erratum.id in case.errata)
    yield from shorten_list("cases", cases, everything)


def explain_feature(name: str, evidence: Evidence, everything: bool) -> Explanation | None:
    """A feature of the contract: its meaning, which cases need it, and which engines declare it."""
    if name not in evidence.features:
        return None
    return Explanation(f"{name}: {evidence.features[name].meaning}", tuple(_feature(name, evidence, everything)))


def _feature(name: str, evidence: Evidence, everything: bool) -> Iterator[Line]:
    needing = [case for case in evidence.cases if name in (*case.needs, *case.writer_needs)]
    yield "example", textwrap.shorten(evidence.features[name].example, 600, placeholder=" …")
    for engine, outcomes in evidence.verdicts.items():
        asked = [outcomes[case.id] for case in needing if case.id in outcomes]
        offered = sum(outcome != "unsupported" for outcome in asked)
        if asked:
            answered = f"yes, by {offered} of {len(asked)} recorded results" if offered else "no"
            yield "declared", f"{engine}: {answered}"
    golden = [case for case in needing if case.golden is not None]
    yield "cases", f"{len(golden)} golden cases and {len(needing) - len(golden)} Python tests need it"
    yield from shorten_list("cases", (f"  {case.id}  {case.description}" for case in needing), everything)
    yield "run", f"hudi-conformance run ENGINE --only '{needing[0].id}'" if needing else "no case needs it"


EXPLAINERS: tuple[Explainer, ...] = (explain_case, explain_mutant, explain_erratum, explain_feature)
