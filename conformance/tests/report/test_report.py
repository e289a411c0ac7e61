"""Reports show the results in the order of importance."""

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from rich.console import Console
from sample_report import ENGINES, GONE, LATE, RESULTS, RUN, result

from hudi_conformance.cases.verdict import Result
from hudi_conformance.explorer.s3.diagram import Drawing, Line
from hudi_conformance.report import github, saved_run
from hudi_conformance.report.console import print_results
from hudi_conformance.report.evidence import figures
from hudi_conformance.report.failure_text import align_rows, format_failure
from hudi_conformance.report.html import render_page
from hudi_conformance.report.matrix import build_matrix, sort_worst_first
from hudi_conformance.report.next_features import find_next_features
from hudi_conformance.runner.session import Session


def test_the_matrix_counts_right_answers_by_chapter_and_engine():
    """The score is the share of right answers; open cases and cases that were not offered are not counted."""
    lines = build_matrix(RESULTS, ENGINES)
    assert [line.title for line in lines] == ["log format", "merge modes and payloads", "model", "all"]
    assert [str(cell) for cell in lines[0].cells] == ["1 of 1  1 open", "0 of 1  1 refused  1 not offered", "-"]
    assert str(lines[-1].cells[1]) == "0 of 4  1 wrong  1 crash  1 error  1 refused  1 not offered"


def test_unexpected_results_come_first():
    """Unexpected wrong answers are the first results of a report."""
    assert [(r.case, r.outcome.value) for r in sort_worst_first(RESULTS)] == [
        ("merge.late", "fail"),
        ("model.program", "crash"),
        ("model.program", "timeout"),
        ("merge.known", "error"),
    ]


def test_rows_are_aligned_in_columns():
    """Expected and found values of a column can be compared visually."""
    assert list(align_rows(RESULTS[1].pairs)) == [
        ("", "id  name      ts"),
        ("expected", "1   new       10"),
        ("found", "1   late <b>  9"),
        ("expected", "2   null      1"),
        ("found", "(nothing)"),
    ]


def test_many_differences_are_shortened():
    """A table that is wrong everywhere shows the first differences and their number."""
    pairs = tuple(({"id": str(n)}, None) for n in range(9))
    assert list(align_rows(pairs))[-1] == ("", "... and 3 more")


def test_order_of_labels_in_a_failure():
    """The rule is first, the command that repeats the case last."""
    words = [line.split()[0] for line in format_failure(RESULTS[1]).splitlines()[1:]]
    assert [w for w in words if w not in ("id", "1", "2")] == [
        "rule", "case", "expected", "found", "expected", "found", "summary", "hint", "erratum", "list", "repeat",
    ]  # fmt: skip
    assert format_failure(RESULTS[1]).endswith("hudi-conformance run apache-hudi@1.0.2 --only merge.late")


def test_printed_command_is_quoted_for_the_shell():
    """The printed command can be copied for any name of an engine."""
    again = result("merge.a", "python it's.py", "fail").rerun_command
    assert again == """hudi-conformance run 'python it'"'"'s.py' --only merge.a"""


def test_printed_command_has_the_options_of_the_run():
    """A case that was asked at another table version, or with another seed, is repeated with them."""
    session = Session(("tiny",), table_version=9, seed=7)
    assert session.compare(result("merge.a", "tiny", "fail")).rerun_command.endswith(
        "--only merge.a --table-version 9 --seed 7"
    )
    assert Session(("tiny",)).compare(result("merge.a", "tiny", "fail")).rerun_command.endswith("--only merge.a")


