"""Many changes in one slice: engines may merge many rows with other code, with the same result."""

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, Row, Step, as_arrow, expect_rows, row

KEYS = 5000
WRITES = ("create", "write.upsert", "write.delete", "read.snapshot", "read.projection", "delete.flag", "merge-on-read")


def some_rows(draw: random.Random, count: int, value: str) -> tuple[Row, ...]:
    """Return rows of `count` different keys with low ordering values, so that many are equal; one of ten is a delete."""
    keys = draw.sample(range(KEYS), count)
    return tuple(row(f"k{key:04}", draw.randint(1, 5), f"{value} {key}", deleted=draw.random() < 0.1 or None) for key in keys)


def many_changes(seed: int) -> tuple[Step, ...]:
    """Return all keys, then changes and deletes of most of them, in several writes."""
    draw = random.Random(seed)
    first = tuple(row(f"k{key:04}", draw.randint(1, 5), f"first {key}") for key in range(KEYS))
    steps = [Step("upsert", first)]
    for number in range(4):
        steps.append(Step("upsert", some_rows(draw, KEYS * 7 // 10, f"write {number}")))
        steps.append(Step("delete", some_rows(draw, KEYS // 10, "deleted")))
    return (*steps, Step("upsert", some_rows(draw, KEYS // 2, "last")))


@pytest.mark.needs(*WRITES, "merge.event-time", "log.delete", "partition.none")
@pytest.mark.requirements("MRG-028", "MRG-029", "BLK-009", "BLK-012", "BLK-020", "RDR-016", "MRG-003")
def test_many_changes_in_event_time(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-009: of thousands of versions in one slice the greatest ordering value wins for each key, deletes among them."""
    check_program(engine, new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", False, many_changes(1)))


@pytest.mark.needs(*WRITES, "merge.commit-time", "log.delete", "partition.none")
@pytest.mark.requirements("MRG-025", "BLK-009", "BLK-020", "RDR-014", "RDR-016")
def test_many_changes_in_commit_time(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-009: of thousands of versions in one slice the last one wins for each key, deletes among them."""
    check_program(engine, new_uri(), Program("MERGE_ON_READ", "COMMIT_TIME_ORDERING", False, many_changes(2)))


def check_program(engine: Client, uri: str, program: Program) -> None:
    """Run a program and compare the last snapshot with the model."""
    engine.create(uri, program.spec())
    model = program.model()
    for step in program.steps:
        engine.write(uri, step.operation, as_arrow(step.rows))
        model.apply(step.operation, step.rows)
    expect_rows(engine, uri, model.snapshot(), "after all writes")


LISTS = {"type": "record", "name": "lists", "fields": [
    {"name": "id", "type": "string"},
    {"name": "ts", "type": ["null", "long"], "default": None},
    {"name": "d", "type": ["null", {"type": "array", "items": "double"}], "default": None},
]}  # fmt: skip
ARROW_LISTS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        ("ts", pa.int64()),
        ("d", pa.list_(pa.field("element", pa.float64(), nullable=False))),
    ]
)


@pytest.mark.needs(*WRITES[:2], *WRITES[3:5], "merge-on-read", "merge.event-time", "partition.none", "types.nested")
@pytest.mark.requirements("BLK-020", "LF-038")
def test_many_lists_of_values_of_one_size(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-020: thousands of lists of different lengths, empty and absent ones among them, keep their elements in a log."""
    uri, draw = new_uri(), random.Random(3)
    engine.create(uri, TableSpec("lists", "MERGE_ON_READ", LISTS, ("id",), ordering=("ts",), merge_mode="EVENT_TIME_ORDERING"))

    def rows(ts: int) -> list[dict[str, Any]]:
        lengths = [draw.randint(-1, 4) for _ in range(KEYS)]
        return [
            {"id": f"k{key:04}", "ts": ts, "d": None if n < 0 else [draw.random() for _ in range(n)]}
            for key, n in enumerate(lengths)
        ]  # fmt: skip

    engine.write(uri, "upsert", pa.Table.from_pylist(rows(1), schema=ARROW_LISTS))
    newest = rows(2)
    engine.write(uri, "upsert", pa.Table.from_pylist(newest, schema=ARROW_LISTS))
    found = engine.read(uri, Query(columns=("id", "ts", "d"))).to_pylist()
    assert sorted(found, key=lambda one: str(one["id"])) == newest


TEXTS = {"type": "record", "name": "texts", "fields": [
    {"name": "id", "type": "string"},
    {"name": "ts", "type": ["null", "long"], "default": None},
    {"name": "text", "type": ["null", "string"], "default": None},
]}  # fmt: skip


@pytest.mark.needs(*WRITES[:2], *WRITES[3:5], "merge-on-read", "merge.event-time", "partition.none")
@pytest.mark.requirements("BLK-020", "BLK-022")
def test_a_block_of_many_rows_of_different_lengths(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-020: a log block has tens of thousands of rows, short and long ones in turn, and is read as one of few rows is."""
    uri, count = new_uri(), 70_000
    engine.create(uri, TableSpec("texts", "MERGE_ON_READ", TEXTS, ("id",), ordering=("ts",), merge_mode="EVENT_TIME_ORDERING"))
    keys = pa.array([f"k{number:05}" for number in range(count)])
    lengths = random.Random(5).choices((0, 1, 7, 60, 900), (4, 30, 50, 15, 1), k=count)
    for ts in (1, 2):
        texts = [None if length == 7 else f"{ts}" * length for length in lengths]
        rows = {"id": keys, "ts": pa.array([ts] * count, pa.int64()), "text": pa.array(texts, pa.string())}
        engine.write(uri, "upsert", pa.table(rows))
    found = engine.read(uri, Query(columns=("id", "ts", "text"))).sort_by("id")
    assert found.column("id").to_pylist() == keys.to_pylist()
    assert set(found.column("ts").to_pylist()) == {2}
    assert found.column("text").to_pylist() == texts
