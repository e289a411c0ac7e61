"""Measure files: `python -m tools.bench.files [decode] [look-up] [memory] [bloom] [--rows N] [--rounds N] [--json FILE]`.

decode    rows of Avro log blocks: the reference compared with Avro readers on the same records, and slices with hudi-rs
look-up   keys of an HFile: bytes that are read, compared with the size of the file and the computed minimum
memory    a log file of 2 GB: the peak of anonymous memory, compared with the largest block
bloom     bloom filters: keys added and looked up per second, compared with Apache Hudi's classes
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from tools.bench.files import blooms, decoding, lookups, memory

console = Console()
Part = Callable[[Console, Path, int, int], Any]
PARTS: dict[str, Part] = {
    "decode": decoding.measure,
    "look-up": lookups.measure,
    "memory": memory.measure,
    "bloom": blooms.measure,
}


def main(
    parts: Annotated[list[str] | None, typer.Argument(help=f"of {', '.join(PARTS)}; all by default")] = None,
    rows: Annotated[int, typer.Option(help="records of a log file, entries of an HFile, keys of a filter")] = 1_000_000,
    rounds: Annotated[int, typer.Option(help="measured rounds")] = 5,
    output: Annotated[Path | None, typer.Option("--json", help="file for the figures")] = None,
) -> None:
    """Measure the selected parts one after the other."""
    figures = {}
    for part in parts or list(PARTS):
        with tempfile.TemporaryDirectory(prefix="hudi-bench-") as folder:
            figures[part] = PARTS[part](console, Path(folder), rows, rounds)
    if output is not None:
        output.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    typer.run(main)
