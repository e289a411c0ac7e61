"""Patterns of `--only` and `--skip` select the same cases from the indexes as from all collected items."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_cases import Casebook

from hudi_conformance.cases.case import find_cases
from hudi_conformance.cases.case_index import golden_cases, golden_index, python_case, python_cases, python_cases_of
from hudi_conformance.cases.schema import CaseError, fixtures_root
from hudi_conformance.runner.selection import UnknownPattern, nodes_to_collect

#: Collects everything and writes, for each item of a Python case, its id, chapter and rules.
COLLECT = """
import json, sys
import pytest
from hudi_conformance.runner import python_cases, selection
from hudi_conformance.runner.golden_cases import CaseItem

class Writer:
    def pytest_collection_finish(self, session):
        items = [i for i in session.items if not isinstance(i, CaseItem) and i.get_closest_marker("hudi_engine")]
        found = [[python_cases.case_id(i), python_cases.find_chapter(i), python_cases.cited_rules(i)] for i in items]
        open(sys.argv[1], "w").write(json.dumps(found))

sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", sys.argv[2]], plugins=[Writer()]))
"""


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Id, chapter and rules of every item of the suite's Python cases."""
    path = tmp_path_factory.mktemp("collected") / "items.json"
    suite = Path(python_cases()[0].node.partition("::")[0]).parents[1]
    subprocess.run([sys.executable, "-c", COLLECT, str(path), str(suite)], capture_output=True, timeout=300, check=True)
    found: list[Any] = json.loads(path.read_text())
    return found


def test_index_of_python_cases_equals_the_collected_items(collected: list[Any]):
    """Each test that pytest collects is in the index, with its chapter and all of its rules."""
    indexed = {case.id: case for case in python_cases()}
    asked = {id_.partition("[")[0] for id_, _, _ in collected}
    assert asked <= indexed.keys()
    assert {id_.partition("::")[0] for id_ in indexed.keys() - asked} <= {"test_mergers"}, "tests that ask no engine"
    assert [id_ for id_, chapter, _ in collected if chapter != indexed[id_.partition("[")[0]].chapter] == []
    missing = [
        (id_, rule)
        for id_, _, rules in collected
        for rule in rules
        if rule not in indexed[id_.partition("[")[0]].requirements and not indexed[id_.partition("[")[0]].more_rules
    ]
    assert missing == []


def test_the_committed_index_of_golden_cases_is_current():
    """`fixtures/index.json` agrees with the case files; hudi-conformance fixtures index writes it."""
    assert (fixtures_root() / "index.json").read_text(encoding="utf-8") == golden_index(fixtures_root())


def test_index_has_each_golden_case_with_its_rules():
    """Consumers in other languages can select cases with the index alone."""
    listed = json.loads((fixtures_root() / "index.json").read_text(encoding="utf-8"))
    found = {entry["id"]: entry for entry in listed["cases"]}
    assert list(found) == sorted(found)
    for case in find_cases():
        entry = found.pop(case.id)
        assert (entry["chapter"], entry["description"]) == (case.chapter, case.description)
        for name in ("requirements", "errata", "needs", "flags"):
            assert tuple(entry[name]) == getattr(case, name)
        assert (fixtures_root() / entry["path"]).samefile(case.path)
    assert found == {}
    assert {case["chapter"] for case in listed["cases"]} <= listed["chapters"].keys()


def test_cases_missing_in_the_index_are_found(casebook: Casebook):
    """A new case can be run at once; a deleted case is not found."""
    casebook.add("merge.one")
    (casebook.root / "index.json").write_text(golden_index(casebook.root))
    casebook.add("merge.two", requirements=["LF-012"])
    assert [(c.id, c.chapter, c.requirements) for c in golden_cases(casebook.root)] == [
        ("merge.one", "merging", ("MRG-029",)),
        ("merge.two", "merging", ("LF-012",)),
    ]
    (casebook.root / "merge" / "one" / "case.json").unlink()
    assert [case.id for case in golden_cases(casebook.root)] == ["merge.two"]
    (casebook.root / "merge" / "two" / "case.json").write_text('{"id": "nonsense.two"}')
    with pytest.raises(CaseError, match="not a golden case"):
        golden_cases(casebook.root)


