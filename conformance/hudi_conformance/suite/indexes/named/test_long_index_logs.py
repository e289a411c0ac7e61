"""Indexes with more than a MiB of entries: log blocks and base files of several blocks, and look-ups in all of them."""

import random
import string

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Row, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    BY_VALUE,
    COMPACTED_AFTER,
    INDEXED,
    PREFIX,
    WRITES,
    IndexedTable,
    values_where,
)

#: Settings of indexes by key in which all entries are in one file group.
ONE_GROUP = {f"{PREFIX}record.index.{name}.filegroup.count": "1" for name in ("min", "max")}
#: The length of a long value, whose entry an HFile can just store, and the number of such values.
LENGTH, VALUES = 32_000, 48
#: The values around the end of the first MiB.
MIDDLE = slice(28, 38)


def long_rows(distance: int = 1) -> tuple[Row, ...]:
    """Return rows with long values of random characters, which hardly become shorter when they are compressed.

    The first three characters are a number; those of two neighbours have that distance.
    """
    drawn, characters = random.Random(0), string.ascii_letters + string.digits
    values = (f"{distance * n:03}{''.join(drawn.choices(characters, k=LENGTH))}" for n in range(VALUES))
    return tuple(row(f"k{n}", 1, value, "rio") for n, value in enumerate(values))


@BOTH_TYPES
@pytest.mark.needs(*WRITES, "read.filter", "read.filter.in", "read.projection", "service.index", "service.index.named")
@pytest.mark.requirements("IDX-024", "MDT-001")
def test_a_value_after_long_entries_is_found(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-024: the secondary index of a column has the first value of a row, then more than a MiB of other entries, then the
    value that an update gave the row. A filter of two comparisons looks up the index twice, and finds the row each time.
    """
    table = IndexedTable(engine, new_uri(), type, {**INDEXED, **ONE_GROUP})
    table.write(Step("upsert", (row("a", 1, "first"), row("b", 1, "other", "lima"))))
    assert engine.service(table.uri, "index", options={**INDEXED, **ONE_GROUP, **BY_VALUE}) is not None
    table.write(Step("upsert", long_rows()), Step("upsert", (row("a", 2, "moved"),)))
    logs = table.metadata_files("secondary_index_by_value/.*.log.*")
    assert sum((table.folder / ".hoodie" / "metadata" / path).stat().st_size for path in logs) > 1 << 20, logs
    for where, expected in {
        (("value", "in", ("moved", "other")), ("value", "=", "moved")): ["a"],
        (("value", "=", "other"), ("value", "in", ("other", "moved"))): ["b"],
        (("value", "in", ("first", "moved")), ("value", "in", ("first", "other"))): [],
    }.items():
        assert values_where(engine, table.uri, *where) == expected, where


@pytest.mark.needs(*WRITES, "copy-on-write", "read.filter", "read.projection", "service.index", "service.index.named")
@pytest.mark.requirements("IDX-024", "BLK-024")
@pytest.mark.parametrize("distance", [1, 3])
def test_each_of_many_long_values_is_found(engine: Client, new_uri: NewUri, distance: int) -> None:
    """BLK-024: an HFile of more than a MiB has several blocks, and an index of them. Two neighbours in different blocks are
    both found, in a log block, and in a base file after a compaction of the metadata table.
    """
    table, rows = IndexedTable(engine, new_uri(), "COPY_ON_WRITE", {**INDEXED, **ONE_GROUP}), long_rows(distance)
    table.write(Step("upsert", (row("a", 1, "first"), row("b", 1, "other", "lima"))))
    assert engine.service(table.uri, "index", options={**INDEXED, **ONE_GROUP, **BY_VALUE}) is not None
    table.write(Step("upsert", rows))
    before = len(table.metadata_files(bases := "secondary_index_by_value/*.hfile"))
    for when, options in {"in a log block": {}, "in a base file": {COMPACTED_AFTER: "1"}}.items():
        table.write(Step("upsert", (row("b", 2, when, "lima"),)), options=options)
        assert (len(table.metadata_files(bases)) > before) == bool(options), when
        for one in rows[MIDDLE]:
            assert values_where(engine, table.uri, ("value", "=", one["value"])) == [one["id"]], f"{one['id']} {when}"
