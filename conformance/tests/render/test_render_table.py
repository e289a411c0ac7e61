"""The page of a table: folding of many partitions, one partition, and the metadata table."""

import io
import re

import pyarrow as pa
import pytest
from rich.console import Console

from hudi_conformance.render.table import LINES, list_groups, show_table
from hudi_reference import create_table, open_table
from hudi_reference.storage import MemoryStorage

SCHEMA = {
    "type": "record",
    "name": "t",
    "fields": [{"name": "id", "type": "string"}, {"name": "p", "type": "string"}],
}


@pytest.fixture(scope="module")
def table():
    """A table of 40 partitions with a metadata table."""
    made = create_table(
        "memory:", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), storage=MemoryStorage(),
        options={"hoodie.metadata.enable": "true"},
    )  # fmt: skip
    made.insert(pa.table({"id": [str(n) for n in range(40)], "p": [f"p{n:02}" for n in range(40)]}))
    return open_table("memory:", storage=made.storage)


def page(table, **options):
    """Return the lines of the page."""
    out = io.StringIO()
    show_table(Console(file=out, width=140), table, **options)
    return out.getvalue().splitlines()


def test_many_partitions_are_folded(table):
    """Each of the first partitions is one line, and a line tells how many are left; --all shows every file."""
    lines = page(table)
    assert sum(bool(re.match(r"p\d\d  1 group", line)) for line in lines) == LINES
    assert any(line.startswith("... 10 more partitions") for line in lines)
    assert not any(".parquet" in line for line in lines)
    assert sum(".parquet" in line for line in page(table, everything=True)) == 40


def test_one_partition_is_shown_with_its_file_groups(table):
    """Only the folder of the partition is listed."""
    lines = page(table, partitions=["p07"])
    assert sum(".parquet" in line for line in lines) == 1
    assert "p07" in lines
    assert {group.partition for group in list_groups(table, ["p07", "p08/"])} == {"p07", "p08"}


def test_partitions_of_the_metadata_table_are_shown_with_their_sizes(table):
    """The page names each partition of the metadata table, the number of its files, and their size."""
    lines = page(table)
    assert any(re.match(r"metadata table  [\d.]+ kB", line) for line in lines)
    assert any(re.match(r"files  \d+ files?, [\d.]+ kB", line) for line in lines)
