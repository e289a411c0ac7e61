"""Coverage of the specification: levels, totals, the page, and the problems that are reported."""

import inspect
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.commands.suite.coverage import coverage as command
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report import stored_verdicts
from hudi_conformance.report.evidence import coverage, evidence
from hudi_conformance.report.evidence.coverage_page import render_page
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence, SourcePlace
from hudi_conformance.report.evidence.levels import decide_basis
from hudi_conformance.requirements import requirement as index
from hudi_conformance.runner import run_report
from hudi_reference.requirement import rules_of

app = typer.Typer()
app.command()(command)

LATE = CitedCase("merge.late", ("MRG-028", "MRG-029"), (), "fixtures/merge/late/case.json", "A late record loses.")
TIE = CitedCase("merge.tie", ("MRG-028",), (), "fixtures/merge/tie/case.json", "The newer of equals wins.")
MUTANT = Kill("late-records-win", ("MRG-029",), "Takes the later version.", ("merge.late",))

SMALL = Evidence(
    implemented={"MRG-028": [SourcePlace("hudi_reference.records.merge:fold", "reference/hudi_reference/records/merge.py", 7)]},
    cases=(LATE, TIE),
    kills=(MUTANT,),
    verdicts={"reference": {"merge.late": "pass", "merge.tie": "pass"}, "other": {"merge.tie": "fail", "gone": "fail"}},
)


def entry(rule: str, found: Evidence = SMALL) -> coverage.CoverageEntry:
    return next(e for e in coverage.list_entries(found) if e.requirement.id == rule)


def with_case(**changes) -> Evidence:
    """The small evidence with one more case."""
    facts = {"id": "x", "requirements": ("MRG-001",), "errata": (), "path": "p", "description": "d"}
    return Evidence(cases=(*SMALL.cases, CitedCase(**(facts | changes))), kills=SMALL.kills)


def test_level_of_a_rule():
    """A rule is mutation-tested if a case that cites it kills a mutant of the rule, and cited by a case otherwise."""
    assert entry("MRG-029").status == "mutation-tested"
    assert entry("MRG-028").status == "cited"
    assert entry("MRG-027").status == "uncovered"
    assert entry("OCC-018").status == "excluded"
    only_code = Evidence(implemented=SMALL.implemented)
    assert entry("MRG-028", only_code).status == "implemented"


def test_kill_by_a_case_of_another_rule_does_not_count():
    """A case that cites the rule has to kill the mutant."""
    elsewhere = Evidence(cases=(LATE, TIE), kills=(Kill("b", ("MRG-029",), "d.", ("merge.tie",)),))
    assert entry("MRG-029", elsewhere).status == "cited"
    assert any("no case that cites MRG-029" in p for p in coverage.find_problems(elsewhere))


def test_verdict_of_a_rule_is_the_worst_of_its_cases():
    """Right answers, and cases without verdict, do not hide a wrong answer."""
    assert entry("MRG-028").verdicts == {"reference": "pass", "other": "fail"}
    assert entry("MRG-029").verdicts == {"reference": "pass"}
    partly = Evidence(cases=(LATE, TIE), verdicts={"e": {"merge.late": "pass", "merge.tie": "unsupported"}})
    assert entry("MRG-028", partly).verdicts == {"e": "pass"}


def test_a_rule_is_cited_for_each_of_its_roles():
    """A case that only reads is no evidence for the writers that a rule holds for."""
    reads = CitedCase("r", ("LAY-005",), (), "p", "d", needs=("read.snapshot",))
    writes = CitedCase("w", ("LAY-005",), (), "p", "d", needs=("create", "write.upsert"))
    assert entry("LAY-005", Evidence(cases=(reads,))).status == "cited in part"
    assert entry("LAY-005", Evidence(cases=(reads, writes))).status == "cited"


