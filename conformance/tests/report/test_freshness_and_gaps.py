"""Records of kills that are older than what they are about, and gaps in the evidence that may only shrink."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hudi_conformance.cases.suite_marks import Modules, read_suite_module
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence.coverage import list_entries
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence, gather_evidence
from hudi_conformance.report.evidence.freshness import find_stale_kills, load_records, make_record, save_records
from hudi_conformance.report.evidence.gaps import Gaps, describe_gaps, find_faults, find_gaps, load_gaps, save_gaps, shrink
from hudi_conformance.report.evidence.levels import roles_reached
from hudi_conformance.report.evidence.source_facts import read_mutants, read_mutants_of_file, read_reference_module
from hudi_conformance.report.evidence.unjudged import find_wrong_reasons
from hudi_conformance.report.evidence.untested import load_untested
from hudi_conformance.requirements import requirement as index

GOLDEN = CitedCase("golden", ("LF-010",), (), "p", "d", golden={"id": "golden"})
PROGRAM = CitedCase("test_x::test_y", ("LF-013",), (), "p", "d", fingerprint="1")
KILL = Kill("m", ("LF-010", "LF-013"), "d.", ("golden", "test_x::test_y"), fingerprint="a")
PLACE = "hudi_reference.x:f"
EVIDENCE = Evidence(
    cases=(GOLDEN, PROGRAM),
    kills=(KILL,),
    verdicts={"reference": {"golden": "pass", "test_x::test_y": "pass"}, "other": {"golden": "pass"}},
    definitions={PLACE: "1"},
)


def reasons(evidence: Evidence) -> dict[str, str]:
    return dict(find_stale_kills(evidence, {"m": make_record(KILL, [PLACE], EVIDENCE)}))


def test_a_record_is_old_when_mutant_code_or_case_has_changed():
    """Each of the three makes the record old; nothing else does."""
    assert reasons(EVIDENCE) == {}
    assert reasons(replace(EVIDENCE, kills=(replace(KILL, fingerprint="b"),))) == {"m": "the mutant has changed"}
    assert reasons(replace(EVIDENCE, definitions={PLACE: "2"})) == {"m": f"{PLACE} has changed"}
    assert reasons(replace(EVIDENCE, definitions={})) == {"m": f"{PLACE} has changed"}
    changed = replace(EVIDENCE, cases=(GOLDEN, replace(PROGRAM, fingerprint="2")))
    assert reasons(changed) == {"m": "the case test_x::test_y has changed"}
    changed = replace(EVIDENCE, cases=(replace(GOLDEN, golden={"id": "golden", "reads": []}), PROGRAM))
    assert reasons(changed) == {"m": "the case golden has changed"}
    assert dict(find_stale_kills(EVIDENCE, {})) == {"m": "there is no record of what was judged"}


def test_records_are_read_as_they_were_written(tmp_path: Path):
    """Records of mutants that no longer exist are removed."""
    path = tmp_path / "fingerprints.json"
    record = make_record(KILL, [PLACE], EVIDENCE)
    save_records({"m": record, "gone": record}, ["m", "gone"], path)
    save_records({}, ["m"], path)
    assert load_records(path) == {"m": record}


def fingerprint(body: str) -> str:
    return read_reference_module(body)["definitions"]["f"]


def test_comments_and_docstrings_do_not_change_code():
    """The fingerprint of a function is that of what it does."""
    plain = fingerprint("def f(a):\n    return a + 1\n")
    assert fingerprint('X = 1\n\n\ndef f(a):\n    """Docstring."""\n    return a + 1  # comment\n') == plain
    assert fingerprint("@implements('LF-010')\ndef f(a):\n    return a + 1\n") == plain
    assert fingerprint("def f(a):\n    return a + 2\n") != plain != fingerprint("def f(a=0):\n    return a + 1\n")


def test_mutants_have_fingerprints():
    """The replaced text of a mutant is part of it, its description is not."""
    toml = '[m]\nbreaks = ["LF-010"]\ndescription = "{}"\nfunction = "a:f"\nold = "x"\nnew = "{}"\n'
    found = [read_mutants_of_file(toml.format(*given))[0]["fingerprint"] for given in (("d", "y"), ("e", "y"), ("d", "z"))]
    assert found[0] == found[1] != found[2]
    code = '@mutant(breaks="LF-010")\ndef m(patch):\n    """D."""\n    patch.edit(f, "x", "{}")\n'
    assert read_mutants(code.format("y"))[0]["fingerprint"] != read_mutants(code.format("z"))[0]["fingerprint"]


def test_marks_of_another_module_count():
    """What a test needs is also what an imported mark says, by name or through its module."""
    support = "import pytest\n\nNAMES = ('create',)\nWRITES = pytest.mark.needs(*NAMES, 'write.upsert', writer=('clean',))\n"
    test = "import pytest\nfrom a import support\nfrom a.support import WRITES\n\n@{}\n@pytest.mark.needs('x')\ndef test_y(): pass\n"
    for mark in ("WRITES", "support.WRITES"):
        modules = {"a.support": read_suite_module(support), "t": read_suite_module(test.format(mark))}
        (facts,) = modules["t"]["tests"]
        found = Modules(modules)
        assert found.texts_of_test("t", facts, "needs") == ("x", "create", "write.upsert")
        assert found.texts_of_test("t", facts, "writer") == ("clean",)


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    """A folder with the list of one engine: two entries, one with an erratum."""
    entry = '[[failure]]\ncase = "{}"\noutcome = "fail"\nmessage = "{}"\nreason = "r"\n'
    (tmp_path / "other.toml").write_text(entry.format("golden", "1 changed") + 'erratum = "ER-001"\n' + entry.format("b", "2"))
    return tmp_path


def test_gaps_are_found(lists: Path):
    """Cases that an engine was not asked, unexplained entries, killers that are not offered, and rules without a killer."""
    record = {"m": make_record(KILL, [PLACE], EVIDENCE)}
    assert find_gaps(EVIDENCE, lists, record) == Gaps(unasked={"reference": 0, "other": 1}, unexplained={"other": 1})
    assert find_gaps(EVIDENCE, lists, {}).stale == 1
    unoffered = replace(EVIDENCE, verdicts={"reference": {"golden": "unsupported"}})
    assert find_gaps(unoffered, lists).killers == ("golden",)
    assert find_gaps(replace(EVIDENCE, kills=(replace(KILL, killed_by=("golden",)),)), lists).pairs == ("m LF-013",)


def test_a_case_that_is_now_offered_was_not_asked(lists: Path):
    """A result "not offered" counts as none when the adapter declares all that the case needs; a case that skips itself does
    not.
    """
    case = replace(PROGRAM, needs=("create", "write.upsert"))
    verdicts = {"other": {"golden": "pass", case.id: "unsupported"}}
    found = replace(EVIDENCE, cases=(GOLDEN, case), verdicts=verdicts)
    few, all_ = {"other": frozenset({"create"})}, {"other": frozenset({"create", "write.upsert"})}
    assert find_gaps(found, lists, declared={}).unasked == {"other": 0} == find_gaps(found, lists, declared=few).unasked
    assert find_gaps(found, lists, declared=all_).unasked == {"other": 1}
    skipping = replace(found, skipped={"other": frozenset({case.id})})
    assert find_gaps(skipping, lists, declared=all_).unasked == {"other": 0}


def test_each_rule_without_a_judge_has_a_reason():
    """A rule that is judged has none, and an unknown rule is reported."""
    case = CitedCase("c", ("MRG-029",), (), "p", "d")
    for outcome, reasons, told in (
        ("pass", {}, None), ("pass", {"MRG-029": "r"}, "MRG-029 is in unjudged.toml and judged"),
        ("unsupported", {"MRG-029": "r"}, None), ("unsupported", {}, "MRG-029 is judged by no engine"),
        ("pass", {"XX-001": "r"}, "unjudged.toml has XX-001, which is no rule"),
    ):  # fmt: skip
        entries = list_entries(Evidence(cases=(case,), verdicts={"other": {"c": outcome}}), [index.area("MRG")])
        found = [one for one in find_wrong_reasons(entries, reasons) if "MRG-029" in one or "XX-" in one]
        assert (found == []) if told is None else (len(found) == 1 and told in found[0])


def test_gaps_may_only_shrink(tmp_path: Path):
    """A gap that is not accepted is a problem, and so is an accepted one that is closed; `shrink` removes it."""
    few, many = (
        Gaps({"a": 1}, {"a": 2}, ("c",), ("m LF-010",), 1),
        Gaps({"a": 3}, {"a": 4}, ("c", "d"), ("m LF-010", "n LF-011"), 2),
    )
    assert list(describe_gaps(many, many)) == []
    told = list(describe_gaps(few, many))
    assert len(told) == 5 and all("--accept-gaps" in problem for problem in told)
    assert list(describe_gaps(many, few)) == ["gaps.toml has gaps that there are no longer: run hudi-conformance coverage"]
    assert shrink(many, few) == few == shrink(few, many)
    save_gaps(many, tmp_path / "gaps.toml")
    assert load_gaps(tmp_path / "gaps.toml") == many


def test_faults_of_the_evidence_are_never_accepted(lists: Path):
    """A killer that fails without the mutant, a result of a case that does not exist, an entry that accepts every message."""
    failing = {"reference": EVIDENCE.verdicts["reference"], "other": {"golden": "fail"}}
    assert list(find_faults(replace(EVIDENCE, verdicts=failing), lists)) == []
    (lists / "other.toml").write_text('[[failure]]\ncase = "golden"\noutcome = "fail"\nmessage = "*"\nreason = "r"\n')
    verdicts = {"reference": {"golden": "open"}, "other": {"gone": "pass", "golden": "fail"}}
    told = "\n".join(find_faults(replace(EVIDENCE, verdicts=verdicts), lists))
    for says in ("golden, which is open on the reference", "results of other have gone", "golden accepts every message"):
        assert says in told


def test_results_agree_with_the_list_of_the_engine(lists: Path):
    """A failure without an entry, and an entry of a case that passes, fail the next run of the engine. Flaky cases may do both."""
    failing = replace(EVIDENCE, verdicts={"other": {"golden": "pass", "test_x::test_y": "fail"}})
    assert "test_x::test_y as fail, and other.toml has no entry" in "\n".join(find_faults(failing, lists))
    entry = '[[failure]]\ncase = "test_x::test_y[a=1]"\noutcome = "fail"\nmessage = "m"\nreason = "r"\n'
    (lists / "other.toml").write_text(entry)
    assert list(find_faults(failing, lists)) == []
    passing = replace(EVIDENCE, verdicts={"other": {"golden": "pass", "test_x::test_y": "pass"}})
    assert "entry of test_x::test_y, and its result is pass" in "\n".join(find_faults(passing, lists))
    (lists / "other.toml").write_text('[[flaky]]\ncase = "test_x::*"\nreason = "r"\n')
    assert list(find_faults(failing, lists)) == list(find_faults(passing, lists)) == []


def test_the_committed_records_are_json_with_one_line_a_mutant():
    """A change of one record is a change of one line."""
    from hudi_conformance.report.evidence.freshness import FILE

    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert len(json.loads(FILE.read_text(encoding="utf-8"))) == len(lines) - 2


def test_each_rule_that_no_mutant_tests_has_a_reason():
    """The list names exactly the rules, with the roles, in which no citing case kills a mutant; excluded rules aside."""
    evidence, missing = gather_evidence(), dict[str, tuple[str, ...]]()
    for entry in list_entries(evidence):
        rule = entry.requirement
        reached = roles_reached(rule, evidence.cases_citing(rule.id), evidence.mutants_breaking(rule.id), evidence.verdicts)
        left = tuple(role for role in rule.role if role not in reached["mutation-tested"])
        if left and entry.status != "excluded":
            missing[rule.id] = left
    assert {one.rule: one.roles for one in load_untested()} == missing
