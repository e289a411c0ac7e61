"""Limits of schemas, and work in proportion to the size of the input, counted in calls and not in seconds."""

import json
import sys
from types import FrameType
from typing import Any, cast

import pyarrow as pa
import pytest

from hudi_reference.limits import LimitExceeded
from hudi_reference.query.plan import check_columns
from hudi_reference.schema.avro import parse_schema


def doubling(levels: int) -> str:
    """A record whose types name each other twice at each level."""
    inner: Any = "int"
    for level in range(levels):
        first = {"type": "record", "name": f"r{level}", "fields": [{"name": "a", "type": inner}]}
        inner = {
            "type": "record",
            "name": f"p{level}",
            "fields": [{"name": "x", "type": first}, {"name": "y", "type": f"r{level}"}],
        }
    return json.dumps({"type": "record", "name": "row", "fields": [{"name": "c", "type": inner}]})


def calls(action: Any) -> int:
    """The number of calls of functions, also of those in C, while `action` runs."""
    count = 0

    def profile(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def test_schema_that_doubles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """LF-038: a schema of a few kilobytes with 2^40 types is refused at once; the error names the variable of the limit."""
    with pytest.raises(LimitExceeded) as caught:
        parse_schema(doubling(40), "a.log")
    assert caught.value.path == "a.log"
    assert "HUDI_LIMIT_SCHEMA_NODES" in str(caught.value)
    assert parse_schema(doubling(6), "a.log")
    monkeypatch.setenv("HUDI_LIMIT_SCHEMA_NODES", "50")
    with pytest.raises(LimitExceeded):
        parse_schema(doubling(5), "a.log")


def test_work_on_a_schema_grows_with_its_text() -> None:
    """LF-038: twice as many levels take about twice as many calls, although they declare many more types."""
    small, large = (calls(lambda levels=levels: parse_schema(doubling(levels), "x")) for levels in (7, 14))
    assert large < 3 * small


class CountedSchema:
    """A schema that counts how often its names are listed, each of which takes time in proportion to the columns."""

    def __init__(self, width: int) -> None:
        self.width, self.listed = width, 0

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        self.listed += 1
        return [f"c{number}" for number in range(self.width)]


def test_checking_columns_lists_the_schema_once() -> None:
    """TYP-007: a query of all columns of a wide table does not list all columns again for each one."""
    schema = CountedSchema(100)
    check_columns([f"c{number}" for number in range(100)], cast("pa.Schema", schema))
    assert schema.listed == 1
