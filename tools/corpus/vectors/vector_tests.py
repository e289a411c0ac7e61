"""Tests of a vector file, numbered in their order."""

from collections.abc import Iterable
from typing import Any

Json = Any
Test = dict[str, Json]

#: The origin of a value, as used in `derived_by`.
HUDI = "bytes of Apache Hudi 1.0.2"
HAND = "hand"
SECOND = "a second implementation"
PUBLISHED = "published values"


def valid_test(comment: str, arguments: Json, value: Json, *flags: str) -> Test:
    """The value is the only right answer."""
    return _test(comment, arguments, {"result": "valid", "value": value}, flags)


def invalid_test(comment: str, arguments: Json, *flags: str) -> Test:
    """Only an error or a refusal is right."""
    return _test(comment, arguments, {"result": "invalid"}, flags)


def optional_test(comment: str, arguments: Json, value: Json, *flags: str) -> Test:
    """The value is right, and so is an error."""
    return _test(comment, arguments, {"result": "acceptable", "value": value}, flags)


def number_tests(*groups: Iterable[Test]) -> list[Test]:
    """The tests of all groups with their ids."""
    return [{"id": number, **test} for number, test in enumerate((test for group in groups for test in group), 1)]


def _test(comment: str, arguments: Json, answer: Json, flags: Iterable[str]) -> Test:
    shown = {"flags": list(flags)} if flags else {}
    return {"comment": comment, "arguments": arguments, **answer, **shown}
