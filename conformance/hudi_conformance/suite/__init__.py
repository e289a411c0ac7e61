"""Cases that are Python tests: they write through an engine and compare what it, or another one, reads with the model."""

import pytest

# Failures in shared helpers show the compared values, as those in tests do.
pytest.register_assert_rewrite("hudi_conformance.suite.support", "hudi_conformance.model")
