"""Tests for some engines only: they observe requests in this process, or check what the specification leaves open."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import find


def only_in_process(engine: Client) -> None:
    """Skip the test unless the engine is the reference in this process."""
    if find(engine.name).name != "reference":
        pytest.skip("the engine runs in another process, where it cannot be observed, stopped or scheduled")


def only_engines_of_this_project(engine: Client, question: str) -> None:
    """Skip the test on engines of others, because the specification does not answer `question`."""
    if find(engine.name).name not in ("reference", "spark"):
        pytest.skip(f"the specification does not say {question}; engines of others are not judged")
