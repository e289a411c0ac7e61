"""Count the files and functions of the reference that six core operations call, on a table of three writes."""

import json
import sys
import tempfile
import threading
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa

import hudi_reference
from hudi_reference import archive, compact, create_table, open_table
from hudi_reference.timeline.history.history import History

ROOT = str(Path(hudi_reference.__file__).parent)


def trace_functions(call: Callable[[], Any]) -> set[tuple[str, str]]:
    """(file, function) of all functions of the reference that a call executes."""
    found: set[tuple[str, str]] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT) and "<" not in code.co_name:
            found.add((code.co_filename[len(ROOT) + 1 :], code.co_qualname))

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def make_rows(start: int, ts: int) -> pa.Table:
    """Four rows, two of them with keys of the previous rows."""
    ids = [f"k{n}" for n in range(start, start + 4)]
    return pa.table({"id": ids, "name": [f"n{ts}"] * 4, "ts": [ts] * 4})


def table_of_three_writes(folder: str) -> str:
    """A merge-on-read table with an insert and two upserts; its URI."""
    uri = Path(folder, "table").as_uri()
    schema = {"type": "record", "name": "r", "fields": [
        {"name": "id", "type": "string"}, {"name": "name", "type": "string"}, {"name": "ts", "type": "long"}]}  # fmt: skip
    table = create_table(
        uri, name="trips", schema=json.dumps(schema), record_key=("id",), table_type="MERGE_ON_READ", ordering=("ts",)
    )
    table.insert(make_rows(0, 1))
    table.upsert(make_rows(2, 2))
    table.upsert(make_rows(0, 3))
    return uri


def trace_operations(uri: str) -> dict[str, set[tuple[str, str]]]:
    """The functions of each operation. Decoding and merging are the functions of a snapshot in their packages.

    The first snapshot in a process also parses schemas and settings of the table, which are kept for later ones.
    """
    snapshot, again = (trace_functions(lambda: open_table(uri).snapshot()) for _ in range(2))
    upsert = trace_functions(lambda: open_table(uri).upsert(make_rows(1, 4)))
    compaction = trace_functions(lambda: compact(open_table(uri)))
    archive(
        open_table(uri), {"hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2", "hoodie.clean.commits.retained": "1"}
    )
    storage = open_table(uri).storage
    history = trace_functions(lambda: History(storage, ".hoodie/timeline/history").instants())
    return {
        "snapshot of a merge-on-read table": snapshot,
        "  the same again": again,
        "  of that, log blocks": {f for f in snapshot if f[0].startswith("files/log")},
        "  of that, merge": {f for f in snapshot if f[0].startswith("records/")},
        "upsert": upsert,
        "compaction": compaction,
        "history": history,
    }


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tools.trace_paths", description=__doc__)
    parser.add_argument("--names", action="store_true", help="print the names of the functions too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, found in trace_operations(table_of_three_writes(folder)).items():
            print(f"{name:36} {len({file for file, _ in found}):3} files {len(found):4} functions")
            if arguments.names:
                print("".join(f"    {file}: {function}\n" for file, function in sorted(found)), end="")
