"""A case is data; a mistake in it is named with file and key before any engine is asked."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tiny_cases import Casebook

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.schema import CaseError


def test_a_case_holds_what_its_file_says(casebook: Casebook):
    """All keys of the file are there, with defaults for those left out."""
    case = cases.load(casebook.add("merge.event-time.late", flags=["silent-stale"], query={"kind": "as-of", "as_of": "1"}))
    assert (case.id, case.chapter, case.requirements, case.flags) == (
        "merge.event-time.late",
        "merging",
        ("MRG-029",),
        ("silent-stale",),
    )
    assert (case.query.kind, case.query.as_of, case.errata, case.file) == ("as-of", "1", (), None)
    assert case.rows[0].rows == ({"id": "a", "ts": "10"}, {"id": "b", "ts": None})


def test_a_case_without_query_is_a_snapshot(casebook: Casebook):
    """The most common question need not be written."""
    assert cases.load(casebook.add()).query.kind == "snapshot"


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"id": "merging.x"}, "id", "does not match"),
        ({"id": "merge"}, "id", "does not match"),
        ({"requirements": []}, "requirements", "non-empty"),
        ({"requirements": ["mrg-1"]}, "requirements.0", "does not match"),
        ({"needs": ["read.minds"]}, "needs", "'read.minds' is not a feature"),
        ({"query": {"kind": "guess"}}, "query.kind", "is not one of"),
        ({"table": "nowhere"}, "table", "no folder 'nowhere'"),
        ({"expected": {"rows": "nowhere.json"}}, "expected.rows", "no file 'nowhere.json'"),
        ({"expected": {"rows": "expected/rows.json", "accept": ["x.json"]}}, "expected.accept", "no file 'x.json'"),
        ({"expected": {}}, "expected", "not valid"),
        ({"expected": {"open": False}}, "expected.open", "True was expected"),
        ({"table": None, "file": "nothing.log"}, "file", "no file 'nothing.log'"),
        ({"table": None, "vectors": "nothing.json"}, "vectors", "no file 'nothing.json'"),
        ({"file": "nothing.log"}, "table", "either a table, a file or vectors"),
        ({"table": None}, "table", "either a table, a file or vectors"),
        ({"if_it_fails": None}, "the file", "'if_it_fails' is a required property"),
        ({"wrong": 1}, "the file", "'wrong' was unexpected"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(casebook: Casebook, changes: dict[str, Any], key: str, message: str):
    """The message names the file and the key with the mistake."""
    path = casebook.add("merge.tiny")
    path.write_text(json.dumps({k: v for k, v in (json.loads(path.read_text()) | changes).items() if v is not None}))
    with pytest.raises(CaseError, match=message) as caught:
        cases.load(path)
    assert (caught.value.path, caught.value.key) == (path, key)


@pytest.mark.parametrize(
    ("rows", "key"),
    [
        ([{"id": "a"}], "rows.0"),
        ([{"id": "a", "ts": "1"}, {"id": "b", "ts": "ten"}], "rows.1"),
        ([{"id": "a", "ts": 1, "more": 1}], "rows.0"),
    ],
)
def test_a_mistake_in_expected_rows_is_named_too(casebook: Casebook, rows: list[dict[str, Any]], key: str):
    """Each row has exactly the declared columns, each value is one of its type."""
    case = cases.load(casebook.add(rows=rows))
    with pytest.raises(CaseError, match=r"rows\.json") as caught:
        _ = case.rows
    assert caught.value.key == key


def test_a_file_that_is_not_json_is_named(casebook: Casebook):
    """A cut file is a mistake in the case, told as one."""
    path = casebook.add()
    path.write_text("{")
    with pytest.raises(CaseError, match="is not JSON"):
        cases.load(path)


def test_a_case_is_placed_as_a_copy(casebook: Casebook, tmp_path: Path):
    """The engine gets a folder of its own, so that nothing that it does can change the committed table."""
    case = cases.load(casebook.add())
    uri = cases.place(case, tmp_path / "scratch")
    copy = Path(urlsplit(uri).path)
    assert uri.startswith("file:///") and copy.name == "table"
    (copy / "rows.json").write_text("[]")
    assert json.loads((case.subject / "rows.json").read_text()) != []


def test_cases_are_found_in_the_order_of_their_paths(casebook: Casebook):
    """A run is the same on every machine."""
    for name in ("merge.b", "layout.z", "merge.a"):
        casebook.add(name)
    assert [c.id for c in cases.find_cases(casebook.root)] == ["layout.z", "merge.a", "merge.b"]


def test_two_cases_can_share_a_table(casebook: Casebook):
    """A second question about a table is a file, not a copy of the table."""
    first = cases.load(casebook.add("merge.first"))
    second = cases.load(casebook.add("merge.second", table="../first/table"))
    assert second.subject == first.subject


def test_other_projects_use_the_name_too(tmp_path: Path):
    """A case.json that is none of ours is left alone, whatever it holds."""
    for content in ("[1]", "{}", '{"id": 1, "expected": 2}', "no json"):
        (tmp_path / "case.json").write_text(content)
        assert not cases.looks_like_a_case(tmp_path / "case.json")


def test_a_broken_case_of_ours_still_looks_like_one(casebook: Casebook):
    """A mistake in a case is told, not taken for a foreign file."""
    assert cases.looks_like_a_case(casebook.add(id="wrong"))


def test_a_broken_file_among_the_shipped_cases_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Below the fixtures every case.json is ours, also one that cannot be read."""
    monkeypatch.setattr(cases, "fixtures_root", lambda: tmp_path)
    (tmp_path / "case.json").write_text("{")
    assert cases.looks_like_a_case(tmp_path / "case.json")
