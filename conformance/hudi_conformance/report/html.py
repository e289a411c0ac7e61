"""The report as one self-contained HTML page, which loads no script, font or image."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

from hudi_conformance.cases.rows import Row, format_value
from hudi_conformance.cases.verdict import WORST_FIRST, Outcome, Result
from hudi_conformance.processes.cache import cache_folder
from hudi_conformance.report import published
from hudi_conformance.report.evidence import figures
from hudi_conformance.report.failure_text import erratum_text, rule_text
from hudi_conformance.report.matrix import Cell, build_matrix
from hudi_conformance.report.next_features import find_next_features
from hudi_conformance.report.run import EngineRun, Run
from hudi_conformance.requirements import chapters

#: The meanings of the outcomes, in the legend of the page.
MEANINGS = {
    Outcome.PASS: "the answer is the expected one",
    Outcome.FAIL: "the answer differs from the expected one",
    Outcome.ERROR: "the engine reported an error",
    Outcome.REFUSED: "the engine declares the features and refuses the case; reported separately, not a failure",
    Outcome.UNSUPPORTED: "the engine does not declare a feature that the case needs; it was not asked",
    Outcome.CRASH: "the process of the engine crashed",
    Outcome.TIMEOUT: "no answer in time",
    Outcome.OPEN: "the specification does not decide; the answer is recorded and is not a failure",
    Outcome.NOT_RUN: "the run of this engine was stopped before the case, after too many time-outs",
}


@dataclass(frozen=True)
class Difference:
    """Expected and found rows side by side: `lines` hold (expected cells, found cells, whether they differ)."""

    columns: tuple[str, ...]
    lines: tuple[tuple[tuple[str, ...] | None, tuple[str, ...] | None], ...]

    @classmethod
    def from_pairs(cls, pairs: Sequence[tuple[Row | None, Row | None]]) -> "Difference":
        """The pairs of a result in columns."""
        columns = tuple(dict.fromkeys(n for pair in pairs for row in pair if row is not None for n in row))
        cells = [tuple(None if r is None else tuple(format_value(r.get(n)) for n in columns) for r in pair) for pair in pairs]
        return cls(columns, tuple((e, f) for e, f in cells))


@dataclass(frozen=True)
class CaseView:
    """One case with its results on all engines, worst first."""

    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """Any of the results: their facts about the case are the same."""
        return self.results[0]

    @property
    def explained_results(self) -> tuple[Result, ...]:
        """Results that the page explains: all but right answers that were expected."""
        return tuple(r for r in self.results if r.outcome is not Outcome.PASS or r.surprise is not None)

    @property
    def wrong_answer(self) -> Result | None:
        """The first wrong answer, which has danger and hint; None if no engine gave one."""
        return next((r for r in self.results if r.outcome is Outcome.FAIL), None)

    @property
    def filter_tags(self) -> str:
        """Engine and outcome of each result, for the filter of the page."""
        words = [f"{r.engine}={r.outcome.value}" for r in self.results]
        return "|".join([*words, *(f"{r.engine}=surprise" for r in self.results if r.surprise is not None)])


def render_page(run: Run, results: Sequence[Result]) -> str:
    """The whole page."""
    present = [o for o in Outcome if any(r.outcome is o for r in results)]
    counts = {result.case: result.counts for result in results if result.counts}
    return (
        template_environment()
        .get_template("run.html.j2")
        .render(
            run=run,
            cases=len({r.case for r in results}),
            matrix=build_matrix(results, run.engines),
            next_features=[(e, found) for e in run.engines if (found := find_next_features(results, e.name))],
            chapters=[(chapter, chapters.title(chapter), views) for chapter, views in views_by_chapter(results, run.engines)],
            outcomes=present,
            compared=published.compare_with_published(results, run.engines),
            published=published.words_by_case({published.case_without_parameters(r) for r in results}),
            surprises=sum(r.surprise is not None for r in results),
            concurrent=run.complete or bool(counts),
            figures=figures.list_figures(counts),
            mutants=figures.mutant_schedules(),
            requests=figures.count_store_requests(counts),
            on_store=figures.read_store_results() if run.complete else None,
        )
    )


def views_by_chapter(results: Iterable[Result], engines: Sequence[EngineRun]) -> list[tuple[str, list[CaseView]]]:
    """The cases of each chapter, in the order of the chapters; within a chapter the worst results come first."""
    results, names = list(results), [e.name for e in engines]
    order = chapters.in_order(r.chapter for r in results)
    ordered = sorted(results, key=lambda r: (order.index(r.chapter), r.case, names.index(r.engine)))
    return [
        (chapter, sorted(map(CaseView, _by_case(group)), key=_worst))
        for chapter, group in groupby(ordered, key=lambda r: r.chapter)
    ]


def _by_case(results: Iterable[Result]) -> list[tuple[Result, ...]]:
    return [tuple(group) for _, group in groupby(results, key=lambda r: r.case)]


def _worst(view: CaseView) -> tuple[bool, int, str]:
    surprised = any(r.surprise is not None for r in view.results)
    return not surprised, min(WORST_FIRST.index(r.outcome) for r in view.results), view.first.case


def outcome_shares(cell: Cell) -> list[tuple[Outcome, float]]:
    """Per cent of the cases of a cell by outcome, passed ones first."""
    total = sum(cell.counts.values())
    ordered = [Outcome.PASS, *(o for o, _ in cell.others)]
    return [(o, round(100 * cell.counts[o] / total, 2)) for o in ordered if cell.counts.get(o)]


@cache
def template_environment() -> "Environment":
    """The templates of the page of a run and of the site; values are escaped."""
    from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined

    compiled = cache_folder() / "templates"
    with suppress(OSError):
        compiled.mkdir(parents=True, exist_ok=True)
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        bytecode_cache=FileSystemBytecodeCache(str(compiled)) if os.access(compiled, os.W_OK) else None,
    )
    found.globals |= {"shares": outcome_shares, "difference": Difference.from_pairs, "meanings": MEANINGS}
    found.filters |= {"rule": rule_text, "erratum": erratum_text}
    return found
