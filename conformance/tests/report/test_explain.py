"""`hudi-conformance explain`: each name leads to its rules, its evidence and its files."""

import json
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from hudi_conformance.cases.verdict import Outcome
from hudi_conformance.commands.suite.explain import explain as command
from hudi_conformance.commands.suite.explain import format_lines
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence, FeatureText, SourcePlace, gather_evidence
from hudi_conformance.report.evidence.file_cache import FileCache
from hudi_conformance.report.explain.explanation import UnknownName, explain, similar_names
from hudi_conformance.report.explain.lines import Explanation, outcome_words
from hudi_conformance.requirements.requirement import requirements

app = typer.Typer()
app.command()(command)

LATE = CitedCase(
    "merge.late", ("MRG-029",), ("ER-030",), "fixtures/merge/late/case.json", "A late record loses.", needs=("read.snapshot",)
)
WRITES = CitedCase(
    "test_x::test_y", ("MRG-029",), (), "conformance/x.py", "A late write loses.", line=12, needs=("write.upsert", "create")
)
SMALL = Evidence(
    implemented={"MRG-029": [SourcePlace("hudi_reference.records.merge:fold", "reference/hudi_reference/records/merge.py", 7)]},
    cases=(LATE, WRITES),
    kills=(Kill("late-records-win", ("MRG-029",), "Takes the later version.", ("merge.late",), "mutants/merge.py:20"),),
    verdicts={"reference": {"merge.late": "pass"}, "other": {"merge.late": "unsupported"}},
    features={"read.snapshot": FeatureText("the latest rows of a table", "a query of the kind snapshot")},
    deviations={
        "ER-030": [SourcePlace("hudi_reference.layout.properties", "reference/hudi_reference/layout/properties.py", 118)]
    },
)


def lines(name: str, evidence: Evidence = SMALL) -> dict[str, str]:
    """The text of each label; several lines of a label are joined."""
    found: dict[str, str] = {}
    for label, text in explain(name, evidence).lines:
        found[label] = f"{found[label]}\n{text}" if label in found else text
    return found


def test_a_rule_is_shown_with_its_sentence_and_its_link():
    """The link leads to the published specification."""
    found = lines("MRG-029")
    assert "ignoring older state changes" in found["sentence"]
    assert found["link"].startswith("https://") and found["link"].endswith("#event_time_ordering")
    assert "Record Merger" in found["source"]
    assert found["chapter"] == "merge modes and payloads (explain merging)"
    assert explain("mrg-029", SMALL) == explain("MRG-029", SMALL)


def test_a_rule_is_shown_with_its_evidence():
    """Code with its line, cases by role with their paths, mutants with their files, verdicts, level and basis."""
    found = lines("MRG-029")
    assert found["implemented"] == "reference/hudi_reference/records/merge.py:7  fold"
    assert "reader: 1" in found["cases"] and "writer: 1" in found["cases"]
    assert "fixtures/merge/late/case.json" in found["cases"] and "conformance/x.py:12" in found["cases"]
    assert "late-records-win  mutants/merge.py:20" in found["mutants"]
    assert "killed by merge.late" in found["mutants"]
    assert "reference: pass (1 pass)" in found["verdicts"]
    assert {"level", "basis", "roles", "check", "mutant", "errata"} <= found.keys()


def test_missing_evidence_is_shown():
    """Missing evidence of a rule is stated."""
    assert lines("MRG-027")["level"].startswith("uncovered")
    assert lines("OCC-018")["level"].startswith("excluded: ")


def test_a_rule_shows_for_which_roles_evidence_is_missing():
    """The output states what is missing for a proven rule."""
    assert "not mutation-tested as writer" in lines("MRG-029")["missing"]
    assert "not judged as reader, writer" in lines("MRG-029")["missing"]
    assert "missing" not in lines("MRG-027")


def test_long_lists_are_shortened_without_the_option_all():
    """A rule with many cases has a short list."""
    cases = tuple(CitedCase(f"c{n}", ("MRG-029",), (), "p", "d") for n in range(20))
    short = lines("MRG-029", Evidence(cases=cases))["cases"]
    assert "c5  d" in short and "c6  d" not in short and "and 14 more; --all shows them" in short
    whole = explain("MRG-029", Evidence(cases=cases), everything=True).lines
    assert sum(label == "cases" for label, _ in whole) == 21


def test_a_case_is_shown_with_its_rules_errata_and_the_command_that_reproduces_it():
    """A failing case leads to its rules."""
    found = lines("merge.late")
    assert found["rules"].startswith("MRG-029  Late changes")
    assert found["errata"].startswith("ER-030")
    assert found["kills"].startswith("late-records-win")
    assert "reference: pass" in found["verdicts"]
    assert found["file"] == "fixtures/merge/late/case.json"
    assert found["reproduce"] == "hudi-conformance run ENGINE --only 'merge.late'"


def test_a_golden_case_is_shown_with_question_answer_and_producer():
    """Everything that is needed to understand a failure, without opening the files of the case."""
    found = lines("merge.event-time.late-record.mor", gather_evidence())
    assert "apache-hudi 1.0.2" in found["table"]
    assert found["question"] == "kind snapshot"
    assert found["expected"].startswith("2 rows (model)")
    assert found["if it fails"] and found["danger"] == "silent-stale: an older version is returned"


