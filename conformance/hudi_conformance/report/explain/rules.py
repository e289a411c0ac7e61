"""What is known of rules: of one, and of the rules of an area or a chapter."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator

from hudi_conformance.report.evidence.coverage import CoverageEntry, list_entries
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence
from hudi_conformance.report.evidence.levels import basis_text, roles_checked
from hudi_conformance.report.explain.lines import SHOWN, Explainer, Explanation, Line, outcome_words, shorten_list
from hudi_conformance.requirements import chapters, errata
from hudi_conformance.requirements import requirement as index
from hudi_conformance.requirements.chapters import Chapter
from hudi_conformance.requirements.requirement import Area

#: So many characters of a rule are shown in a list.
WIDTH = 100


def explain_rule(name: str, evidence: Evidence, everything: bool) -> Explanation | None:
    """A rule: its sentence and link, its evidence, and what engines make of it."""
    try:
        rule = index.requirement(name.upper())
    except index.UnknownRequirement:
        return None
    (entry,) = list_entries(evidence, [Area(rule.area, "", (rule,))])
    lines = (*_rule(entry), *_evidence(entry, everything))
    return Explanation(f"{rule.id} ({rule.level}): {rule.text}", lines)


def _rule(entry: CoverageEntry) -> Iterator[Line]:
    rule = entry.requirement
    chapter = chapters.chapters()[chapters.chapter_of_rule(rule.id)]
    yield "sentence", f"“{rule.quote}”"
    yield "source", rule.cited
    yield "link", rule.url
    yield "chapter", f"{chapter.title} (explain {chapter.id})"
    yield "roles", ", ".join(rule.role)
    yield "versions", ", ".join(map(str, rule.versions))
    yield "basis", basis_text(rule.id, entry.levels)
    yield "check", rule.check
    yield "mutant", rule.mutant
    if rule.ambiguity:
        yield "ambiguity", rule.ambiguity
    for erratum in errata.about(rule.id):
        yield "errata", f"{erratum.id}  {erratum.deployed}"


def _evidence(entry: CoverageEntry, everything: bool) -> Iterator[Line]:
    yield "level", _level(entry)
    if entry.cases and not entry.excluded:
        for level, roles in entry.roles_reached.items():
            if lacking := [role for role in entry.requirement.role if role not in roles]:
                yield "missing", f"not {level} as {', '.join(lacking)}"
    for place in entry.implemented:
        yield "implemented", f"{place.file}:{place.line}  {place.name.partition(':')[2]}"
    yield from _cases(entry, everything)
    mutants = sorted(entry.mutants, key=lambda kill: not entry.killers(kill))
    yield from shorten_list("mutants", (f"{k.name}  {k.place}\n  {_killers(entry, k.name)}" for k in mutants), everything)
    for engine, verdict in entry.verdicts.items():
        counted = ", ".join(f"{n} {outcome_words(outcome)}" for outcome, n in sorted(entry.outcomes[engine].items()))
        yield "verdicts", f"{engine}: {outcome_words(verdict)} ({counted})"


def _level(entry: CoverageEntry) -> str:
    if entry.excluded:
        return f"excluded: {entry.excluded}"
    return f"{entry.status} ({', '.join(entry.levels) or 'no evidence'})"


def _cases(entry: CoverageEntry, everything: bool) -> Iterator[Line]:
    """Cases grouped by the roles of the rule in which they check an engine, those that kill a mutant first."""
    groups: dict[tuple[str, ...], list[CitedCase]] = {}
    for case in entry.cases:
        groups.setdefault(roles_checked(case, entry.requirement), []).append(case)
    killers = {id_ for kill in entry.mutants for id_ in entry.killers(kill)}
    for roles, found in groups.items():
        yield "cases", f"{', '.join(roles) or 'none of its roles'}: {len(found)}"
        found.sort(key=lambda case: (case.id not in killers, case.golden is None))
        yield from shorten_list("cases", map(_case, found), everything)


def _case(case: CitedCase) -> str:
    line = f":{case.line}" if case.line else ""
    return f"  {case.id}  {case.description}\n    {case.path}{line}"


def _killers(entry: CoverageEntry, mutant: str) -> str:
    kill = next(kill for kill in entry.mutants if kill.name == mutant)
    killers = entry.killers(kill)
    if not killers:
        return "never run" if kill.killed_by is None else "killed by no case of this rule"
    more = f" and {len(killers) - 2} more" if len(killers) > 2 else ""
    return f"killed by {', '.join(killers[:2])}{more}"


def explain_area(name: str, evidence: Evidence, everything: bool) -> Explanation | None:
    """An area: each of its rules with its level."""
    if name.upper() not in index.area_ids():
        return None
    area = index.area(name.upper())
    found = list_entries(evidence, [area])
    chapter = chapters.chapter_of_rule(f"{area.id}-001")
    lines = [("chapter", chapter), ("rules", _counted(found)), *((e.requirement.id, _listed(e)) for e in found)]
    return Explanation(f"{area.id}: {area.title}", tuple(lines))


def explain_chapter(name: str, evidence: Evidence, everything: bool) -> Explanation | None:
    """A chapter of the specification: the rules of its areas with their levels."""
    chapter = chapters.chapters().get(name.lower())
    if chapter is None:
        return None
    return Explanation(f"{chapter.id}: {chapter.title}", tuple(_chapter(chapter, evidence, everything)))


def _chapter(chapter: Chapter, evidence: Evidence, everything: bool) -> Iterator[Line]:
    for area in map(index.area, chapter.areas):
        found = list_entries(evidence, [area])
        yield area.id, f"{area.title}: {_counted(found)}"
        shown = found if everything else found[:SHOWN]
        yield from ((e.requirement.id, _listed(e)) for e in shown)
        if len(shown) < len(found):
            yield "…", f"{len(found) - len(shown)} more; --all or explain {area.id} shows them"
    golden = sum(1 for c in evidence.cases if c.golden and c.id.partition(".")[0] in chapter.golden)
    yield "golden cases", str(golden)


def _counted(found: Iterable[CoverageEntry]) -> str:
    """How many rules reached which level at most."""
    counted = Counter(entry.status for entry in found)
    return f"{counted.total()} rules: " + ", ".join(f"{n} {level}" for level, n in counted.most_common())


def _listed(entry: CoverageEntry) -> str:
    return f"{entry.status}  {textwrap.shorten(entry.requirement.text, WIDTH, placeholder=' …')}"


EXPLAINERS: tuple[Explainer, ...] = (explain_rule, explain_area, explain_chapter)
