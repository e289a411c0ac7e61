"""Limits of schemas, and work on a wide schema."""

from typing import cast

import pyarrow as pa
import pytest
from bombs import doubling

from hudi_reference.limits import LimitExceeded
from hudi_reference.query.plan import check_columns
from hudi_reference.schema.avro import checked_schema, parse_schema


def test_schema_that_doubles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """LF-038: a schema of a few kilobytes with 2^40 types is refused at once; the error names the variable of the limit."""
    with pytest.raises(LimitExceeded) as caught:
        parse_schema(doubling(40), "a.log")
    assert caught.value.path == "a.log"
    assert "HUDI_REFERENCE_LIMIT_SCHEMA_NODES" in str(caught.value)
    assert parse_schema(doubling(6), "a.log")
    monkeypatch.setenv("HUDI_REFERENCE_LIMIT_SCHEMA_NODES", "50")
    checked_schema.cache_clear()  # another test may have parsed the schema under the default limit
    with pytest.raises(LimitExceeded):
        parse_schema(doubling(5), "a.log")


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
