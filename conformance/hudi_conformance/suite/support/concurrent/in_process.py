"""What only the reference in this process can show: its requests to storage, its locks and its processes in an order."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import find


def only_in_process(engine: Client) -> None:
    """Skip where the engine is not the reference in this process."""
    if find(engine.name).name != "reference":
        pytest.skip("the engine runs in another process, where it cannot be watched, stopped or put in order")
