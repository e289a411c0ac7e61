"""Fixtures of the suite: the engines of `--engine`, URIs of new tables, and shared tables and services."""

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import find
from hudi_conformance.runner.pytest_session import get_session
from hudi_conformance.runner.python_cases import engine, pytest_generate_tests, reader, writer

if TYPE_CHECKING:  # a fixture imports what it needs, so that a test that does not ask for it starts sooner
    from hudi_conformance.suite.support.concurrent.object_store import ObjectStore
    from hudi_conformance.suite.support.programs.table_programs import Budget
    from hudi_conformance.suite.support.programs.write_programs import SharedTables
    from hudi_conformance.suite.support.tables.archived_tables import Histories

__all__ = [
    "budget",
    "drawn_version",
    "engine",
    "histories",
    "new_uri",
    "object_store",
    "pytest_generate_tests",
    "reader",
    "shared_tables",
    "writer",
]


@pytest.fixture
def budget(request: pytest.FixtureRequest) -> "Budget":
    """A function of (many, few, engines): how many random programs a test runs.

    That is the value of `--programs`, or what the slowest of the engines can do in a short time.
    """

    def affordable(many: int, few: int, *engines: Client) -> int:
        return get_session(request.config).programs or min(find(one.name).affordable(many, few) for one in engines)

    return affordable


@pytest.fixture
def drawn_version(request: pytest.FixtureRequest) -> int:
    """A table version for this test, drawn from `--seed` and the name of the test, so that the same seed repeats a failure."""
    return random.Random(f"{request.config.getoption('seed')} {request.node.name}").choice((8, 9))


@pytest.fixture
def new_uri(tmp_path: Path) -> Callable[[], str]:
    """A function that returns the URI of a new table, a different one each time."""
    numbers = itertools.count()

    def uri() -> str:
        return (tmp_path / f"table{next(numbers)}").as_uri()

    return uri


@pytest.fixture(scope="session")
def shared_tables(tmp_path_factory: pytest.TempPathFactory) -> "SharedTables":
    """Tables that an engine writes once and that every other engine reads."""
    from hudi_conformance.suite.support.programs.write_programs import SharedTables

    return SharedTables(tmp_path_factory.mktemp("shared_tables"))


@pytest.fixture(scope="session")
def histories(tmp_path_factory: pytest.TempPathFactory) -> "Histories":
    """Tables of many writes, which an engine writes once."""
    from hudi_conformance.suite.support.tables.archived_tables import Histories

    return Histories(tmp_path_factory.mktemp("histories"))


@pytest.fixture(scope="session")
def object_store() -> Iterator["ObjectStore"]:
    """An object store on this machine, behind the proxy."""
    from hudi_conformance.processes.object_store import NoStore, Store
    from hudi_conformance.suite.support.concurrent.object_store import ObjectStore

    try:
        store = Store()
    except NoStore as error:
        pytest.skip(str(error))
    found = ObjectStore(store)
    yield found
    found.close()
