"""Golden tables of version 6."""

from pathlib import Path

import pyarrow as pa

from hudi_conformance.cases.schema import fixtures_root

ROW = pa.table({"id": ["z"], "ts": pa.array([1], pa.int64()), "p": ["x"], "name": ["new"]})


def golden_table(name: str) -> Path:
    """Return the folder of a golden table."""
    return fixtures_root() / "compatibility" / name / "table"
