"""Rules, golden cases, tests and mutants use the same chapters."""

import json
from collections import Counter
from pathlib import Path

import pytest

from hudi_conformance import mutants, suite
from hudi_conformance.cases.case import find_cases
from hudi_conformance.cases.schema import PACKAGE
from hudi_conformance.requirements import requirement as index
from hudi_conformance.requirements.chapters import (
    OTHER,
    chapter_of_golden_case,
    chapter_of_rule,
    chapter_of_test,
    chapters,
    golden_words,
    in_order,
    title,
)

#: Folders beside those of the chapters.
SUPPORT = {suite: {"support", "schedules"}, mutants: {"harness", "drawn"}}


def test_each_area_of_rules_belongs_to_one_chapter():
    """A rule has one row in reports, and each area of a chapter exists."""
    counted = Counter(area for chapter in chapters().values() for area in chapter.areas)
    assert counted == Counter({area.id: 1 for area in index.areas()})


def test_there_are_at_most_fifteen_chapters():
    """The matrix fits on a screen."""
    assert len(chapters()) <= 15
    assert len({chapter.title for chapter in chapters().values()}) == len(chapters())


def test_each_golden_case_belongs_to_a_chapter():
    """The first word of its id decides; the schema of cases allows exactly these words, and each is used."""
    assert {case.id.partition(".")[0] for case in find_cases()} == set(golden_words())
    pattern = json.loads((PACKAGE / "schemas" / "case.json").read_text())["properties"]["id"]["pattern"]
    assert set(pattern.partition("(")[2].partition(")")[0].split("|")) == set(golden_words())


@pytest.mark.parametrize("package", SUPPORT, ids=lambda package: package.__name__)
def test_each_folder_is_a_chapter(package):
    """Folders of tests and mutants are named by the ids of the chapters."""
    folders = {p.name for p in Path(package.__file__).parent.iterdir() if p.is_dir() and p.name[0] not in "._"}
    assert folders - SUPPORT[package] <= chapters().keys()


def test_chapter_of_rules_and_cases():
    """By the area of a rule, the first word of a golden case, the folder of a Python case."""
    assert (chapter_of_rule("BLK-001"), chapter_of_golden_case("hashing.murmur")) == ("log_format", "indexes")
    assert chapter_of_test(Path("/x/suite/locks/test_a.py"), ["MRG-001"]) == "locks"
    assert chapter_of_test(Path("/x/mine/test_a.py"), ["NO-1", "MRG-001"]) == "merging"
    assert chapter_of_test(Path("/x/mine/test_a.py"), []) == OTHER


def test_chapters_have_one_order():
    """Unknown ones come last."""
    assert in_order(["x", "locks", "layout", "locks", "a"]) == ["layout", "locks", "a", "x"]
    assert [title("log_format"), title("x")] == ["log format", "x"]


def test_each_mutant_is_in_the_chapter_of_the_first_rule_that_it_breaks():
    """Mutants of a rule are in the folder of its chapter."""
    folders = {mutant.name: mutant.module.split(".")[2] for mutant in mutants.all_mutants()}
    expected = {mutant.name: chapter_of_rule(mutant.breaks[0]) for mutant in mutants.all_mutants()}
    assert {name for name in folders if folders[name] != expected[name]} == set()
