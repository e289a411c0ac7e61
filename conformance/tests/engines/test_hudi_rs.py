"""The adapter of hudi-rs, on tables that the reference and Apache Hudi write."""

from collections.abc import Iterator
from pathlib import Path

import apache_hudi_samples as samples
import pytest
from apache_hudi_samples import plain
from hudi_rs_samples import NOW, SCHEMA, filled, rows, started

from hudi_conformance.contract import EngineError, Query, Refused, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.reference.engine import Reference


@pytest.fixture(scope="module")
def hudi_rs() -> Iterator[Client]:
    with started("hudi-rs") as client:
        yield client


@pytest.fixture
def table(tmp_path) -> str:
    return (tmp_path / "table").as_uri()


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_supported_queries(hudi_rs, table, kind):
    """Snapshot, read-optimized and as-of on a table of the reference."""
    times = filled(Reference(), table, kind)
    assert plain(hudi_rs.read(table, Query())) == NOW
    then = [*NOW, ("c", "x", 10, 1)]
    assert plain(hudi_rs.read(table, Query("as-of", as_of=times[1]))) == then
    base = [(key, p, 10, 1) for key, p in (("a", "x"), ("b", "y"), ("c", "x"))]
    assert plain(hudi_rs.read(table, Query("read-optimized"))) == (base if kind == "MERGE_ON_READ" else NOW)


def test_incremental_queries_begin_after_a_completion(hudi_rs, table):
    """With the completion time of the first commit as begin, only rows of the second one are returned."""
    writer = Reference()
    spec = TableSpec("t", "COPY_ON_WRITE", SCHEMA, ("id",), ordering=("ts",))
    writer.create(table, spec)
    writer.write(table, "insert", rows(("a", "x", 1, 1), ("b", "x", 1, 1)))
    (first,) = writer.inspect(table)["timeline"]["completed"]
    writer.write(table, "upsert", rows(("b", "x", 2, 2)))
    assert plain(hudi_rs.read(table, Query("incremental", begin=first["completion"]))) == [("b", "x", 2, 2)]
    assert plain(hudi_rs.read(table, Query("incremental"))) == [("a", "x", 1, 1), ("b", "x", 2, 2)]


def test_projection_and_filter(hudi_rs, table):
    """The selected columns in the given order, including meta columns, without the column of the filter."""
    filled(Reference(), table)
    found = hudi_rs.read(table, Query(columns=("n", "_hoodie_record_key"), where=(("ts", ">", 10), ("p", "=", "y"))))
    assert found.column_names == ["n", "_hoodie_record_key"]
    assert found.to_pylist() == [{"n": 2, "_hoodie_record_key": "b"}]


def test_empty_table_has_columns(hudi_rs, table):
    """hudi-rs returns an empty list for an empty table; the answer still has the schema."""
    Reference().create(table, TableSpec("t", "COPY_ON_WRITE", SCHEMA, ("id",)))
    assert hudi_rs.read(table, Query()).schema.names == list(samples.PLAIN)
    assert hudi_rs.read(table, Query(columns=("n",))).schema.names == ["n"]


def test_unsupported_operations_are_refused(hudi_rs, table):
    """Writes, change queries, inspection, and other table versions."""
    filled(Reference(), table)
    for feature, ask in {
        "create": lambda: hudi_rs.create(f"{table}2", TableSpec("t", "COPY_ON_WRITE", SCHEMA, ("id",))),
        "write.upsert": lambda: hudi_rs.write(table, "upsert", rows(("a", "x", 1, 1))),
        "read.cdc": lambda: hudi_rs.read(table, Query("cdc")),
        "inspect.table": lambda: hudi_rs.inspect(table),
    }.items():
        with pytest.raises(Refused) as refusal:
            ask()
        assert refusal.value.feature == feature
    file = Path(table.removeprefix("file://"), ".hoodie", "hoodie.properties")
    file.write_text(file.read_text().replace("hoodie.table.version=8", "hoodie.table.version=5"))
    with pytest.raises(Refused, match="version 6, 8, and 9") as refusal:
        hudi_rs.read(table, Query())
    assert refusal.value.feature == "table-version"


def test_errors_are_reported_on_one_line(hudi_rs, table):
    """The path has no table; the engine continues to run."""
    with pytest.raises(EngineError, match=r"^HudiCoreError: [^\n]*hoodie\.properties not found[^\n]*$"):
        hudi_rs.read(table, Query())
    filled(Reference(), table)
    assert plain(hudi_rs.read(table, Query())) == NOW


@pytest.mark.apache_hudi
@pytest.mark.slow
@pytest.mark.parametrize("release", ["1.0.2", "1.2.0"])
def test_hudi_rs_and_apache_hudi_return_the_same_rows(hudi_rs, tmp_path, release):
    """On tables of both releases."""
    with started(f"apache-hudi@{release}") as hudi:
        for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
            table = (tmp_path / kind).as_uri()
            times = filled(hudi, table, kind)
            for query in (Query(), Query("read-optimized"), Query("as-of", as_of=times[1])):
                assert plain(hudi_rs.read(table, query)) == plain(hudi.read(table, query))
            assert plain(hudi_rs.read(table, Query())) == NOW
