"""Run the rounds: `python -m tools.default_tables [--version VERSION]… [--table-version 8|9] [--only KIND]…
[--filters N] [FOLDER]`.

Apache Hudi makes each table with its default settings; then the reference and Apache Hudi take turns in writing it. After each
step both must read the same rows, with every filter, with and without data skipping, and the statistics must have the entries
of a new index. Exit code 1 if a comparison failed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.default_tables.kinds import KINDS
from tools.default_tables.rounds import Round

from hudi_conformance.engines.support.environments import python_for, to_stderr

ROOT = Path(__file__).parents[2]
#: For each table version the releases of Apache Hudi that make it.
MAKERS = {"8": ["1.0.2", "1.2.0"], "9": ["1.2.0"]}


def start_engine(version: str, table_version: str) -> Callable[..., Any]:
    """Start Apache Hudi; the function that sends it a request and returns its answer."""
    command = [python_for("apache-hudi", to_stderr), "-m", "tools.default_tables.engine", version, table_version]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.DEVNULL)  # fmt: skip

    def ask(what: str, **arguments: Any) -> Any:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({"do": what, "with": arguments}) + "\n")
        process.stdin.flush()
        lines = (line for line in process.stdout if line.startswith('{"'))  # the JVM prints warnings too
        answer = json.loads(next(lines, '{"error": "the process has ended"}'))
        if "error" in answer:
            raise RuntimeError(f"Apache Hudi {version}, {what}: {answer['error']}")
        return answer["value"]

    return ask


def main() -> int:
    """Run the rounds of all tables, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--version", action="append", choices=MAKERS["8"])
    parser.add_argument("--table-version", default="8", choices=MAKERS)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--filters", type=int, help="compare with the first N filters only, to save time")
    chosen = parser.parse_args()
    versions = chosen.version or MAKERS[chosen.table_version]
    if not set(versions) <= set(MAKERS[chosen.table_version]):
        parser.error(f"tables of version {chosen.table_version} are made by {', '.join(MAKERS[chosen.table_version])}")
    home, failed = chosen.folder or Path(tempfile.mkdtemp(prefix="default-tables-")), 0
    for version in versions:
        ask = start_engine(version, chosen.table_version)
        for kind in (one for one in KINDS if not chosen.only or one.name in chosen.only):
            started, one = time.monotonic(), Round(ask, kind, home / version, chosen.filters)
            try:
                one.run_all_steps()
            except Exception:
                one.found.append(traceback.format_exc(limit=-4))
            took = f"{time.monotonic() - started:.0f} s"
            print(f"{version} {kind.name}: {one.compared} comparisons, {len(one.found)} differ, {took}", *one.found, sep="\n  ")
            sys.stdout.flush()
            failed += bool(one.found)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
