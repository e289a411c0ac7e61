"""Tests that only the reference in this process can run: they observe its requests, or order and stop its processes."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import find


def only_in_process(engine: Client) -> None:
    """Skip the test unless the engine is the reference in this process."""
    if find(engine.name).name != "reference":
        pytest.skip("the engine runs in another process, where it cannot be observed, stopped or scheduled")
