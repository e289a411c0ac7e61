"""Scenarios of the explorer as test parameters, explored on the reference in this process."""

from fnmatch import fnmatch

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS
from hudi_conformance.suite.support.concurrent.in_process import only_in_process


def parametrize_scenarios(*patterns: str) -> pytest.MarkDecorator:
    """Parametrize a test with the scenarios whose names match a pattern."""
    return pytest.mark.parametrize("name", [name for name in SCENARIOS if any(fnmatch(name, pattern) for pattern in patterns)])


def explore_scenario(engine: Client, name: str, version: int) -> None:
    """Explore one scenario on a table of that version completely within its bounds; check that no invariant is violated."""
    only_in_process(engine)
    found = SCENARIOS[name].make_scenario(name, version).explore_exhaustively()
    assert found.failure is None, f"version {version}, after {found.runs} runs: {found.failure.violation}"
    assert found.is_complete
    assert found.runs > 1
