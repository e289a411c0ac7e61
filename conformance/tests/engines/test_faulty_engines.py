"""The faulty engines: each has its fault, and the cases that cite its rules detect it."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.verdict import Outcome, Result, describe_missing_features, judge_answer, judge_exception
from hudi_conformance.contract import (
    ContractError,
    EngineCrash,
    EngineError,
    EngineTimeout,
    ProtocolFault,
    Query,
    Refused,
    TableSpec,
)
from hudi_conformance.contract.errors import SlowStart, WrongId
from hudi_conformance.engines.faulty.faulty_engines import FAULTS
from hudi_conformance.engines.faulty.table_faults import changed_copy
from hudi_conformance.engines.registry import connect
from hudi_conformance.requirements import requirement
from hudi_conformance.requirements.chapters import golden_words
from hudi_conformance.runner.golden_cases import ask_engine

SCHEMA = {
    "type": "record",
    "name": "t",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "ts", "type": "long"},
        {"name": "name", "type": ["null", "string"], "default": None},
    ],
}
ARROW = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("name", pa.string())])
#: The rows that a correct reader returns for `table`.
CORRECT = {("a", 2, "new"), ("c", 5, None)}
WITH_RULES = sorted(name for name, fault in FAULTS.items() if fault.rules and fault.name != "loses-writes")


def rows(*values):
    return pa.Table.from_pylist([dict(zip(ARROW.names, value, strict=True)) for value in values], ARROW)


def found(client, uri, **query):
    return {tuple(row.values()) for row in client.read(uri, Query(**query)).to_pylist()}


@pytest.fixture
def reference():
    with connect("reference") as client:
        yield client


@pytest.fixture
def table(tmp_path, reference):
    """Merge-on-read, event time: three rows, then an update with a late change, then a delete."""
    uri = (tmp_path / "table").as_uri()
    reference.create(uri, TableSpec("t", "MERGE_ON_READ", SCHEMA, ("id",), ordering=("ts",)))
    reference.write(uri, "insert", rows(("a", 1, "old"), ("b", 1, "gone"), ("c", 5, None)))
    reference.write(uri, "upsert", rows(("a", 2, "new"), ("c", 4, "late")))
    reference.write(uri, "delete", pa.table({"id": ["b"]}))
    return uri


@pytest.mark.parametrize(
    ("fault", "rows"),
    [
        ("ignores-logs", {("a", 1, "old"), ("b", 1, "gone"), ("c", 5, None)}),
        ("drops-deletes", CORRECT | {("b", 1, "gone")}),
        ("reads-stale-rows", CORRECT | {("b", 1, "gone")}),
        ("ignores-ordering", {("a", 2, "new"), ("c", 4, "late")}),
        ("drops-nulls", {("a", 2, "new"), ("c", 5, "")}),
        ("ignores-rollbacks", CORRECT),
        ("reads-replaced-groups", CORRECT),
        ("guesses", CORRECT),
    ],
)
def test_a_fault_changes_the_rows_of_a_table_that_holds_such_data(table, reference, fault, rows):
    """The answer is wrong where the table holds the data in question, and correct elsewhere. The table is not changed."""
    with connect(f"faulty:{fault}") as engine:
        assert found(engine, table) == rows
    assert found(reference, table) == CORRECT


def test_faulty_engines_that_answer_another_query(table, reference):
    """One engine each ignores the projection, the filter and the time of a time-travel query."""
    first = reference.inspect(table)["timeline"]["completed"][0]["requested"]
    with connect("faulty:wrong-projection") as engine:
        assert engine.read(table, Query(columns=("id",))).column_names == ["id", "ts", "name"]
    with connect("faulty:ignores-filters") as engine:
        assert found(engine, table, where=(("ts", ">", 4),)) == CORRECT
    with connect("faulty:ignores-as-of") as engine:
        assert found(engine, table, kind="as-of", as_of=first) == CORRECT


@pytest.mark.parametrize("fault", ["reads-uncommitted", "ignores-the-timeline"])
def test_faulty_engines_that_read_uncommitted_files_apply_a_pending_delete(table, reference, fault):
    """The completed file of the last write is deleted, and its data files remain."""
    timeline = Path(table.removeprefix("file://")) / ".hoodie" / "timeline"
    max(path for path in timeline.iterdir() if "_" in path.name).unlink()
    assert found(reference, table) == CORRECT | {("b", 1, "gone")}
    with connect(f"faulty:{fault}") as engine:
        assert found(engine, table) == CORRECT
    with connect("faulty:hides-pending-instants") as engine:
        assert reference.inspect(table)["timeline"]["pending"] != engine.inspect(table)["timeline"]["pending"] == []


def test_the_faulty_engine_that_returns_duplicates_reads_old_slices(tmp_path, reference):
    """An update of a copy-on-write table leaves the old base file in storage."""
    uri = (tmp_path / "table").as_uri()
    reference.create(uri, TableSpec("t", "COPY_ON_WRITE", SCHEMA, ("id",)))
    reference.write(uri, "insert", rows(("a", 1, "old")))
    reference.write(uri, "upsert", rows(("a", 2, "new")))
    with connect("faulty:returns-duplicates") as engine:
        assert found(engine, uri) == {("a", 1, "old"), ("a", 2, "new")}


def test_the_faulty_engine_that_loses_writes_answers_an_instant_and_stores_nothing(table, reference):
    """The answer has the form of a correct one, and the table is not changed."""
    with connect("faulty:loses-writes") as engine:
        instant = engine.write(table, "upsert", rows(("a", 9, "lost")))
    assert len(instant) == 17
    assert found(reference, table) == CORRECT


def test_faulty_engines_that_refuse_features_that_they_declare(table):
    """One refuses every message, the other one merge-on-read tables."""
    with connect("faulty:always-refuses") as engine:
        assert "read.snapshot" in engine.hello.features
        for work in (
            lambda: engine.read(table, Query()),
            lambda: engine.inspect(table),
            lambda: engine.create(table, TableSpec("t", "COPY_ON_WRITE", SCHEMA, ("id",))),
            lambda: engine.write(table, "insert", rows(("z", 1, None))),
        ):
            with pytest.raises(Refused):
                work()
    with connect("faulty:claims-features-it-lacks") as engine:
        assert {"read.cdc", "merge-on-read"} <= engine.hello.features
        with pytest.raises(Refused, match="merge-on-read"):
            engine.read(table, Query())


def test_the_faulty_engine_that_raises_on_every_read_writes_correctly(tmp_path, reference):
    """Its tables are those of the reference; reads, inspections and computations are errors."""
    uri = (tmp_path / "table").as_uri()
    with connect("faulty:raises-on-every-read") as engine:
        engine.create(uri, TableSpec("t", "MERGE_ON_READ", SCHEMA, ("id",)))
        engine.write(uri, "insert", rows(("a", 1, "new")))
        for work in (
            lambda: engine.read(uri, Query()),
            lambda: engine.inspect(uri),
            lambda: engine.compute("base-file-name.parse", {"name": "x"}),
        ):
            with pytest.raises(EngineError, match="this engine fails on every"):
                work()
    assert found(reference, uri) == {("a", 1, "new")}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("hangs", EngineTimeout),
        ("crashes", EngineCrash),
        ("answers-late", EngineTimeout),
        ("starts-late", SlowStart),
        ("prints-junk", ProtocolFault),
        ("wrong-id", WrongId),
        ("breaks-the-schema", ProtocolFault),
    ],
)
def test_each_violation_of_the_protocol_has_its_own_exception(table, fault, error):
    """The engines are processes; each violation raises the exception of its kind."""
    with pytest.raises(error) as caught, connect(f"faulty:{fault}") as engine:
        engine.read(table, Query())
    assert type(caught.value) is error


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_every_fault_is_described_and_breaks_rules_that_exist(fault):
    """A fault names the area and the rules of the cases that must detect it, or it violates the contract."""
    assert fault.description
    assert fault.info.name == f"faulty:{fault.name}"
    assert fault.area in golden_words()
    assert requirement.unknown(fault.rules) == []
    assert fault.rules or fault.outcome != "fail"


@pytest.mark.parametrize("name", WITH_RULES)
def test_a_golden_case_detects_each_fault_and_cites_its_rule(name):
    """The reference passes the same case, so that the fault is the cause of the failure."""
    fault = FAULTS[name]
    citing = [case for case in cases.find_cases() if set(case.requirements) & set(fault.rules)]
    with connect(f"faulty:{name}") as engine, connect("reference") as reference:
        assert any(
            judge_answer(case, name, engine.hello, ask_engine(engine, case)).outcome == fault.outcome
            and judge_answer(case, "reference", reference.hello, ask_engine(reference, case)).outcome is Outcome.PASS
            for case in citing
            if not describe_missing_features(case.needs, engine.hello)
        ), f"none of {len(citing)} cases that cite {', '.join(fault.rules)} detects it"


@pytest.mark.parametrize("fault", [fault for fault in FAULTS.values() if not fault.rules], ids=lambda fault: fault.name)
def test_any_case_of_the_area_detects_a_violation_of_the_contract(fault):
    """The outcome is that of the violation, not that of wrong rows."""
    needs = "merge-on-read" if fault.name == "claims-features-it-lacks" else "read.snapshot"
    case = next(c for c in cases.find_cases() if c.id.startswith(f"{fault.area}.") and needs in c.needs and c.expected.rows)
    try:
        with connect(f"faulty:{fault.name}") as engine:
            outcome = judge_answer(case, fault.name, engine.hello, ask_engine(engine, case)).outcome
    except ContractError as error:
        outcome = judge_exception(error).outcome
    assert outcome == fault.outcome


def test_a_relay_detects_the_faulty_engine_that_loses_writes(tmp_path):
    """The next reader does not find the rows, and the case cites a rule that the fault breaks."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--pyargs",
        "hudi_conformance.suite.merging.test_relay",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    more = ["--engine", "faulty:loses-writes", "--engine", "reference", "--report", str(tmp_path / "report")]
    subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, timeout=300, check=False)
    results = [Result.from_json(json.loads(line)) for line in (tmp_path / "report" / "report.jsonl").read_text().splitlines()]
    wrong = {rule for result in results if result.outcome is Outcome.FAIL for rule in result.requirements}
    assert wrong & set(FAULTS["loses-writes"].rules)


def test_a_changed_copy_is_deleted_afterwards(table):
    """A faulty engine leaves no files, and does not change the table."""
    with changed_copy(table, lambda copy: (copy / "mark").touch()) as copy:
        seen = Path(copy.removeprefix("file://"))
        assert (seen / "mark").exists()
    assert not seen.parent.exists()
    assert not (Path(table.removeprefix("file://")) / "mark").exists()