def test_a_rule_is_proven_when_it_is_mutation_tested_and_judged_by_a_foreign_engine():
    """Verdicts of this project's own engines and answers without verdict are not sufficient."""
    known = {"cases": SMALL.cases, "kills": SMALL.kills}
    verdicts = {"reference": {"merge.late": "pass"}, "spark": {"merge.late": "pass"}}
    assert entry("MRG-029", Evidence(**known, verdicts=verdicts)).status == "mutation-tested"
    assert (
        entry("MRG-029", Evidence(**known, verdicts=verdicts | {"other": {"merge.late": "open"}})).status == "mutation-tested"
    )
    assert entry("MRG-029", Evidence(**known, verdicts=verdicts | {"other": {"merge.late": "fail"}})).status == "proven"


def test_the_cases_of_a_table_version_are_evidence_for_that_version_alone():
    """A rule of both versions is judged at 9 by a case with tables of version 9; a rule of version 9 has no level at 8."""
    old = CitedCase("old", ("MRG-028",), (), "p", "d", versions=(8,))
    new = CitedCase("new", ("MRG-028", "MRG-041"), (), "p", "d", versions=(9,))
    found = Evidence(cases=(old, new), verdicts={"other": {"old": "pass"}})
    assert [entry("MRG-028", found).status_at(version) for version in (8, 9)] == ["judged", "cited"]
    assert [entry("MRG-041", found).status_at(version) for version in (8, 9)] == ["", "cited"]
    assert [entry("MRG-027", found).status_at(version) for version in (8, 9)] == ["uncovered", "uncovered"]
    counted = coverage.count_evidence([entry("MRG-028", found), entry("MRG-041", found)])
    assert [counted[key] for key in ("rules_8", "rules_9", "judged_8", "judged_9")] == [1, 2, 1, 0]


def test_a_verdict_of_a_case_with_a_drawn_version_counts_for_the_version_that_was_run():
    """A recorded verdict is of version 8, unless the record says that tables of version 9 were made."""
    drawn = CitedCase("t::x", ("MRG-028",), (), "p", "d", versions=(8, 9), for_each_version=True)
    found = Evidence(cases=(drawn,), verdicts={"other": {"t::x": "pass"}})
    assert [entry("MRG-028", found).status_at(version) for version in (8, 9)] == ["judged", "cited"]
    found = replace(found, at_newest={"other": frozenset({"t::x"})})
    assert [entry("MRG-028", found).status_at(version) for version in (8, 9)] == ["judged", "judged"]


def test_a_verdict_of_a_run_that_named_the_version_counts_for_that_version():
    """The verdict of `run --table-version 9` judges at 9 alone, and there instead of the verdict of the drawn version."""
    drawn = CitedCase("t::x", ("MRG-028",), (), "p", "d", versions=(8, 9), for_each_version=True)
    found = Evidence(cases=(drawn,), verdicts={"other": {"t::x": "error"}}, by_version={"other": {9: {"t::x": "pass"}}})
    assert [entry("MRG-028", found).status_at(version) for version in (8, 9)] == ["cited", "judged"]


def test_recording_a_run_that_named_the_version_keeps_the_other_verdicts(tmp_path):
    """Its outcomes are stored beside those of drawn versions, which stay; cases with tables of another version are left out."""
    started = run_report.Run((run_report.EngineRun("e"),), seed=None, started="", seconds=0.0, complete=True)

    def run(named: int | None, **found: tuple[Outcome, int]) -> dict[str, Any]:
        tried = [Result(f"t::{test}", "e", outcome, "model", versions=(made,)) for test, (outcome, made) in found.items()]
        run_report.write_report(tmp_path, replace(started, table_version=named), tried)
        (path,) = stored_verdicts.store_verdicts(tmp_path, tmp_path / "results")
        return json.loads(path.read_text(encoding="utf-8"))

    run(None, x=(Outcome.PASS, 8))
    named = run(9, x=(Outcome.FAIL, 9), y=(Outcome.PASS, 8))
    assert (named["cases"], named["by_version"]) == ({"t::x": "pass"}, {"9": {"t::x": "fail"}})
    assert run(9, z=(Outcome.PASS, 9))["by_version"] == {"9": {"t::x": "fail", "t::z": "pass"}}
    assert run(None, x=(Outcome.PASS, 8))["by_version"] == {"9": {"t::x": "fail", "t::z": "pass"}}


