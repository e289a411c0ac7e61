"""A run fails if the list of expected failures is not correct."""

from dataclasses import replace
from pathlib import Path

import pytest

from hudi_conformance.cases.verdict import Outcome, Result
from hudi_conformance.runner import expected_failures as lists
from hudi_conformance.runner.expected_failures import ListError

LIST = """\
# Kept by hand.

[[failure]]
case = "merge.a"
outcome = "fail"
message = "1 changed (id=*)"
reason = "reads a property of another name"
recipe = "spark-sql ..."
erratum = "ER-041"

[[failure]]
case = "merge.b"
outcome = "error"
message = "boom"
reason = "a known fault"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The list above as a file."""
    found = tmp_path / "tiny.toml"
    found.write_text(LIST)
    return found


def result(case: str, outcome: str, message: str = "") -> Result:
    """A result of the tiny engine."""
    return Result(case, "tiny", Outcome(outcome), "merge", message=message)


@pytest.mark.parametrize(
    ("found", "listed", "surprise"),
    [
        (result("merge.a", "fail", "1 changed (id=x)"), "reads a property of another name", None),
        (result("merge.a", "fail", "2 missing (id=x)"), None, "fails in another way than listed; expected wrong: 1 changed"),
        (result("merge.a", "error", "1 changed (id=x)"), None, "fails in another way"),
        (result("merge.a", "pass"), None, "listed as an expected failure, and passes"),
        (result("merge.b", "error", "boom"), "a known fault", None),
        (result("merge.c", "fail", "1 changed"), None, "not in the list"),
        (result("merge.c", "refused", "no"), None, None),
        (result("merge.a", "refused", "no"), None, None),
        (result("merge.c", "not-run"), None, None),
        (result("merge.a", "not-run"), None, None),
        (result("merge.c", "pass"), None, None),
        (result("merge.c", "open"), None, None),
        (result("merge.c", "unsupported"), None, None),
    ],
)
def test_only_the_known_failure_in_the_known_way_is_expected(path: Path, found: Result, listed: str, surprise: str):
    """An unlisted failure, an unexpected pass and another message or outcome are unexpected."""
    settled = lists.load_list("tiny", path).compare(found)
    assert settled.listed == listed
    assert settled.surprise == surprise or (surprise is not None and surprise in (settled.surprise or ""))


def test_entry_without_a_case_is_stale(path: Path):
    """A removed case is found in a complete run; a case that is no longer run is always found."""
    found = lists.load_list("tiny", path)
    ran = [result("merge.b", "unsupported")]
    assert found.describe_stale_entries(ran, complete=False) == ["merge.b: is not offered now and does not fail"]
    assert found.describe_stale_entries(ran, complete=True)[0] == "merge.a: there is no such case"
    assert found.describe_stale_entries([result("merge.a", "fail"), result("merge.b", "error")], complete=True) == []


def test_missing_relay_is_reported_only_if_its_writer_ran(path: Path):
    """A list is used for runs of one engine and of several."""
    path.write_text(LIST.replace("merge.a", "test_relay::test_x[by spark]").replace("merge.b", "test_relay::test_y[by tiny]"))
    found = lists.load_list("tiny", path)
    assert found.describe_stale_entries([], complete=True, engines=("tiny",)) == [
        "test_relay::test_y[by tiny]: there is no such case"
    ]


def test_an_update_keeps_reasons_and_comments(path: Path):
    """Valid entries are unchanged, including patterns; new entries have a placeholder for the reason."""
    found = lists.load_list("tiny", path)
    results = [
        result("merge.a", "fail", "1 changed (id=z)"),
        result("merge.b", "error", "bang"),
        result("merge.c", "error", 'no "way"'),
        result("merge.d", "pass"),
        result("merge.e", "refused", "no"),
    ]
    found.with_results(results, complete=True).save()
    again = lists.load_list("tiny", path)
    assert path.read_text().startswith("# Kept by hand.\n")
    assert again.entries["merge.a"] == found.entries["merge.a"]
    assert again.entries["merge.b"] == replace(found.entries["merge.b"], message="bang")
    assert (again.entries["merge.c"].message, again.entries["merge.c"].reason) == ('no "way"', lists.UNEXPLAINED)
    assert all(r.surprise is None for r in map(again.compare, results))
    assert "merge.e" not in again.entries


