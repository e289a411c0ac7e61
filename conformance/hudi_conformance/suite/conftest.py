"""The engines of `--engine` as fixtures."""

from hudi_conformance.programs import engine, pytest_generate_tests, reader, writer

__all__ = ["engine", "pytest_generate_tests", "reader", "writer"]
