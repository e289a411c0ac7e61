"""Cases are data: a mistake in a case file is reported with file and key before any engine is asked."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tiny_cases import Casebook

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.schema import CaseError


def test_case_has_all_fields_of_its_file(casebook: Casebook):
    """All keys of the file are loaded; missing keys have defaults."""
    case = cases.load_case(casebook.add("merge.event-time.late", flags=["silent-stale"], query={"kind": "as-of", "as_of": "1"}))
    assert (case.id, case.chapter, case.requirements, case.flags) == (
        "merge.event-time.late",
        "merging",
        ("MRG-029",),
        ("silent-stale",),
    )
    assert (case.query.kind, case.query.as_of, case.errata, case.file) == ("as-of", "1", (), None)
    assert case.rows[0].rows == ({"id": "a", "ts": "10"}, {"id": "b", "ts": None})


def test_default_query_is_snapshot(casebook: Casebook):
    """A case without a query is a snapshot query."""
    assert cases.load_case(casebook.add()).query.kind == "snapshot"


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
def test_error_names_file_and_key(casebook: Casebook, changes: dict[str, Any], key: str, message: str):
    """The message names the file and the key with the mistake."""
    path = casebook.add("merge.tiny")
    path.write_text(json.dumps({k: v for k, v in (json.loads(path.read_text()) | changes).items() if v is not None}))
    with pytest.raises(CaseError, match=message) as caught:
        cases.load_case(path)
    assert (caught.value.path, caught.value.key) == (path, key)


@pytest.mark.parametrize(
    ("rows", "key"),
    [
        ([{"id": "a"}], "rows.0"),
        ([{"id": "a", "ts": "1"}, {"id": "b", "ts": "ten"}], "rows.1"),
        ([{"id": "a", "ts": 1, "more": 1}], "rows.0"),
    ],
)
def test_invalid_expected_rows_are_an_error(casebook: Casebook, rows: list[dict[str, Any]], key: str):
    """Each row must have exactly the declared columns, and each value must have the type of its column."""
    case = cases.load_case(casebook.add(rows=rows))
    with pytest.raises(CaseError, match=r"rows\.json") as caught:
        _ = case.rows
    assert caught.value.key == key


def test_invalid_json_is_an_error(casebook: Casebook):
    """A truncated file is an error that names the file."""
    path = casebook.add()
    path.write_text("{")
    with pytest.raises(CaseError, match="is not JSON"):
        cases.load_case(path)


def test_engine_gets_a_copy_of_the_table(casebook: Casebook, tmp_path: Path):
    """The engine gets its own folder, so that it cannot change the committed table."""
    case = cases.load_case(casebook.add())
    uri = cases.copy_subject(case, tmp_path / "scratch")
    copy = Path(urlsplit(uri).path)
    assert uri.startswith("file:///") and copy.name == "table"
    (copy / "rows.json").write_text("[]")
    assert json.loads((case.subject / "rows.json").read_text()) != []


def test_cases_are_sorted_by_path(casebook: Casebook):
    """The order of cases is the same on every machine."""
    for name in ("merge.b", "layout.z", "merge.a"):
        casebook.add(name)
    assert [c.id for c in cases.find_cases(casebook.root)] == ["layout.z", "merge.a", "merge.b"]


def test_two_cases_can_share_a_table(casebook: Casebook):
    """A second case about a table refers to the table of the first one, without a copy."""
    first = cases.load_case(casebook.add("merge.first"))
    second = cases.load_case(casebook.add("merge.second", table="../first/table"))
    assert second.subject == first.subject


def test_case_files_of_other_projects_are_ignored(tmp_path: Path):
    """A case.json of another project is ignored, whatever its content."""
    for content in ("[1]", "{}", '{"id": 1, "expected": 2}', "no json"):
        (tmp_path / "case.json").write_text(content)
        assert not cases.looks_like_a_case(tmp_path / "case.json")


def test_broken_case_is_reported(casebook: Casebook):
    """A mistake in a case is reported; the file is not treated as one of another project."""
    assert cases.looks_like_a_case(casebook.add(id="wrong"))


def test_unreadable_file_below_fixtures_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Below the fixtures each case.json is a case of the suite, also if it cannot be read."""
    monkeypatch.setattr(cases, "fixtures_root", lambda: tmp_path)
    (tmp_path / "case.json").write_text("{")
    assert cases.looks_like_a_case(tmp_path / "case.json")