def test_a_case_that_fails_on_the_reference_tests_no_mutant():
    """A case that always fails cannot detect a mutant."""
    failing = Evidence(cases=SMALL.cases, kills=SMALL.kills, verdicts={"reference": {"merge.late": "fail"}})
    assert entry("MRG-029", failing).status == "cited"


def test_the_basis_is_text_deployed_format_or_open():
    """An open erratum decides, until other cases make the rule mutation-tested and judged."""
    assert decide_basis("LAY-001", ()) == "text"
    assert decide_basis("TL-028", ()) == "deployed"
    assert decide_basis("LF-025", ()) == "open"
    assert decide_basis("LF-025", ("cited", "mutation-tested", "judged", "proven")) != "open"


def test_totals_count_rules_and_cases_once():
    """A case that cites several rules is one case."""
    found = coverage.count_evidence(coverage.list_entries(SMALL))
    assert found["requirements"] == 615
    assert (found["cases"], found["with_cases"], found["proved"], found["implemented"]) == (2, 2, 1, 1)
    assert (found["mutants"], found["mutants_killed"]) == (1, 1)


def test_form_of_the_json():
    """Other tools read `coverage --json`."""
    found = coverage.entries_as_json(coverage.list_entries(SMALL))
    assert next(r for r in found["requirements"] if r["id"] == "MRG-028") == {
        "id": "MRG-028",
        "area": "MRG",
        "chapter": "merging",
        "level": "must",
        "versions": [8, 9],
        "implemented": ["hudi_reference.records.merge:fold"],
        "cases": ["merge.late", "merge.tie"],
        "mutants": [],
        "excluded": None,
        "verdicts": {"reference": "pass", "other": "fail"},
        "basis": "open",
        "evidence": ["implemented", "cited", "judged"],
        "evidence_by_version": {"8": ["implemented", "cited", "judged"], "9": ["implemented", "cited", "judged"]},
        "judged": {"other": ["merge.tie"]},
    }
    late = next(r for r in found["requirements"] if r["id"] == "MRG-029")
    assert late["mutants"] == [{"name": "late-records-win", "killed_by": ["merge.late"]}]
    assert found["totals"]["requirements"] == len(found["requirements"])


def test_page_shows_every_rule_with_links_to_its_evidence():
    """The page shows each rule, its level and its files; an uncovered rule is marked."""
    lines = render_page(coverage.list_entries(SMALL), SMALL.verdicts, {}).splitlines()
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}
    assert set(index.requirements()) <= set(rows)
    assert "[merge.fold](reference/hudi_reference/records/merge.py)" in rows["MRG-028"]
    assert "[merge.late](fixtures/merge/late/case.json)" in rows["MRG-029"]
    assert rows["MRG-028"].endswith("| pass | fail |")
    assert "| uncovered |" in rows["MRG-027"]
    assert "| reference | other |" in rows["id"]
    assert "ER-030" in rows["MRG-019"]


def test_table_rows_have_the_right_number_of_cells():
    """The text of a rule does not break a table."""
    text = render_page(coverage.list_entries(SMALL), SMALL.verdicts, {})
    for block in text.split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.replace("\\|", "").count("|") for line in rows}) <= 1, block[:200]


def test_mixed_verdicts_are_shown_with_the_share_of_the_worst():
    """Three right answers and a wrong one are shown as such; cases that were not run do not count."""
    cases = tuple(CitedCase(f"c{n}", ("MRG-001",), (), "p", "d") for n in range(5))
    outcomes = {"c0": "pass", "c1": "pass", "c2": "pass", "c3": "fail", "c4": "unsupported"}
    text = render_page(coverage.list_entries(Evidence(cases=cases, verdicts={"e": outcomes})), ["e"], {})
    assert "| fail 1/4 |" in text


