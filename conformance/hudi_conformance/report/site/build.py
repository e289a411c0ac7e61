"""Building the site: every page as (path, text)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hudi_conformance import __version__
from hudi_conformance.cases.case import load_case
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.cases.verdict import Outcome
from hudi_conformance.report.evidence.coverage import CoverageEntry
from hudi_conformance.report.evidence.evidence import CitedCase
from hudi_conformance.report.evidence.track_record import known_faults
from hudi_conformance.report.html import template_environment
from hudi_conformance.report.published import chapter_of_case
from hudi_conformance.report.run import EngineRun
from hudi_conformance.report.site.badges import render_badge
from hudi_conformance.report.site.content import Content, page_file_name
from hudi_conformance.report.site.known_failures import list_overviews, sections_by_outcome
from hudi_conformance.report.site.question import describe_answer, describe_question
from hudi_conformance.report.site.table_picture import draw_table
from hudi_conformance.report.site.trend import compute_trends
from hudi_conformance.requirements import chapters, errata

#: The label of the badges: name and version of the format.
LABEL = "hudi conformance"

Page = tuple[str, str]


def render_pages(content: Content, progress: Callable[[str, int, int], None]) -> Iterator[Page]:
    """All files of the site, with paths relative to its folder; `progress` is told kind, number and total of the pages."""
    yield "style.css", template_environment().get_template("style.css.j2").render()
    yield from _overviews(content)
    for engine, cell in zip(content.engines, content.matrix[-1].cells, strict=True):
        yield f"badges/{page_file_name(engine.name)}.svg", render_badge(LABEL, cell, engine.title)
        yield f"engines/{page_file_name(engine.name)}.html", _engine_page(content, engine)
    for chapter in chapters.chapters():
        yield f"chapters/{chapter}.html", _chapter_page(content, chapter)
    for number, entry in enumerate(content.rules, 1):
        yield f"rules/{page_file_name(entry.requirement.id)}.html", _rule_page(content, entry)
        progress("rules", number, len(content.rules))
    for number, case in enumerate(content.evidence.cases, 1):
        yield f"cases/{page_file_name(case.id)}.html", _case_page(content, case)
        progress("cases", number, len(content.evidence.cases))


def _render(template: str, content: Content, root: str, **facts: Any) -> str:
    """A page; `root` leads from its folder to the folder of the site."""
    titles = {id_: chapter.title for id_, chapter in chapters.chapters().items()}
    shared = {"root": root, "suite": __version__, "content": content, "file_name": page_file_name, "chapter_titles": titles}
    return template_environment().get_template(f"site/{template}.html.j2").render(**shared, **facts)


def _overviews(content: Content) -> Iterator[Page]:
    present = [o for o in Outcome if any(r.outcome is o for r in content.results)]
    yield "index.html", _render("index", content, "", outcomes=present)
    yield "trend.html", _render("trend", content, "", trends=compute_trends(content.results))
    known = {"sections": sections_by_outcome(content.failures), "overview": list_overviews(content.failures)}
    yield "engines-today.html", _render("engines_today", content, "", **known)
    yield "track-record.html", _render("track_record", content, "", faults=known_faults())
    yield "rules.html", _render("rules", content, "")
    citing: dict[str, list[CitedCase]] = {}
    for case in content.evidence.cases:
        for id_ in case.errata:
            citing.setdefault(id_, []).append(case)
    yield "errata.html", _render("errata", content, "", errata=errata.errata(), citing=citing)


def _engine_page(content: Content, engine: EngineRun) -> str:
    column = content.engines.index(engine)
    failures = sections_by_outcome({engine.name: content.failures.get(engine.name, ())})
    lines = [(line, line.cells[column]) for line in content.matrix]
    return _render("engine", content, "../", engine=engine, lines=lines, sections=failures, label=LABEL)


def _chapter_page(content: Content, chapter: str) -> str:
    cases = [case for case in content.evidence.cases if chapter_of_case(case) == chapter]
    rules = content.rules_by_chapter.get(chapter, [])
    return _render("chapter", content, "../", chapter=chapter, cases=cases, rules=rules)


def _rule_page(content: Content, entry: CoverageEntry) -> str:
    chapter = chapters.chapter_of_rule(entry.requirement.id)
    about = errata.about(entry.requirement.id)
    return _render("rule", content, "../", entry=entry, rule=entry.requirement, chapter=chapter, errata=about)


def _case_page(content: Content, case: CitedCase) -> str:
    known = {e.id: e for e in errata.errata()}
    facts = {
        "case": case,
        "chapter": chapter_of_case(case),
        "errata": [known[id_] for id_ in case.errata if id_ in known],
        "answers": content.answers(case.id),
        "kills": [kill for kill in content.evidence.kills if case.id in (kill.killed_by or ())],
    }
    if case.golden is None:
        return _render("case", content, "../", golden=None, picture=None, **facts)
    golden = load_case(_path_of(case))
    more = {"question": describe_question(golden), "blocks": list(describe_answer(golden))}
    return _render("case", content, "../", golden=golden, picture=draw_table(golden), **more, **facts)


def _path_of(case: CitedCase) -> Path:
    return fixtures_root() / case.path.removeprefix("fixtures/")
