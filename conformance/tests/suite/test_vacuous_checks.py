"""No test of the suite passes on an engine that answers nothing: `faulty:raises-on-every-read` fails on every read.

Only tests that compare no answer of the engine may pass; `tests_without_reading.toml` lists them with the reason. A part of the
suite runs here each time, and the whole suite among the long tests.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hudi_conformance.suite

ENGINE = "faulty:raises-on-every-read"
#: The part that runs each time, by test file below `hudi_conformance/suite`.
FILES = (
    "layout/test_layout.py",
    "queries/test_query_properties.py",
    "queries/test_damage_properties.py",
    "queries/test_filters_on_partitions.py",
    "merging/test_bad_input_of_merging.py",
    "merging/test_custom_merging.py",
    "properties/test_table_properties.py",
    "records/test_key_generators.py",
)
WITHOUT_READING = frozenset(
    name
    for names in tomllib.loads(Path(__file__).with_name("tests_without_reading.toml").read_text()).values()
    for name in names
)
#: A plugin of pytest: a drawn test ends at its first counter-example, because all that is drawn fails.
NO_SHRINKING = """
from hypothesis import Phase, settings

settings.register_profile("first counter-example", phases=(Phase.explicit, Phase.generate))
settings.load_profile("first counter-example")
"""
OUTCOME = re.compile(rf"(test_\w+)\.py::(test_\w+)\[{ENGINE}\S*.* (PASSED|FAILED|ERROR|SKIPPED)")


def run_without_answers(folder: Path, *files: str) -> list[tuple[str, str]]:
    """The outcomes of the tests that use the engine: (test file and function, outcome) for each."""
    (suite,) = hudi_conformance.suite.__path__
    (folder / "no_shrinking.py").write_text(NO_SHRINKING)
    paths = [f"{suite}/{file}" for file in files] or [suite]
    options = ["-v", "--tb=no", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no_shrinking", "--engine", ENGINE]
    command = [sys.executable, "-m", "pytest", *paths, *options, "--programs", "1"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), environment.get("PYTHONPATH")]))
    found = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800, check=False
    ).stdout
    return [(f"{file}::{test}", outcome) for file, test, outcome in OUTCOME.findall(found)]


def test_only_tests_without_reads_pass_in_a_part_of_the_suite(tmp_path):
    """A property without anything to check fails or is skipped."""
    outcomes = run_without_answers(tmp_path, *FILES)
    assert sum(outcome == "FAILED" for _, outcome in outcomes) > 40
    passed = {name for name, outcome in outcomes if outcome == "PASSED"}
    assert passed <= WITHOUT_READING
    ran = {name.partition("::")[0] for name, _ in outcomes}
    assert {name for name in WITHOUT_READING if name.partition("::")[0] in ran} == passed


@pytest.mark.long
def test_only_tests_without_reads_pass(tmp_path):
    """The same for the whole suite; a test that was removed, or does not pass any more, is not listed."""
    outcomes = run_without_answers(tmp_path)
    assert sum(outcome == "FAILED" for _, outcome in outcomes) > 900
    assert {name for name, outcome in outcomes if outcome == "PASSED"} == WITHOUT_READING
