"""Cases with several queries of one table: their form, the queries, and the judgement."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tiny_cases import COLUMNS, RIGHT, STORED, Casebook

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.schema import CaseError
from hudi_conformance.cases.verdict import judge_answer
from hudi_conformance.contract import EngineError, Hello

HELLO = Hello("tiny", "1", "python", frozenset({"read.snapshot", "read.incremental"}))
FIRST = {"name": "all", "query": {"kind": "incremental"}, "rows": RIGHT}
SECOND = {"name": "none", "query": {"kind": "incremental", "begin": "9"}, "rows": [], "accept": [RIGHT[:1]]}
THIRD = {"name": "gone", "query": {"kind": "incremental", "end": "1"}, "error": "cleaned"}
ROWS, NONE = pa.Table.from_pylist(STORED), pa.Table.from_pylist(STORED).slice(0, 0)
NO = EngineError("the files of this time were cleaned")


def series(casebook: Casebook, *reads: dict[str, Any]) -> Path:
    """A case with these queries."""
    path = casebook.add("queries.series", expected={"reads": "expected/reads.json"}, needs=["read.incremental"])
    (path.parent / "expected" / "reads.json").write_text(json.dumps({"columns": COLUMNS, "reads": reads}))
    return path


@pytest.mark.parametrize(
    ("answers", "outcome", "message"),
    [
        ([ROWS, NONE, NO], "pass", ""),
        ([ROWS, ROWS.slice(0, 1), NO], "pass", ""),
        ([NONE, NONE, NO], "fail", "1 of 3 wrong, first all: 2 missing (id=a, id=b)"),
        ([ROWS, NONE, NONE], "fail", "1 of 3 wrong, first gone: answered as if nothing were wrong (cleaned): 0 rows"),
        ([NO, NONE, NO], "error", "1 of 3 error, first all: the files of this time were cleaned"),
    ],
)
def test_worst_answer_decides(casebook: Casebook, answers: list[Any], outcome: str, message: str) -> None:
    """A series is right if each of its answers is; an alternative answer and an expected error are right too."""
    found = judge_answer(cases.load_case(series(casebook, FIRST, SECOND, THIRD)), "tiny", HELLO, answers)
    assert (found.outcome, found.message) == (outcome, message)


def test_query_with_columns(casebook: Casebook) -> None:
    """The rows of a projection have the selected columns only."""
    chosen = {"name": "ids", "query": {"kind": "incremental", "columns": ["id"]}, "rows": [{"id": "a"}]}
    (read,) = cases.load_case(series(casebook, chosen)).reads
    assert read.query.columns == ("id",)
    assert not read.rows[0].compare(ROWS.slice(0, 1).select(["id"]))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"rows": [{"id": "a"}]}, "all: row 0: has the columns"),
        ({"rows": [{"id": "a", "ts": "x"}]}, "all: row 0: "),
        ({"query": {"kind": "incremental", "columns": ["x"]}}, "all: no type is declared for x"),
        ({"error": "both"}, "reads.0"),
        ({"query": {"kind": "guess"}}, "reads.0.query.kind"),
    ],
)
def test_error_names_file_and_query(casebook: Casebook, wrong: dict[str, Any], says: str) -> None:
    """The error names the file and the query."""
    case = cases.load_case(series(casebook, FIRST | wrong))
    with pytest.raises(CaseError, match=r"reads\.json") as caught:
        _ = case.reads
    assert says in str(caught.value)
