"""The engines of `--engine` as fixtures, and an empty place for a table."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_conformance.programs import engine, pytest_generate_tests, reader, writer

__all__ = ["engine", "new_uri", "pytest_generate_tests", "reader", "writer"]


@pytest.fixture
def new_uri(tmp_path: Path) -> Callable[[], str]:
    """A function that gives the URI of a table that is not there yet, another one each time."""
    numbers = itertools.count()
    return lambda: (tmp_path / f"table{next(numbers)}").as_uri()
