"""Tables of version 9 that an engine creates and writes: what they store, how they merge, and what a write must not change."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.write_programs import (
    BOTH_TYPES,
    Program,
    SharedTables,
    Step,
    as_arrow,
    expect_rows,
    row,
)
from hudi_conformance.suite.support.tables.written_tables import (
    READS,
    Type,
    files_below,
    replace_in_metadata,
    table_folder,
)

pytestmark = pytest.mark.versions(9)

Mode = Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"]
MODES = pytest.mark.parametrize("mode", ["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"])
WRITES = ("create", "create.table-version.9", "write.upsert", "write.delete", "delete.flag", "partition.plain")
NEEDS = pytest.mark.needs(*WRITES, "read.snapshot", "read.projection", "merge.commit-time", "merge.event-time")
STEPS = (
    Step("upsert", (row("a", 10, "first"), row("b", 10, "first"), row("c", 10, "first", "rio"))),
    Step("upsert", (row("a", 20, "second"), row("c", 5, "late", "rio"), row("d", 10, "new", "rio"))),
    Step("delete", (row("b", 0, "gone"),)),
    Step("upsert", (row("a", 15, "late delete", deleted=True), row("d", 30, "delete", "rio", deleted=True))),
    Step("upsert", (row("e", 1, "another"), row("c", 40, "newest", "rio"))),
)


def properties_of(uri: str) -> dict[str, str]:
    """Return the entries of the properties file of a table on this machine."""
    lines = (table_folder(uri) / ".hoodie" / "hoodie.properties").read_text(encoding="latin-1").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return {key: value for key, _, value in pairs}


@BOTH_TYPES
@MODES
@pytest.mark.requirements("COMPAT-002", "PROP-018", "PROP-020", "MRG-008", "MRG-025", "MRG-028", "MRG-041", "RDR-001")
@pytest.mark.needs(*READS, "table-version.9", "merge.commit-time", "merge.event-time", writer=WRITES)
def test_one_engine_reads_the_version_9_table_of_another(
    writer: Client, reader: Client, shared_tables: SharedTables, type: Type, mode: Mode
) -> None:
    """PROP-020: given only the path of a table of version 9, the reader returns the model's rows, and leaves every file
    unchanged.
    """
    table = shared_tables.table(writer, Program(type, mode, True, STEPS, 9))
    before = table.digest()
    expect_rows(reader, table.uri, table.model.snapshot(), f"version 9, written by {writer.name}")
    assert table.digest() == before, "reading has changed the table's storage"


@BOTH_TYPES
@pytest.mark.requirements("COMPAT-002", "COMPAT-005", "MRG-008", "MRG-045", "PROP-018", "PROP-020")
@pytest.mark.needs(*READS, *WRITES, "merge.event-time", writer=WRITES)
def test_two_engines_write_a_version_9_table_in_turn(
    writer: Client, reader: Client, new_uri: Callable[[], str], type: Type
) -> None:
    """MRG-008: two engines write a table of version 9 in turn: the rows are those of the model, and the version stays."""
    program = Program(type, "EVENT_TIME_ORDERING", True, STEPS, 9)
    uri, model = new_uri(), program.model()
    writer.create(uri, program.spec())
    for number, step in enumerate(program.steps):
        (writer, reader)[number % 2].write(uri, step.operation, as_arrow(step.rows))
        model.apply(step.operation, step.rows)
        expect_rows((reader, writer)[number % 2], uri, model.snapshot(), f"after write {number} in turn")
    assert properties_of(uri)["hoodie.table.version"] == "9"


@NEEDS
@BOTH_TYPES
@MODES
@pytest.mark.requirements(
    "PROP-018", "PROP-019", "PROP-020", "PROP-022", "PROP-026", "MRG-020", "MRG-017", "MRG-018", "MRG-043"
)
def test_what_a_new_table_stores(engine: Client, new_uri: Callable[[], str], type: Type, mode: Mode) -> None:
    """PROP-026: a new table of version 9 stores both versions, layout 2, the merge mode and the ordering fields by their new
    name, and neither payload class nor strategy id.
    """
    uri = new_uri()
    program = Program(type, mode, True, version=9)
    engine.create(uri, replace(program.spec(), merge_mode=None))
    engine.write(uri, "upsert", as_arrow(STEPS[0].rows))
    found = properties_of(uri)
    assert {key: found.get(f"hoodie.{key}") for key in ("table.version", "table.initial.version", "record.merge.mode")} == {
        "table.version": "9", "table.initial.version": "9", "record.merge.mode": mode,
    }  # fmt: skip
    assert found["hoodie.timeline.layout.version"] == "2"
    assert found.get("hoodie.table.ordering.fields", "") == ("ts" if mode == "EVENT_TIME_ORDERING" else "")
    old = ("hoodie.table.precombine.field", "hoodie.compaction.payload.class", "hoodie.record.merge.strategy.id")
    assert not [key for key in old if found.get(key)]


@NEEDS
@BOTH_TYPES
@MODES
@pytest.mark.requirements("COMPAT-005", "PROP-018", "PROP-022", "MRG-024", "MRG-012", "MRG-013", "MRG-014")
@pytest.mark.needs("service.clean")
def test_writes_and_services_keep_the_version(engine: Client, new_uri: Callable[[], str], type: Type, mode: Mode) -> None:
    """COMPAT-005: after writes, a compaction and a clean the rows are those of the model, and version and mode stay."""
    program = Program(type, mode, True, STEPS, 9)
    uri, model = new_uri(), program.model()
    engine.create(uri, program.spec())
    before: dict[str, str] = {}
    for step in program.steps:
        engine.write(uri, step.operation, as_arrow(step.rows))
        before = before or properties_of(uri)
        model.apply(step.operation, step.rows)
    if type == "MERGE_ON_READ":
        engine.service(uri, "compaction", phase="run")
    engine.service(uri, "clean", options={"hoodie.clean.commits.retained": "1"})
    expect_rows(engine, uri, model.snapshot(), "after writes and services")
    kept = (
        "hoodie.table.version",
        "hoodie.table.initial.version",
        "hoodie.record.merge.mode",
        "hoodie.timeline.layout.version",
    )
    assert {key: properties_of(uri)[key] for key in kept} == {key: before[key] for key in kept}


@NEEDS
@BOTH_TYPES
@pytest.mark.versions(8)
@pytest.mark.requirements("COMPAT-005", "COMPAT-007")
def test_a_table_of_version_8_stays_one(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """COMPAT-005: an engine that writes version 9 does not upgrade a table of version 8 by writing to it."""
    program = Program(type, "EVENT_TIME_ORDERING", True, STEPS, 8)
    uri, model = new_uri(), program.model()
    engine.create(uri, program.spec())
    for step in program.steps:
        engine.write(uri, step.operation, as_arrow(step.rows))
        model.apply(step.operation, step.rows)
    expect_rows(engine, uri, model.snapshot(), "version 8")
    assert properties_of(uri)["hoodie.table.version"] == "8"


@NEEDS
@pytest.mark.versions(8)
@pytest.mark.needs("merge-on-read", "table-version.9")
@MODES
@pytest.mark.requirements("COMPAT-007", "MRG-017", "MRG-018")
def test_merging_of_version_8_is_inferred(engine: Client, new_uri: Callable[[], str], mode: Mode) -> None:
    """COMPAT-007: a reader of version 9 infers the merge mode of a table of version 8 that stores none, from its ordering
    fields.
    """
    program = Program("MERGE_ON_READ", mode, True, STEPS, 8)
    uri, model = new_uri(), program.model()
    engine.create(uri, program.spec())
    for step in program.steps:
        engine.write(uri, step.operation, as_arrow(step.rows))
        model.apply(step.operation, step.rows)
    file = table_folder(uri) / ".hoodie" / "hoodie.properties"
    merging = ("hoodie.record.merge.", "hoodie.compaction.")
    file.write_bytes(b"".join(line for line in file.read_bytes().splitlines(True) if not line.decode().startswith(merging)))
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
    expect_rows(engine, uri, model.snapshot(), f"version 8 without stored mode, {mode}")


PACKAGE = "org.apache.hudi.common.model."
OTHER_SETTINGS = {
    "mode": {"hoodie.write.record.merge.mode": "COMMIT_TIME_ORDERING"},
    "strategy": {"hoodie.write.record.merge.strategy.id": "ce9acb64-bde0-424c-9b91-f6ebba25356d"},
    "ordering": {"hoodie.datasource.write.precombine.field": "value"},
    "class": {"hoodie.datasource.write.payload.class": f"{PACKAGE}HoodieAvroPayload"},
    "deprecated-class": {"hoodie.datasource.write.payload.class": f"{PACKAGE}OverwriteWithLatestAvroPayload"},
}


@NEEDS
@BOTH_TYPES
@pytest.mark.parametrize("setting", OTHER_SETTINGS)
@pytest.mark.requirements("MRG-045", "MRG-010", "MRG-021", "MRG-024")
def test_a_write_with_other_merge_settings_is_refused(
    engine: Client, new_uri: Callable[[], str], type: Type, setting: str
) -> None:
    """MRG-045: a write that names another mode, strategy, ordering field or payload class is refused and changes no row."""
    program = Program(type, "EVENT_TIME_ORDERING", True, STEPS[:1], 9)
    uri, model = new_uri(), program.model()
    engine.create(uri, program.spec())
    engine.write(uri, "upsert", as_arrow(STEPS[0].rows))
    model.apply("upsert", STEPS[0].rows)
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", as_arrow((row("a", 1, "late"),)), options=OTHER_SETTINGS[setting])
    expect_rows(engine, uri, model.snapshot(), f"after a refused write with another {setting}")


#: Payload classes that mean what a mode of version 9 means.
SAME_CLASSES = (
    ("EVENT_TIME_ORDERING", "DefaultHoodieRecordPayload"),
    ("EVENT_TIME_ORDERING", "EventTimeAvroPayload"),
    ("COMMIT_TIME_ORDERING", "OverwriteWithLatestAvroPayload"),
)


@NEEDS
@BOTH_TYPES
@pytest.mark.parametrize(("mode", "name"), SAME_CLASSES)
@pytest.mark.requirements("MRG-045", "MRG-010")
def test_a_write_may_name_a_class_that_means_the_same(
    engine: Client, new_uri: Callable[[], str], type: Type, mode: Mode, name: str
) -> None:
    """MRG-045: a write whose settings name a payload class that merges as the table does is no write with another payload
    class: it is merged by the mode of the table.
    """
    program = Program(type, mode, True, STEPS[:1], 9)
    uri, model = new_uri(), program.model()
    engine.create(uri, program.spec())
    for rows in (STEPS[0].rows, (row("a", 1, "late"), row("new", 1, "x"))):
        options = {"hoodie.datasource.write.payload.class": f"{PACKAGE}{name}"} if model.snapshot() else {}
        engine.write(uri, "upsert", as_arrow(rows), options=options)
        model.apply("upsert", rows)
        expect_rows(engine, uri, model.snapshot(), f"after a write with {options}")


FIELDS = {"id": "string", "ts": "long", "a": "string", "b": "string", "op": "string"}


def wide_table(type: Type, mode: Mode, **properties: str) -> TableSpec:
    """Return a table of version 9 with columns that may be null, and these further properties."""
    fields = [{"name": name, "type": ["null", kind], "default": None} for name, kind in FIELDS.items()]
    return TableSpec(
        "wide", type, {"type": "record", "name": "wide", "namespace": "hoodie.wide", "fields": fields}, ("id",),
        ordering=("ts",) if mode == "EVENT_TIME_ORDERING" else (), merge_mode=mode, version=9,
        properties={key.replace("_", "."): value for key, value in properties.items()},
    )  # fmt: skip


def wide_rows(*rows: tuple[Any, ...]) -> pa.Table:
    """Return rows of such a table: key, ordering value, both columns, and the operation if it is given."""
    named = [dict(zip(FIELDS, (*values, None), strict=False)) for values in rows]
    kinds = pa.schema([(name, pa.int64() if kind == "long" else pa.string()) for name, kind in FIELDS.items()])
    return pa.Table.from_pylist(named, schema=kinds)


def written_wide(engine: Client, uri: str, spec: TableSpec, *batches: pa.Table) -> set[tuple[Any, ...]]:
    """Write batches to a new table; return what a snapshot has, and check that a compaction does not change it."""
    engine.create(uri, spec)
    for batch in batches:
        engine.write(uri, "upsert", batch)
    asked = Query(columns=("id", "ts", "a", "b"))
    before = {tuple(found.values()) for found in engine.read(uri, asked).to_pylist()}
    if spec.type == "MERGE_ON_READ":
        engine.service(uri, "compaction", phase="run")
        assert {tuple(found.values()) for found in engine.read(uri, asked).to_pylist()} == before
    return before


@NEEDS
@pytest.mark.needs("service.compaction")
@BOTH_TYPES
@MODES
@pytest.mark.requirements("MRG-048", "PROP-023", "MRG-008", "MRG-012", "MRG-013")
def test_nulls_are_filled_with_ignore_defaults(engine: Client, new_uri: Callable[[], str], type: Type, mode: Mode) -> None:
    """MRG-048: with IGNORE_DEFAULTS the nulls of the winner are filled from the loser, by writers, queries and compaction."""
    spec = wide_table(type, mode, hoodie_table_partial_update_mode="IGNORE_DEFAULTS")
    stored = wide_rows(("newer", 2, "A", "B"), ("late", 2, None, "B"), ("tie", 2, "A", None), ("both", 2, None, None))
    changes = wide_rows(("newer", 3, None, "b"), ("late", 1, "a", "b"), ("tie", 2, None, "b"), ("both", 3, None, None))
    late = ("late", 2, "a", "B") if mode == "EVENT_TIME_ORDERING" else ("late", 1, "a", "b")
    right = {("newer", 3, "A", "b"), late, ("tie", 2, "A", "b"), ("both", 3, None, None)}
    assert written_wide(engine, new_uri(), spec, stored, changes) == right


@NEEDS
@pytest.mark.needs("service.compaction")
@BOTH_TYPES
@pytest.mark.requirements("MRG-049", "PROP-023", "PROP-024", "MRG-008", "MRG-013")
def test_unavailable_values_are_filled(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """MRG-049: with FILL_UNAVAILABLE the placeholder of the winner is replaced by the value of the loser, and a null stays."""
    spec = wide_table(type, "EVENT_TIME_ORDERING", hoodie_table_partial_update_mode="FILL_UNAVAILABLE")
    prefixed = {"hoodie.record.merge.property.hoodie.write.partial.update.unavailable.value": "?"}
    spec = replace(spec, properties={**spec.properties, **prefixed})
    stored, changes = (
        wide_rows(("x", 2, "A", "B"), ("late", 2, "A", "?")),
        wide_rows(("x", 3, "?", None), ("late", 1, "?", "b")),
    )
    assert written_wide(engine, new_uri(), spec, stored, changes) == {("x", 3, "A", None), ("late", 2, "A", "b")}


@NEEDS
@pytest.mark.needs("service.compaction")
@BOTH_TYPES
@MODES
@pytest.mark.requirements("MRG-051", "PROP-024", "MRG-008", "MRG-013")
def test_marked_rows_are_deletes(engine: Client, new_uri: Callable[[], str], type: Type, mode: Mode) -> None:
    """MRG-051: rows whose delete field is exactly the stored marker are deletes for writers, queries and compaction."""
    marker = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"}
    spec = wide_table(type, mode)
    spec = replace(spec, properties={f"hoodie.record.merge.property.{key}": value for key, value in marker.items()})
    stored = wide_rows(*((key, 2, "A", "B", "I") for key in ("gone", "late", "lower")))
    changes = wide_rows(("gone", 3, "a", "b", "D"), ("late", 1, "a", "b", "D"), ("lower", 3, "a", "b", "d"))
    late = {("late", 2, "A", "B")} if mode == "EVENT_TIME_ORDERING" else set()
    assert written_wide(engine, new_uri(), spec, stored, changes) == {("lower", 3, "a", "b"), *late}


@NEEDS
@pytest.mark.needs("service.compaction")
@BOTH_TYPES
@MODES
@pytest.mark.requirements("MRG-051", "MRG-014")
def test_a_marked_row_of_an_unknown_key_is_no_record(
    engine: Client, new_uri: Callable[[], str], type: Type, mode: Mode
) -> None:
    """MRG-051: a row with the delete marker has a key that no record has. The write stores no record of it."""
    marker = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"}
    properties = {f"hoodie.record.merge.property.{key}": value for key, value in marker.items()}
    spec = replace(wide_table(type, mode), properties=properties)
    stored, changes = wide_rows(("k", 2, "A", "B", "I")), wide_rows(("k", 3, "a", "b", "U"), ("unknown", 3, "a", "b", "D"))
    assert written_wide(engine, new_uri(), spec, stored, changes) == {("k", 3, "a", "b")}


@NEEDS
@pytest.mark.needs("service.compaction")
@BOTH_TYPES
@pytest.mark.needs("merge.multiple-ordering-fields", "partition.none")
@pytest.mark.requirements("MRG-046", "MRG-008", "MRG-013", "PROP-020")
def test_several_ordering_fields_are_compared_in_turn(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """MRG-046: the first of several ordering fields that differs decides, for writers, queries and compaction."""
    spec = replace(wide_table(type, "EVENT_TIME_ORDERING"), ordering=("ts", "a"))
    stored = wide_rows(("first", 2, "m", "old"), ("less", 2, "m", "old"), ("second", 2, "m", "old"), ("lower", 2, "m", "old"))
    changes = wide_rows(("first", 3, "a", "new"), ("less", 1, "z", "new"), ("second", 2, "n", "new"), ("lower", 2, "a", "new"))
    right = {("first", 3, "a", "new"), ("less", 2, "m", "old"), ("second", 2, "n", "new"), ("lower", 2, "m", "old")}
    assert written_wide(engine, new_uri(), spec, stored, changes) == right


@NEEDS
@BOTH_TYPES
@pytest.mark.needs("read.meta-columns", "partition.several-levels")
@pytest.mark.requirements("META-013", "MRG-005", "PROP-017")
def test_the_key_of_one_field_in_two_partition_levels(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """META-013: with two partition fields the key of one field is FIELD:VALUE, and an upsert finds it again."""
    spec = replace(wide_table(type, "EVENT_TIME_ORDERING"), partition=("a", "b"))
    uri = new_uri()
    engine.create(uri, spec)
    for batch in (wide_rows(("k", 1, "x", "y"), ("l", 1, "x", "y")), wide_rows(("k", 2, "x", "y"))):
        engine.write(uri, "upsert", batch)
    found = engine.read(uri, Query(columns=("_hoodie_record_key", "ts"))).to_pylist()
    assert sorted(map(tuple, (one.values() for one in found))) == [("id:k", 2), ("id:l", 1)]


@NEEDS
@pytest.mark.requirements("COMPAT-004", "PROP-018")
@pytest.mark.needs("merge-on-read")
@pytest.mark.leaves_damage("it edits the version")
def test_a_later_version_is_not_written(engine: Client, new_uri: Callable[[], str]) -> None:
    """COMPAT-004: a table whose version is 10 is not written, and no file of it changes."""
    program = Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True, STEPS[:1], 9)
    uri = new_uri()
    engine.create(uri, program.spec())
    engine.write(uri, "upsert", as_arrow(STEPS[0].rows))
    file = table_folder(uri) / ".hoodie" / "hoodie.properties"
    file.write_bytes(file.read_bytes().replace(b"hoodie.table.version=9", b"hoodie.table.version=10"))
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
    before = files_below(table_folder(uri))
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", as_arrow((row("a", 30, "newer"),)))
    assert files_below(table_folder(uri)) == before


@NEEDS
@pytest.mark.needs("types.avro", "partition.none")
@BOTH_TYPES
@pytest.mark.requirements("TYP-020")
def test_vectors_and_variants_are_their_physical_types(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """TYP-020: a vector is bytes of a fixed length and a variant a record of bytes, in base files and after an update."""
    vector = {"type": "fixed", "name": "vec", "size": 8, "logicalType": "vector", "dimension": 2, "elementType": "FLOAT"}
    parts = [{"name": name, "type": "bytes"} for name in ("metadata", "value")]
    variant = {"type": "record", "name": "var", "logicalType": "variant", "fields": parts}
    fields = [{"name": name, "type": ["null", kind], "default": None} for name, kind in (("vec", vector), ("var", variant))]
    keys = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]
    schema = {"type": "record", "name": "typed", "namespace": "hoodie.typed", "fields": [*keys, *fields]}
    uri = new_uri()
    engine.create(uri, TableSpec("typed", type, schema, ("id",), ordering=("ts",), version=9))
    bytes_of = pa.struct([pa.field(name, pa.binary(), nullable=False) for name in ("metadata", "value")])
    columns = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("vec", pa.binary(8)), ("var", bytes_of)])
    rows = [{"id": key, "ts": 1, "vec": b"12345678", "var": {"metadata": b"m", "value": b"v"}} for key in "ab"]
    changed = {"id": "a", "ts": 2, "vec": None, "var": {"metadata": b"n", "value": b""}}
    engine.write(uri, "upsert", pa.Table.from_pylist(rows, schema=columns))
    engine.write(uri, "upsert", pa.Table.from_pylist([changed], schema=columns))
    found = engine.read(uri, Query(columns=("id", "ts", "vec", "var"))).to_pylist()
    assert sorted(found, key=lambda one: one["id"]) == [changed, rows[1]]


@NEEDS
@pytest.mark.leaves_damage("it has a base file of another format")
@pytest.mark.requirements("BF-012", "PROP-018")
@pytest.mark.needs("copy-on-write")
def test_a_lance_file_is_read_or_refused(engine: Client, new_uri: Callable[[], str]) -> None:
    """BF-012: a table whose base file is a Lance file is never read without the rows of that file."""
    program = Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True, STEPS[:1], 9)
    uri = new_uri()
    engine.create(uri, program.spec())
    # A listing in a metadata table would still have the former names.
    instant = engine.write(uri, "upsert", as_arrow(STEPS[0].rows), options={"hoodie.metadata.enable": "false"})
    assert engine.read(uri, Query(columns=("id", "value"))).num_rows, "no rows before the change"
    file = table_folder(uri) / ".hoodie" / "hoodie.properties"
    lines = [line for line in file.read_bytes().splitlines() if not line.startswith(b"hoodie.table.base.file.format=")]
    file.write_bytes(b"\n".join([*lines, b"hoodie.table.base.file.format=LANCE", b""]))
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
    for path in [path for path in table_folder(uri).rglob("*.parquet") if ".hoodie" not in path.parts]:
        path.rename(path.with_suffix(".lance"))
    replace_in_metadata(uri, instant, ".parquet", ".lance")
    with pytest.raises(ContractError):
        engine.read(uri, Query(columns=("id", "value")))


#: Settings of a writer that keeps column statistics and a record index.
INDEXED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}


@NEEDS
@BOTH_TYPES
@pytest.mark.needs("write.metadata-table")
@pytest.mark.requirements("MDT-018", "IDX-044", "MDT-001")
def test_the_metadata_table_and_its_indexes_are_of_version_9(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """MDT-018: the metadata table has version 9; new column statistics are V2, and a new record index is V1."""
    program = Program(type, "EVENT_TIME_ORDERING", True, STEPS[:2], 9)
    uri = new_uri()
    engine.create(uri, program.spec())
    for step in program.steps:
        engine.write(uri, step.operation, as_arrow(step.rows), options=INDEXED)
    meta = table_folder(uri) / ".hoodie" / "metadata"
    assert properties_of(meta.as_uri())["hoodie.table.version"] == "9"
    definitions = json.loads((table_folder(uri) / ".hoodie" / ".index_defs" / "index.json").read_text())["indexDefinitions"]
    # The definition of a record index need not be stored.
    assert {"record_index": "V1"} | {name: one.get("version") for name, one in definitions.items()} == {
        "column_stats": "V2", "record_index": "V1",
    }  # fmt: skip


@NEEDS
@BOTH_TYPES
@pytest.mark.requirements("LAY-025", "PROP-016")
def test_dates_make_three_folders(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """LAY-025: with slash-separated dates the folder is year/month/day, and queries return the stored date."""
    slashes = {"hoodie.datasource.write.slash.separated.date.partitioning": "true"}
    spec = replace(wide_table(type, "EVENT_TIME_ORDERING"), partition=("a",), properties=slashes)
    uri = new_uri()
    engine.create(uri, spec)
    for batch in (wide_rows(("k", 1, "2026-07-03", "x"), ("l", 1, "2026-12-31", "y")), wide_rows(("k", 2, "2026-07-03", "z"))):
        engine.write(uri, "upsert", batch, options=slashes)
    found = engine.read(uri, Query(columns=("id", "ts", "a", "b"))).to_pylist()
    assert {tuple(one.values()) for one in found} == {("k", 2, "2026-07-03", "z"), ("l", 1, "2026-12-31", "y")}
    folders = {path.parent.relative_to(table_folder(uri)).as_posix() for path in table_folder(uri).rglob("*.parquet")}
    assert {folder for folder in folders if not folder.startswith(".hoodie")} == {"2026/07/03", "2026/12/31"}
