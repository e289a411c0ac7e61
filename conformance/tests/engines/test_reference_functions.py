"""The pure functions of the contract in the reference."""

import pytest

from hudi_conformance.contract.errors import EngineError
from hudi_conformance.contract.features import FUNCTIONS as CONTRACT
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.engines.reference.functions import FUNCTIONS, compute


def test_reference_has_every_function_of_the_contract():
    """The reference has each function of the contract, and no other one."""
    assert FUNCTIONS.keys() == CONTRACT.keys()
    assert {f"compute.{name}" for name in CONTRACT} <= Reference().hello().features


@pytest.mark.parametrize(
    ("function", "arguments", "says"),
    [
        ("hash.nothing", {}, "unknown function"),
        ("hash.file-group", {"key": "a"}, "takes key, groups"),
        ("hash.file-group", {"key": "a", "groups": 2, "more": 1}, "takes key, groups"),
        ("hash.file-group", {"key": 5, "groups": 2}, "does not take these arguments"),
        ("log-file-name.parse", {"name": None}, "does not take these arguments"),
        (
            "bloom.make",
            {"type": "ROUND", "entries": 1, "rate": 0.1, "max_entries": 1, "keys": []},
            "does not take these arguments",
        ),
        ("positions.encode", {"positions": ["x"]}, "does not take these arguments"),
    ],
)
def test_invalid_arguments_are_an_error(function, arguments, says):
    """Invalid arguments are an error and never a crash."""
    with pytest.raises(EngineError, match=says):
        compute(function, arguments)


def test_errors_of_the_reference_become_error_answers():
    """A value without a result is an error that names the rule."""
    with pytest.raises(EngineError, match="LF-002"):
        Reference().compute("log-file-name.parse", {"name": "x"})
