"""Indexes of keys that differ in one character, in capital letters, or in being longer."""

from collections.abc import Iterator

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Row, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import INDEXED, PREFIX, WRITES, IndexedTable, values_where

#: Partition -> keys. Some are prefixes of others, some differ in capital letters or a space only; `é` has two spellings.
KEYS = {"oslo": ("k", "k1", "K2", "kA", "\u00e9", "k$"), "rio": ("K", "K1", "k10", "ka", "e\u0301", "k ")}
#: Settings of a record index in which all keys are in one file group.
ONE_GROUP = {f"{PREFIX}record.index.{name}.filegroup.count": "1" for name in ("min", "max")}


def rows_of(*keys: str, time: int = 10) -> Iterator[Row]:
    """Yield a row for each of these keys, in its partition."""
    for city, known in KEYS.items():
        yield from (row(key, time, f"value of {key!r} at {time}", city) for key in known if key in keys)


@BOTH_TYPES
@pytest.mark.needs(*WRITES, "read.filter", "read.projection")
@pytest.mark.requirements("IDX-010", "IDX-012", "MDT-001")
def test_similar_keys_have_entries_of_their_own(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-012: keys that differ in capital letters, or of which one is the beginning of another, are different keys: each has
    its entry, an update or a delete of one leaves the others, and a filter finds the row of its key alone.
    """
    table = IndexedTable(engine, new_uri(), type, {**INDEXED, **ONE_GROUP})
    table.write(Step("upsert", tuple(rows_of(*KEYS["oslo"], *KEYS["rio"])))).check("written")
    table.write(Step("upsert", tuple(rows_of("k1", "K", "ka", "\u00e9", time=20)))).check("updated")
    table.write(Step("delete", tuple(rows_of("k", "K1", "kA", "e\u0301", time=30)))).check("deleted")
    left = {one["id"]: one["value"] for one in table.model.snapshot()}
    for key in (*KEYS["oslo"], *KEYS["rio"], "K10", "k2", ""):
        found = values_where(engine, table.uri, ("id", "=", key), column="value")
        assert found == ([left[key]] if key in left else []), repr(key)