def test_long_lists_of_cases_are_shortened():
    """The cell of a table lists some cases; explain lists all."""
    cases = tuple(CitedCase(f"c{n}", ("MRG-001",), (), "p", "d") for n in range(9))
    assert "[c2](p), and 6 more" in render_page(coverage.list_entries(Evidence(cases=cases)), [], {})


@pytest.mark.parametrize(
    ("found", "complaint"),
    [
        (with_case(requirements=("MRG-999",)), "case x cites MRG-999"),
        (with_case(requirements=()), "case x (p) cites no requirement"),
        (with_case(errata=("ER-999",)), "case x cites ER-999"),
        (with_case(id="merge.late"), "case id merge.late is given 2 times"),
        (Evidence(implemented={"XX-001": [SourcePlace("m:f", "m.py")]}), "code of m:f cites XX-001"),
        (Evidence(kills=(Kill("b", ("XX-001",), "d.", ()),)), "mutant b cites XX-001"),
        (Evidence(kills=(Kill("b", ("MRG-001",), "d.", ("gone",)),)), "mutant b is killed by gone"),
        (Evidence(kills=(Kill("b", ("MRG-001",), "d.", ()),)), "no case that cites MRG-001"),
        (Evidence(kills=(Kill("b", ("MRG-001",), "d.", None),)), "mutant b was never run"),
    ],
)
def test_invalid_evidence_is_reported(found, complaint):
    """Each kind of invalid evidence is reported with its place."""
    assert any(complaint in problem for problem in coverage.find_problems(found))


def test_an_erratum_without_a_place_in_the_code_is_reported():
    """Each deviation from the text is marked at its line, or errata.toml says why it has none."""
    marked = Evidence(deviations={"ER-030": [SourcePlace("m", "m.py", 3)]})
    found = [problem for problem in coverage.find_problems(marked) if "named nowhere in the reference" in problem]
    assert not any(problem.startswith("ER-030") for problem in found)
    assert any(problem.startswith("ER-002") for problem in found)


def test_valid_evidence_has_no_problems():
    """Valid evidence has no reports."""
    assert list(coverage.find_problems(SMALL)) == []


def test_stale_page_is_reported_with_its_differences(monkeypatch, tmp_path):
    """The committed page is compared line by line."""
    monkeypatch.setattr(coverage, "FILE", tmp_path / "spec_coverage.md")
    assert "hudi-conformance coverage" in coverage.describe_page_difference("a\nb\n")
    coverage.FILE.write_text("a\nb\n", encoding="utf-8")
    assert coverage.describe_page_difference("a\nb\n") is None
    assert "+c" in coverage.describe_page_difference("a\nc\n")


def test_marks_in_the_sources_equal_those_of_imported_modules():
    """Parsing the sources for @implements finds the same marks as importing them."""
    parsed = {
        rule: sorted(place.name for place in places if place.name.startswith("hudi_reference."))
        for rule, places in evidence.find_implementations().items()
    }
    running = defaultdict(set)
    for module in {place.partition(":")[0] for places in parsed.values() for place in places}:
        for place, rules in marked_places(import_module(module), module):
            for rule in rules:
                running[rule].add(place)
    assert {k: v for k, v in parsed.items() if v} == {rule: sorted(places) for rule, places in running.items()}


