"""The doubles: each commits its sin, says so, and is caught by the cases that it should fear."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.verdict import Outcome, Result, judge, judge_exception, lacking
from hudi_conformance.contract import (
    ContractError,
    EngineCrash,
    EngineTimeout,
    ProtocolFault,
    Query,
    Refused,
    TableSpec,
)
from hudi_conformance.contract.errors import SlowStart, WrongId
from hudi_conformance.engines.faulty.faulty_engines import SINS
from hudi_conformance.engines.faulty.table_faults import distorted
from hudi_conformance.engines.registry import connect
from hudi_conformance.requirements import requirement
from hudi_conformance.runner.golden_cases import ask

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
#: What an honest reader finds in `table`.
HONEST = {("a", 2, "new"), ("c", 5, None)}
WITH_RULES = sorted(name for name, sin in SINS.items() if sin.rules and sin.name != "loses-writes")


def rows(*values):
    return pa.Table.from_pylist([dict(zip(ARROW.names, value, strict=True)) for value in values], ARROW)


def found(client, uri, **query):
    return {tuple(row.values()) for row in client.read(uri, Query(**query)).to_pylist()}


@pytest.fixture
def honest():
    with connect("reference") as client:
        yield client


@pytest.fixture
def table(tmp_path, honest):
    """Merge-on-read, event time: three rows, then an update with a late change, then a delete."""
    uri = (tmp_path / "table").as_uri()
    honest.create(uri, TableSpec("t", "MERGE_ON_READ", SCHEMA, ("id",), ordering=("ts",)))
    honest.write(uri, "insert", rows(("a", 1, "old"), ("b", 1, "gone"), ("c", 5, None)))
    honest.write(uri, "upsert", rows(("a", 2, "new"), ("c", 4, "late")))
    honest.write(uri, "delete", pa.table({"id": ["b"]}))
    return uri


@pytest.mark.parametrize(
    ("sin", "rows"),
    [
        ("ignores-logs", {("a", 1, "old"), ("b", 1, "gone"), ("c", 5, None)}),
        ("drops-deletes", HONEST | {("b", 1, "gone")}),
        ("reads-stale-rows", HONEST | {("b", 1, "gone")}),
        ("ignores-ordering", {("a", 2, "new"), ("c", 4, "late")}),
        ("drops-nulls", {("a", 2, "new"), ("c", 5, "")}),
        ("ignores-rollbacks", HONEST),
        ("reads-replaced-groups", HONEST),
        ("guesses", HONEST),
    ],
)
def test_a_double_goes_wrong_where_its_sin_matters_and_only_there(table, honest, sin, rows):
    """The sin is real: it shows in rows that the table holds. The table itself is left alone."""
    with connect(f"double:{sin}") as double:
        assert found(double, table) == rows
    assert found(honest, table) == HONEST


def test_doubles_that_misunderstand_queries_answer_another_one(table, honest):
    """Projection, filter and time travel, each ignored by one of them."""
    first = honest.inspect(table)["timeline"]["completed"][0]["requested"]
    with connect("double:wrong-projection") as double:
        assert double.read(table, Query(columns=("id",))).column_names == ["id", "ts", "name"]
    with connect("double:ignores-filters") as double:
        assert found(double, table, where=(("ts", ">", 4),)) == HONEST
    with connect("double:ignores-as-of") as double:
        assert found(double, table, kind="as-of", as_of=first) == HONEST


@pytest.mark.parametrize("sin", ["reads-uncommitted", "ignores-the-timeline"])
def test_doubles_that_read_uncommitted_files_see_a_pending_delete(table, honest, sin):
    """The completed file of the last write is taken away: its data files are still there."""
    timeline = Path(table.removeprefix("file://")) / ".hoodie" / "timeline"
    max(path for path in timeline.iterdir() if "_" in path.name).unlink()
    assert found(honest, table) == HONEST | {("b", 1, "gone")}
    with connect(f"double:{sin}") as double:
        assert found(double, table) == HONEST
    with connect("double:hides-pending-instants") as double:
        assert honest.inspect(table)["timeline"]["pending"] != double.inspect(table)["timeline"]["pending"] == []


def test_the_double_that_returns_duplicates_reads_old_slices(tmp_path, honest):
    """An update on copy-on-write leaves the old base file in storage."""
    uri = (tmp_path / "table").as_uri()
    honest.create(uri, TableSpec("t", "COPY_ON_WRITE", SCHEMA, ("id",)))
    honest.write(uri, "insert", rows(("a", 1, "old")))
    honest.write(uri, "upsert", rows(("a", 2, "new")))
    with connect("double:returns-duplicates") as double:
        assert found(double, uri) == {("a", 1, "old"), ("a", 2, "new")}


def test_the_double_that_loses_writes_gives_an_instant_and_keeps_nothing(table, honest):
    """The lie is in the answer."""
    with connect("double:loses-writes") as double:
        instant = double.write(table, "upsert", rows(("a", 9, "lost")))
    assert len(instant) == 17
    assert found(honest, table) == HONEST


def test_doubles_that_refuse_declare_what_they_refuse(table):
    """One refuses everything, one what it pretends to know."""
    with connect("double:always-refuses") as double:
        assert "read.snapshot" in double.hello.features
        for work in (
            lambda: double.read(table, Query()),
            lambda: double.inspect(table),
            lambda: double.create(table, TableSpec("t", "COPY_ON_WRITE", SCHEMA, ("id",))),
            lambda: double.write(table, "insert", rows(("z", 1, None))),
        ):
            with pytest.raises(Refused):
                work()
    with connect("double:claims-features-it-lacks") as double:
        assert {"read.cdc", "merge-on-read"} <= double.hello.features
        with pytest.raises(Refused, match="merge-on-read"):
            double.read(table, Query())


@pytest.mark.parametrize(
    ("sin", "error"),
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
def test_doubles_that_break_the_dialogue_are_told_apart(table, sin, error):
    """Real processes, and the exception of their kind for each."""
    with pytest.raises(error) as caught, connect(f"double:{sin}") as double:
        double.read(table, Query())
    assert type(caught.value) is error


@pytest.mark.parametrize("sin", SINS.values(), ids=lambda sin: sin.name)
def test_every_sin_is_described_and_breaks_rules_that_exist(sin):
    """A sin names the area and the rules whose cases must catch it, or breaks the contract itself."""
    assert sin.sin
    assert sin.info.name == f"double:{sin.name}"
    assert sin.area in cases.AREAS
    assert requirement.unknown(sin.rules) == []
    assert sin.rules or sin.outcome != "fail"


@pytest.mark.parametrize("name", WITH_RULES)
def test_every_sin_against_the_data_is_caught_by_a_golden_case_that_cites_its_rule(name):
    """What a double overlooks is in some golden table, and the case says which rule that breaks.

    The reference passes that case: it is the sin that is caught.
    """
    sin = SINS[name]
    citing = [case for case in cases.find_cases() if set(case.requirements) & set(sin.rules)]
    with connect(f"double:{name}") as double, connect("reference") as honest:
        assert any(
            judge(case, name, double.hello, ask(double, case)).outcome == sin.outcome
            and judge(case, "reference", honest.hello, ask(honest, case)).outcome is Outcome.PASS
            for case in citing
            if not lacking(case.needs, double.hello)
        ), f"none of {len(citing)} cases that cite {', '.join(sin.rules)} catches it"


@pytest.mark.parametrize("sin", [sin for sin in SINS.values() if not sin.rules], ids=lambda sin: sin.name)
def test_every_sin_against_the_contract_is_caught_by_any_case_of_its_area(sin):
    """It has the outcome that it should have in a report: told apart from wrong rows."""
    needs = "merge-on-read" if sin.name == "claims-features-it-lacks" else "read.snapshot"
    case = next(c for c in cases.find_cases() if c.area == sin.area and needs in c.needs and c.expected.rows)
    try:
        with connect(f"double:{sin.name}") as double:
            outcome = judge(case, sin.name, double.hello, ask(double, case)).outcome
    except ContractError as error:
        outcome = judge_exception(error).outcome
    assert outcome == sin.outcome


def test_the_double_that_loses_writes_is_caught_by_a_relay(tmp_path):
    """What it says it wrote is not there for the next reader; the case cites a rule that it breaks."""
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
    more = ["--engine", "double:loses-writes", "--engine", "reference", "--report", str(tmp_path / "report")]
    subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, timeout=300, check=False)
    results = [Result.from_json(json.loads(line)) for line in (tmp_path / "report" / "report.jsonl").read_text().splitlines()]
    wrong = {rule for result in results if result.outcome is Outcome.FAIL for rule in result.requirements}
    assert wrong & set(SINS["loses-writes"].rules)


def test_a_distorted_copy_is_gone_afterwards(table):
    """Doubles leave nothing behind, and the table as it was."""
    with distorted(table, lambda copy: (copy / "mark").touch()) as copy:
        seen = Path(copy.removeprefix("file://"))
        assert (seen / "mark").exists()
    assert not seen.parent.exists()
    assert not (Path(table.removeprefix("file://")) / "mark").exists()
