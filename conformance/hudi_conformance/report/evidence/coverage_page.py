"""The page spec_coverage.md: coverage of the specification, rule by rule."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hudi_conformance.report.evidence import figures
from hudi_conformance.report.evidence.coverage import CoverageEntry, count_evidence
from hudi_conformance.report.evidence.unjudged import load_unjudged
from hudi_conformance.requirements import errata
from hudi_conformance.requirements import requirement as index
from hudi_conformance.requirements.chapters import Chapter, chapters
from hudi_conformance.requirements.requirement import Area

#: So many names are listed in one cell; `hudi-conformance explain` lists all.
NAMES = 3

#: So many characters of a rule are shown in the table.
RULE = 110

#: The text above the tables: what the page is, and what its columns mean.
HEAD = Path(__file__).with_name("spec_coverage.head.md").read_text(encoding="utf-8")

WORDS = {"unsupported": "not offered", "proven": "**proven**"}


def render_page(entries: Iterable[CoverageEntry], engines: Iterable[str], counts: Mapping[str, Mapping[str, int]]) -> str:
    """The whole page, with one column of verdicts per engine; `counts` are what each case tried."""
    by_area: dict[str, list[CoverageEntry]] = {}
    for entry in entries:
        by_area.setdefault(entry.requirement.area, []).append(entry)
    everything = [e for found in by_area.values() for e in found]
    names = list(engines)
    parts = [HEAD.format(**count_evidence(everything)), _totals_table(by_area, everything), *_concurrency(counts)]
    for chapter in chapters().values():
        areas = [index.area(area) for area in chapter.areas if area in by_area]
        parts += [f"## {_title(chapter)}\n"] if areas else []
        parts += [_area(area, by_area[area.id], names) for area in areas]
    return "\n".join([*parts, *_unjudged(by_area)])


def _unjudged(known: Mapping[str, list[CoverageEntry]]) -> Iterator[str]:
    """The rules without a judge, by the reasons for it."""
    shown = {entry.requirement.id for found in known.values() for entry in found}
    rules: dict[str, list[str]] = {}
    for rule, reason in load_unjudged().items():
        if rule in shown:
            rules.setdefault(reason, []).append(rule)
    if rules:
        yield "## Rules that no other engine judges\n"
        yield _table(["rules", "reason"], [[", ".join(found), reason] for reason, found in rules.items()])


def _totals_table(by_area: dict[str, list[CoverageEntry]], everything: list[CoverageEntry]) -> str:
    columns = {
        "rules": "requirements",
        "implemented": "implemented",
        "with cases": "with_cases",
        "mutation-tested": "level_mutation_tested",
        "judged": "level_judged",
        "proven": "level_proven",
        "judged at 8": "judged_8",
        "judged at 9": "judged_9",
        "uncovered": "uncovered",
        "excluded": "excluded",
        "mutants": "mutants",
        "killed": "mutants_killed",
    }
    rows: list[list[object]] = []
    for chapter in chapters().values():
        areas = [index.area(area) for area in chapter.areas if area in by_area]
        found = count_evidence(e for area in areas for e in by_area[area.id])
        links = ", ".join(f"[{area.id}](#{_anchor(_heading(area))})" for area in areas)
        if areas:
            rows.append([f"[{_title(chapter)}](#{_anchor(_title(chapter))})", links, *(found[key] for key in columns.values())])
    rows.append(["**all**", "", *(f"**{count_evidence(everything)[key]}**" for key in columns.values())])
    return "## Totals\n\n" + _table(["chapter", "areas", *columns], rows, numbers_from=2)


def _concurrency(counts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Figures of concurrent writers, and what engines do on an object store."""
    yield "## Concurrent writers\n"
    yield _table(
        ["figure", "value", "goal", "source"], [[f.about, f.value, f.goal, f.source] for f in figures.list_figures(counts)]
    )
    rows = [[name, found.scenario, found.preemptions, found.steps] for name, found in figures.mutant_schedules()]
    yield "### Mutants and the shortest schedule that shows each\n"
    yield _table(["mutant", "scenario", "preemptions", "steps"], rows, numbers_from=2)
    if (store := figures.read_store_results()) is None:
        return
    yield f"### The object store, and engines behind the proxy\n\n`{store.source}`\n"
    yield _table(["promise", "moto alone", "behind the proxy"], [[p.name, p.alone, p.behind] for p in store.promises])
    scenarios: list[list[object]] = [[name, *map(_verdict_cell, verdicts)] for name, verdicts in store.scenarios.items()]
    yield _table(["scenario, requests of both", *store.engines], scenarios)
    yield "### Requests of each case on an object store\n"
    yield _table(["case", "runs", "requests"], [list(one) for one in figures.count_store_requests(counts)], numbers_from=1)


