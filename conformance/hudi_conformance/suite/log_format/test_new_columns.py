"""Names of the columns that a write adds to a table."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.pending_writes import begin_write, send_heartbeat
from hudi_conformance.suite.support.concurrent.slow_writers import OPTIMISTIC, SlowWriter
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import PLAN
from hudi_conformance.suite.support.tables.renamed_columns import GROWING
from hudi_conformance.suite.support.tables.tables_under_services import create_updated_table, read_snapshot
from hudi_conformance.suite.support.tables.tables_with_logs import DUE
from hudi_reference import WritableTable, cluster, compact, open_table
from hudi_reference.errors import HudiError

INT = ["null", "int"]
POINT = {"type": "record", "name": "point", "fields": [{"name": "a", "type": INT, "default": None}]}
FIELDS = [
    {"name": "id", "type": "string"},
    {"name": "ts", "type": "long"},
    {"name": "number", "type": INT, "default": None},
    {"name": "point", "type": ["null", POINT], "default": None},
]
SCHEMA = {"type": "record", "name": "row", "namespace": "hoodie.rows", "fields": FIELDS}
ROW = {"id": "k", "ts": 1, "number": 7, "point": {"a": 5}}
IDS = [pa.field("id", pa.string(), nullable=False), pa.field("ts", pa.int64(), nullable=False)]
#: Columns of a write beside those of the key, and the values of its row.
WRITES: dict[str, tuple[list[pa.Field], dict[str, Any]]] = {
    "column": (
        [pa.field("number", pa.int32()), pa.field("point", pa.struct([("a", pa.int32())])), pa.field("Number", pa.int32())],
        {"number": 8, "point": {"a": 6}, "Number": 9},
    ),
    "field": (
        [pa.field("number", pa.int32()), pa.field("point", pa.struct([("a", pa.int32()), ("A", pa.int32())]))],
        {"number": 8, "point": {"a": 6, "A": 9}},
    ),
    "field alone": (
        [pa.field("number", pa.int32()), pa.field("point", pa.struct([("A", pa.int32())]))], {"number": 8, "point": {"A": 9}},
    ),
    "two columns": (
        [pa.field("number", pa.int32()), pa.field("point", pa.struct([("a", pa.int32())])), *(
            pa.field(name, pa.int32()) for name in ("other", "Other")
        )],
        {"number": 8, "point": {"a": 6}, "other": 1, "Other": 2},
    ),
    "two fields of a new column": (
        [pa.field("number", pa.int32()), pa.field("point", pa.struct([("a", pa.int32())])),
         pa.field("other", pa.struct([("x", pa.int32()), ("X", pa.int32())]))],
        {"number": 8, "point": {"a": 6}, "other": {"x": 1, "X": 2}},
    ),
}  # fmt: skip


def has_one_name_of_each(kind: pa.Schema | pa.StructType) -> bool:
    """Whether no two columns, or fields of a struct, have names that differ in capital letters only."""
    names = [field.name.lower() for field in kind]
    return len(names) == len(set(names)) and all(
        has_one_name_of_each(field.type) for field in kind if pa.types.is_struct(field.type)
    )


@BOTH_TYPES
@pytest.mark.needs(
    "create", "write.upsert", "read.snapshot", "read.projection", "merge.event-time", "types.nested", "schema.evolution"
)
@pytest.mark.requirements("LF-038")
@pytest.mark.parametrize("added", WRITES)
def test_a_new_column_differs_not_only_in_capital_letters(
    engine: Client, new_uri: Callable[[], str], type: Any, added: str
) -> None:
    """LF-038: engines that know names without regard to capital letters cannot read a table with the columns `a` and `A`. A
    write with such a new column is refused, or its values are those of the column that the table has. Stored values stay.
    """
    uri = new_uri()
    engine.create(uri, TableSpec("rows", type, SCHEMA, ("id",), ordering=("ts",)))
    known = pa.schema([*IDS, pa.field("number", pa.int32()), pa.field("point", pa.struct([("a", pa.int32())]))])
    engine.write(uri, "upsert", pa.Table.from_pylist([ROW], schema=known))
    columns, values = WRITES[added]
    rows = pa.Table.from_pylist([{"id": "n", "ts": 2, **values}], schema=pa.schema([*IDS, *columns]))
    with suppress(ContractError):
        engine.write(uri, "upsert", rows, options=GROWING)
    assert has_one_name_of_each(engine.read(uri, Query()).schema)
    found = {one["id"]: one for one in engine.read(uri, Query(columns=tuple(ROW))).to_pylist()}
    assert found["k"] == ROW


#: Actions on the partition rio, and the type of their table.
ACTIONS: Mapping[str, tuple[Literal["COPY_ON_WRITE", "MERGE_ON_READ"], Callable[[WritableTable], object]]] = {
    "write": ("COPY_ON_WRITE", lambda table: table.upsert(as_arrow([row("c", 9, "slow", "rio")]))),
    "clustering": ("COPY_ON_WRITE", lambda table: cluster(table, {f"{PLAN}partition.selected": "rio"})),
    "compaction": ("MERGE_ON_READ", lambda table: compact(table, DUE)),
}


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "schema.evolution", "partition.plain")
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.requirements("OCC-011", "LF-038")
def test_a_column_of_a_slow_writer_stays(engine: Client, new_uri: Callable[[], str], action: str) -> None:
    """OCC-011: a writer that adds a column has stored its files for one partition when an action on another one begins and
    completes. The slow writer fails, or the table has the column: a query returns it with its values.
    """
    only_in_process(engine)
    type, act = ACTIONS[action]
    uri = new_uri()
    create_updated_table(engine, uri, 0, type)
    engine.write(uri, "upsert", as_arrow([row("c", 2, "in a log", "rio")]))
    rows = as_arrow([row("b", 9, "wider")]).append_column("size", pa.array([5], pa.int32()))
    meanwhile = lambda: act(open_table(uri, options=OPTIMISTIC))  # noqa: E731
    try:
        SlowWriter(uri, meanwhile, "complete", {**GROWING, **OPTIMISTIC}).table.upsert(rows)
    except HudiError:
        engine.write(uri, "upsert", rows, options=GROWING)
    found = engine.read(uri, Query(columns=("id", "size"))).to_pylist()
    assert {one["id"]: one["size"] for one in found} == {"a": None, "b": 5, "c": None}


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "schema.evolution", "partition.plain")
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.requirements("OCC-011", "LF-038")
def test_a_column_of_an_earlier_request_stays(engine: Client, new_uri: Callable[[], str], action: str) -> None:
    """OCC-011: a writer that adds a column has begun, then an action on another partition begins and stores its files, then the
    writer completes. The action fails, or completes; in both cases the table has the column, also after another try.
    """
    only_in_process(engine)
    type, act = ACTIONS[action]
    uri = new_uri()
    create_updated_table(engine, uri, 0, type)
    engine.write(uri, "upsert", as_arrow([row("c", 2, "in a log", "rio")]))
    pending = begin_write(uri, (row("b", 9, "wider"),))
    send_heartbeat(uri, pending.instant)
    column = {"name": "size", "type": INT, "default": None}
    wider = replace(pending, schema={**pending.schema, "fields": [*pending.schema["fields"], column]})
    options = {**GROWING, **OPTIMISTIC}
    for table in (SlowWriter(uri, wider.complete, "complete", options).table, open_table(uri, options=options)):
        with suppress(HudiError):
            act(table)
        assert "size" in engine.read(uri, Query()).schema.names
    value = "slow" if action == "write" else "in a log"
    assert [one["value"] for one in read_snapshot(engine, uri)] == ["x", "wider", value]
