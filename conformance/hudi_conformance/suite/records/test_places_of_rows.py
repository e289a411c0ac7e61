"""Where the rows of one write are stored, by their partition fields or by a hash of their key fields."""

from collections.abc import Callable

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.keyed_rows import WRITES, as_arrow, create_table, keys_and_partitions, make_row
from hudi_conformance.suite.support.tables.written_tables import base_files, table_folder


@pytest.mark.requirements("PROP-016", "META-009")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain", "partition.several-levels")
def test_rows_of_one_write_go_to_the_folders_of_both_fields(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-016: one write has rows for each combination of the values of two partition fields; each row is in its folder."""
    uri, values = new_uri(), [(q, p) for q in ("x", "y", "z") for p in (1, 2, 3)]
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("q", "p"))
    engine.write(uri, "upsert", as_arrow(*(make_row(f"{q}{p}", p, q, f"{q} and {p}") for q, p in values)))
    found = {(path, name) for _, path, name in keys_and_partitions(engine, uri)}
    assert found == {(f"{q}/{p}", f"{q} and {p}") for q, p in values}


@pytest.mark.requirements("LAY-018")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain", "partition.several-levels")
def test_the_metafile_of_a_partition_of_two_levels(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-018: the metafile says how many folders above the partition the base path is; there is none in the folder between."""
    uri = new_uri()
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("q", "p"))
    engine.write(uri, "upsert", as_arrow(make_row("a", 1, "x")))
    (metafile,) = table_folder(uri).rglob(".hoodie_partition_metadata*")
    assert metafile.parent == table_folder(uri) / "x" / "1"
    assert "partitionDepth=2" in metafile.read_text("latin-1").splitlines()


@pytest.mark.requirements("LAY-018")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.none")
def test_the_metafile_of_a_table_without_partitions(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-018: the only partition of a table without partition fields is its base path, at depth 0."""
    uri = new_uri()
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",))
    engine.write(uri, "upsert", as_arrow(make_row("a", 1)))
    (metafile,) = table_folder(uri).glob(".hoodie_partition_metadata*")
    assert "partitionDepth=0" in metafile.read_text("latin-1").splitlines()


@pytest.mark.requirements("LAY-021")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.none", "key.complex", "write.bucket-index")
@pytest.mark.parametrize(("fields", "key", "bucket"), [("p,id", "a", 23), ("p", "a", 86), ("id,p", "a:b", 519)])
def test_the_fields_of_a_key_that_are_hashed(
    engine: Client, new_uri: Callable[[], str], fields: str, key: str, bucket: int
) -> None:
    """LAY-021: of a key of several fields those are hashed that the settings name, in their order in the key. A value may have
    a colon. The buckets are those of the classes of Apache Hudi 1.0.2 and 1.2.0.
    """
    uri, prefix = new_uri(), "hoodie.bucket.index."
    options = {"hoodie.index.type": "BUCKET", f"{prefix}num.buckets": "1000", f"{prefix}hash.field": fields}
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id", "p"))
    for name in ("old", "new"):
        engine.write(uri, "upsert", as_arrow(make_row(key, 7, name=name)), options=options)
    assert {path.name[:8] for path in base_files(uri)} == {f"{bucket:08}"}
    assert keys_and_partitions(engine, uri) == {(f"id:{key},p:7", "", "new")}
