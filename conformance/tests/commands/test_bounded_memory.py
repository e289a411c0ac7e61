"""Memory of commands that read tables: bounded, with an error that names the file and the remedy."""

import io
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from reference_samples import SCHEMA, rows_of, trip, trips
from typer.testing import CliRunner

from hudi_conformance.cli import app
from hudi_conformance.commands.tables.bounded_memory import bounded_memory
from hudi_reference import create_table, open_table
from hudi_reference.limits import MEMORY_VARIABLE

GIB = 1 << 30
ELEMENTS = 20_000_000
ROWS, TEXT = 40_000, "x" * (1 << 20)


@pytest.fixture
def bomb(tmp_path: Path) -> Path:
    """The base file of a table, which has some kilobytes, and 40 GB after decoding: one text of a megabyte for each row."""
    create_table(str(tmp_path), name="t", schema=SCHEMA, record_key=("id",)).insert(trips(trip("1", "a"), trip("2", "b")))
    (base,) = tmp_path.glob("*.parquet")
    rows = pq.read_table(base)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int32()), pa.array([TEXT]))
    many = rows.take(pa.array([0] * ROWS)).set_column(rows.column_names.index("name"), "name", texts)
    out = io.BytesIO()
    pq.write_table(many.replace_schema_metadata(rows.schema.metadata), out, store_schema=False,
                   compression="zstd", dictionary_pagesize_limit=4 << 20)  # fmt: skip
    base.write_bytes(out.getvalue())
    assert len(out.getvalue()) < 10_000
    return base


def test_a_file_that_decodes_to_more_than_the_bound_is_one_finding(bomb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BF-002: the deep validation names the file and the variable, goes on with the other files, and takes no more memory."""
    monkeypatch.setenv(MEMORY_VARIABLE, str(GIB))
    run = CliRunner().invoke(app, ["validate", str(bomb.parent), "--deep"])
    assert run.exit_code == 1, run.output
    text = " ".join(run.output.split())
    assert (
        f"{bomb.name} expected an object that can be read found the file system did not read the file: Cannot allocate" in text
    )
    assert MEMORY_VARIABLE in text
    assert "40000 rows in the footer" in text


def test_the_bound_ends_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside, as many bytes as the variable says; the limits of the process are those of before afterwards."""
    monkeypatch.setenv(MEMORY_VARIABLE, str(GIB))
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with bounded_memory():
        bytearray(GIB // 4)
        with pytest.raises(MemoryError):
            bytearray(2 * GIB)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    bytearray(2 * GIB)


def test_without_the_variable_the_bound_is_what_the_machine_has_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request for a petabyte fails, and one for some megabytes does not."""
    monkeypatch.delenv(MEMORY_VARIABLE, raising=False)
    with bounded_memory():
        most, _ = resource.getrlimit(resource.RLIMIT_DATA)
        assert GIB // 4 < most < 1 << 50
        bytearray(10 << 20)


def test_the_bound_is_never_above_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of the shell (`ulimit -d`) that is smaller stays."""
    monkeypatch.setenv(MEMORY_VARIABLE, str(1 << 50))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (1 << 40, hard))
    try:
        with bounded_memory():
            assert resource.getrlimit(resource.RLIMIT_DATA)[0] == 1 << 40
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """The base file in ORC of a table with one row and a column of lists."""
    schema = {**SCHEMA, "fields": [*SCHEMA["fields"], {"name": "l", "type": {"type": "array", "items": "long"}}]}
    table = create_table(
        str(tmp_path), name="t", schema=schema, record_key=("id",), properties={"hoodie.table.base.file.format": "ORC"}
    )
    table.insert(rows_of(schema, {**trip("1", "a"), "l": [7, 8]}))
    (base,) = tmp_path.glob("*.orc")
    return base


def test_lists_are_the_same_when_another_process_reads_them(listed: Path) -> None:
    """BF-002: the rows are those of the file with and without a bound."""
    table = open_table(str(listed.parent))
    free = table.snapshot()
    with bounded_memory():
        assert table.snapshot() == free
    assert free.column("l").to_pylist() == [[7, 8]]


@pytest.mark.parametrize("bound", [200 << 20, 300 << 20, 400 << 20])
def test_false_statistics_of_a_list_do_not_end_the_command(listed: Path, bound: int) -> None:
    """BF-002: 20 million elements in 400 bytes, by the statistics one. Without memory the ORC library ends its process."""
    rows = orc.ORCFile(listed).read()
    many = pa.ListArray.from_arrays(pa.array([0, ELEMENTS], pa.int32()), pa.array(np.zeros(ELEMENTS, "int64")))
    out = io.BytesIO()
    orc.write_table(rows.set_column(rows.column_names.index("l"), "l", many), out, compression="uncompressed")
    true = b"\x08" + bytes(ELEMENTS >> shift & 127 | (128 if shift < 21 else 0) for shift in (0, 7, 14, 21))
    assert out.getvalue().count(true) == 3, "numberOfValues in the statistics of the row group, the stripe and the file"
    listed.write_bytes(out.getvalue().replace(true, b"\x08\x81\x80\x80\x00"))
    run = subprocess.run(
        [sys.executable, "-m", "hudi_conformance", "validate", str(listed.parent), "--deep"],
        env={**os.environ, MEMORY_VARIABLE: str(bound)}, text=True, capture_output=True, check=False, timeout=300,
    )  # fmt: skip
    assert run.returncode == 1, run.stderr
    text = " ".join(run.stdout.split())
    assert "the file system did not read the file: Cannot allocate" in text and MEMORY_VARIABLE in text
