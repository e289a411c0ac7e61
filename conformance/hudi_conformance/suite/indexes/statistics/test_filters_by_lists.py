"""Filters with `in`: whatever indexes a table has, the rows are those whose value equals a member of the list."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Row, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    CHANGES,
    EVERY_AND_NONE,
    EVERY_INDEX,
    INDEXED,
    INSERTS,
    WRITES,
    IndexedTable,
    values_where,
)

LISTS = pytest.mark.needs(*WRITES, "read.filter", "read.filter.in", "read.projection")
#: Values move between the ranges of files, one of them becomes null, and one has a comma.
MOVES = (
    Step("upsert", (row("a", 90, "zz"), row("c", 91, "a,b", "rio"))),
    Step("upsert", ({**row("d", 92, ""), "value": None}, row("e", 3, "late"))),
)
#: For each column values that are there, that have moved away, and that were never there.
CONSTANTS: Mapping[str, Sequence[Any]] = {
    "id": ("a", "b", "d", "none"),
    "city": ("rio", "lima", "none"),
    "ts": (1, 30, 92, 7),
    "value": ("zz", "x", "a,b", "none"),
}


def lists_of(constants: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Lists without members, with a null alone, with each member alone, beside a null, and twice, pairs, and all."""
    single = [found for one in constants for found in ((one,), (one, None), (None, one), (one, one))]
    return [(), (None,), *single, *combinations(constants, 2), (*constants, None)]


def expect_lists(table: IndexedTable, when: str, columns: Mapping[str, Sequence[Any]] = CONSTANTS) -> None:
    """Compare the rows of each list with those of the model."""
    rows: Sequence[Row] = table.model.snapshot()
    for column, constants in columns.items():
        for members in lists_of(constants):
            found = values_where(table.engine, table.uri, (column, "in", members))
            wanted = [one["id"] for one in rows if one[column] is not None and one[column] in members]
            assert found == sorted(wanted), f"{when}: {column} in {members!r}"


@LISTS
@BOTH_TYPES
@pytest.mark.parametrize("indexes", EVERY_AND_NONE)
@pytest.mark.requirements("MRG-015", "MDT-009", "MDT-010", "IDX-012")
def test_a_list_selects_the_rows_that_equal_a_member(engine: Client, new_uri: NewUri, type: Type, indexes: str) -> None:
    """MRG-015: a null in the list equals nothing, and an empty list selects nothing; record keys, partitions and columns with
    statistics are found after values have moved, with indexes and without.
    """
    table = IndexedTable(engine, new_uri(), type, EVERY_AND_NONE[indexes])
    for steps in ((*INSERTS, *CHANGES), MOVES):
        table.write(*steps).check_rows(f"after {steps}")
        expect_lists(table, f"after {steps[-1]}")


@LISTS
@BOTH_TYPES
@pytest.mark.requirements("MRG-015", "MDT-010", "IDX-012")
def test_a_list_beside_other_comparisons(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-015: two lists of record keys select their intersection, and a comparison of another column is joined with and."""
    table = IndexedTable(engine, new_uri(), type, EVERY_INDEX).write(*INSERTS, *CHANGES, *MOVES)
    for where, wanted in (
        ((("id", "in", ("a", "c", "d")), ("id", "in", ("c", "d", "e"))), ["c", "d"]),
        ((("id", "in", ("a", "c", "d")), ("ts", ">", 90)), ["c", "d"]),
        ((("id", "in", ("a", "c")), ("city", "in", ("oslo",))), ["a"]),
        ((("value", "in", ("zz", "late")), ("id", "!=", "a")), []),
    ):
        assert values_where(engine, table.uri, *where) == wanted, where


@pytest.mark.needs("service.index", "service.index.named")
@LISTS
@BOTH_TYPES
@pytest.mark.requirements("IDX-024", "IDX-030", "MDT-010")
def test_a_list_of_secondary_keys(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-024: each member is looked up in the secondary index, members with characters that keys escape too."""
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    table.write_with_secondary_index(*MOVES)
    expect_lists(table, "with a secondary index", {"value": ("$", "x", "x$y\\", "a,b", "none")})


@pytest.mark.needs("service.index", "service.index.named")
@LISTS
@BOTH_TYPES
@pytest.mark.requirements("IDX-035", "IDX-041")
def test_a_list_of_values_of_an_expression_index(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-035: the statistics of lower(value) exclude no row whose value is a member."""
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    table.write_with_index_of_lower_case()
    expect_lists(table, "with an expression index", {"value": ("UPPER", "upper", "Mixed", "x")})


@LISTS
@BOTH_TYPES
@pytest.mark.requirements("MRG-015", "MDT-010")
def test_a_zero_in_a_list_equals_zeros_of_both_signs(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-015: 0.0 and -0.0 are equal numbers, so that a list with one of them selects the rows with either, also from a file
    whose values are all the other one.
    """
    uri = new_uri()
    types = {"id": "string", "p": "string", "ts": "long", "d": "double"}
    schema = {"type": "record", "name": "row", "fields": [{"name": n, "type": kind} for n, kind in types.items()]}
    engine.create(uri, TableSpec("zeros", type, schema, ("id",), partition=("p",), ordering=("ts",)))
    for partition, zero in (("p", 0.0), ("q", -0.0)):
        keys = [f"{partition}{number}" for number in (1, 2, 3)]
        rows = {"id": keys, "p": [partition] * 3, "ts": pa.array([1, 1, 1], pa.int64()), "d": [zero] * 3}
        engine.write(uri, "upsert", pa.table(rows), options=dict(EVERY_INDEX))
    zeros = ["p1", "p2", "p3", "q1", "q2", "q3"]
    for members, found in (([-0.0], zeros), ([0.0], zeros), ([-0.0, 1.0], zeros), ([0.0, -1.0], zeros), ([1.0], [])):
        assert values_where(engine, uri, ("d", "in", members)) == found, members