def _verdict_cell(found: figures.Verdict | None) -> str:
    """The verdict of a scenario, with the requests of both engines."""
    if found is None:
        return ""
    outcome = found.outcome if found.outcome == "pass" else f"**{found.outcome}** {found.listed or ''}".rstrip()
    return ", ".join([outcome, *([found.requests] if found.requests else []), *(["best effort"] if found.best_effort else [])])


def _area(area: Area, found: list[CoverageEntry], engines: list[str]) -> str:
    source = f"conformance/hudi_conformance/requirements/{area.id.lower()}.toml"
    at = [f"at {version}" for version in index.VERSIONS]
    head = ["id", "level", "rule", "status", *at, "basis", "implemented at", "cases", "mutants killed", *engines]
    rows = [_row(e, engines) for e in found]
    return f"### {_heading(area)}\n\nThe rules in full: [{source}]({source})\n\n" + _table(head, rows)


def _row(entry: CoverageEntry, engines: list[str]) -> list[object]:
    rule = entry.requirement
    notes = "".join(f" {e.id}" for e in errata.about(rule.id))
    status = f"excluded: {entry.excluded}" if entry.excluded else WORDS.get(entry.status, entry.status)
    return [
        rule.id,
        rule.level,
        textwrap.shorten(rule.text, RULE, placeholder=" …") + notes,
        status,
        *(WORDS.get(at, at) for at in map(entry.status_at, index.VERSIONS)),
        entry.basis,
        _names(f"[{_short(place.name)}]({place.file})" for place in entry.implemented),
        _names(f"[{c.id}]({c.path})" for c in entry.cases),
        _names(k.name if entry.killers(k) else f"{k.name}†" for k in entry.mutants),
        *(_verdict(entry, engine) for engine in engines),
    ]


def _verdict(entry: CoverageEntry, engine: str) -> str:
    """The worst outcome; if outcomes differ, with its share of the cases that have a verdict."""
    if (verdict := entry.verdicts.get(engine)) is None:
        return ""
    counts = entry.outcomes[engine]
    decided = sum(n for outcome, n in counts.items() if outcome not in ("unsupported", "open"))
    word = WORDS.get(verdict, verdict)
    mixed = decided and counts[verdict] != decided and verdict not in ("unsupported", "open")
    return f"{word} {counts[verdict]}/{decided}" if mixed else word


def _names(names: Iterable[str]) -> str:
    found = list(names)
    rest = [f"and {len(found) - NAMES} more"] if len(found) > NAMES else []
    return ", ".join([*found[:NAMES], *rest])


def _short(place: str) -> str:
    """The last module and the name; the link has the whole path."""
    module, _, name = place.partition(":")
    return f"{module.rpartition('.')[2]}.{name}"


def _heading(area: Area) -> str:
    return f"{area.id} · {area.title}"


def _title(chapter: Chapter) -> str:
    return chapter.title[0].upper() + chapter.title[1:]


def _anchor(heading: str) -> str:
    """The anchor that the usual renderers give the heading: lower case, blanks as hyphens, punctuation dropped."""
    return "".join(c for c in heading.lower().replace(" ", "-") if c.isalnum() or c == "-")


def _table(head: list[str], rows: Iterable[list[object]], numbers_from: int | None = None) -> str:
    rule = ["---:" if numbers_from is not None and i >= numbers_from else "---" for i in range(len(head))]
    return "".join(f"{line}\n" for line in _lines([list(head), list(rule), *rows]))


def _lines(rows: Iterable[list[object]]) -> Iterator[str]:
    for row in rows:
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |"