def test_a_python_test_is_found_by_its_old_name_and_with_parameters():
    """Ids in old reports and lists stay valid."""
    evidence = gather_evidence()
    case = next(case.id for case in evidence.cases if case.id.startswith("test_clock_skew::"))
    old = case.replace("test_clock_skew", "test_clocks_that_go_back")
    found = explain(old, evidence)
    assert found.heading.startswith(case)
    assert dict(found.lines)["renamed from"] == old
    assert explain("test_x::test_y[n=1]", SMALL) == explain("test_x::test_y", SMALL)


def test_every_case_can_be_explained():
    """Each case of the checkout can be shown."""
    evidence = gather_evidence()
    for case in evidence.cases:
        assert explain(case.id, evidence).heading.startswith(case.id)


def test_an_erratum_is_shown_with_both_sides_its_rules_and_the_lines_that_follow_it():
    """An erratum leads to its rules in the specification, to cases and to the code."""
    found = lines("er-030")
    assert "hoodie.table.ordering.fields" in explain("ER-030", SMALL).heading
    assert "https://" in found["rules"] or "https://" in found[""]
    assert found["code"] == "reference/hudi_reference/layout/properties.py:118"
    assert {"deployed", "reference", "evidence", "cases"} <= found.keys()


def test_a_mutant_is_shown_with_the_rules_that_it_breaks_and_the_cases_that_kill_it():
    """The name of a mutant leads to rule, case and file."""
    found = lines("late-records-win")
    assert found["breaks"].startswith("MRG-029")
    assert found["killed by"].startswith("merge.late")
    assert found["file"] == "mutants/merge.py:20"
    assert found["reproduce"] == "hudi-conformance mutants --only late-records-win"


def test_a_feature_is_shown_with_its_meaning_its_cases_and_the_engines_that_declare_it():
    """For authors of adapters."""
    found = explain("read.snapshot", SMALL)
    assert found.heading == "read.snapshot: the latest rows of a table"
    assert "reference: yes" in lines("read.snapshot")["declared"]
    assert "other: no" in lines("read.snapshot")["declared"]
    assert "merge.late" in lines("read.snapshot")["cases"]


@pytest.mark.parametrize("name", ["MRG", "mrg", "merging"])
def test_an_area_and_a_chapter_are_shown_with_the_levels_of_their_rules(name):
    """The output shows where evidence is missing."""
    found = lines(name)
    assert found["MRG-001"].startswith("uncovered  When several records")
    number = sum(rule.startswith("MRG-") for rule in requirements())
    assert f"{number} rules" in found.get("rules", found.get("MRG", ""))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("MRG-29", "MRG-029"), ("merge.lat", "merge.late"), ("late", "merge.late"), ("read.snapshots", "read.snapshot")],
)
def test_unknown_name_suggests_similar_names(typed, meant):
    """A mistyped name has suggestions."""
    with pytest.raises(UnknownName) as error:
        explain(typed, SMALL)
    assert meant in error.value.near


def test_similar_names_come_before_names_that_contain_the_word():
    """The best suggestion is the first one."""
    assert similar_names("b", ["ab", "b2"])[0] == "b2"


def test_the_command_prints_a_rule_and_refuses_an_unknown_name():
    """Exit 0 with the rule on standard output; exit 2 with suggestions on standard error."""
    done = CliRunner().invoke(app, ["MRG-029"])
    assert done.exit_code == 0
    assert "Late changes with lower event time are ignored" in done.stdout.replace("\n", " ")
    wrong = CliRunner().invoke(app, ["MRG-99"])
    assert wrong.exit_code == 2
    assert "did you mean" in wrong.stderr


def test_links_are_not_wrapped_and_labels_are_printed_once():
    """A link can be copied from the terminal."""
    address = "https://example.org/" + "x" * 200
    printed = list(format_lines(Explanation("h", (("link", address), ("cases", "a"), ("cases", "  b"))), 60))
    assert any(address in line for line in printed)
    assert sum("cases" in line for line in printed) == 1


def test_the_cache_is_used_until_a_file_changes(tmp_path):
    """A second command parses no file; a changed file is parsed again."""
    source, folder = tmp_path / "a.json", tmp_path / "cache"

    def read() -> tuple[object, int]:
        cache = FileCache(folder, tmp_path)
        found = cache.read(str(source), json.loads)
        cache.save()
        return found, cache.parsed

    source.write_text("[1]", encoding="utf-8")
    assert read() == ([1], 1)
    assert read() == ([1], 0)
    source.write_text("[1, 2]", encoding="utf-8")
    assert read() == ([1, 2], 1)
    for path in folder.rglob("*.bin"):
        path.write_bytes(b"damaged")
    assert read() == ([1, 2], 1)


@pytest.mark.parametrize("outcome", Outcome)
def test_explain_has_the_words_of_reports(outcome):
    """The table in `explain` and the one of `Outcome` agree."""
    assert outcome_words(outcome.value) == outcome.label


def test_explain_imports_neither_the_suite_nor_an_engine():
    """All data are read from indexes and sources, so that slow imports are not needed."""
    probe = (
        "import sys; from hudi_conformance.report.explain import explanation; "
        "from hudi_conformance.report.evidence.evidence import gather_evidence; gather_evidence(); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True).stdout.split()
    assert not {"pyarrow", "hypothesis", "pytest", "hudi_conformance.suite"} & set(loaded)


def test_a_command_to_copy_is_one_line():
    """A pasted line break would run half of it."""
    command = f"hudi-conformance run ENGINE --only '{'long-name.' * 9}'"
    assert any(line.endswith(command) for line in format_lines(Explanation("h", (("run", command),)), 60))
