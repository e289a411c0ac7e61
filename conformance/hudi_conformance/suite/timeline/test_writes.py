"""The guarantees of a single writer, checked through its own reads and the files that it writes."""

from collections.abc import Callable

import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.written_tables import INSERT, META, UPDATE, base_files, table_folder, write_table

COW = pytest.mark.needs("create", "write.insert", "write.upsert", "read.snapshot", "copy-on-write", "partition.plain")


@COW
@pytest.mark.requirements("META-001", "META-003", "META-004", "META-007", "META-009", "META-010", "META-011", "META-005")
def test_meta_columns_have_commit_and_location(engine: Client, new_uri: Callable[[], str]) -> None:
    """META-011: a changed row carries its own commit's time, a copied row keeps the old one; key, partition and file name are
    right.
    """
    uri = new_uri()
    _, (first, second) = write_table(engine, uri, INSERT, UPDATE)
    newest = next(path for path in base_files(uri) if second in path.name)
    rows = {r["id"]: r for r in pq.ParquetFile(newest).read().to_pylist()}
    assert rows["a"]["_hoodie_commit_time"] == second
    assert rows["b"]["_hoodie_commit_time"] == first
    assert {r["_hoodie_file_name"] for r in rows.values()} == {newest.name}
    assert {(r["_hoodie_record_key"], r["_hoodie_partition_path"]) for r in rows.values()} == {("a", "oslo"), ("b", "oslo")}
    assert len({r["_hoodie_commit_seqno"] for r in rows.values()}) == len(rows)
    assert pq.ParquetFile(newest).schema_arrow.names[: len(META)] == list(META)


@COW
@pytest.mark.requirements("TYP-003", "LAY-024", "BF-003", "BF-004", "BF-009", "LAY-018", "LAY-020")
def test_an_update_makes_the_next_slice_of_the_same_group(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-003: the new base file has the old one's file id and the new instant; the old file and the other file groups are
    unchanged.
    """
    uri = new_uri()
    write_table(engine, uri, INSERT)
    before = {path: path.read_bytes() for path in base_files(uri)}
    instant = engine.write(uri, "upsert", as_arrow(UPDATE.rows))
    fresh = [path for path in base_files(uri) if path not in before]
    assert all(path.read_bytes() == content for path, content in before.items())
    assert [path.stem.split("_")[2] for path in fresh] == [instant]
    assert fresh[0].parent.name == "oslo"
    assert fresh[0].stem.split("_")[0] in {path.stem.split("_")[0] for path in before}


@COW
@pytest.mark.requirements("LAY-007", "LAY-008", "TYP-014")
def test_partition_columns_stay_in_the_files(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-007: a plain Parquet reader finds the partition column filled in each base file."""
    uri = new_uri()
    write_table(engine, uri, INSERT)
    found = {v for path in base_files(uri) for v in pq.ParquetFile(path).read(columns=["city"]).column("city").to_pylist()}
    assert found == {"oslo", "rio"}


@COW
@pytest.mark.requirements("TL-001", "TL-004", "TL-027", "TL-028", "TL-031", "TL-034", "TL-046", "TL-048", "LAY-017")
def test_a_write_has_three_states_on_the_timeline(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-017: requested, inflight and completed files of the instant are in the timeline folder, completion after request."""
    uri = new_uri()
    _, (instant,) = write_table(engine, uri, INSERT)
    names = {p.name for p in (table_folder(uri) / ".hoodie" / "timeline").iterdir() if p.is_file()}
    assert {f"{instant}.commit.requested", f"{instant}.inflight"} <= names
    (completed,) = [name for name in names if name.startswith(f"{instant}_") and name.endswith(".commit")]
    completion = completed.removesuffix(".commit").partition("_")[2]
    assert len(completion) == len(instant) == 17
    assert completion > instant


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "merge-on-read", "log.avro", "partition.plain")
@pytest.mark.requirements("TYP-015", "TL-008", "LF-002", "LF-003", "LF-004", "LAY-023")
def test_an_update_on_merge_on_read_goes_to_a_log_file(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-015: the base file is not rewritten; the log file is named after the base file's id and the instant of the write."""
    uri = new_uri()
    write_table(engine, uri, Step("upsert", INSERT.rows), type="MERGE_ON_READ")
    before = base_files(uri)
    instant = engine.write(uri, "upsert", as_arrow(UPDATE.rows))
    logs = [p for p in table_folder(uri).rglob(".*.log.*") if ".hoodie" not in p.parts]
    assert base_files(uri) == before
    assert len(logs) == 1
    file_id, _, rest = logs[0].name.removeprefix(".").partition("_")
    assert rest.startswith(f"{instant}.log.1")
    assert file_id in {path.name.partition("_")[0] for path in before if path.parent == logs[0].parent}


@pytest.mark.needs("create", "write.upsert", "write.delete", "read.snapshot", "copy-on-write", "partition.plain")
@pytest.mark.requirements("TYP-002", "MRG-012", "LAY-021")
def test_a_delete_of_an_unknown_key_changes_nothing(engine: Client, new_uri: Callable[[], str]) -> None:
    """MRG-012: deleting a key that does not exist, or that is in another partition, keeps all rows."""
    uri = new_uri()
    program, _ = write_table(engine, uri, Step("upsert", INSERT.rows))
    engine.write(uri, "delete", as_arrow([row("unknown", 0, ""), row("a", 0, "", "rio")]))
    model = program.model()
    model.apply("upsert", INSERT.rows)
    expect_rows(engine, uri, model.snapshot(), "after deletes that match nothing")


@pytest.mark.needs("create", "write.bulk-insert", "read.snapshot", "copy-on-write", "partition.plain")
@pytest.mark.requirements("TL-006", "TL-045", "PROP-016")
def test_a_bulk_insert_is_a_commit_like_any_other(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-016: its rows are in the folders of their partition values, under one commit instant."""
    uri = new_uri()
    program, (instant,) = write_table(engine, uri, Step("bulk_insert", INSERT.rows))
    model = program.model()
    model.apply("bulk_insert", INSERT.rows)
    expect_rows(engine, uri, model.snapshot(), "after a bulk insert")
    assert {path.parent.name for path in base_files(uri)} == {"oslo", "rio"}
    assert any(p.name.startswith(f"{instant}_") for p in (table_folder(uri) / ".hoodie" / "timeline").glob("*.commit"))
