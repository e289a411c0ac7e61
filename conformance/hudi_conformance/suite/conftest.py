"""The engines of `--engine` as fixtures, and places for tables."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_conformance.programs import engine, pytest_generate_tests, reader, writer
from hudi_conformance.suite.histories import Histories
from hudi_conformance.suite.programs_of_writes import Shelf

__all__ = ["engine", "histories", "new_uri", "pytest_generate_tests", "reader", "shelf", "writer"]


@pytest.fixture
def new_uri(tmp_path: Path) -> Callable[[], str]:
    """A function that gives the URI of a table that is not there yet, another one each time."""
    numbers = itertools.count()

    def uri() -> str:
        return (tmp_path / f"table{next(numbers)}").as_uri()

    return uri


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Tables that an engine wrote once and that every other engine reads."""
    return Shelf(tmp_path_factory.mktemp("shelf"))


@pytest.fixture(scope="session")
def histories(tmp_path_factory: pytest.TempPathFactory) -> Histories:
    """Tables of many writes, that an engine wrote once."""
    return Histories(tmp_path_factory.mktemp("histories"))
