"""Tables that an engine writes, and their files on this machine."""

import io
import json
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import fastavro
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, Step, as_arrow, row

META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")
READS = ("read.snapshot", "read.projection", "partition.plain", "delete.flag")
WRITES = pytest.mark.needs("create", "write.insert", "write.upsert", "partition.plain")
Type = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
#: Properties of a table with change capture.
CAPTURED = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER"}

INSERT = Step("insert", (row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x", "rio")))
UPDATE = Step("upsert", (row("a", 2, "y"),))


def table_folder(uri: str) -> Path:
    """Return the folder of a table on this machine."""
    return Path(unquote(urlsplit(uri).path))


def files_below(folder: Path) -> dict[Path, bytes]:
    """Return the contents of the files in a folder and below it, without the checksum files of Hadoop."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".crc"}


def contents_of_data(uri: str) -> dict[Path, bytes]:
    """Return the contents of the files of a table that are not below its `.hoodie`."""
    return {path: data for path, data in files_below(table_folder(uri)).items() if ".hoodie" not in path.parts}


def write_table(engine: Client, uri: str, *steps: Step, type: str = "COPY_ON_WRITE") -> tuple[Program, list[str]]:
    """Write a table; return the program and the instants."""
    program = Program(type, "EVENT_TIME_ORDERING", True, steps)  # type: ignore[arg-type]
    engine.create(uri, program.spec())
    return program, [engine.write(uri, step.operation, as_arrow(step.rows)) for step in steps]


def base_files(uri: str) -> list[Path]:
    """Return the base files of a table, by the requested time in their names."""
    found = [p for p in table_folder(uri).rglob("*.parquet") if ".hoodie" not in p.parts]
    return sorted(found, key=lambda path: path.stem.split("_")[2])


def read_metadata(uri: str, instant: str) -> tuple[str, str, dict[str, Any]]:
    """Return the action of a completed instant, the record type in its file, and the record."""
    (file,) = (table_folder(uri) / ".hoodie" / "timeline").glob(f"{instant}_*")
    reader = fastavro.reader(io.BytesIO(file.read_bytes()))
    (record,) = reader
    assert isinstance(record, dict)
    name = json.loads(reader.metadata["avro.schema"])["name"]
    return file.suffix[1:], name.rpartition(".")[2], record


def replace_in_metadata(uri: str, instant: str, old: str, new: str) -> None:
    """Replace a part of every text in the file of a completed instant."""
    (file,) = (table_folder(uri) / ".hoodie" / "timeline").glob(f"{instant}_*")
    reader, changed = fastavro.reader(io.BytesIO(file.read_bytes())), io.BytesIO()
    assert reader.writer_schema is not None
    fastavro.writer(changed, reader.writer_schema, [json.loads(json.dumps(record).replace(old, new)) for record in reader])
    file.write_bytes(changed.getvalue())
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)


def replace_size(uri: str, path: Path, before: int) -> None:
    """Let the metadata of its write have the present size of a base file that was changed, and had `before` bytes."""
    instant = path.stem.rpartition("_")[2]
    replace_in_metadata(uri, instant, f'"fileSizeInBytes": {before}', f'"fileSizeInBytes": {path.stat().st_size}')


def data_files(uri: str) -> set[str]:
    """Return paths of base and log files below the base path."""
    home = table_folder(uri)
    paths = (path.relative_to(home) for path in home.rglob("*") if path.suffix == ".parquet" or ".log." in path.name)
    return {path.as_posix() for path in paths if ".hoodie" not in path.parts and path.suffix != ".crc"}


def completed_files(uri: str) -> list[Path]:
    """Return the completed instants of a table, by requested time."""
    return sorted((table_folder(uri) / ".hoodie" / "timeline").glob("*_*"))


def completion_time(uri: str, instant: str) -> str:
    """Return the completion time of the write with that requested time, from the name of its file."""
    (file,) = (table_folder(uri) / ".hoodie" / "timeline").glob(f"{instant}_*commit")
    return file.name.partition("_")[2].partition(".")[0]
