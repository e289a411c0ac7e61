"""TODO docstring."""

import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import fastavro
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, Step, as_arrow, row

META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")


def folder_of(uri: str) -> Path:
    """The folder of a table on this machine."""
    return Path(unquote(urlsplit(uri).path))


def written(engine: Client, uri: str, *steps: Step, type: str = "COPY_ON_WRITE") -> tuple[Program, list[str]]:
    """A table with these writes; the program and the instants."""
    program = Program(type, "EVENT_TIME_ORDERING", True, steps)  # type: ignore[arg-type]
    engine.create(uri, program.spec())
    return program, [engine.write(uri, step.operation, as_arrow(step.rows)) for step in steps]


def base_files(uri: str) -> list[Path]:
    """The base files of a table, by the requested time in their names."""
    found = [p for p in folder_of(uri).rglob("*.parquet") if ".hoodie" not in p.parts]
    return sorted(found, key=lambda path: path.stem.split("_")[2])


INSERT = Step("insert", (row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x", "rio")))


UPDATE = Step("upsert", (row("a", 2, "y"),))


WRITES = pytest.mark.needs("create", "write.insert", "write.upsert", "partition.plain")


def metadata_of(uri: str, instant: str) -> tuple[str, str, dict[str, Any]]:
    """Action of a completed instant, name of the record type in its file, and the record."""
    (file,) = (folder_of(uri) / ".hoodie" / "timeline").glob(f"{instant}_*")
    reader = fastavro.reader(io.BytesIO(file.read_bytes()))
    (record,) = reader
    assert isinstance(record, dict)
    name = json.loads(reader.metadata["avro.schema"])["name"]
    return file.suffix[1:], name.rpartition(".")[2], record


def data_files(uri: str) -> set[str]:
    """Paths of base and log files below the base path."""
    home = folder_of(uri)
    paths = (path.relative_to(home) for path in home.rglob("*") if path.suffix == ".parquet" or ".log." in path.name)
    return {path.as_posix() for path in paths if ".hoodie" not in path.parts and path.suffix != ".crc"}


def completed(uri: str) -> list[Path]:
    """The completed instants of a table, by requested time."""
    return sorted((folder_of(uri) / ".hoodie" / "timeline").glob("*_*"))
