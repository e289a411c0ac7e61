"""The options of the format, and the filters that Spark pushes: pure functions, without a session."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_reference.errors import Misuse, UnsupportedTableFeature

pytest.importorskip("pyspark.sql.datasource", reason="needs the extra spark, whose PySpark is newer than that of other engines")

from pyspark.sql.datasource import EqualTo, GreaterThan, In, IsNotNull, IsNull, Not, StringStartsWith

from hudi_spark.source.filters import comparison_of
from hudi_spark.source.options import path_of, read_arguments
from hudi_spark.tasks import check_session

BEGIN, END = "hoodie.datasource.read.begin.instanttime", "hoodie.datasource.read.end.instanttime"
TYPE, FORMAT = "hoodie.datasource.query.type", "hoodie.datasource.query.incremental.format"


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, {"query": "snapshot"}),
        ({TYPE: "snapshot"}, {"query": "snapshot"}),
        ({TYPE: "read_optimized"}, {"query": "read-optimized"}),
        ({"as.of.instant": "20260101"}, {"query": "as-of", "as_of": "20260101"}),
        ({TYPE: "snapshot", "as.of.instant": "2026-01-01"}, {"query": "as-of", "as_of": "2026-01-01"}),
        ({TYPE: "incremental", BEGIN: "1", END: "2"}, {"query": "incremental", "begin": "1", "end": "2"}),
        ({TYPE: "incremental", BEGIN: "000"}, {"query": "incremental", "begin": None}),
        ({BEGIN: "earliest"}, {"query": "incremental", "begin": None}),
        ({BEGIN: "1", "include_begin": "true"}, {"query": "incremental", "begin": "1", "include_begin": True}),
        ({TYPE: "incremental", FORMAT: "cdc", BEGIN: "1"}, {"query": "cdc", "begin": "1"}),
        ({"query": "cdc", "end": "2"}, {"query": "cdc", "end": "2"}),
        ({"hoodie.schema.on.read.enable": "true"}, {"query": "snapshot", "schema_on_read": True}),
        (
            {"where": '[["p", "=", "x"], ["n", "in", [1, 2]]]'},
            {"query": "snapshot", "where": [("p", "=", "x"), ("n", "in", [1, 2])]},
        ),
        ({"columns": "id, fare"}, {"query": "snapshot", "columns": ["id", "fare"]}),
        ({"hoodie.metadata.enable": "false"}, {"query": "snapshot"}),
    ],
)
def test_options_of_hudi_are_arguments_of_the_query(options: dict[str, str], arguments: dict[str, Any]) -> None:
    """Hudi's names and ours, in either case of letters."""
    assert read_arguments({"path": "x", **options}) == arguments
    assert read_arguments({name.upper(): value for name, value in options.items()}) == arguments


def test_an_unknown_option_is_an_error_with_the_name_that_is_meant() -> None:
    """No option is ignored."""
    with pytest.raises(Misuse) as error:
        read_arguments({"as.of.instnat": "20260101"})
    assert error.value.remedy == "did you mean as.of.instant?"
    with pytest.raises(Misuse) as error:
        read_arguments({"mergeSchema": "true"})
    assert "docs/spark-engine.md" in str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        {TYPE: "snapshots"},
        {TYPE: "incremental", FORMAT: "json"},
        {TYPE: "snapshot", FORMAT: "cdc"},
        {TYPE: "read_optimized", "query": "snapshot"},
        {"as_of": "1", "as.of.instant": "2"},
        {"include_begin": "yes"},
        {"hoodie.schema.on.read.enable": "1"},
        {"where": "p = 'x'"},
        {"where": '["p", "=", "x"]'},
        {"where": "7"},
    ],
)
def test_contradictions_are_errors(options: dict[str, str]) -> None:
    """Options that contradict each other, and values that an option does not have."""
    with pytest.raises(Misuse):
        read_arguments(options)


def test_one_path() -> None:
    """One base path, not none and not several."""
    assert path_of({"path": "file:///data"}) == "file:///data"
    for options in ({}, {"path": ""}, {"paths": '["a", "b"]'}):
        with pytest.raises(Misuse):
            path_of(options)


SCHEMA = pa.schema(
    [
        ("id", pa.string()), ("n", pa.int64()), ("f", pa.float64()), ("d", pa.date32()), ("m", pa.decimal128(9, 2)),
        ("t", pa.timestamp("us", "UTC")), ("ms", pa.timestamp("ms", "UTC")), ("s", pa.struct([("a", pa.int32())])),
    ]
)  # fmt: skip
NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("pushed", "comparison"),
    [
        (EqualTo(("id",), "a"), ("id", "=", "a")),
        (Not(EqualTo(("n",), 1)), ("n", "!=", 1)),
        (In(("n",), (1, None, 2)), ("n", "in", [1, 2])),
        (StringStartsWith(("id",), "a"), ("id", "starts with", "a")),
        (EqualTo(("d",), NOW.date()), ("d", "=", NOW.date())),
        (EqualTo(("m",), Decimal("1.00")), ("m", "=", Decimal("1.00"))),
        (GreaterThan(("t",), NOW), ("t", ">", NOW)),
        (GreaterThan(("t",), NOW.replace(tzinfo=None)), None),
        (GreaterThan(("ms",), NOW), None),
        (GreaterThan(("f",), 1.0), None),
        (EqualTo(("s", "a"), 1), ("s.a", "=", 1)),
        (Not(EqualTo(("s", "a"), 1)), ("s.a", "!=", 1)),
        (EqualTo(("s", "b"), 1), None),
        (EqualTo(("id", "a"), 1), None),
        (IsNull(("id",)), ("id", "is", None)),
        (IsNotNull(("f",)), ("f", "is not", None)),
        (IsNull(("s", "a")), ("s.a", "is", None)),
        (IsNull(("unknown",)), None),
        (Not(In(("n",), (1,))), None),
        (EqualTo(("unknown",), 1), None),
    ],
)
def test_filters_that_mean_the_same_are_pushed(pushed: Any, comparison: Any) -> None:
    """Fields of structs and tests for null are pushed; comparisons of floating-point numbers stay with Spark."""
    assert comparison_of(pushed, SCHEMA) == comparison


def test_older_releases_of_pyspark_are_refused() -> None:
    """PySpark 3.5 and 4.0 lack what the format needs; the message says so."""
    import subprocess
    import sys

    code = "import sys; sys.modules['pyspark.sql.streaming.datasource'] = None; import hudi_spark"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "ImportError: hudi_spark needs PySpark 4.2 or newer" in done.stderr


def test_sessions_of_spark_connect_are_refused() -> None:
    """The functions use the driver of this process, which such a session does not have."""
    with pytest.raises(UnsupportedTableFeature, match="Spark Connect"):
        check_session(object())
