"""What everybody may rely on in `hudi-conformance explain`."""

import pytest
import typer
from typer.testing import CliRunner

from hudi_conformance.commands.suite.explain import explain as command
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence import CitedCase, Evidence
from hudi_conformance.report.explanation import Unknown, explain

app = typer.Typer()
app.command()(command)

LATE = CitedCase("merge.late", ("MRG-029",), ("ER-030",), "fixtures/merge/late/case.json", "A late record loses.")
SMALL = Evidence(
    implemented={"MRG-029": [("hudi_reference.records.merge:fold", "reference/hudi_reference/records/merge.py")]},
    cases=(LATE,),
    kills=(Kill("late-records-win", ("MRG-029",), "Takes the later version.", ("merge.late",)),),
    verdicts={"reference": {"merge.late": "pass"}},
)


def lines(name: str) -> dict[str, str]:
    return dict(explain(name, SMALL).lines)


def test_a_rule_is_told_with_its_source_check_fault_code_cases_and_verdicts():
    """Everything that leads on from a rule is in one place."""
    found = lines("MRG-029")
    assert "Record Merger" in found["source"]
    assert found["check"] and found["a fault"]
    assert found["implemented"].startswith("hudi_reference.records.merge:fold")
    assert found["cases"] == "merge.late  A late record loses."
    assert found["mutants"] == "late-records-win, killed by: merge.late"
    assert found["verdicts"] == "reference: pass (1 pass)"
    assert explain("mrg-029", SMALL) == explain("MRG-029", SMALL)


def test_a_rule_that_nothing_covers_says_so():
    """Silence is not taken for coverage."""
    assert lines("MRG-027")["status"] == "uncovered"
    assert lines("OCC-018")["status"].startswith("excluded: ")


def test_a_case_is_told_with_its_rules_errata_and_the_command_to_run_it_again():
    """Who meets a failing case by its name finds what it is about."""
    found = lines("merge.late")
    assert found["rules"].startswith("MRG-029  Late changes")
    assert found["errata"].startswith("ER-030")
    assert found["kills"].startswith("late-records-win")
    assert found["verdicts"] == "reference: pass"
    assert found["again"] == "hudi-conformance run ENGINE --only 'merge.late'"


def test_an_erratum_is_told_with_rules_both_sides_and_evidence():
    """The way leads from an erratum to its rules and cases."""
    found = explain("er-030", SMALL)
    assert "hoodie.table.ordering.fields" in found.heading
    labels = [label for label, _ in found.lines]
    assert {"rules", "engines", "reference", "evidence", "cases"} <= set(labels)


def test_a_mutant_is_explained_with_its_rules_and_the_cases_that_kill_it():
    """The name in the table of mutants leads to the rule and the case."""
    found = lines("late-records-win")
    assert found["breaks"].startswith("MRG-029")
    assert found["killed by"] == "merge.late"


@pytest.mark.parametrize(("typed", "meant"), [("MRG-29", "MRG-029"), ("merge.lat", "merge.late"), ("late", "merge.late")])
def test_an_unknown_name_is_answered_with_its_neighbours(typed, meant):
    """A typing error costs one more look, not a search."""
    with pytest.raises(Unknown) as error:
        explain(typed, SMALL)
    assert meant in error.value.near


def test_the_command_prints_a_rule_and_refuses_an_unknown_name():
    """Exit 0 with the rule on standard output; exit 2 with suggestions on standard error."""
    done = CliRunner().invoke(app, ["MRG-029"])
    assert done.exit_code == 0
    assert "Late changes with lower event time are ignored" in done.stdout.replace("\n", " ")
    wrong = CliRunner().invoke(app, ["MRG-99"])
    assert wrong.exit_code == 2
    assert "did you mean" in wrong.stderr
