"""Programs of writes: drawn by hypothesis or written by hand, run on an engine and on the model."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from hudi_conformance.cases.rows import canonical_rows, compare_rows
from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Operation
from hudi_conformance.model import Model

#: Parametrize a test with both types of table, each for engines that have it.
BOTH_TYPES = pytest.mark.parametrize(
    "type",
    [
        pytest.param("COPY_ON_WRITE", marks=pytest.mark.needs("copy-on-write")),
        pytest.param("MERGE_ON_READ", marks=pytest.mark.needs("merge-on-read")),
    ],
)

SCHEMA: Mapping[str, Any] = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "city", "type": ["null", "string"], "default": None},
        {"name": "ts", "type": ["null", "long"], "default": None},
        {"name": "value", "type": ["null", "string"], "default": None},
        {"name": "_hoodie_is_deleted", "type": ["null", "boolean"], "default": None},
    ],
}
TYPES = {"id": "string", "city": "string", "ts": "long", "value": "string"}
ARROW = pa.schema(
    [
        ("id", pa.string()),
        ("city", pa.string()),
        ("ts", pa.int64()),
        ("value", pa.string()),
        ("_hoodie_is_deleted", pa.bool_()),
    ]
)
CITIES = ("oslo", "rio")

Row = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One write: an operation and its rows."""

    operation: Operation
    rows: tuple[Row, ...] = field(hash=False)


@dataclass(frozen=True)
class Program:
    """A table and its writes, one commit after the other."""

    type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
    merge_mode: Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"]
    partitioned: bool
    steps: tuple[Step, ...] = field(default=())
    version: int = 8

    def spec(self) -> TableSpec:
        """Return the table to create."""
        return TableSpec(
            name="program",
            type=self.type,
            schema=SCHEMA,
            record_key=("id",),
            partition=("city",) if self.partitioned else (),
            ordering=("ts",) if self.merge_mode == "EVENT_TIME_ORDERING" else (),
            merge_mode=self.merge_mode,
            version=self.version,
        )

    def model(self) -> Model:
        """Return the model of the empty table."""
        spec = self.spec()
        return Model(
            record_key=spec.record_key,
            partition=spec.partition,
            ordering=spec.ordering,
            merge_mode=self.merge_mode,
            table_type=self.type,
        )


@dataclass(frozen=True)
class Written:
    """A table that an engine has written: its URI, its instants, and its model."""

    uri: str
    instants: tuple[str, ...]
    model: Model

    def digest(self) -> dict[str, str]:
        """Return a hash of every file of the table."""
        root = Path(unquote(urlsplit(self.uri).path))
        files = (path for path in sorted(root.rglob("*")) if path.is_file())
        return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def table_versions(features: Collection[str]) -> tuple[int, ...]:
    """Return the versions of the tables that an engine with these features creates."""
    return (8, 9) if "create.table-version.9" in features else (8,)


class SharedTables:
    """Written tables by engine, table version and program, each written once, since commits of a JVM engine take seconds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[tuple[str, int, Program], Written] = {}

    def table(self, writer: Client, program: Program) -> Written:
        """Return the table of `program`, written by `writer`."""
        key = writer.name, writer.table_version, program
        known = self._tables.get(key)
        if known is None:
            uri = (self._folder / f"table{len(self._tables)}").as_uri()
            known = self._tables[key] = Written(uri, *_carry_out(program, uri, writer))
        return known


def _carry_out(program: Program, uri: str, writer: Client) -> tuple[tuple[str, ...], Model]:
    writer.create(uri, program.spec())
    model, instants = program.model(), []
    for step in program.steps:
        instants.append(writer.write(uri, step.operation, as_arrow(step.rows)))
        model.apply(step.operation, step.rows, instants[-1])
    return tuple(instants), model


def row(key: str, ts: int, value: str, city: str = "oslo", *, deleted: bool | None = None) -> Row:
    """Return one row of a program's table."""
    return {"id": key, "city": city, "ts": ts, "value": value, "_hoodie_is_deleted": deleted}


def as_arrow(rows: Sequence[Row]) -> pa.Table:
    """Return the rows for the contract."""
    return pa.Table.from_pylist(list(rows), schema=ARROW)


def run_program(program: Program, uri: str, engine: Client) -> None:
    """Run a program and compare the engine's snapshot with the model after each commit."""
    engine.create(uri, program.spec())
    model = program.model()
    for number, step in enumerate(program.steps, 1):
        engine.write(uri, step.operation, as_arrow(step.rows))
        model.apply(step.operation, step.rows)
        expect_rows(engine, uri, model.snapshot(), f"after write {number} of {program}")


def expect_rows(reader: Client, uri: str, expected: Sequence[Row], when: str, query: Query | None = None) -> None:
    """Check that the reader returns the expected rows. Raises AssertionError with the differences."""
    asked = query or Query(columns=tuple(TYPES))
    columns = {name: TYPES[name] for name in asked.columns or TYPES}
    found = canonical_rows(reader.read(uri, asked), columns)
    wanted = canonical_rows(as_arrow(expected), columns)
    different = compare_rows(wanted, found, tuple(n for n in ("id", "city") if n in columns))
    if different:
        pairs = "\n".join(f"expected {expected}\nfound    {found}" for expected, found in different.pairs())
        raise AssertionError(f"{different.summary()}\n{when}\n{pairs}")


def draw_programs(
    *, partitioned: st.SearchStrategy[bool] | None = None, most_steps: int = 5, versions: Sequence[int] = (8,)
) -> st.SearchStrategy[Program]:
    """Draw programs of a few writes over few keys, so that versions of a record are merged often.

    `versions` are the table versions to draw from.
    """
    return st.builds(
        Program,
        type=st.sampled_from(("COPY_ON_WRITE", "MERGE_ON_READ")),
        merge_mode=st.sampled_from(("COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING")),
        partitioned=partitioned or st.booleans(),
        steps=st.lists(_steps(), min_size=1, max_size=most_steps).map(_starting_with_an_upsert),
        version=st.sampled_from(versions),
    )


def _steps() -> st.SearchStrategy[Step]:
    # One row for a key in each batch: which of two equal ones wins is up to the writer.
    rows = st.lists(_rows(), min_size=1, max_size=4, unique_by=lambda r: (r["id"], r["city"])).map(tuple)
    return st.builds(Step, st.sampled_from(("upsert", "upsert", "upsert", "delete")), rows)


def _rows() -> st.SearchStrategy[Row]:
    return st.builds(
        row,
        st.sampled_from("abc"),
        st.integers(1, 4),
        st.sampled_from(("x", "y", "z")),
        st.sampled_from(CITIES),
        deleted=st.sampled_from((None, None, False, True)),
    )


def _starting_with_an_upsert(steps: list[Step]) -> tuple[Step, ...]:
    """Begin with an upsert: an empty table has no schema by which every engine could delete."""
    first = Step("upsert", tuple({**r, "_hoodie_is_deleted": None} for r in steps[0].rows))
    return (first, *steps[1:])
