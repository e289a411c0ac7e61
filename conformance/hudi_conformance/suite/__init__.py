"""The test suite as Python: tests that write through an engine and compare what this or another engine reads with the model.

Each folder is a chapter of the specification, as in the golden cases; `support` holds the code that several tests use. A test
takes the fixture `engine` (one engine), or `writer` and `reader` (two engines), and reaches them only through the contract.
The marks `requirements` and `needs` name the rules that it checks and the features that it needs. The id of a case is
`<file>::<test>`.

What may be changed here: tests may be added; a test that is renamed gets an entry in `cases/renames`. The packages import
`support`, the contract, the model, the explorer and the reference; no module imports a test module.
"""

import pytest

# Failures in shared helpers show the compared values, as those in tests do.
pytest.register_assert_rewrite("hudi_conformance.suite.support", "hudi_conformance.model")
