"""The verdict depends only on the case, the declared features and the answer."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from tiny_cases import Casebook

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.inspection import find_contradiction
from hudi_conformance.cases.verdict import Outcome, Result, judge_answer, judge_exception, one_line
from hudi_conformance.contract import Conflict, EngineCrash, EngineError, EngineTimeout, Hello, ProtocolFault, Refused

HELLO = Hello("tiny", "7", "python", frozenset({"read.snapshot", "inspect.table"}))
RIGHT = pa.table({"id": ["b", "a"], "ts": [None, 10]})
WRONG = pa.table({"id": ["b", "a"], "ts": [None, 9]})

Judged = Callable[..., Result]


@pytest.fixture
def judged(casebook: Casebook) -> Judged:
    """The result of an answer to a tiny case with these changes."""

    def result(answer: Any, **changes: Any) -> Result:
        return judge_answer(cases.load_case(casebook.add(**changes)), "tiny", HELLO, answer, 1.5)

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
def test_outcome_of_each_kind_of_answer(judged: Judged, answer: Any, outcome: str, message: str):
    """Right and wrong rows, refusal, error, crash and timeout are different outcomes."""
    found = judged(answer)
    assert (found.outcome, found.message, found.seconds) == (outcome, message, 1.5)


def test_wrong_answer_contains_differing_rows(judged: Judged):
    """The result contains expected and found rows."""
    assert judged(WRONG).pairs == (({"id": "a", "ts": "10"}, {"id": "a", "ts": "9"}),)


def test_undeclared_feature_is_unsupported(judged: Judged):
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
def test_only_refusal_passes_if_refusal_is_expected(judged: Judged, answer: Any, outcome: str, says: str):
    """Only a refusal passes; an error is reported as an error; rows are wrong, whatever they contain."""
    found = judged(answer, expected={"refused": "table-version"})
    assert found.outcome == outcome and says in found.message


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(EngineError("cut"), "pass"), (Refused("x", "y"), "pass"), (RIGHT, "fail"), (EngineCrash("gone"), "crash"),
     (ProtocolFault("junk"), "error")],
)  # fmt: skip
def test_error_or_refusal_passes_on_a_damaged_table(judged: Judged, answer: Any, outcome: str):
    """For a damaged table error and refusal are right; an answer and a crash are wrong."""
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
def test_open_case_records_answers(judged: Judged, answer: Any, outcome: str, says: str):
    """The answer to an open case is recorded; a crash is not an answer."""
    found = judged(answer, expected={"rows": "expected/rows.json", "open": True})
    assert (found.outcome, found.message) == (outcome, says)


def test_open_case_without_expectation(judged: Judged):
    """An open case may have no expected answer; the answer is still recorded."""
    assert judged(RIGHT, expected={"open": True}).message == "2 rows"


def test_alternative_answers_pass(casebook: Casebook):
    """Each of the accepted answers passes, and no other one."""
    other = casebook.add("merge.other", rows=[{"id": "b", "ts": None}, {"id": "a", "ts": "9"}])
    expected = {"rows": "expected/rows.json", "accept": [f"../{other.parent.name}/expected/rows.json"]}
    case = cases.load_case(casebook.add(expected=expected))
    assert judge_answer(case, "tiny", HELLO, RIGHT).outcome is Outcome.PASS
    assert judge_answer(case, "tiny", HELLO, WRONG).outcome is Outcome.PASS
    assert judge_answer(case, "tiny", HELLO, RIGHT.slice(0, 1)).message == "1 missing (id=a)"


@pytest.mark.parametrize("answer", [RIGHT, WRONG, EngineCrash("gone", 3, "oops")])
def test_result_is_unchanged_after_encoding(judged: Judged, answer: Any):
    """`report.jsonl` contains everything that a report shows."""
    found = judged(answer)
    assert Result.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_messages_do_not_depend_on_the_run():
    """Temporary folders, addresses and long numbers are normalized, so that equal failures have equal messages."""
    assert one_line("\n cannot read file:///tmp/x-1/table/p=1/f.parquet (port 45671, 0x7ffe)\nmore") == (
        "cannot read <table>/p=1/f.parquet (port #, #)"
    )
    assert one_line("no file at file:/dev/shm/x-1/pytest-0/table0") == "no file at <table>"
    assert one_line("assert {'#...921.inflight'} == []") == "assert {'#...#.inflight'} == []"
    assert one_line("before rolling back20261130051201190") == "before rolling back#"


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
def test_inspection_difference_names_its_place(path: str, value: Any):
    """Additional and missing entries of timeline or file groups are wrong; the place is named."""
    *folders, last = path.split(".")
    other: Any = copy.deepcopy(INSPECTED)
    at = other
    for name in folders:
        at = at[name]
    at[last] = value
    told = find_contradiction(INSPECTED, other)
    assert told is not None and told.path.startswith(path)
    assert find_contradiction(other, INSPECTED) is not None


def test_additional_properties_and_order_of_instants_are_ignored():
    """Engines write additional properties, and a timeline is a set of instants."""
    timeline = {"completed": INSPECTED["timeline"]["completed"][::-1], "pending": []}
    assert find_contradiction({k: v for k, v in INSPECTED.items() if k != "timeline"}, INSPECTED) is None
    assert (
        find_contradiction(INSPECTED, INSPECTED | {"properties": {"a": "1", "b": "2", "c": "3"}, "timeline": timeline}) is None
    )


def test_inspection_is_judged(casebook: Casebook):
    """A case can compare timeline and file slices instead of rows."""
    path = casebook.add(needs=["inspect.table"], expected={"inspect": "expected/rows.json"})
    (path.parent / "expected" / "rows.json").write_text(json.dumps(INSPECTED))
    case = cases.load_case(path)
    assert judge_answer(case, "tiny", HELLO, INSPECTED).outcome is Outcome.PASS
    found = judge_answer(case, "tiny", HELLO, INSPECTED | {"file_groups": {}})
    assert (found.outcome, found.message.split(":")[0]) == (Outcome.FAIL, "file_groups.p")


def test_order_of_slices_is_ignored():
    """Engines list the slices of a group oldest or newest first; log files are in merge order."""
    old, new = ({"base_instant": instant, "log_files": ["1", "2"]} for instant in ("20260101000000000", "20260101000001000"))
    shown = {"file_groups": {"p": {"f": {"slices": [old, new]}}}}
    assert find_contradiction(shown, {"file_groups": {"p": {"f": {"slices": [new, old]}}}}) is None
    other = {"file_groups": {"p": {"f": {"slices": [new, old | {"log_files": ["2", "1"]}]}}}}
    assert find_contradiction(shown, other) is not None


def test_a_slip_in_the_rows_has_one_message_on_every_run():
    """The scratch path is left out, so that a list can hold the message; the remedy is part of it."""
    path = "/tmp/x/hudi-conformance-ab12cd/7.arrow"
    found = judge_exception(ProtocolFault(f"{path} is not an Arrow IPC file: it is a directory", "write the rows to a file"))
    assert found.message == (
        "the adapter broke the protocol: <rows> is not an Arrow IPC file: it is a directory; write the rows to a file"
    )