def test_update_removes_passing_and_missing_cases(path: Path):
    """After a complete run only failures are listed; after a partial run all other entries are unchanged."""
    found = lists.load_list("tiny", path)
    passing = [result("merge.b", "pass")]
    assert set(found.with_results(passing, complete=False).entries) == {"merge.a"}
    assert set(found.with_results(passing, complete=True).entries) == set()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[failure", "is not TOML"),
        ("[[failures]]\ncase = 'x'", "found failures"),
        ("[[failure]]\ncase = 'x'", "entry 1: outcome is missing"),
        (LIST.replace('reason = "a known fault"', 'reason = " "'), "entry 2: reason is missing"),
        (LIST.replace('"error"', '"pass"'), "entry 2: outcome is 'pass'"),
        (LIST.replace("merge.b", "merge.a"), "entry 2: merge.a is listed twice"),
        (LIST.replace("recipe", "receipt"), "entry 1: no key 'receipt'"),
        ("failure = 3", "failure must be a list of tables"),
        ("[[flaky]]\ncase = 'x'", "flaky entry 1: expected case and reason, found case"),
        ("refusals = 'ignored'", 'refusals must be "allowed" or "fail"'),
    ],
)
def test_invalid_list_is_an_error_that_names_the_entry(path: Path, text: str, message: str):
    """The error is reported before any case runs."""
    path.write_text(text)
    with pytest.raises(ListError, match=message) as caught:
        lists.load_list("tiny", path)
    assert str(path) in str(caught.value)


def test_lists_are_found_by_the_name_of_the_engine(path: Path):
    """A folder has one list per engine; a command line has none; a missing list is empty."""
    assert lists.load_list("tiny", path.parent).entries
    assert not lists.load_list("other", path.parent).entries
    assert lists.load_list("python adapter.py", path.parent).path is None
    assert lists.default_path("apache-hudi@1.0.2") == lists.lists_folder() / "apache-hudi@1.0.2.toml"


def test_shipped_lists_are_valid_and_have_reasons():
    """Each entry of the lists in the repository has a written reason."""
    shipped = [lists.load_list(path.stem, path) for path in lists.lists_folder().glob("*.toml")]
    assert not [(s.engine, e.case) for s in shipped for e in s.entries.values() if e.reason == lists.UNEXPLAINED]


def test_a_refusal_fails_only_if_the_list_says_so(path: Path):
    """By default a refusal is not a failure; a list may declare that an engine must not refuse."""
    refused = result("merge.c", "refused", "no")
    assert lists.load_list("tiny", path).compare(refused).surprise is None
    path.write_text('refusals = "fail"\n' + LIST)
    assert "does not permit refusals" in (lists.load_list("tiny", path).compare(refused).surprise or "")
    assert lists.load_list("reference").refusals_fail and lists.load_list("spark").refusals_fail


def test_entry_of_a_refused_case_is_stale(path: Path):
    """The failure no longer occurs."""
    assert lists.load_list("tiny", path).describe_stale_entries([result("merge.a", "refused")], complete=False) == [
        "merge.a: is refused now and does not fail"
    ]


def test_a_flaky_case_never_fails_the_run(path: Path):
    """Its outcome is ignored; an update keeps its entry, which is not a known failure."""
    path.write_text('# Mine.\nrefusals = "fail"\n\n[[flaky]]\ncase = "race.*"\nreason = "depends on the load"\n\n' + LIST[15:])
    found = lists.load_list("tiny", path)
    results = [result("race.one", "fail", "x"), result("race.two", "pass"), result("merge.c", "fail", "y")]
    settled = [found.compare(r) for r in results]
    assert [(r.flaky, r.surprise is None) for r in settled] == [("depends on the load", True)] * 2 + [(None, False)]
    found.with_results(settled, complete=True).save()
    again = lists.load_list("tiny", path)
    assert (again.flaky, set(again.entries), again.refusals_fail) == (found.flaky, {"merge.c"}, True)


def test_the_command_in_a_new_list_can_be_copied(tmp_path: Path):
    """Engine and file are quoted for the shell."""
    found = lists.load_list("node my adapter.mjs", tmp_path / "my list.toml")
    found.with_results([result("merge.a", "fail", "x")], complete=False).save()
    text = (tmp_path / "my list.toml").read_text()
    assert f"hudi-conformance run 'node my adapter.mjs' --expected-failures '{tmp_path}/my list.toml' --update" in text
