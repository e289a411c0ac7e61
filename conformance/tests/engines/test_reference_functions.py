"""The contract's pure functions as the reference offers them."""

import pytest

from hudi_conformance.contract.errors import EngineError
from hudi_conformance.contract.features import FUNCTIONS as CONTRACT
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.engines.reference.functions import FUNCTIONS, compute


def test_every_function_of_the_contract_is_there():
    """The reference offers each function, and none that the contract does not know."""
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
def test_bad_arguments_are_an_error(function, arguments, says):
    """What a function cannot take is said so, and is never a crash."""
    with pytest.raises(EngineError, match=says):
        compute(function, arguments)


def test_errors_of_the_reference_are_answers_of_the_contract():
    """A value without an answer is an error that names the rule."""
    with pytest.raises(EngineError, match="LF-002"):
        Reference().compute("log-file-name.parse", {"name": "x"})
