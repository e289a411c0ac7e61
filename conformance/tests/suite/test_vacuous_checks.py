"""No test of the suite passes on an engine that answers nothing: `faulty:raises-on-every-read` fails on every read.

A representative part of the suite runs on this engine. Only tests that do not read through the engine may pass, and
`WITHOUT_READING` lists them with the reason.
"""

import os
import re
import subprocess
import sys

import pytest

ENGINE = "faulty:raises-on-every-read"
#: What runs, by test file below `hudi_conformance/suite`.
FILES = (
    "queries/test_query_properties.py",
    "queries/test_damage_properties.py",
    "queries/test_filters_on_partitions.py",
    "merging/test_bad_input_of_merging.py",
    "merging/test_custom_merging.py",
    "properties/test_table_properties.py",
    "records/test_key_generators.py",
)
STORED = "checks the files that the engine writes"
REFUSED = "checks that a request is refused, and reads no rows"
#: Test function -> why it may pass although every read fails.
WITHOUT_READING = {
    "test_a_setting_without_default_is_mandatory": REFUSED,
    "test_unknown_values_are_refused_at_creation": REFUSED,
    "test_an_incomplete_custom_mode_is_refused": REFUSED,
    "test_settings_of_times_that_name_nothing_are_refused": REFUSED,
    "test_the_database_is_a_separate_property": STORED,
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """The outcomes of the tests on the engine: (test function, outcome) for each."""
    import hudi_conformance.suite

    (suite,) = hudi_conformance.suite.__path__
    folder = tmp_path_factory.mktemp("vacuous")
    command = [
        sys.executable,
        "-m",
        "pytest",
        *(f"{suite}/{file}" for file in FILES),
        "-v",
        "--tb=no",
        "-p",
        "no:cacheprovider",
    ]
    more = ["-p", "no:randomly", "--engine", ENGINE, "--programs", "1"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    found = subprocess.run(
        [*command, *more], cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    ).stdout
    return re.findall(r"::(test_\w+)\S*.* (PASSED|FAILED|ERROR|SKIPPED)", found)


def test_selected_tests_run(outcomes):
    """Otherwise there would be nothing to check."""
    assert len(outcomes) > 50
    assert sum(outcome == "FAILED" for _, outcome in outcomes) > 40


def test_only_tests_that_do_not_read_pass_without_answers(outcomes):
    """A property without anything to check fails or is skipped."""
    assert {name for name, outcome in outcomes if outcome == "PASSED"} <= WITHOUT_READING.keys()


def test_the_list_of_tests_that_do_not_read_is_current(outcomes):
    """A test that was removed or that does not pass any more is not listed."""
    assert WITHOUT_READING.keys() <= {name for name, outcome in outcomes if outcome == "PASSED"}
