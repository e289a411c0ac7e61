"""What an answer is worth depends on case, declared features and answer alone."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from tiny_cases import Casebook

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.inspection import contradiction
from hudi_conformance.cases.verdict import Outcome, Result, judge, one_line
from hudi_conformance.contract import Conflict, EngineCrash, EngineError, EngineTimeout, Hello, ProtocolFault, Refused

HELLO = Hello("tiny", "7", "python", frozenset({"read.snapshot", "inspect.table"}))
RIGHT = pa.table({"id": ["b", "a"], "ts": [None, 10]})
WRONG = pa.table({"id": ["b", "a"], "ts": [None, 9]})

Judged = Callable[..., Result]


@pytest.fixture
def judged(casebook: Casebook) -> Judged:
    """The result of an answer to a tiny case with the given changes."""

    def result(answer: Any, **changes: Any) -> Result:
        return judge(cases.load(casebook.add(**changes)), "tiny", HELLO, answer, 1.5)

    return result


@pytest.mark.parametrize(
    ("answer", "outcome", "message"),
    [
        (RIGHT, "pass", ""),
        (WRONG, "fail", "1 changed (id=a)"),
        (Refused("read.snapshot", "no"), "refused", "refused read.snapshot: no"),
        (EngineError("bad\nvery bad"), "error", "bad"),
        (Conflict("late"), "error", "conflict: late"),
        (ProtocolFault("junk"), "error", "the adapter broke the protocol: junk"),
        (EngineCrash("gone", 3, "oops"), "crash", "gone"),
        (EngineTimeout("30 s"), "timeout", "30 s"),
        (KeyError("x"), "error", "'x'"),
    ],
)
def test_each_kind_of_answer_has_its_outcome(judged: Judged, answer: Any, outcome: str, message: str):
    """Right and wrong rows, refusal, error, crash and time-out are different outcomes."""
    found = judged(answer)
    assert (found.outcome, found.message, found.seconds) == (outcome, message, 1.5)


def test_a_wrong_answer_carries_the_rows_that_differ(judged: Judged):
    """Expected and found rows stand side by side in the result."""
    assert judged(WRONG).pairs == (({"id": "a", "ts": "10"}, {"id": "a", "ts": "9"}),)


def test_an_engine_is_not_blamed_for_what_it_does_not_offer(judged: Judged):
    """A case that needs an undeclared feature is unsupported; the message names the feature."""
    found = judged(None, needs=["read.snapshot", "read.cdc"])
    assert (found.outcome, found.message) == (Outcome.UNSUPPORTED, "not offered: read.cdc")
    assert not found.outcome.is_failure


@pytest.mark.parametrize(
    ("answer", "outcome", "says"),
    [
        (Refused("table-version", "9"), "pass", "refused table-version"),
        (RIGHT, "fail", "guessed instead of refusing table-version: 2 rows"),
        (EngineError("NullPointer"), "error", "failed loudly, but not as a refusal: NullPointer"),
        (EngineCrash("gone"), "crash", "gone"),
        (ProtocolFault("junk"), "error", "junk"),
    ],
)
def test_where_refusing_is_right_rows_are_a_guess(judged: Judged, answer: Any, outcome: str, says: str):
    """Only a refusal passes; an error is an error with words of its own; rows are wrong, whatever they hold."""
    found = judged(answer, expected={"refused": "table-version"})
    assert found.outcome == outcome and says in found.message


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(EngineError("cut"), "pass"), (Refused("x", "y"), "pass"), (RIGHT, "fail"), (EngineCrash("gone"), "crash"),
     (ProtocolFault("junk"), "error")],
)  # fmt: skip
def test_a_broken_table_asks_for_an_error(judged: Judged, answer: Any, outcome: str):
    """Where the table is damaged, error and refusal are right, and an answer is wrong; so is a crash."""
    assert judged(answer, expected={"error": "cut commit metadata"}).outcome == outcome


@pytest.mark.parametrize(
    ("answer", "outcome", "says"),
    [
        (RIGHT, "open", "the answer that the case thinks likely"),
        (WRONG, "open", "1 changed (id=a)"),
        (Refused("x", "y"), "open", "refused x: y"),
        (EngineError("no"), "open", "no"),
        (EngineTimeout("30 s"), "timeout", "30 s"),
        (EngineCrash("gone"), "crash", "gone"),
    ],
)
def test_an_open_question_records_answers_and_does_not_fail(judged: Judged, answer: Any, outcome: str, says: str):
    """What the specification leaves open is recorded; a crash is not an answer."""
    found = judged(answer, expected={"rows": "expected/rows.json", "open": True})
    assert (found.outcome, found.message) == (outcome, says)


def test_an_open_question_needs_no_expectation(judged: Judged):
    """The input is pinned, the answer is counted."""
    assert judged(RIGHT, expected={"open": True}).message == "2 rows"


def test_a_further_right_answer_is_right_too(casebook: Casebook):
    """Where the rule leaves a choice, each of the accepted answers passes, and no other."""
    other = casebook.add("merge.other", rows=[{"id": "b", "ts": None}, {"id": "a", "ts": "9"}])
    expected = {"rows": "expected/rows.json", "accept": [f"../{other.parent.name}/expected/rows.json"]}
    case = cases.load(casebook.add(expected=expected))
    assert judge(case, "tiny", HELLO, RIGHT).outcome is Outcome.PASS
    assert judge(case, "tiny", HELLO, WRONG).outcome is Outcome.PASS
    assert judge(case, "tiny", HELLO, RIGHT.slice(0, 1)).message == "1 missing (id=a)"


@pytest.mark.parametrize("answer", [RIGHT, WRONG, EngineCrash("gone", 3, "oops")])
def test_a_result_survives_its_line(judged: Judged, answer: Any):
    """`report.jsonl` holds everything that a report shows."""
    found = judged(answer)
    assert Result.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_message_is_the_same_on_every_run():
    """Scratch folders, addresses and long numbers do not make a failure another failure."""
    assert one_line("\n cannot read file:///tmp/x-1/table/p=1/f.parquet (port 45671, 0x7ffe)\nmore") == (
        "cannot read <table>/p=1/f.parquet (port #, #)"
    )


INSPECTED = {
    "properties": {"a": "1", "b": "2"},
    "timeline": {
        "completed": [
            {"requested": "1", "completion": "2", "action": "commit", "where": "active"},
            {"requested": "3", "completion": "4", "action": "commit", "where": "active"},
        ],
        "pending": [],
    },
    "file_groups": {"p": {"f1": {"replaced_by": None, "slices": [], "latest": None}}},
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("properties.a", "3"),
        ("timeline.pending", [{"requested": "5", "action": "commit", "state": "INFLIGHT"}]),
        ("file_groups.p.f1.replaced_by", "5"),
        ("file_groups.p.f2", {"replaced_by": None, "slices": [], "latest": None}),
        ("file_groups.q", {}),
    ],
)
def test_an_inspection_is_contradicted_at_one_place(path: str, value: Any):
    """What is too much in timeline or file groups is as wrong as what is missing; the place is named."""
    *folders, last = path.split(".")
    other: Any = copy.deepcopy(INSPECTED)
    at = other
    for name in folders:
        at = at[name]
    at[last] = value
    told = contradiction(INSPECTED, other)
    assert told is not None and told.path.startswith(path)
    assert contradiction(other, INSPECTED) is not None


def test_an_inspection_may_hold_more_properties_and_another_order_of_instants():
    """Engines write properties of their own, and a timeline is a set of instants."""
    timeline = {"completed": INSPECTED["timeline"]["completed"][::-1], "pending": []}
    assert contradiction({k: v for k, v in INSPECTED.items() if k != "timeline"}, INSPECTED) is None
    assert contradiction(INSPECTED, INSPECTED | {"properties": {"a": "1", "b": "2", "c": "3"}, "timeline": timeline}) is None


def test_an_inspection_is_judged_like_rows(casebook: Casebook):
    """A case can ask for timeline and file slices instead of rows."""
    path = casebook.add(needs=["inspect.table"], expected={"inspect": "expected/rows.json"})
    (path.parent / "expected" / "rows.json").write_text(json.dumps(INSPECTED))
    case = cases.load(path)
    assert judge(case, "tiny", HELLO, INSPECTED).outcome is Outcome.PASS
    found = judge(case, "tiny", HELLO, INSPECTED | {"file_groups": {}})
    assert (found.outcome, found.message.split(":")[0]) == (Outcome.FAIL, "file_groups.p")


def test_slices_have_no_order():
    """Engines show the slices of a group oldest or newest first; their log files stand in the order in which they are merged."""
    old, new = ({"base_instant": instant, "log_files": ["1", "2"]} for instant in ("20260101000000000", "20260101000001000"))
    shown = {"file_groups": {"p": {"f": {"slices": [old, new]}}}}
    assert contradiction(shown, {"file_groups": {"p": {"f": {"slices": [new, old]}}}}) is None
    other = {"file_groups": {"p": {"f": {"slices": [new, old | {"log_files": ["2", "1"]}]}}}}
    assert contradiction(shown, other) is not None
