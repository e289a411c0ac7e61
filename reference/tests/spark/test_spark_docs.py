"""The Python blocks of docs/spark-engine.md run in their order."""

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark.sql.datasource", reason="needs the extra spark, whose PySpark is newer than that of other engines")

PAGE = Path(__file__).parents[3] / "docs/spark-engine.md"


def test_the_walk_of_the_page_runs(spark: Any, tmp_path: Path) -> None:
    """Each block is executed; its assertions hold."""
    assert spark  # the page gets this session
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 10
    names: dict[str, Any] = {"folder": str(tmp_path)}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{PAGE.name}, block {number}", "exec"), names)
