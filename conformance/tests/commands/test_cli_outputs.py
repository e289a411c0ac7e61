"""Commands whose output cannot be written, and object stores that cannot be reached: one line of error, no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from reference_samples import SCHEMA, trip, trips

from hudi_reference import create_table

COMMAND = [sys.executable, "-c", "from hudi_conformance.cli import app; app()"]


@pytest.fixture
def table(tmp_path: Path) -> str:
    made = create_table(str(tmp_path / "t"), name="t", schema=SCHEMA, record_key=("id",), partition=("p",))
    made.insert(trips(*(trip(f"{number}", "name" * 10, p="x") for number in range(3000))))
    return str(tmp_path / "t")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
@pytest.mark.parametrize(
    "arguments", [["read", "--format", name] for name in ("table", "jsonl", "csv", "arrow", "parquet")] + [["inspect"]], ids=str
)
def test_a_full_output_is_one_line_of_error(table: str, arguments: list[str]) -> None:
    """A command whose output cannot be written ends with exit code 3 and one line that says why."""
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run([*COMMAND, *arguments, table], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 3
    (line,) = run.stderr.splitlines()
    assert "No space left on device" in line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
@pytest.mark.parametrize("option", ["--version", "--help"])
def test_a_full_output_of_an_option_is_one_line_of_error(option: str) -> None:
    """The version and the help page, which are printed while the arguments are parsed, end as a command does."""
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run([*COMMAND, option], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 3
    (line,) = run.stderr.splitlines()
    assert "No space left on device" in line


@pytest.mark.parametrize(
    "arguments", [["read", "nowhere"], ["engines"], ["explain", "MRG-029"], ["--version"], ["--help"]], ids=str
)
def test_a_closed_output_is_one_line_of_error(arguments: list[str]) -> None:
    """A command that starts without standard output (`>&-`) ends with exit code 3 and one line that says why."""
    closed = ["sh", "-c", '"$@" >&-', "sh", *COMMAND, *arguments]
    run = subprocess.run(closed, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (3, "hudi-conformance: standard output is closed\n")


def test_used_up_memory_is_one_line_of_error(table: str) -> None:
    """A command that gets no more memory ends with exit code 3 and one line with the remedy, wherever it happens."""
    fails = "from hudi_conformance import cli\nfrom hudi_reference.query.table import Table\n"
    fails += "def fail(*_, **__):\n    bytearray(1 << 62)\nTable.view = fail\ncli.app()"
    run = subprocess.run([sys.executable, "-c", fails, "read", table], capture_output=True, text=True, check=False)
    assert run.returncode == 3
    (line,) = run.stderr.splitlines()
    assert line.startswith("hudi-conformance: Cannot allocate memory; ")
    assert "ulimit -v" in line


@pytest.mark.parametrize("format", ["table", "jsonl", "csv", "arrow"])
def test_a_closed_pipe_ends_the_command(table: str, format: str) -> None:
    """A reader that closes the pipe, as `head -1` does, ends the command without a traceback."""
    with subprocess.Popen([*COMMAND, "read", table, "--format", format], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None and run.stderr is not None
        run.stdout.read(1)
        run.stdout.close()
        said = run.stderr.read()
        assert run.wait() == 1
    assert len(said.splitlines()) <= 1 and b"Traceback" not in said


@pytest.mark.parametrize(
    "endpoint",
    ["nonsense", "http://", "", " ", "ftp://x", "http://[::1", "http://127.0.0.1:99999", "127.0.0.1:9000", "http://a b",
     "http://user:geheim@127.0.0.1:1", "http://user:ge@heim@127.0.0.1:1", "ftp://user:geheim@x"],
)  # fmt: skip
def test_a_bad_endpoint_is_a_typed_error_without_credentials(endpoint: str) -> None:
    """Misuse, StorageUnavailable: an endpoint that is no URL, or that does not answer, is one error that says so; user and
    password of the URL are not shown."""
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_REGION": "us-east-1"}
    run = subprocess.run([*COMMAND, "read", "s3://bucket/t"], env={**os.environ, **keys, "AWS_ENDPOINT_URL": endpoint},
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert run.returncode == 1
    assert run.stderr.startswith(("Misuse", "StorageUnavailable")), run.stderr
    assert "Traceback" not in run.stderr and "geheim" not in run.stderr and "heim@" not in run.stderr


def test_credentials_in_a_uri_are_refused_and_masked() -> None:
    """Misuse: a table URI holds no password; the error does not show it."""
    run = subprocess.run([*COMMAND, "read", "s3://user:geheim@bucket/t"], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "s3://***@bucket/t" in run.stderr and "geheim" not in run.stderr
