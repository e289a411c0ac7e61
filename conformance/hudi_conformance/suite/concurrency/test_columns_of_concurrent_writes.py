"""Columns that a write adds beside other writes and services: the table keeps them in whatever order the actions end.

The schema of a table is that of the write that completed last. A write that was requested earlier may complete later, and a
service stores the schema that the table had when it began.
"""

from collections.abc import Callable, Mapping

import pyarrow as pa
import pytest

from hudi_conformance.contract import Call, Query, TableSpec, Write
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Point, Service, Work
from hudi_conformance.suite.support.concurrent.concurrent_table import ABORTS, DUE, PAUSES
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.clustered_tables import Type
from hudi_conformance.suite.support.tables.renamed_columns import GROWING

NewUri = Callable[[], str]
GROWS = pytest.mark.needs("schema.evolution")
NARROW = pa.schema([("id", pa.string()), ("p", pa.string()), ("ts", pa.int64())])
WIDE = NARROW.append(pa.field("more", pa.int64()))
#: Whether a write compares its schema with those of the actions that have completed since it began.
SCHEMAS: Mapping[str, Mapping[str, str]] = {
    "compared": {},
    "not compared": {"hoodie.write.concurrency.schema.conflict.resolution.enable": "false"},
}
BOTH_WAYS = pytest.mark.parametrize("schemas", SCHEMAS)
SERVICES = pytest.mark.parametrize(
    ("type", "service"),
    [
        pytest.param("COPY_ON_WRITE", "clustering", marks=pytest.mark.needs("copy-on-write", "service.clustering")),
        pytest.param("MERGE_ON_READ", "clustering", marks=pytest.mark.needs("merge-on-read", "service.clustering")),
        pytest.param("MERGE_ON_READ", "compaction", marks=pytest.mark.needs("merge-on-read", "service.compaction")),
        pytest.param("MERGE_ON_READ", "log-compaction", marks=pytest.mark.needs("merge-on-read", "service.log-compaction")),
    ],
)


def create_table(engine: Client, uri: str, type: Type) -> None:
    """Create a table of three columns; write a twice in one partition, and b in another."""
    kinds = {"id": "string", "p": "string", "ts": "long"}
    schema = {"type": "record", "name": "row", "fields": [{"name": name, "type": kind} for name, kind in kinds.items()]}
    engine.create(uri, TableSpec("grows", type, schema, ("id",), partition=("p",), merge_mode="COMMIT_TIME_ORDERING"))
    for rows in ([("a", "x", 1), ("b", "y", 1)], [("a", "x", 2)], [("a", "x", 3)]):
        given = pa.Table.from_pylist([dict(zip(NARROW.names, one, strict=True)) for one in rows], schema=NARROW)
        engine.write(uri, "upsert", given, options=dict(SEVERAL_WRITERS))


def update_of_a(uri: str) -> Write:
    """Return an update that does not know the new column."""
    rows = pa.table({"id": ["a"], "p": ["x"], "ts": pa.array([4], pa.int64())}, schema=NARROW)
    return Write(uri, "upsert", rows, dict(SEVERAL_WRITERS))


def update_of_b(uri: str, schemas: str = "compared") -> Write:
    """Return an update that adds a column."""
    rows = pa.table({"id": ["b"], "p": ["y"], "ts": pa.array([4], pa.int64()), "more": pa.array([7], pa.int64())}, schema=WIDE)
    return Write(uri, "upsert", rows, {**SEVERAL_WRITERS, **GROWING, **SCHEMAS[schemas]})


def run_beside(engine: Client, slow: Work, quick: Callable[[], object], until: Point) -> list[str]:
    """Pause the slow work at that point, do the quick one, and let the slow one end; return which reported success."""
    done = []
    engine.begin("slow", slow, until)
    for name, end in (("quick", quick), ("slow", lambda: engine.resume("slow"))):
        try:
            end()
        except ABORTS:
            continue
        done.append(name)
    assert done, "one of two can always complete"
    return done


def write_now(engine: Client, work: Write) -> None:
    """Do the write without a pause."""
    engine.write(work.table, work.operation, work.rows, options=dict(work.options))


