"""An adapter for hudi-conformance: JSON lines on standard input and output; it needs only pyarrow.

It reads simple tables itself (copy-on-write, the newest base file of each file group) and refuses all others. Replace
`snapshot` by a call of your engine, extend FEATURES, and run after each step:

    hudi-conformance smoke 'python THIS_FILE'
    hudi-conformance run 'python THIS_FILE'
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq

ENGINE, VERSION = "my-engine", "0.1.0"

#: The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is.
FEATURES = [
    "read.snapshot",
    "read.projection",
    "read.meta-columns",
    "copy-on-write",
    "partition.none",
    "partition.plain",
    "partition.hive",
    "partition.url-encoded",
    "partition.several-levels",
    "key.complex",
    "storage.file",
]

META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")
BASE_FILE = re.compile(r"([^_/]+)_(\d+-\d+-\d+)_(\d+)\.parquet")
COMPLETED = re.compile(r"(\d+)_\d+\.([a-z]+)")


class Refused(Exception):
    """The engine does not offer `feature`."""

    def __init__(self, feature: str, message: str) -> None:
        super().__init__(message)
        self.feature = feature


def hello() -> dict[str, Any]:
    """The identity and the features of the engine."""
    return {"protocol": 1, "engine": ENGINE, "version": VERSION, "language": "python", "features": FEATURES}


def read(message: dict[str, Any]) -> dict[str, Any]:
    """The rows of a query, in an Arrow IPC file."""
    query = message["query"]
    if query["kind"] != "snapshot":
        raise Refused(f"read.{query['kind']}", "only snapshot queries are offered")
    if query.get("where"):
        raise Refused("read.filter", "filters are not offered")
    rows = snapshot(local_path(message["table"]))
    columns = query.get("columns") or [name for name in rows.column_names if name not in META]
    rows = rows.select(columns)
    with pa.OSFile(message["into"], "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)
    return {"rows": message["into"]}


def snapshot(table: Path) -> pa.Table:
    """The latest committed rows of the table. Call your engine here."""
    check(properties(table))
    committed = completed_writes(table)
    newest: dict[tuple[Path, str], tuple[str, Path]] = {}
    for path in table.rglob("*.parquet"):
        name = BASE_FILE.fullmatch(path.name)
        if name is None or ".hoodie" in path.relative_to(table).parts or name[3] not in committed:
            continue
        group = (path.parent, name[1])
        instant, other = newest.get(group, ("", path))
        if instant == name[3]:
            raise Refused("read.snapshot", f"which of {path.name} and {other.name} was committed is in the commit metadata")
        newest[group] = max((instant, other), (name[3], path))
    if not newest:
        raise Refused("read.snapshot", "the schema of a table without base files is not read")
    return pa.concat_tables([pq.ParquetFile(path).read() for _, path in newest.values()])


def properties(table: Path) -> dict[str, str]:
    """Entries of hoodie.properties; escapes of Java properties are not decoded."""
    lines = (table / ".hoodie" / "hoodie.properties").read_text().splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}


def check(known: dict[str, str]) -> None:
    """Refuse every table that this adapter cannot read."""
    if known.get("hoodie.table.version") != "8":
        raise Refused("table-version", f"table version {known.get('hoodie.table.version')}, only 8 is known")
    if known.get("hoodie.timeline.layout.version") != "2":
        raise Refused("timeline-layout", "only timeline layout 2 is supported")
    if known.get("hoodie.table.type") != "COPY_ON_WRITE":
        raise Refused("merge-on-read", "log files are not read")
    if known.get("hoodie.record.merge.mode") == "CUSTOM":
        raise Refused("merge.custom", "custom merge modes are not supported")
    if known.get("hoodie.table.base.file.format", "PARQUET").upper() != "PARQUET":
        raise Refused("base-file-format", "only Parquet base files are read")


def completed_writes(table: Path) -> set[str]:
    """Requested times of the completed writes, which are the times in the names of their base files."""
    timeline = table / ".hoodie" / "timeline"
    if any((timeline / "history").glob("*.parquet")):
        raise Refused("timeline.history", "the history of the timeline is not read")
    found = [name for path in timeline.iterdir() if (name := COMPLETED.fullmatch(path.name))]
    if any(name[2] == "replacecommit" for name in found):
        raise Refused("timeline.replaced-groups", "replaced file groups are not supported")
    return {name[1] for name in found if name[2] == "commit"}


def local_path(uri: str) -> Path:
    """The folder of a file:// URI."""
    parts = urlparse(uri)
    if parts.scheme != "file":
        raise Refused(f"storage.{parts.scheme}", "only local tables are read")
    return Path(unquote(parts.path))


def refuse(message: dict[str, Any]) -> dict[str, Any]:
    """Operations that are not implemented yet."""
    named = {
        "inspect": "inspect.table",
        "write": f"write.{message.get('operation')}",
        "compute": f"compute.{message.get('function')}",
    }
    feature = named.get(message["op"], message["op"])
    raise Refused(feature.replace("_", "-"), "not offered")


def unknown(message: dict[str, Any]) -> dict[str, Any]:
    """An unknown operation."""
    raise ValueError(f"unknown operation {message['op']}")


WORK = {"read": read, "inspect": refuse, "create": refuse, "write": refuse, "compute": refuse}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """The answer to one message; every failure becomes an error answer."""
    if message.get("op") == "hello":
        return hello()
    try:
        return {"id": message["id"], **WORK.get(message["op"], unknown)(message)}
    except Refused as e:
        return {"id": message["id"], "refused": {"feature": e.feature, "message": str(e)}}
    except Exception as e:
        return {"id": message.get("id"), "error": {"message": f"{type(e).__name__}: {e}"}}


def main() -> None:
    """Read messages and write answers until bye or the end of the input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of libraries must not mix with the protocol
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("op") == "bye":
            break
        print(json.dumps(answer(message)), file=answers, flush=True)


if __name__ == "__main__":
    main()
