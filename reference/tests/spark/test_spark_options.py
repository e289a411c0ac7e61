"""The options of the format, and the releases and sessions that are refused: pure functions, without a session."""

from typing import Any

import pytest

from hudi_reference.errors import Misuse, UnsupportedTableFeature

pytest.importorskip("pyspark.sql.datasource", reason="needs the extra spark, whose PySpark is newer than that of other engines")

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


def test_older_releases_of_pyspark_are_refused() -> None:
    """PySpark 3.5 has no data sources in Python; the message says so."""
    import subprocess
    import sys

    code = "import sys; sys.modules['pyspark.sql.datasource'] = None; import hudi_spark"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "ImportError: hudi_spark needs PySpark 4.0 or newer" in done.stderr


def test_sessions_of_spark_connect_are_refused() -> None:
    """The functions use the driver of this process, which such a session does not have."""
    with pytest.raises(UnsupportedTableFeature, match="Spark Connect"):
        check_session(object())
