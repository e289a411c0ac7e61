"""A table of two writes, and the check that a call is refused and leaves a table as it was."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from reference_samples import (
    contents,
    new_table,
    trip,
    trips,
)

from hudi_reference import WritableTable
from hudi_reference.errors import (
    HudiError,
)
from hudi_reference.storage import Storage

TIMELINE = ".hoodie/timeline"


def sample(table_type: str = "MERGE_ON_READ") -> WritableTable:
    """A table of two records, one of them changed since: on merge-on-read in a log file."""
    table = new_table(table_type=table_type, ordering=("ts",), partition=("p",))
    table.insert(trips(trip("1", "a", 1, "x"), trip("2", "b", 1, "x")))
    table.upsert(trips(trip("1", "new", 2, "x")))
    return table


@contextmanager
def refused(
    table: WritableTable | Storage, error: type[HudiError], rule: str | None = None, path: str | None = None
) -> Iterator[None]:
    """The block raises exactly this error, naming rule and path, and leaves every byte of the table as it was."""
    storage = table.storage if isinstance(table, WritableTable) else table
    before = contents(storage)
    with pytest.raises(error) as raised:
        yield
    assert isinstance(raised.value, error)
    assert raised.value.rule == rule or rule is None, raised.value
    assert raised.value.path == path or path is None, raised.value
    assert contents(storage) == before
    assert type(raised.value).__name__ in str(raised.value)
