"""Tables before and after table services: files on storage, metadata of actions, rows of a reader."""

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
from hudi_conformance.suite.support.tables.written_tables import INSERT, base_files, data_files, table_folder, write_table

Json = dict[str, Any]

WRITES = ("create", "write.insert", "write.upsert", "partition.plain", "read.snapshot", "read.projection")
COMMITS: Mapping[str, str] = {"hoodie.clean.policy": "KEEP_LATEST_COMMITS"}
VERSIONS: Mapping[str, str] = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS"}


def keep_commits(number: int) -> dict[str, str]:
    """Return settings of a clean that keeps this many commits readable."""
    return {**COMMITS, "hoodie.clean.commits.retained": str(number)}


def keep_versions(number: int) -> dict[str, str]:
    """Return settings of a clean that keeps this many versions of each file group."""
    return {**VERSIONS, "hoodie.clean.fileversions.retained": str(number)}


@dataclass(frozen=True)
class Known:
    """A table, the requested times of its commits, and the rows of a reader after each."""

    uri: str
    instants: list[str]
    rows: list[list[Json]]


def create_updated_table(engine: Client, uri: str, updates: int, type: str = "COPY_ON_WRITE") -> Known:
    """Create a table with three rows in two partitions and this many updates of one of them."""
    _, instants = write_table(engine, uri, INSERT, type=type)
    rows = [read_snapshot(engine, uri)]
    for number in range(2, 2 + updates):
        step = Step("upsert", (row("a", number, f"update {number}"),))
        instants.append(engine.write(uri, step.operation, as_arrow(step.rows)))
        rows.append(read_snapshot(engine, uri))
    return Known(uri, instants, rows)


def crash_service(uri: str, instant: str, action: str, file_id: str | None = None, kind: str = "MERGE") -> Path:
    """Leave the files of a crashed service: the inflight file, a marker, and a base file, whose path is returned.

    The base file is of the first file group, or of a new one with this id; `kind` is that of its marker.
    """
    folder = table_folder(uri)
    (folder / ".hoodie" / "timeline" / f"{instant}.{action}.inflight").write_bytes(b"")
    first = base_files(uri)[0]
    found = first.with_name(f"{file_id or first.name.split('_')[0]}_9-9-9_{instant}.parquet")
    marker = folder / ".hoodie" / ".temp" / instant / first.parent.name / f"{found.name}.marker.{kind}"
    marker.parent.mkdir(parents=True)
    marker.write_bytes(b"")
    found.write_bytes(first.read_bytes())
    return found


def copy_golden_table(name: str, folder: Path, version: int = 8) -> tuple[str, list[str]]:
    """Copy the table of a golden case, or its twin of another table version; return its URI and the times of its steps."""
    name = name if version == 8 else f"{name}.version-{version}"
    case, home = fixtures_root() / name.replace(".", "/", 1), folder / "table"
    shutil.copytree(case / "table", home)
    times: list[str] = json.loads((case / "made.json").read_text("utf-8"))["requested_times"]
    return home.as_uri(), times


def read_snapshot(engine: Client, uri: str, columns: tuple[str, ...] = tuple(TYPES)) -> list[Json]:
    """Return the rows of a snapshot, in an order that does not depend on files."""
    return sort_rows(engine.read(uri, Query(columns=columns)))


def read_as_of(engine: Client, uri: str, instant: str, columns: tuple[str, ...] = tuple(TYPES)) -> list[Json]:
    """Return the rows as of an instant."""
    return sort_rows(engine.read(uri, Query("as-of", as_of=instant, columns=columns)))


def sort_rows(rows: pa.Table) -> list[Json]:
    """Return rows as values, sorted."""
    return sorted(rows.to_pylist(), key=lambda found: [(value is None, str(value)) for value in found.values()])


def instant_files(uri: str, action: str = "") -> set[str]:
    """Return the names in the timeline folder of files of this action, of all actions without one."""
    folder = table_folder(uri) / ".hoodie" / "timeline"
    names = {path.name for path in folder.iterdir() if path.is_file() and not path.name.endswith(".crc")}
    return {name for name in names if f".{action}" in name}


def read_instant_file(uri: str, instant: str, ending: str) -> tuple[str, Json]:
    """Return the record type and the record in the file of an instant with that ending (`clean.requested`, `clean`)."""
    pattern = f"{instant}.{ending}" if "." in ending else f"{instant}_*.{ending}"
    (file,) = (table_folder(uri) / ".hoodie" / "timeline").glob(pattern)
    # The deployed schema of restores has an invalid default, which a strict parser refuses.
    reader = fastavro.reader(io.BytesIO(file.read_bytes()))
    (record,) = reader
    assert isinstance(record, dict)
    name: str = json.loads(reader.metadata["avro.schema"])["name"]
    return name.rpartition(".")[2], record


def file_names(paths: list[str]) -> set[str]:
    """Return the file names in paths of any form."""
    return {path.rpartition("/")[2] for path in paths}


def data_file_names(uri: str) -> set[str]:
    """Return the names of all data files."""
    return file_names(list(data_files(uri)))


def planned_deletions(plan: Json) -> set[str]:
    """Return the names of the files that a clean plan deletes."""
    infos = (info for found in plan["filePathsToBeDeletedPerPartition"].values() for info in found)
    return file_names([info["filePath"] for info in infos])


def deleted_files(record: Json) -> set[str]:
    """Return the names of the files that a completed clean or rollback reports as deleted."""
    return file_names([name for found in record["partitionMetadata"].values() for name in found["successDeleteFiles"]])


def pending_actions(engine: Client, uri: str) -> list[Json]:
    """Return the pending actions that the engine reports."""
    found: list[Json] = engine.inspect(uri)["timeline"]["pending"]
    return found
