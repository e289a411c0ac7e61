"""The tiny cases and engines as fixtures, and the releases of Apache Hudi for tests that are marked for them."""

import os
from collections.abc import Iterator

import pytest
from tiny_cases import casebook, tiny_engines

from hudi_conformance.contract.client import Client
from hudi_conformance.engines import registry
from hudi_conformance.processes.compiled_modules import share_compiled_modules
from hudi_reference.storage import SYNC_VARIABLE

__all__ = ["casebook", "tiny_engines"]

os.environ.setdefault(SYNC_VARIABLE, "0")  # temporary tables; tests of durability turn it on
share_compiled_modules()  # before test modules are imported, and before any process is started


@pytest.fixture(scope="module", params=["1.0.2", "1.2.0"])
def hudi(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A session of each release, one for all tests of a module."""
    info = registry.find(f"apache-hudi@{request.param}")
    limits = {"start_timeout": info.start_timeout, "message_timeout": info.message_timeout}
    with Client(info.name, info.starter(lambda _: None), **limits) as client:
        yield client