def new_values(engine: Client, uri: str) -> dict[str, int | None]:
    """Return the values of the new column by key; none of a table without it."""
    rows = engine.read(uri, Query())
    values = rows.column("more").to_pylist() if "more" in rows.column_names else [None] * rows.num_rows
    return dict(zip(rows.column("id").to_pylist(), values, strict=True))


@PAUSES
@GROWS
@BOTH_TYPES
@BOTH_WAYS
@pytest.mark.requirements("TYP-007", "OCC-011")
def test_a_column_that_the_last_writer_adds_stays(engine: Client, new_uri: NewUri, type: Type, schemas: str) -> None:
    """TYP-007: a write adds a column. Another one, of another file group, is requested later and completes earlier without it.
    The value is read if its writer reported success, with or without a check of the schemas.
    """
    uri = new_uri()
    create_table(engine, uri, type)
    other = update_of_a(uri)
    done = run_beside(engine, update_of_b(uri, schemas), lambda: write_now(engine, other), "stored")
    assert new_values(engine, uri) == {"a": None, "b": 7 if "slow" in done else None}, f"completed: {', '.join(done)}"


@PAUSES
@GROWS
@BOTH_TYPES
@pytest.mark.requirements("OCC-011")
def test_a_later_request_hides_no_column(engine: Client, new_uri: NewUri, type: Type) -> None:
    """OCC-011: deployed readers take the schema of the write that was requested last. So the writer of the reference aborts if
    such a write has completed without its columns.
    """
    only_in_process(engine)
    uri = new_uri()
    create_table(engine, uri, type)
    other = update_of_a(uri)
    assert run_beside(engine, update_of_b(uri), lambda: write_now(engine, other), "stored") == ["quick"]


@PAUSES
@GROWS
@BOTH_TYPES
@pytest.mark.parametrize("until", ["requested", "stored"])
@pytest.mark.requirements("TYP-007", "OCC-011")
def test_a_column_that_the_first_writer_adds_stays(engine: Client, new_uri: NewUri, type: Type, until: Point) -> None:
    """TYP-007: a write adds a column and completes while another one, of another file group, is pending without it."""
    uri = new_uri()
    create_table(engine, uri, type)
    other = update_of_b(uri)
    done = run_beside(engine, update_of_a(uri), lambda: write_now(engine, other), until)
    assert new_values(engine, uri) == {"a": None, "b": 7 if "quick" in done else None}, f"completed: {', '.join(done)}"


@PAUSES
@GROWS
@SERVICES
@BOTH_WAYS
@pytest.mark.requirements("TYP-007")
def test_a_column_of_a_write_beside_a_service_stays(
    engine: Client, new_uri: NewUri, type: Type, service: Service, schemas: str
) -> None:
    """TYP-007: a service of another file group begins and completes while a write that adds a column is pending."""
    uri = new_uri()
    create_table(engine, uri, type)
    settings = {**SEVERAL_WRITERS, **DUE.get(service, {})}
    done = run_beside(engine, update_of_b(uri, schemas), lambda: engine.service(uri, service, options=settings), "stored")
    assert new_values(engine, uri) == {"a": None, "b": 7 if "slow" in done else None}, f"completed: {', '.join(done)}"


@PAUSES
@GROWS
@SERVICES
@pytest.mark.needs("pause.service")
@pytest.mark.requirements("TYP-007")
def test_a_service_does_not_take_a_column_back(engine: Client, new_uri: NewUri, type: Type, service: Service) -> None:
    """TYP-007: a write of another file group adds a column while a service, which began without it, is pending."""
    uri = new_uri()
    create_table(engine, uri, type)
    call = Call(uri, service, "run", None, {**SEVERAL_WRITERS, **DUE.get(service, {})})
    other = update_of_b(uri)
    done = run_beside(engine, call, lambda: write_now(engine, other), "stored")
    assert new_values(engine, uri) == {"a": None, "b": 7 if "quick" in done else None}, f"completed: {', '.join(done)}"
