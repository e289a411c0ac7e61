"""`read` and `inspect` print a table in the requested form; errors are printed as one block."""

import csv
import io
import json
import weakref
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner, Result

from hudi_conformance.cli import app
from hudi_conformance.commands import predicates
from hudi_conformance.commands.row_formats import write_rows
from hudi_reference import create_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds

FIELDS = {
    "id": "string",
    "n": "long",
    "x": "double",
    "price": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
    "day": {"type": "int", "logicalType": "date"},
    "at": {"type": "long", "logicalType": "timestamp-micros"},
    "raw": "bytes",
    "city": "string",
}
FIRST = {
    "id": "a", "n": 2**60, "x": float("nan"), "price": Decimal("1.50"), "day": date(2026, 11, 21),
    "at": datetime(2026, 11, 21, 12, 0, 0, 5, UTC), "raw": b"\x00\xff", "city": 'Ulm, "old" town',
}  # fmt: skip
SECOND = dict.fromkeys(FIRST) | {"id": "b", "n": 5, "city": ""}
AS_JSON = {
    "id": "a", "n": 2**60, "x": "NaN", "price": "1.50", "day": "2026-11-21", "at": "2026-11-21T12:00:00.000005Z", "raw": "00ff",
    "city": 'Ulm, "old" town',
}  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A merge-on-read table of the reference: a base file, and a log file with one change."""
    path = tmp_path_factory.mktemp("cli") / "table"
    columns = [{"name": n, "type": ["null", t], "default": None} for n, t in FIELDS.items()]
    made = create_table(
        path.as_uri(), name="t", schema={"type": "record", "name": "t", "fields": columns}, record_key=("id",),
        table_type="MERGE_ON_READ", merge_mode="COMMIT_TIME_ORDERING",
        clock=ManualClock(1_790_000_000_000, 1000), ids=SeededIds(1),
    )  # fmt: skip
    made.insert(pa.Table.from_pylist([FIRST | {"n": 1}, SECOND], schema=ARROW))
    made.upsert(pa.Table.from_pylist([FIRST], schema=ARROW))
    return path


ARROW = pa.schema(
    {
        "id": pa.string(), "n": pa.int64(), "x": pa.float64(), "price": pa.decimal128(10, 2), "day": pa.date32(),
        "at": pa.timestamp("us", "UTC"), "raw": pa.binary(), "city": pa.string(),
    }
)  # fmt: skip


def call(*arguments: object, env: dict[str, str] | None = None) -> Result:
    """Run the command in this process."""
    return CliRunner(env=env).invoke(app, list(map(str, arguments)))


def lines(found: Result) -> list[Any]:
    """The rows of a jsonl answer."""
    assert found.exit_code == 0, found.stderr
    return sorted(map(json.loads, found.stdout.splitlines()), key=lambda r: str(r.get("id")))


def test_jsonl_has_one_object_per_row(table: Path):
    """64-bit integers as numbers, decimals and times as text, binary as hex, nulls explicit, no meta columns."""
    first, second = lines(call("read", table, "--format", "jsonl"))
    assert first == AS_JSON and list(first) == list(FIELDS)
    assert second == dict.fromkeys(FIELDS) | {"id": "b", "n": 5, "city": ""}


def test_csv_distinguishes_null_and_empty_text(table: Path):
    """A null is an empty field, an empty text is a pair of quotes; values are quoted if necessary."""
    text = call("read", table, "--format", "csv", "--columns", "id,x,city").stdout
    assert sorted(text.splitlines()) == ['a,NaN,"Ulm, ""old"" town"', 'b,,""', "id,x,city"]
    assert len(list(csv.reader(io.StringIO(text)))) == 3


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_arrow_and_parquet_keep_the_types(table: Path, tmp_path: Path, kind: str):
    """Arrow and Parquet output has the same values with their types."""
    file = tmp_path / "rows"
    assert call("read", table, "--format", kind, "-o", file).exit_code == 0
    found = pa.ipc.open_file(file).read_all() if kind == "arrow" else parquet.read_table(file)
    assert found.schema.field("price").type == pa.decimal128(10, 2)
    assert sorted(found.column("id").to_pylist()) == ["a", "b"]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "arrow", "parquet"])
def test_rows_are_written_slice_by_slice(kind: Any):
    """At most one part of the rows is in memory."""
    held: list[weakref.ref[pa.Table]] = []

    def parts() -> Iterator[pa.Table]:
        for number in range(4):
            assert sum(part() is not None for part in held) <= 2
            part = pa.table({"v": [number]})
            held.append(weakref.ref(part))
            yield part
            del part

    out = io.BytesIO()
    write_rows(parts(), kind, out)
    assert out.getvalue()


def test_failed_read_leaves_no_output_file(tmp_path: Path):
    """The output file exists with all rows or not at all; the error is printed."""
    folder, file = tmp_path / "table", tmp_path / "rows.jsonl"
    made = create_table(
        folder.as_uri(), name="t", record_key=("id",), partition=("id",),
        schema={"type": "record", "name": "t", "fields": [{"name": "id", "type": "string"}]},
    )  # fmt: skip
    made.insert(pa.table({"id": ["a", "b"]}))
    assert call("read", folder, "--format", "jsonl", "-o", file).exit_code == 0
    assert sorted(json.loads(line)["id"] for line in file.read_text().splitlines()) == ["a", "b"]
    file.unlink()
    next((folder / "b").glob("*.parquet")).write_bytes(b"PAR1 no more")
    ended = call("read", folder, "--format", "jsonl", "-o", file)
    assert ended.exit_code == 1
    assert not list(tmp_path.glob("*rows*"))
    assert not list(tmp_path.glob(".*"))


def test_default_format_shows_nulls_and_row_count(table: Path):
    """The default form."""
    text = call("read", table, "--columns", "id,n,x").stdout.splitlines()
    assert text[0].split() == ["id", "n", "x"] and text[-1] == "(2 rows)"
    assert ["b", "5", "null"] in [line.split() for line in text]


def test_options_columns_and_where(table: Path):
    """--columns selects and orders columns; --where joins comparisons with and; meta columns by name or with --meta."""
    assert lines(call("read", table, "--format", "jsonl", "--columns", "n, id", "--where", "n > 4 and city = ''")) == [
        {"n": 5, "id": "b"}
    ]
    named = lines(call("read", table, "--format", "jsonl", "--columns", "_hoodie_record_key"))
    assert {r["_hoodie_record_key"] for r in named} == {"a", "b"}
    assert list(lines(call("read", table, "--format", "jsonl", "--meta"))[0])[:2] == [
        "_hoodie_commit_time",
        "_hoodie_commit_seqno",
    ]


def test_options_for_other_queries(table: Path):
    """A read-optimized query, or one as of the first commit, does not have the change in the log file."""
    first = json.loads(call("inspect", table, "--json").stdout)["timeline"]["completed"][0]["requested"]
    for options in (["--query", "read-optimized"], ["--as-of", first]):
        assert lines(call("read", table, "--format", "jsonl", "--columns", "id,n", *options))[0] == {"id": "a", "n": 1}


def test_option_engine(table: Path):
    """--engine uses the contract and returns the same rows."""
    assert lines(call("read", table, "--engine", "reference", "--format", "jsonl", "--columns", ",".join(FIELDS)))[0] == AS_JSON
    through = lines(call("read", table, "--engine", "reference", "--format", "jsonl", "--meta"))
    assert through == lines(call("read", table, "--format", "jsonl", "--meta"))


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--columns", "nix"], 1, ["InvalidQuery", "rule      TYP-007", "expected  one of id, n,", "found     nix", "see"]),
        (
            ["--where", "n >"],
            2,
            ["expected COLUMN = VALUE, COLUMN in (VALUE, ...), COLUMN like 'PREFIX%' or COLUMN is null at 'n >'"],
        ),
        (["--as-of", "1", "--query", "snapshot"], 2, ["--as-of"]),
        (["--query", "as-of"], 2, ["--as-of is required"]),
        (["--begin", "1", "--query", "snapshot"], 2, ["incremental"]),
        (["--engine", "faulty:nothing"], 2, ["there is no faulty engine"]),
        (["--engine", "faulty:always-refuses"], 1, ["refused read.snapshot: not today"]),
        (["--engine", "faulty:crashes"], 3, ["faulty engine: out of memory, simulated"]),
    ],
)
def test_errors_are_printed_without_a_traceback(table: Path, options: list[str], code: int, says: list[str]):
    """Class, rule, expected, found and the command that explains the rule; exit code 1, 2 or 3 by the kind of error."""
    found = call("read", table, *options)
    assert found.exit_code == code
    flat = " ".join(found.stderr.replace("│", " ").split())
    assert all(" ".join(s.split()) in flat for s in says) and "Traceback" not in flat


def test_missing_table_is_an_error_with_a_remedy(tmp_path: Path):
    """A wrong path is reported by read and by inspect."""
    for command in ("read", "inspect"):
        found = call(command, tmp_path / "nowhere")
        assert (found.exit_code, found.stderr.split(":")[0]) == (1, "TableNotFound")
        assert "remedy" in found.stderr


def test_inspect_shows_timeline_and_slices(table: Path):
    """The page shows properties, instants, and each slice with its files in order."""
    text = call("inspect", table, env={"COLUMNS": "160"}).stdout
    shown = json.loads(call("inspect", table, "--json").stdout)
    ((group, content),) = shown["file_groups"][""].items()
    assert text.index("MERGE_ON_READ") < text.index("timeline") < text.index("deltacommit") < text.index(group)
    names = [content["latest"]["base_file"], *content["latest"]["log_files"]]
    assert len(names) == 2 and all(name in text for name in names)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (pa.scalar(0.1, pa.float32()), 0.1),
        (pa.scalar(float("-inf")), "-Infinity"),
        (pa.scalar(1, pa.timestamp("ms")), "1970-01-01T00:00:00.001"),
        (pa.scalar(1, pa.time32("s")), "00:00:01"),
        (pa.scalar(b"\x01\x02", pa.binary(2)), "0102"),
        (pa.scalar({"a": [1, None]}), {"a": [1, None]}),
        (pa.array([[("k", b"\x01")]], pa.map_(pa.string(), pa.binary()))[0], {"k": "01"}),
        (pa.array([[(1, 2)]], pa.map_(pa.int32(), pa.int32()))[0], [[1, 2]]),
        (pa.array(["x"]).dictionary_encode()[0], "x"),
    ],
)
def test_jsonl_has_a_form_for_every_type(value: pa.Scalar, plain: Any):
    """Nested values are JSON values by the same rules."""
    out = io.BytesIO()
    write_rows([pa.table({"v": pa.array([value], value.type)})], "jsonl", out)
    assert json.loads(out.getvalue()) == {"v": plain}


@pytest.mark.parametrize(
    ("text", "comparisons"),
    [
        ("a = 1", (("a", "=", 1),)),
        ("a>=-1.5 AND b<>'x'", (("a", ">=", -1.5), ("b", "!=", "x"))),
        ("`a b` == 'it''s and' and c = TRUE", (("a b", "=", "it's and"), ("c", "=", True))),
        ("a.b < 1e3", (("a.b", "<", 1000.0),)),
        ("a in ('x, y', 'it''s', null) and b = 1", (("a", "in", ("x, y", "it's", None)), ("b", "=", 1))),
        ("a is null and b IS  NOT null", (("a", "is", None), ("b", "is not", None))),
        ("is is null", (("is", "is", None),)),
        ("a like 'o''s%' and b LIKE '%'", (("a", "starts with", "o's"), ("b", "starts with", ""))),
        ("a IN (1,2.5 , true) AND in in ()", (("a", "in", (1, 2.5, True)), ("in", "in", ()))),
    ],
)
def test_where_has_the_syntax_of_sql(text: str, comparisons: tuple[Any, ...]):
    """Quoted texts, numbers, true and false, and lists in which null may stand; quoted words are part of the text."""
    assert predicates.parse_predicates(text) == comparisons


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a =",
        "a = b",
        "a = 1 or b = 2",
        "a = 1 and",
        "a = 'x",
        "a like 'x'",
        "a like 'x_%'",
        "a like '%x%'",
        "a = 1 b = 2",
        "a = 1x",
        "a = null",
        "a in 1",
        "a in (1",
        "a in (1,)",
        "ain (1)",
        "a is 1",
        "a is nullable",
        "a is not",
        "ais null",
        "a in (b)",
    ],
)
def test_invalid_where_is_refused(text: str):
    """A condition that cannot be parsed is an error and is not ignored."""
    with pytest.raises(predicates.InvalidWhere):
        predicates.parse_predicates(text)
