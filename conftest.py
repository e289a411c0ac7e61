"""Temporary files of the project's own tests are in memory if there is room; pytest keeps those of failed tests."""

import os
import tempfile

import pytest

from hudi_conformance.processes.session import memory_folder


def pytest_configure(config: pytest.Config) -> None:
    """Choose the folder before any test asks for one; processes that are started later inherit it."""
    if (folder := memory_folder()) is not None:
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
