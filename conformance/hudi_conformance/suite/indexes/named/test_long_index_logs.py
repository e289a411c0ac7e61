"""Indexes whose log blocks have more than a MiB: a query that looks up a slice twice finds the last entries each time."""

import random
import string

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Row, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import INDEXED, PREFIX, WRITES, IndexedTable, values_where

#: Settings of indexes by key in which all entries are in one file group.
ONE_GROUP = {f"{PREFIX}record.index.{name}.filegroup.count": "1" for name in ("min", "max")}
SECONDARY = {"hoodie.index.name": "by_value", f"{PREFIX}index.secondary.column": "value"}
#: The length of a long value, whose entry an HFile can just store, and the number of such values.
LENGTH, VALUES = 32_000, 48


def long_rows() -> tuple[Row, ...]:
    """Return rows with long values of random characters, which hardly become shorter when they are compressed."""
    drawn, characters = random.Random(0), string.ascii_letters + string.digits
    return tuple(row(f"k{n}", 1, "".join(drawn.choices(characters, k=LENGTH)), "rio") for n in range(VALUES))


@BOTH_TYPES
@pytest.mark.needs(*WRITES, "read.filter", "read.projection", "service.index", "service.index.named")
@pytest.mark.requirements("IDX-024", "MDT-001")
def test_a_value_after_long_entries_is_found(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-024: the secondary index of a column has the first value of a row, then more than a MiB of other entries, then the
    value that an update gave the row. A filter of two comparisons looks up the index twice, and finds the row each time.
    """
    table = IndexedTable(engine, new_uri(), type, {**INDEXED, **ONE_GROUP})
    table.write(Step("upsert", (row("a", 1, "first"), row("b", 1, "other", "lima"))))
    assert engine.service(table.uri, "index", options={**INDEXED, **ONE_GROUP, **SECONDARY}) is not None
    table.write(Step("upsert", long_rows()), Step("upsert", (row("a", 2, "moved"),)))
    logs = table.metadata_files("secondary_index_by_value/.*.log.*")
    assert sum((table.folder / ".hoodie" / "metadata" / path).stat().st_size for path in logs) > 1 << 20, logs
    for where, expected in {
        (("value", "in", ("moved", "other")), ("value", "=", "moved")): ["a"],
        (("value", "=", "other"), ("value", "in", ("other", "moved"))): ["b"],
        (("value", "in", ("first", "moved")), ("value", "in", ("first", "other"))): [],
    }.items():
        assert values_where(engine, table.uri, *where) == expected, where
