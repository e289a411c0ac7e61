"""Tables that leave their meta columns empty (`hoodie.populate.meta.fields=false`): keys follow from the key fields alone.

Such a table has the same rows as a table with meta columns; operations that need keys in the files are refused.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.drawn_checks import check_for_all
from hudi_conformance.suite.support.programs.write_programs import (
    BOTH_TYPES,
    SCHEMA,
    TYPES,
    Program,
    Step,
    as_arrow,
    draw_programs,
    expect_rows,
    row,
)
from hudi_conformance.suite.support.tables.metadata_tables import FILTERS, LISTED, USABLE
from hudi_conformance.suite.support.tables.stored_blocks import AVRO, log_files, parse_blocks, parse_records
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, replace_size, table_folder
from hudi_reference import create_table, open_table
from hudi_reference.metadata.keys import bloom_filters_key
from hudi_reference.metadata.table import MetadataTable

EMPTY = {"hoodie.populate.meta.fields": "false"}
META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")
DUE = {"hoodie.compact.inline.max.delta.commits": "1", "hoodie.log.compaction.blocks.threshold": "1"}
NEEDS = ("create", "write.upsert", "read.snapshot", "read.projection", "meta-fields.absent", "partition.plain", "delete.flag")
STEPS = (
    Step("upsert", (row("a", 2, "x"), row("b", 2, "x"), row("c", 2, "x", "rio"))),
    Step("upsert", (row("a", 3, "newer"), row("b", 1, "late"), row("d", 1, "new"))),
    Step("delete", (row("c", 0, "", "rio"),)),
)


def write_program(engine: Client, uri: str, program: Program, **properties: str) -> None:
    """Create the table of a program, without meta columns, and write its rows."""
    engine.create(uri, replace(program.spec(), properties={**EMPTY, **properties}))
    for step in program.steps:
        engine.write(uri, step.operation, as_arrow(step.rows))


def expected_rows(program: Program) -> Any:
    """Return the rows of the model after the program."""
    model = program.model()
    for step in program.steps:
        model.apply(step.operation, step.rows)
    return model.snapshot()


@pytest.mark.requirements("META-008", "META-012", "MRG-014", "MRG-012", "PROP-007")
@pytest.mark.needs(*NEEDS, "write.delete", "copy-on-write", "merge-on-read", "merge.commit-time", "merge.event-time")
def test_any_program_of_writes_follows_the_model(
    engine: Client, new_uri: Callable[[], str], budget: Callable[[int, int, Client], int]
) -> None:
    """PROP-007: after each program of upserts, deletes and flagged deletes the snapshot holds the rows of the model."""

    def check(program: Program) -> None:
        uri = new_uri()
        write_program(engine, uri, program)
        expect_rows(engine, uri, expected_rows(program), f"after {program}", Query(columns=tuple(TYPES)))

    check_for_all(budget(25, 3, engine), check, draw_programs(most_steps=4))


@pytest.mark.requirements("META-008", "META-012", "CMP-002", "LCP-001")
@pytest.mark.needs(*NEEDS, "write.delete", "merge-on-read", "merge.event-time")
@pytest.mark.parametrize(
    "service",
    [
        pytest.param("compaction", marks=pytest.mark.needs("service.compaction")),
        pytest.param("log-compaction", marks=pytest.mark.needs("service.log-compaction")),
    ],
)
def test_services_find_the_versions_of_a_record(engine: Client, new_uri: Callable[[], str], service: Any) -> None:
    """LCP-001: a compaction or log compaction merges by the key fields and fills no meta column."""
    more = Step("upsert", (row("a", 4, "newest"), row("b", 5, "gone", deleted=True)))
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True, (*STEPS, more))
    write_program(engine, uri, program)
    assert engine.service(uri, service, options=DUE) is not None
    expect_rows(engine, uri, expected_rows(program), f"after a {service}", Query(columns=tuple(TYPES)))
    check_files(uri)
    later = Step("upsert", (row("a", 1, "late"), row("b", 9, "newest")))
    engine.write(uri, later.operation, as_arrow(later.rows))
    whole = replace(program, steps=(*program.steps, later))
    expect_rows(engine, uri, expected_rows(whole), f"after a write on top of a {service}", Query(columns=tuple(TYPES)))


@BOTH_TYPES
@pytest.mark.requirements("META-012", "IDX-004")
@pytest.mark.needs(*NEEDS, "write.delete", "merge.event-time")
def test_meta_columns_are_empty_in_the_files(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """IDX-004: the five columns are in every file, null except that base files may have the file name; no footer
    contains keys.
    """
    uri = new_uri()
    write_program(engine, uri, Program(type, "EVENT_TIME_ORDERING", True, STEPS))
    assert list(base_files(uri))
    logged = check_files(uri)
    if type == "MERGE_ON_READ" and not logged:
        pytest.skip("the engine stores no row in an Avro block")


@BOTH_TYPES
@pytest.mark.requirements("META-012", "CLU-001", "LAY-018")
@pytest.mark.needs(*NEEDS, "write.delete", "service.clustering", "merge.event-time")
def test_a_clustering_keeps_rows_in_their_partitions(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """CLU-001: a clustering stores the rows again, in the folders of their partitions, although no file has the path of its
    partition: a snapshot has the rows of the model.
    """
    uri, program = new_uri(), Program(type, "EVENT_TIME_ORDERING", True, (*STEPS, Step("upsert", (row("e", 1, "x", "rio"),))))
    write_program(engine, uri, program)
    before = set(base_files(uri))
    assert engine.service(uri, "clustering") is not None
    expect_rows(engine, uri, expected_rows(program), "after a clustering", Query(columns=tuple(TYPES)))
    stored = {path.parent.name: pq.ParquetFile(path).read(["id"]).column("id").to_pylist()
              for path in base_files(uri) if path not in before}  # fmt: skip
    assert {folder: sorted(keys) for folder, keys in stored.items()} == {"oslo": ["a", "b", "d"], "rio": ["e"]}


@pytest.mark.requirements("META-012")
@pytest.mark.needs("read.snapshot", "read.projection", "meta-fields.absent", "partition.none", "copy-on-write")
def test_the_stored_name_of_a_file_says_nothing(engine: Client, new_uri: Callable[[], str]) -> None:
    """META-012: some writers fill the name of the file, and a clustering copies it into a file of another file group, as those
    of Apache Hudi do. Readers return the rows of the file.
    """
    uri = new_uri()
    table = create_table(uri, name="t", schema=dict(SCHEMA), record_key=("id",), properties=EMPTY)
    table.insert(as_arrow([row("a", 1, "x"), row("b", 1, "x")]))
    (path,) = base_files(uri)
    rows, length = pq.read_table(path), path.stat().st_size
    names = pa.array(["00000000-0000-0000-0000-000000000000-0_0-1-2_20200101000000000.parquet", None])
    pq.write_table(rows.set_column(4, "_hoodie_file_name", names), path)
    replace_size(uri, path, length)
    assert sorted(engine.read(uri, Query(columns=("id",))).column("id").to_pylist()) == ["a", "b"]


def base_files(uri: str) -> Iterator[Path]:
    """Yield the base files of the table."""
    return (path for path in table_folder(uri).rglob("*.parquet") if ".hoodie" not in path.parts)


def check_files(uri: str) -> int:
    """Check base files with a stock library, and the Avro blocks of logs; the number of records in those."""
    for path in base_files(uri):
        file = pq.ParquetFile(path)
        rows = file.read()
        assert tuple(rows.column_names[:5]) == META
        assert [rows.column(name).null_count for name in META[:4]] == [rows.num_rows] * 4
        assert set(rows.column("_hoodie_file_name").to_pylist()) <= {path.name, None}
        assert not rows.num_rows or not [key for key in file.metadata.metadata or {} if b"record_key" in key or b"bloom" in key]
    blocks = [block for path in log_files(uri) for block in parse_blocks(path.read_bytes()) if block.kind == AVRO]
    stored = [found for block in blocks for found in parse_records(block)]
    assert all(found[name] is None for found in stored for name in META)
    return len(stored)


@BOTH_TYPES
@pytest.mark.requirements("META-008", "META-007", "PROP-007")
@pytest.mark.needs(
    "create", "write.upsert", "write.delete", "read.snapshot", "meta-fields.absent", "key.complex", "partition.none"
)
@pytest.mark.needs("merge.commit-time")
def test_keys_of_several_fields(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """PROP-007: records are distinguished by all key fields, also those of other types."""
    fields = [{"name": "a", "type": "string"}, {"name": "b", "type": "int"},
              {"name": "value", "type": ["null", "string"], "default": None}]  # fmt: skip
    schema = {"type": "record", "name": "row", "fields": fields}
    uri, arrow = new_uri(), pa.schema([("a", pa.string()), ("b", pa.int32()), ("value", pa.string())])
    engine.create(uri, TableSpec("keys", type, schema, ("a", "b"), merge_mode="COMMIT_TIME_ORDERING", properties=EMPTY))

    def rows(*found: tuple[str, int, str | None]) -> pa.Table:
        return pa.Table.from_pylist([dict(zip(arrow.names, one, strict=True)) for one in found], schema=arrow)

    engine.write(uri, "upsert", rows(("x", 1, "x1"), ("x", 2, "x2"), ("y", 1, "y1")))
    engine.write(uri, "upsert", rows(("x", 2, "changed")))
    engine.write(uri, "delete", rows(("y", 1, None)).select(["a", "b"]))
    found = engine.read(uri, Query(columns=("a", "b", "value"))).to_pylist()
    assert sorted(tuple(one.values()) for one in found) == [("x", 1, "x1"), ("x", 2, "changed")]


@BOTH_TYPES
@pytest.mark.requirements("META-008", "META-007", "PROP-007")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "meta-fields.absent", "types.nested", "partition.none")
@pytest.mark.needs("merge.commit-time")
def test_the_key_is_a_field_of_a_struct(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """PROP-007: the key is made from the field inside of a struct of each row, also if the query returns another column."""
    place = {"type": "record", "name": "place", "fields": [{"name": "id", "type": "string"}]}
    schema = {
        "type": "record",
        "name": "row",
        "fields": [{"name": "place", "type": place}, {"name": "value", "type": "string"}],
    }
    uri, mode = new_uri(), "COMMIT_TIME_ORDERING"
    engine.create(uri, TableSpec("keys", type, schema, ("place.id",), merge_mode=mode, properties=EMPTY))  # type: ignore[arg-type]
    for found in ({"a": "old", "b": "b"}, {"a": "new"}):
        rows = [{"place": {"id": key}, "value": value} for key, value in found.items()]
        engine.write(uri, "upsert", pa.Table.from_pylist(rows))
    assert sorted(engine.read(uri, Query(columns=("value",))).column("value").to_pylist()) == ["b", "new"]


@BOTH_TYPES
@pytest.mark.requirements("META-012", "TYP-012")
@pytest.mark.needs(*NEEDS, "write.delete", "read.cdc", "merge.event-time")
def test_change_capture_uses_the_key_fields(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """TYP-012: change capture needs no stored key: the images before and after belong to the same record."""
    uri = new_uri()
    write_program(engine, uri, Program(type, "EVENT_TIME_ORDERING", True, STEPS), **CAPTURED)
    changes = engine.read(uri, Query("cdc")).to_pylist()
    keys = [(c["op"], (c["before"] or c["after"])["id"], (c["after"] or c["before"])["id"]) for c in changes]
    inserted = [("i", key, key) for key in "abcd"]
    assert sorted(keys) == sorted([*inserted, ("u", "a", "a"), ("d", "c", "c")])


@BOTH_TYPES
@pytest.mark.requirements("META-012", "TYP-009", "LF-045")
@pytest.mark.needs(*NEEDS, "write.partial-update", "read.incremental", "write.delete", "merge.event-time")
def test_operations_that_need_meta_columns_are_refused(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """TYP-009: incremental queries and partial updates are refused, and the table is unchanged."""
    uri, program = new_uri(), Program(type, "EVENT_TIME_ORDERING", True, STEPS)
    write_program(engine, uri, program)
    with pytest.raises(ContractError):
        engine.read(uri, Query("incremental"))
    with pytest.raises(ContractError):
        engine.write(uri, "partial_update", as_arrow([row("a", 9, "partly")]).drop_columns(["_hoodie_is_deleted"]))
    expect_rows(engine, uri, expected_rows(program), "after a write that was refused", Query(columns=tuple(TYPES)))


@BOTH_TYPES
@pytest.mark.requirements("META-012", "IDX-002")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "meta-fields.absent", "partition.plain", "write.metadata-table",
                   "service.index", "merge.event-time")  # fmt: skip
def test_an_index_of_bloom_filters_has_those_of_all_files(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """IDX-002: a file of such a table needs no bloom filter. So an engine refuses to build the index of bloom filters, by a
    service or with a write, or the index has a filter of each file.
    """
    uri, program, rows = new_uri(), Program(type, "EVENT_TIME_ORDERING", True, STEPS[:1]), as_arrow(STEPS[0].rows)
    engine.create(uri, replace(program.spec(), properties=EMPTY))
    engine.write(uri, "upsert", rows, options=LISTED)
    with suppress(ContractError):
        engine.service(uri, "index", options={**LISTED, **FILTERS})
    with suppress(ContractError):
        engine.write(uri, "upsert", rows, options={**LISTED, **FILTERS})
    table = open_table(uri)
    if "bloom_filters" in table.properties.fields(USABLE):
        metadata = MetadataTable.for_table(table)
        assert metadata is not None
        files = {bloom_filters_key(path.parent.name, path.name) for path in base_files(uri)}
        without = files - metadata.records("bloom_filters", table.timeline).keys()
        assert len(without) == 0, "there are files without a filter in the index"
    expect_rows(engine, uri, expected_rows(program), "after an index was requested", Query(columns=tuple(TYPES)))