def test_order_of_sections_on_the_terminal():
    """Matrix, unexpected results, known failures and stale entries, in this order."""
    console = Console(width=150, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    print_results(console, RUN, RESULTS)
    console.file.close()
    text = console.export_text()
    order = [
        "table versions 8 and 9 · seed 20261121 · 5 cases", "reference", "log format", "1 of 1  1 open", "to declare next", "log.hfile: 1 more case", "wrong answers first", "merge.late",
        "SILENT-STALE", "known failures, with", "merge.known", "stale entry",
    ]  # fmt: skip
    assert sorted(order, key=text.index) == order


def test_a_report_can_be_read_again(tmp_path: Path):
    """report.jsonl and run.json contain all data of the page."""
    saved_run.write_report(tmp_path / "deep" / "report", RUN, RESULTS)
    assert saved_run.read_report(tmp_path / "deep" / "report") == (RUN, RESULTS)
    line = json.loads((tmp_path / "deep" / "report" / "report.jsonl").read_text().splitlines()[1])
    assert line["rerun"] == "hudi-conformance run apache-hudi@1.0.2 --only merge.late"


def test_a_report_of_an_earlier_release_can_be_read(tmp_path: Path):
    """Its run.json has one number in place of the versions of the cases, which were all of version 8."""
    saved_run.write_report(tmp_path, RUN, RESULTS)
    raw = json.loads((tmp_path / "run.json").read_text())
    del raw["table_versions"]
    (tmp_path / "run.json").write_text(json.dumps(raw | {"table_version": 8}))
    assert saved_run.read_report(tmp_path)[0].format_versions == "version 8"


class Outline(HTMLParser):
    """Ids, unclosed tags, and all external resources of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the tag."""
        if tag not in ("meta", "link", "input", "br"):
            self.open.append(tag)
        self.fetched += [str(v) for k, v in attrs if k in ("src", "href") and not str(v).startswith("data:")]

    def handle_endtag(self, tag: str) -> None:
        """Check that the tag closes the last open one."""
        assert self.open.pop() == tag


def test_page_is_well_formed_and_self_contained():
    """Tags are balanced, and the page loads no other resource."""
    text = render_page(RUN, RESULTS).replace('xmlns="http://www.w3.org/2000/svg"', "")  # the name of what SVG is, not a place
    outline = Outline()
    outline.feed(text)
    assert outline.open == [] and outline.fetched == []
    assert not re.search(r"url\(|@import|https?://", text)


def test_values_are_escaped_on_the_page():
    """A value that contains HTML is shown as text."""
    text = render_page(RUN, RESULTS)
    assert "late &lt;b&gt;" in text and "late <b>" not in text


def test_page_begins_with_the_verdict_of_the_run():
    """The first thing on the page is the verdict on the run."""
    assert "3 results not as expected" in render_page(RUN, RESULTS)
    calm = [replace(r, surprise=None) for r in RESULTS]
    assert "All results are as expected" in render_page(replace(RUN, stale=()), calm)
    assert "broken did not start" in render_page(RUN, RESULTS)


def test_the_page_has_the_figures_of_this_run():
    """The counters of tests are added; the share of the proxy refers to their total time."""
    counts = {"orders": 1200, "crashes": 30, "crash_points": 12, "s3_runs": 2, "s3_requests": 180, "s3_milliseconds": 2000,
              "s3_proxy_milliseconds": 100, "s3_faults": 1}  # fmt: skip
    tried = result("test_s3::one", "reference", "pass", counts=counts)
    other = result("test_s3::two", "reference", "pass", counts={"orders": 34})
    found = {one.about: one.value for one in figures.list_figures({r.case: r.counts for r in (tried, other)})}
    assert found["interleavings of requests that were run to the end"] == "1,234"
    assert found["faults survived without lost or duplicated changes"] == "43"
    assert found["the proxy's share of the time of runs on an object store"] == "5%"
    text = render_page(RUN, [*RESULTS, tried, other])
    assert "1,234" in text and '<th scope="row">test_s3::one</th><td class="n">2</td><td class="n">180</td>' in text


def test_page_has_results_on_an_object_store(monkeypatch):
    """Guarantees of the store, a verdict for each engine and scenario, the worst of several seeds, and a drawing of the
    conflict."""
    promise = {
        "name": "create if absent",
        "says": "one winner",
        "alone": "1 of 30",
        "behind": "as promised",
        "is_kept": [False, True],
    }
    runs = [
        {"scenario": f"writes, seed {seed}", "outcome": outcome, "says": "told", "listed": None, "best_effort": [],
         "requests": {"engine": 60 + seed, "partner": 40}} for seed, outcome in enumerate(("pass", "fail"))
    ]  # fmt: skip
    drawing = Drawing("a conflict", {"engine": "raised Conflict"}, (Line("7", "engine", "put <x> → 412", "fault"),), {})
    kept = {
        "store": {"command": "c", "taken": "t", "promises": [promise]},
        "engines": {"mine": {"command": "d", "taken": "t", "findings": runs, "diagrams": [drawing.to_json()]}},
    }
    monkeypatch.setattr(figures, "read_figures", lambda name: kept if name == "s3" else {})
    (met,) = figures.read_store_results().scenarios["writes"]
    assert (met.outcome, met.requests) == ("fail", "100 to 101")
    text = render_page(RUN, RESULTS)
    assert '<b class="o-fail">broken</b>: 1 of 30' in text and '<b class="o-pass">kept</b>' in text
    assert "put &lt;x&gt; → 412" in text and "<svg" in text


def test_danger_and_cause_are_shown_for_wrong_answers_only():
    """An error, a crash, a timeout or a refusal returns no rows."""
    for outcome in ("error", "crash", "timeout", "refused"):
        found = format_failure(result("merge.late", "reference", outcome, flags=("silent-stale",), surprise="not in the list"))
        assert "SILENT-STALE" not in found and "hint" not in found
    text = render_page(RUN, [result("merge.late", "reference", "refused", flags=("silent-stale",))])
    assert "silent-stale" not in text and "Compare before replacing" not in text


def shown(*results: Result) -> str:
    """The output on a terminal of 80 columns."""
    console = Console(width=80, record=True, file=io.StringIO())
    print_results(console, replace(RUN, stale=()), results)
    return "\n".join(line.rstrip() for line in console.export_text().splitlines())


def test_equal_failures_of_an_engine_are_grouped():
    """Equal wrong rows in several cases are one block with all ids; other rows or another engine are another block."""
    wrong = {"message": "1 changed (id=1)", "pairs": (LATE,), "surprise": "not in the list of expected failures"}
    same = [result(case, "reference", "fail", **wrong) for case in ("merge.late", "merge.late.by-reference", "log.other")]
    other = [
        result("merge.a", "reference", "fail", **(wrong | {"pairs": (GONE,)})),
        result("merge.b", "broken", "fail", **wrong),
    ]
    text = shown(*same, *other)
    assert text.count("  repeat  ") == 3
    assert "and 2 more cases" in text and "  same in   merge.late\n            merge.late.by-reference" in text


def test_reasons_of_known_failures_are_wrapped():
    """At 80 columns a long reason is wrapped, and the cases of a reason are listed below it."""
    reason = " ".join(f"word{n}" for n in range(40))
    text = shown(*(result(f"merge.{n}", "reference", "fail", listed=reason) for n in "ab"))
    assert all(f"word{n}" in text for n in range(40)) and "same in   merge.b" in text


def test_flaky_cases_are_shown_separately():
    """A flaky case may fail or pass; both are shown with the reason."""
    text = shown(*(result(f"merge.{o}", "reference", o, flaky="depends on the load") for o in ("fail", "pass")))
    assert (
        text.index("flaky cases") < text.index("merge.fail") and "depends on the load" in text and "not as expected" not in text
    )


def test_one_engine_has_a_column_for_each_outcome():
    """Refusals have their own column."""
    console = Console(width=120, record=True, file=io.StringIO())
    print_results(console, replace(RUN, engines=ENGINES[1:2]), [r for r in RESULTS if r.engine == "apache-hudi@1.0.2"])
    head, row = console.export_text().splitlines()[2:4]
    assert head.split("  ")[-1].strip() == "not offered" and "passed of asked" in head and "refused" in head
    assert row.split() == ["log", "format", "0", "of", "1", "1", "1"]


def test_features_to_declare_next_are_counted():
    """For each feature the cases that need only this one in addition; then sets of features with many cases."""
    lacking = [
        "read.filter",
        "read.filter",
        "read.cdc",
        "read.cdc, merge-on-read",
        "merge-on-read, log.avro",
        "merge-on-read, log.avro",
    ]
    results = [result(f"merge.{n}", "reference", "unsupported", message=f"not offered: {f}") for n, f in enumerate(lacking)]
    assert [str(one) for one in find_next_features(results, "reference")] == [
        "read.filter: 2 more cases",
        "read.cdc: 1 more case",
        "log.avro + merge-on-read: 2 more cases",
        "merge-on-read + read.cdc: 2 more cases",
    ]
    assert "<code>read.filter</code>: 2 more cases" in render_page(RUN, results)


def test_results_of_cases_come_before_figures_of_the_project():
    """A report begins with the matrix and the cases of the run; figures of concurrent writers follow."""
    text = render_page(RUN, RESULTS)
    assert text.index('id="matrix-title"') < text.index('id="cases"') < text.index('id="concurrent-writers"')
    assert "concurrent-writers" not in render_page(replace(RUN, complete=False), RESULTS)


def test_an_annotation_names_a_file_of_the_checkout(tmp_path: Path, monkeypatch):
    """The list of expected failures if there is one, else the program of the adapter; special characters are escaped."""
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adapter.mjs").touch()
    (tmp_path / "list.toml").touch()
    wrong = {"message": "50% wrong\nrows", "pairs": (LATE,), "surprise": "not in the list", "flags": ("silent-stale",)}
    results = [result(case, "node adapter.mjs", "fail", **wrong) for case in ("merge.a", "merge.b")]
    run = replace(RUN, stopped=("node adapter.mjs: 3 cases not run",))
    first, stale, stopped = github.annotations(run, results)
    assert first.startswith(
        "::error file=adapter.mjs,line=1,title=merge.a and 1 more%3A wrong (silent-stale)::node adapter.mjs%0A"
    )
    assert "50%25 wrong%0Arows" in first and "same in: merge.b" in first
    assert stale.startswith("::error title=stale entry") and stopped.endswith("::node adapter.mjs: 3 cases not run")
    assert next(iter(github.annotations(run, results, tmp_path / "list.toml"))).startswith("::error file=list.toml,line=1,")
    flaky = result("merge.a", "reference", "fail", flaky="load")
    assert next(iter(github.annotations(replace(RUN, stale=()), [flaky]))).startswith(
        "::warning title=merge.a%3A wrong%2C flaky::"
    )