def marked_places(owner: Any, module: str, prefix: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """The marked functions and classes that a module or class defines, and the rules of each."""
    for name, value in vars(owner).items():
        if getattr(getattr(value, "func", value), "__module__", module) == module:
            if rules := rules_of(value):
                yield f"{module}:{prefix}{name}", rules
            if inspect.isclass(value):
                yield from marked_places(value, module, f"{prefix}{name}.")


def test_recording_a_report_keeps_one_outcome_per_case_and_engine(tmp_path):
    """A later run of some cases replaces their outcomes and keeps the others; parameters of a test count together."""
    report, results = tmp_path / "report", tmp_path / "results"
    started = run_report.Run(
        (run_report.EngineRun("apache-hudi@1.0.2"),), seed=None, started="", seconds=0.0, complete=True, stale=(), rewritten=()
    )

    def run(*outcomes: tuple[str, Outcome]) -> dict[str, str]:
        found = [Result(case, "apache-hudi@1.0.2", outcome, "merge") for case, outcome in outcomes]
        run_report.write_report(report, started, found)
        (path,) = stored_verdicts.store_verdicts(report, results)
        assert path == results / "apache-hudi@1.0.2.json"
        return json.loads(path.read_text(encoding="utf-8"))["cases"]

    assert run(("a", Outcome.FAIL), ("b", Outcome.PASS)) == {"a": "fail", "b": "pass"}
    assert run(("a", Outcome.PASS)) == {"a": "pass", "b": "pass"}
    test = [("t::x[n=1]", Outcome.UNSUPPORTED), ("t::x[n=2]", Outcome.PASS), ("t::x[n=3]", Outcome.FAIL)]
    assert run(*test)["t::x"] == "fail"
    assert run(*test[:2])["t::x"] == "pass"


def test_recording_a_report_keeps_counters(tmp_path):
    """Counters of the parameters of a test are added; a later run of a test replaces its counters and keeps those of others."""
    started = run_report.Run((run_report.EngineRun("reference"),), seed=None, started="", seconds=0.0, complete=True)

    def run(**orders: list[int]) -> dict[str, dict[str, int]]:
        tried = [
            Result(f"t::{test}[n={number}]", "reference", Outcome.PASS, "model", counts={"orders": count} if count else {})
            for test, counts in orders.items()
            for number, count in enumerate(counts)
        ]
        run_report.write_report(tmp_path, started, tried)
        (path,) = stored_verdicts.store_verdicts(tmp_path, tmp_path / "results")
        return json.loads(path.read_text(encoding="utf-8")).get("counts", {})

    assert run(x=[3, 4], y=[0]) == {"t::x": {"orders": 7}}
    assert run(y=[5]) == {"t::x": {"orders": 7}, "t::y": {"orders": 5}}
    assert run(x=[0]) == {"t::y": {"orders": 5}}


def test_recording_a_report_keeps_the_cases_that_made_tables_of_version_9(tmp_path):
    """A test one of whose parameters drew version 9 is kept until it is recorded again without."""
    started = run_report.Run((run_report.EngineRun("e"),), seed=None, started="", seconds=0.0, complete=True)

    def run(**drawn: list[int]) -> list[str]:
        tried = [
            Result(f"t::{test}[n={number}]", "e", Outcome.PASS, "model", versions=(version,))
            for test, versions in drawn.items()
            for number, version in enumerate(versions)
        ]
        run_report.write_report(tmp_path, started, tried)
        (path,) = stored_verdicts.store_verdicts(tmp_path, tmp_path / "results")
        return json.loads(path.read_text(encoding="utf-8")).get("at_newest_version", [])

    assert run(x=[8, 9], y=[8]) == ["t::x"]
    assert run(y=[9]) == ["t::x", "t::y"]
    assert run(x=[8, 8]) == ["t::y"]


def test_the_command_prints_json_and_writes_nothing():
    """`coverage --json` prints only the JSON to standard output."""
    before = coverage.FILE.read_text(encoding="utf-8")
    done = CliRunner().invoke(app, ["--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["totals"]["requirements"] == 615
    assert coverage.FILE.read_text(encoding="utf-8") == before


def test_check_fails_for_a_stale_page(monkeypatch, tmp_path):
    """Exit 1, and the remedy on standard error."""
    monkeypatch.setattr(coverage, "FILE", tmp_path / "spec_coverage.md")
    done = CliRunner().invoke(app, ["--check"])
    assert done.exit_code == 1
    assert "is stale: run hudi-conformance coverage" in done.stderr
    assert not coverage.FILE.exists()
