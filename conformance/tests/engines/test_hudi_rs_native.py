"""The adapter of hudi-rs 0.6, on tables that it, the reference and Apache Hudi write."""

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import apache_hudi_samples as samples
import pytest
from apache_hudi_samples import plain
from hudi_rs_samples import NOW, SCHEMA, filled, rows, started

from hudi_conformance.contract import EngineError, Query, Refused, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.reference.engine import Reference

pytestmark = [pytest.mark.rust, pytest.mark.slow]
KINDS = ["COPY_ON_WRITE", "MERGE_ON_READ"]


@pytest.fixture(scope="module")
def native() -> Iterator[Client]:
    with started("hudi-rs@0.6") as client:
        yield client


@pytest.fixture
def table(tmp_path: Path) -> str:
    return (tmp_path / "a table").as_uri()


def test_the_version_is_that_of_the_crate(native):
    """The version in `hello` and the one in Cargo.toml."""
    package = tomllib.loads((files("hudi_conformance.engines") / "hudi_rs_native" / "Cargo.toml").read_text())
    assert package["dependencies"]["hudi-core"]["version"] == f"={native.hello.version}"


@pytest.mark.parametrize("kind", KINDS)
def test_queries_on_a_table_of_the_reference(native, table, kind):
    """Snapshot, read-optimized and as-of, projection and filter."""
    times = filled(Reference(), table, kind)
    assert plain(native.read(table, Query())) == NOW
    assert plain(native.read(table, Query("as-of", as_of=times[1]))) == [*NOW, ("c", "x", 10, 1)]
    base = [(key, p, 10, 1) for key, p in (("a", "x"), ("b", "y"), ("c", "x"))]
    assert plain(native.read(table, Query("read-optimized"))) == (base if kind == "MERGE_ON_READ" else NOW)
    found = native.read(table, Query(columns=("n", "_hoodie_record_key"), where=(("ts", ">", 10), ("p", "=", "y"))))
    assert found.column_names == ["n", "_hoodie_record_key"]
    assert found.to_pylist() == [{"n": 2, "_hoodie_record_key": "b"}]


@pytest.mark.parametrize("kind", KINDS)
def test_its_writes_are_read_by_the_reference(native, table, kind):
    """Insert, upsert with a late record, delete: the same table as the reference's own."""
    times = filled(native, table, kind)
    assert plain(Reference().read(table, Query())) == plain(native.read(table, Query())) == NOW
    completed = Reference().inspect(table)["timeline"]["completed"]
    assert [instant["requested"] for instant in completed] == times


def test_compaction_and_overwritten_partitions(native, table):
    """A compaction keeps the rows; an insert overwrite replaces the partitions of its rows only."""
    filled(native, table)
    assert native.service(table, "compaction") is not None
    assert native.service(table, "compaction") is None
    assert plain(Reference().read(table, Query("read-optimized"))) == NOW
    native.write(table, "insert_overwrite", rows(("d", "x", 1, 1)))
    assert plain(Reference().read(table, Query())) == [NOW[1], ("d", "x", 1, 1)]


def test_two_writers_in_turn(native, table):
    """The reference updates a table of hudi-rs, and hudi-rs updates it again."""
    filled(native, table)
    Reference().write(table, "upsert", rows(("a", "x", 30, 3)))
    native.write(table, "upsert", rows(("b", "y", 30, 4), ("e", "y", 1, 1)))
    expected = [("a", "x", 30, 3), ("b", "y", 30, 4), ("e", "y", 1, 1)]
    assert plain(Reference().read(table, Query())) == plain(native.read(table, Query())) == expected


def test_a_partial_update_keeps_the_other_columns(native, table):
    """On copy-on-write tables; it is refused on merge-on-read ones."""
    filled(native, table, "COPY_ON_WRITE")
    native.write(table, "partial_update", rows(("a", "x", 11, 7)).select(["id", "p", "n"]))
    assert plain(native.read(table, Query())) == [("a", "x", 10, 7), NOW[1]]
    filled(native, f"{table}2")
    with pytest.raises(Refused) as refusal:
        native.write(f"{table}2", "partial_update", rows(("a", "x", 11, 7)).select(["id", "p", "n"]))
    assert refusal.value.feature == "write.partial-update"


def test_deleted_keys_are_those_of_the_engine(native, table):
    """Keys of several fields, and a partition folder with an escaped value."""
    spec = TableSpec("t", "COPY_ON_WRITE", SCHEMA, ("id", "n"), partition=("p",), hive_style=True, url_encode=True)
    native.create(table, spec)
    stored = [("a", "x/y", 1, 1), ("a", "x/y", 1, 2), ("a", "x/z", 1, 1)]
    native.write(table, "insert", rows(*stored))
    native.write(table, "delete", rows(stored[0]).select(["id", "n", "p"]))
    assert plain(Reference().read(table, Query())) == stored[1:]


def test_what_is_not_supported_is_refused(native, table):
    """Other services, change queries, inspection, and other table versions."""
    filled(native, table)
    for feature, ask in {
        "write.delete-partition": lambda: native.write(table, "delete_partition", rows(("a", "x", 1, 1)).select(["p"])),
        "write.metadata-table": lambda: native.write(table, "upsert", NEW, options={"hoodie.metadata.enable": "true"}),
        "write.bucket-index": lambda: native.write(table, "upsert", NEW, options={"hoodie.index.type": "BUCKET"}),
        "service.clean": lambda: native.service(table, "clean"),
        "service.compaction": lambda: native.service(table, "compaction", phase="schedule"),
        "read.cdc": lambda: native.read(table, Query("cdc")),
        "inspect.table": lambda: native.inspect(table),
        "merge.custom": lambda: native.create(f"{table}2", samples.spec(merge_mode="CUSTOM")),
    }.items():
        with pytest.raises(Refused) as refusal:
            ask()
        assert refusal.value.feature == feature
    file = Path(table.removeprefix("file://").replace("%20", " "), ".hoodie", "hoodie.properties")
    file.write_text(file.read_text().replace("hoodie.table.version=8", "hoodie.table.version=5"))
    with pytest.raises(Refused, match="version 6, 8, and 9") as refusal:
        native.read(table, Query())
    assert refusal.value.feature == "table-version"


NEW = rows(("z", "x", 1, 1))


def test_a_write_without_an_effect_is_an_error(native, table):
    """The engine makes no commit if no key is found, and the contract wants the time of one."""
    filled(native, table)
    with pytest.raises(EngineError, match="made no commit"):
        native.write(table, "delete", NEW.select(["id", "p"]))


def test_values_of_richer_types_come_back(native, table):
    """A decimal, a timestamp and a struct with a list."""
    native.create(table, samples.spec(type="COPY_ON_WRITE"))
    written = samples.rows(("a", "x", 1, None), **samples.RICH)
    native.write(table, "insert", written)
    (found,) = native.read(table, Query()).to_pylist()
    assert found == written.to_pylist()[0]


@pytest.mark.apache_hudi
@pytest.mark.parametrize("release", ["1.0.2", "1.2.0"])
@pytest.mark.parametrize("kind", KINDS)
def test_its_writes_are_read_by_apache_hudi(native, tmp_path, release, kind):
    """The same rows on both releases; Hadoop takes a path as it is written, so that it has no space here."""
    table = (tmp_path / "table").as_uri()
    times = filled(native, table, kind)
    with started(f"apache-hudi@{release}") as hudi:
        assert plain(hudi.read(table, Query())) == NOW
        then = Query("as-of", as_of=times[1])
        assert plain(hudi.read(table, then)) == plain(native.read(table, then))