def test_rules_of_marks_names_and_parameters_are_in_the_index(tmp_path: Path):
    """A rule may be cited by a mark, a named mark, a parameter or the module; a computed one is noted."""
    (tmp_path / "test_a.py").write_text(
        "import pytest\n"
        "pytestmark = pytest.mark.requirements('TL-001')\n"
        "named = pytest.mark.requirements('LF-001', 'LF-002')\n"
        "CASES = [pytest.param(1, marks=pytest.mark.requirements('MRG-001')), 2]\n"
        "@named\n"
        "@pytest.mark.parametrize('n', CASES)\n"
        "def test_one(n):\n    '''What is\n    guaranteed.\n\n    More.'''\n"
        "@pytest.mark.requirements(*RULES)\n"
        "def test_two(): ...\n"
        "def helper(): ...\n"
    )
    one, two = python_cases_of(tmp_path / "test_a.py")
    assert (one.id, one.description, one.more_rules) == ("test_a::test_one", "What is guaranteed.", False)
    assert set(one.requirements) == {"TL-001", "LF-001", "LF-002", "MRG-001"}
    assert (two.id, two.requirements, two.more_rules) == ("test_a::test_two", ("TL-001",), True)
    assert python_case("test_a::test_two[n=1]", tmp_path) == two
    assert python_case("test_a::test_three", tmp_path) is None


def ids(*only: str, skip: tuple[str, ...] = ()) -> set[str]:
    """The ids of the chosen nodes."""
    paths = {case.node: case.id for case in (*golden_cases(), *python_cases())}
    return {paths[node] for node in nodes_to_collect(only, skip)}


@pytest.fixture(scope="module")
def a_python_case() -> str:
    """The id of some Python case."""
    return python_cases()[0].id


def test_id_selects_one_case(a_python_case: str):
    """A golden case or a Python case, with or without parameters."""
    assert ids("log.file.one-delete-block") == {"log.file.one-delete-block"}
    assert ids(a_python_case) == ids(f"{a_python_case}[size=1]") == {a_python_case}


def test_old_id_selects_the_current_case():
    """A case can be selected by its former name."""
    assert ids("test_halting_writers::*") == ids("test_paused_writers::*") != set()


@pytest.mark.parametrize("pattern", ["log_format", "CLN", "MRG-029", "ER-099", "log.damaged-file.*", "test_layout::*"])
def test_pattern_selects_matching_cases(pattern: str):
    """By chapter, area, rule, erratum, and by ids with wildcards."""
    found = ids(pattern)
    beginning = pattern.rstrip("*")
    for case in (*golden_cases(), *python_cases()):
        has = pattern in (case.chapter, *case.requirements, *case.errata, *(r.rpartition("-")[0] for r in case.requirements))
        assert not (has or ("*" in pattern and case.id.startswith(beginning))) or case.id in found, case.id
    assert found


def test_several_patterns_and_skipped_cases():
    """`--only` and `--skip` may be repeated."""
    both = ids("log.file.one-delete-block", "log.file.two-blocks")
    assert both == {"log.file.one-delete-block", "log.file.two-blocks"}
    assert ids("log.file.one-delete-block", "log.file.two-blocks", skip=("log.file.two-*",)) == {"log.file.one-delete-block"}


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("merge", "did you mean merge.*, merging"),
        ("log-format", "log_format"),
        ("log.file.one-delet-block", "did you mean log.file.one-delete-block"),
        ("MRG-999", "MRG-0"),
        ("test_layout", "test_layout::*"),
    ],
)
def test_unknown_pattern_is_an_error_with_suggestions(pattern: str, says: str):
    """For `--only` and `--skip`."""
    for only, skip in (((pattern,), ()), (("log_format",), (pattern,))):
        with pytest.raises(UnknownPattern, match=f"(?s)no case has.*{pattern}") as caught:
            nodes_to_collect(only, skip)
        assert says in str(caught.value)
