"""The committed golden tables: valid, and equal to those of their recipes."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.recipes import catalogue
from tools.recipes.producers import case_writer, golden_tables, reference
from tools.recipes.producers.difference import byte_differences, file_differences
from tools.recipes.recipe import REFERENCE, Producer, Recipe

from hudi_conformance.cases.case import find_cases
from hudi_conformance.cases.schema import fixtures_root

ROOT = Path(__file__).resolve().parents[3]
MEGABYTE = 1_000_000
CASES = list(find_cases())
RECIPES = catalogue.all_recipes()
MADE = [(recipe, producer) for recipe in RECIPES for producer in recipe.producers]


def name_of(made: tuple[Recipe, Producer]) -> str:
    """A test id."""
    return f"{made[0].area}.{made[0].name}-{made[1]}"


def requirement_ids() -> set[str]:
    """The ids of the inventory."""
    folder = ROOT / "conformance" / "hudi_conformance" / "requirements"
    files = [tomllib.loads(file.read_text()) for file in folder.glob("*.toml")]
    return {entry["id"] for file in files for entry in file.get("requirement", ())}


def fixture_files() -> Iterator[Path]:
    """Every file below fixtures/."""
    return (path for path in fixtures_root().rglob("*") if path.is_file())


def test_every_case_cites_rules_that_exist():
    """A requirement id in a case is one of the inventory."""
    known = requirement_ids()
    assert {i for case in CASES for i in case.requirements} <= known


def test_ids_are_unique_and_match_the_folder():
    """The id of a case is its area and the name of its folder."""
    assert [i for i, n in Counter(case.id for case in CASES).items() if n > 1] == []
    wrong = [case.id for case in CASES if case.id != f"{case.folder.parent.name}.{case.folder.name}"]
    assert wrong == []


@pytest.mark.parametrize("area", ["timeline", "log", "merge", "queries", "layout"])
def test_each_area_has_tables_of_both_producers(area):
    """Each area has tables of Apache Hudi and of the reference."""
    assert {case.producer.engine for case in CASES if case.id.startswith(f"{area}.")} >= {"apache-hudi", "reference"}


def test_cases_have_flags():
    """A wrong answer has a flag such as silent-stale or lost-write; only open cases and inspections have none."""
    closed = [case for case in CASES if not case.expected.open and not case.inspects]
    assert [case.id for case in closed if not case.flags] == []


def test_recipe_names_are_unique():
    """A name identifies one recipe."""
    assert [n for n, count in Counter(r.name for r in RECIPES).items() if count > 1] == []


@pytest.mark.parametrize("made", MADE, ids=name_of)
def test_case_equals_that_of_its_recipe(made):
    """Case file and expected rows follow from recipe and model; `python -m tools.recipes --texts` writes them."""
    recipe, producer = made
    times = golden_tables.committed_times(recipe, producer)
    table = golden_tables.case_folder(recipe, producer) / "table"
    for name, files in case_writer.case_files(recipe, producer, times, table):
        folder = fixtures_root() / recipe.area / name
        assert list(file_differences(folder, files)) == []


def test_every_committed_case_has_a_recipe():
    """A case whose recipe was renamed does not remain; `python -m tools.recipes --prune` removes it."""
    assert golden_tables.orphans() == []


@pytest.mark.parametrize("recipe", [r for r in RECIPES if REFERENCE in r.producers], ids=lambda r: f"{r.area}.{r.name}")
def test_reference_writes_the_same_bytes(recipe, tmp_path):
    """A table of the reference has the same bytes if its recipe is run again."""
    times = reference.make(recipe, tmp_path)
    assert tuple(times) == golden_tables.committed_times(recipe, REFERENCE)
    assert (
        list(byte_differences(golden_tables.case_folder(recipe, REFERENCE) / "table", tmp_path / recipe.name / "table")) == []
    )


def test_fixtures_have_no_other_files():
    """No checksum files of Hadoop and no links; empty folders have no meaning, because git does not store them."""
    assert [p for p in fixture_files() if p.name.endswith(".crc") or p.is_symlink()] == []


def test_fixtures_stay_small():
    """All golden tables together stay below 60 MB, each case below 1 MB."""
    sizes = Counter[str]()
    for path in fixture_files():
        area_and_case = "/".join(path.relative_to(fixtures_root()).parts[:2])
        sizes[area_and_case] += path.stat().st_size
    assert sum(sizes.values()) < 60 * MEGABYTE
    assert [case for case, size in sizes.items() if size > MEGABYTE] == []
