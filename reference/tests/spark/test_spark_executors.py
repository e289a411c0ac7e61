"""Executors in processes of their own, of which one is killed during a write and one during a read."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hudi_reference import open_table

pytest.importorskip("pyspark", reason="needs the extra spark")

import executors_program


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="executors are found in /proc")
def test_a_killed_executor_changes_no_row_and_leaves_no_file(tmp_path: Path) -> None:
    """TL-036: Spark runs the tasks again; each row is written and read once, and no file of a failed attempt stays."""
    command = [sys.executable, executors_program.__file__, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    expected = sorted([row["id"], row["p"], 2] for row in executors_program.rows(2).to_pylist())
    assert found == {"killed": 1, "killed by a read": True, "read": expected, "leftover": []}
    assert (
        sorted([row["id"], row["p"], row["ts"]] for row in open_table(str(tmp_path / "table")).snapshot().to_pylist())
        == expected
    )
