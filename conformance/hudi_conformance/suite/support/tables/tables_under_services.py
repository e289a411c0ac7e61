"""Tables as table services find and leave them: what lies on storage, what the files of actions say, what a reader gets."""

import io
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import INSERT, base_files, data_files, folder_of, written

Json = dict[str, Any]

WRITES = ("create", "write.insert", "write.upsert", "partition.plain", "read.snapshot", "read.projection")
COMMITS: Mapping[str, str] = {"hoodie.clean.policy": "KEEP_LATEST_COMMITS"}
VERSIONS: Mapping[str, str] = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS"}


def keep_commits(number: int) -> dict[str, str]:
    """Settings of a clean that keeps so many commits readable."""
    return {**COMMITS, "hoodie.clean.commits.retained": str(number)}


def keep_versions(number: int) -> dict[str, str]:
    """Settings of a clean that keeps so many versions of each file group."""
    return {**VERSIONS, "hoodie.clean.fileversions.retained": str(number)}


@dataclass(frozen=True)
class Known:
    """A table, the requested times of its commits, and the rows that a reader got after each."""

    uri: str
    instants: list[str]
    rows: list[list[Json]]


def updated(engine: Client, uri: str, updates: int, type: str = "COPY_ON_WRITE") -> Known:
    """A table with three rows in two partitions and so many updates of one of them."""
    _, instants = written(engine, uri, INSERT, type=type)
    rows = [snapshot(engine, uri)]
    for number in range(2, 2 + updates):
        step = Step("upsert", (row("a", number, f"update {number}"),))
        instants.append(engine.write(uri, step.operation, as_arrow(step.rows)))
        rows.append(snapshot(engine, uri))
    return Known(uri, instants, rows)


def half_done(uri: str, instant: str, action: str, file_id: str | None = None, kind: str = "MERGE") -> Path:
    """What a process leaves that dies in a service: the inflight file, a marker, and a base file, whose path is given back.

    The base file is of the first file group, or of a new one of this id; `kind` is that of its marker.
    """
    folder = folder_of(uri)
    (folder / ".hoodie" / "timeline" / f"{instant}.{action}.inflight").write_bytes(b"")
    first = base_files(uri)[0]
    found = first.with_name(f"{file_id or first.name.split('_')[0]}_9-9-9_{instant}.parquet")
    marker = folder / ".hoodie" / ".temp" / instant / first.parent.name / f"{found.name}.marker.{kind}"
    marker.parent.mkdir(parents=True)
    marker.write_bytes(b"")
    found.write_bytes(first.read_bytes())
    return found


def golden(name: str, folder: Path) -> tuple[str, list[str]]:
    """A copy of the table of a golden case, to be changed; its URI and the requested times of its steps."""
    case, home = fixtures_root() / name.replace(".", "/", 1), folder / "table"
    shutil.copytree(case / "table", home)
    times: list[str] = json.loads((case / "made.json").read_text("utf-8"))["requested_times"]
    return home.as_uri(), times


def snapshot(engine: Client, uri: str, columns: tuple[str, ...] = tuple(TYPES)) -> list[Json]:
    """The rows that a reader gets now, in an order that does not depend on files."""
    return ordered(engine.read(uri, Query(columns=columns)))


def as_of(engine: Client, uri: str, instant: str, columns: tuple[str, ...] = tuple(TYPES)) -> list[Json]:
    """The rows that a reader gets as of an instant."""
    return ordered(engine.read(uri, Query("as-of", as_of=instant, columns=columns)))


def ordered(rows: pa.Table) -> list[Json]:
    """Rows as values, sorted."""
    return sorted(rows.to_pylist(), key=lambda found: [(value is None, str(value)) for value in found.values()])


def instant_files(uri: str, action: str = "") -> set[str]:
    """The names in the timeline folder of files of this action, of all without one."""
    folder = folder_of(uri) / ".hoodie" / "timeline"
    names = {path.name for path in folder.iterdir() if path.is_file() and not path.name.endswith(".crc")}
    return {name for name in names if f".{action}" in name}


def said(uri: str, instant: str, ending: str) -> tuple[str, Json]:
    """The name of the record in the file of an instant with that ending (`clean.requested`, `clean`), and the record."""
    pattern = f"{instant}.{ending}" if "." in ending else f"{instant}_*.{ending}"
    (file,) = (folder_of(uri) / ".hoodie" / "timeline").glob(pattern)
    # The records of a restore have a formally wrong default as deployed, which a strict parser refuses.
    reader = fastavro.reader(io.BytesIO(file.read_bytes()))
    (record,) = reader
    assert isinstance(record, dict)
    name: str = json.loads(reader.metadata["avro.schema"])["name"]
    return name.rpartition(".")[2], record


def names_in(paths: list[str]) -> set[str]:
    """The bare names of files that a record names in whatever form."""
    return {path.rpartition("/")[2] for path in paths}


def names_of(uri: str) -> set[str]:
    """The bare names of all data files."""
    return names_in(list(data_files(uri)))


def planned_by(plan: Json) -> set[str]:
    """The names of the files that a clean plan deletes."""
    infos = (info for found in plan["filePathsToBeDeletedPerPartition"].values() for info in found)
    return names_in([info["filePath"] for info in infos])


def deleted_by(record: Json) -> set[str]:
    """The names of the files that a completed clean or rollback reports as deleted."""
    return names_in([name for found in record["partitionMetadata"].values() for name in found["successDeleteFiles"]])


def pending(engine: Client, uri: str) -> list[Json]:
    """What the engine sees as not completed."""
    found: list[Json] = engine.inspect(uri)["timeline"]["pending"]
    return found
