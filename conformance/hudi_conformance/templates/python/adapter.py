"""An adapter for hudi-conformance: JSON lines on standard input and output. It needs pyarrow and fastavro.

It reads copy-on-write tables of versions 8 and 9 and refuses everything else. Replace `snapshot` by a call of your engine,
extend FEATURES, and run smoke and the suite after each step.
"""

import json
import os
import re
import sys
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

ENGINE, VERSION = "my-engine", "0.1.0"

#: The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is.
FEATURES = [
    "table-version.9", "read.snapshot", "read.projection", "read.meta-columns", "copy-on-write", "storage.file",
    "timeline.replaced-groups", "key.complex", "meta-fields.absent", "partition.none", "partition.plain", "partition.hive",
    "partition.url-encoded", "partition.several-levels", "types.nested", "types.decimal", "types.temporal",
    "merge.commit-time", "merge.event-time",
]  # fmt: skip

#: Property, the values that are supported (an empty one: it may be absent), and the feature that any other value needs.
SUPPORTED = [
    ("hoodie.table.version", "8|9", "table-version"),
    ("hoodie.timeline.layout.version", "2", "timeline-layout"),
    ("hoodie.table.type", "COPY_ON_WRITE", "merge-on-read"),
    ("hoodie.table.base.file.format", "|PARQUET", "base-file-format"),
    ("hoodie.table.multiple.base.file.formats.enable", "|false", "base-file-format"),
    ("hoodie.datasource.write.drop.partition.columns", "|false", "partition.dropped-columns"),
    ("hoodie.bootstrap.base.path", "", "bootstrap"),
]

#: The other operations of the contract.
REFUSED = ("inspect", "compute", "create", "write", "service", "begin", "resume")

META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")
COMPLETED = re.compile(r"\d+_\d+\.(commit|replacecommit|deltacommit)")


class Refused(Exception):
    """A feature that the engine does not offer, and why it is needed."""


def read(message: dict[str, Any]) -> dict[str, Any]:
    """Write the rows of a query to an Arrow IPC file (not a stream)."""
    query, uri = message["query"], urlparse(message["table"])
    if query["kind"] != "snapshot" or query.get("by_id") or query.get("where"):
        raise Refused(f"read.{query['kind']}", "only snapshot queries without a filter are offered")
    if uri.scheme != "file":
        raise Refused(f"storage.{uri.scheme}", "only local tables are read")
    rows = snapshot(Path(unquote(uri.path)))
    rows = rows.select(query.get("columns") or [name for name in rows.column_names if name not in META])
    with pa.OSFile(message["into"], "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)
    return {"rows": message["into"]}


def snapshot(table: Path) -> pa.Table:
    """The latest committed rows of the table. Call your engine here."""
    files = [pq.ParquetFile(path).read() for path in latest_files(table)]
    if not files:
        raise Refused("read.snapshot", "the schema of a table without base files is not read")
    return pa.concat_tables(files)


def latest_files(table: Path) -> list[Path]:
    """The newest base file of each file group that was not replaced.

    The metadata of the completed writes names all of them, as long as no instant was archived.
    """
    known = properties(table)
    timeline = table / ".hoodie" / known.get("hoodie.timeline.path", "timeline")
    if (timeline / known.get("hoodie.timeline.history.path", "history") / "_version_").exists():
        raise Refused("timeline.history", "the history of the timeline is not read")
    newest: dict[tuple[str, str], Path] = {}  # by partition and file id
    replaced: set[tuple[str, str]] = set()
    schemas: set[str] = set()
    for path in sorted(path for path in timeline.iterdir() if COMPLETED.fullmatch(path.name)):
        requested = path.name.split("_")[0]
        with path.open("rb") as file:
            (commit,) = fastavro.reader(file)  # one record in an Avro container
        for partition, ids in (commit.get("partitionToReplaceFileIds") or {}).items():
            replaced.update((partition, file_id) for file_id in ids)
        for partition, stats in commit["partitionToWriteStats"].items():
            for stat in stats:
                if not stat["path"].endswith(f"_{requested}.parquet"):
                    raise Refused("merge-on-read", f"{stat['path']} is not a base file of {requested}")
                newest[partition, stat["fileId"]] = table / stat["path"]
        schemas.add((commit.get("extraMetadata") or {}).get("schema") or "")
    if len(schemas - {""}) > 1:
        raise Refused("schema.evolution", "the commits differ in their schemas")
    return [path for group, path in newest.items() if group not in replaced]


def properties(table: Path) -> dict[str, str]:
    """The entries of hoodie.properties. Tables that are damaged or not supported raise."""
    lines = (table / ".hoodie" / "hoodie.properties").read_text().splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    known = {key.strip(): value.strip() for key, value in pairs}
    for key, values, feature in SUPPORTED:
        if known.get(key, "") not in values.split("|"):
            raise Refused(feature, f"{key} is {known.get(key)}")
    name = f"{known.get('hoodie.database.name', '')}.{known['hoodie.table.name']}"
    if "\\" in name:
        raise Refused("properties", f"the escapes in {name} are not decoded")
    if known.get("hoodie.table.checksum", str(zlib.crc32(name.encode()))) != str(zlib.crc32(name.encode())):
        raise ValueError(f"the checksum in hoodie.properties is not that of {name}")
    return known


def work(message: dict[str, Any]) -> dict[str, Any]:
    """The answer without its id. Operations that are not implemented yet are refused."""
    if message["op"] == "read":
        return read(message)
    if message["op"] in REFUSED:
        raise Refused(message["op"], "not offered")
    raise ValueError(f"unknown operation {message['op']}")


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """The answer to one message; every failure becomes an error answer."""
    if message.get("op") == "hello":
        return {"protocol": 1, "engine": ENGINE, "version": VERSION, "language": "python", "features": FEATURES}
    try:
        return {"id": message["id"], **work(message)}
    except Refused as e:
        return {"id": message["id"], "refused": {"feature": e.args[0], "message": e.args[1]}}
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
