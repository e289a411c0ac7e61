"""Filters with `starts with`: whatever indexes a table has, the rows are those whose text begins with the prefix.

A prefix is smaller than every longer text that begins with it, so that it may be below the least value of a file that has such
texts. The bounds have to be compared with as many of their first characters as the prefix has.
"""

from collections.abc import Mapping, Sequence

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Row, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    EVERY_AND_NONE,
    INDEXED,
    WRITES,
    IndexedTable,
    values_where,
)

PREFIXES = pytest.mark.needs(*WRITES, "read.filter", "read.filter.prefix", "read.projection")
#: Texts of one partition that have a prefix in common, texts without it on both sides, and null.
INSERTS = (
    Step("upsert", (row("a", 1, "oslo"), row("b", 1, "orkdal"))),
    Step(
        "upsert",
        (row("c", 1, "narvik", "rio"), row("d", 1, "\u00f6", "rio"), row("e", 1, "o", "lima"), row("f", 1, "p", "lima")),
    ),
    Step("upsert", ({**row("g", 1, "", "quito"), "value": None},)),
)
#: Texts move out of the bounds of their files, into log files of a merge-on-read table.
MOVES = (Step("upsert", (row("c", 2, "osaka", "rio"), row("a", 2, "", "oslo"), row("f", 2, "OSLO", "lima"))),)
#: For each column prefixes of texts that are there, that have moved away, and that were never there.
CONSTANTS: Mapping[str, Sequence[str]] = {
    "value": ("o", "os", "or", "oslo", "oslo ", "n", "p", "q", "\u00f6", "O", "%", "_", ""),
    "city": ("r", "rio", "o", "li", "x", ""),
    "id": ("a", "ab", "z", ""),
}


def expect_prefixes(table: IndexedTable, when: str) -> None:
    """Compare the rows of each prefix with those of the model."""
    rows: Sequence[Row] = table.model.snapshot()
    for column, constants in CONSTANTS.items():
        for prefix in constants:
            found = values_where(table.engine, table.uri, (column, "starts with", prefix))
            wanted = [one["id"] for one in rows if one[column] is not None and one[column].startswith(prefix)]
            assert found == sorted(wanted), f"{when}: {column} starts with {prefix!r}"


@PREFIXES
@BOTH_TYPES
@pytest.mark.parametrize("indexes", EVERY_AND_NONE)
@pytest.mark.requirements("MDT-010", "MDT-009", "MRG-015")
def test_a_prefix_selects_the_texts_that_begin_with_it(engine: Client, new_uri: NewUri, type: Type, indexes: str) -> None:
    """MDT-010: a prefix that is below the least value of a file, or of a partition, finds the texts of the file."""
    table = IndexedTable(engine, new_uri(), type, EVERY_AND_NONE[indexes])
    for steps in (INSERTS, MOVES):
        table.write(*steps).check_rows(f"after {steps}")
        expect_prefixes(table, f"after {steps[-1]}")


@PREFIXES
@BOTH_TYPES
@pytest.mark.needs("service.index", "service.index.named")
@pytest.mark.requirements("IDX-024", "MDT-010")
def test_prefixes_of_a_column_with_a_secondary_index(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-024: a secondary index finds the records that equal a text; a prefix is not the whole text."""
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    table.write(*INSERTS)
    table.index_values()
    table.write(*MOVES)
    expect_prefixes(table, "with a secondary index")
