"""Base files of each format that are whole, but not those that their action wrote: an error, or the rows from before.

Commit metadata has the length, the number of rows and the columns of a base file; its rows have their partition and the name of
their file. The reference writes; the engine under test reads.
"""

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.damaged_tables import Changes, check_damages_of_table
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.stored_blocks import hfile_entries
from hudi_conformance.suite.support.tables.written_tables import Type, table_folder
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.reader import hfile_of
from hudi_reference.files.hfile.writer import encode_hfile
from hudi_reference.timeline.contents.avro_container import read_record, write_record

Row = dict[str, Any]
Format = Literal["PARQUET", "ORC", "HFILE"]
#: Changes the rows of a file.
Edit = Callable[[list[Row]], list[Row]]
#: Changes the stat of a file in the metadata of its action, or the schema there.
EditMetadata = Callable[[Row, Row], None]

KINDS = {"id": "string", "ts": "long", "p": "string", "name": "string"}
FIELDS = [{"name": name, "type": ["null", kind], "default": None} for name, kind in KINDS.items()]
ARROW = pa.schema([(name, pa.int64() if kind == "long" else pa.string()) for name, kind in KINDS.items()])
FORMATS = pytest.mark.parametrize(
    "format",
    [
        "PARQUET",
        pytest.param("ORC", marks=pytest.mark.needs("base.orc")),
        pytest.param("HFILE", marks=pytest.mark.needs("base.hfile")),
    ],
)


def edit_parquet(data: bytes, edit: Edit) -> bytes:
    """Return a Parquet file with changed rows."""
    stored, out = pq.read_table(io.BytesIO(data)), io.BytesIO()
    pq.write_table(pa.Table.from_pylist(edit(stored.to_pylist()), schema=stored.schema), out)
    return out.getvalue()


def edit_orc(data: bytes, edit: Edit) -> bytes:
    """Return an ORC file with changed rows."""
    stored, out = orc.ORCFile(io.BytesIO(data)).read(), io.BytesIO()
    orc.write_table(pa.Table.from_pylist(edit(stored.to_pylist()), schema=stored.schema), out)
    return out.getvalue()


def edit_hfile(data: bytes, edit: Edit) -> bytes:
    """Return an HFile with changed rows."""
    text = hfile_of(data, "base file").schema()
    schema = fastavro.parse_schema(json.loads(text))
    rows = [fastavro.schemaless_reader(io.BytesIO(value), schema, None) for _, value in hfile_entries(data)]
    entries = []
    for row in edit(rows):
        value = io.BytesIO()
        fastavro.schemaless_writer(value, schema, row)
        entries.append(Entry(row["_hoodie_record_key"].encode(), value.getvalue()))
    return encode_hfile(entries, {"schema": text})


EDITS: Mapping[str, Callable[[bytes, Edit], bytes]] = {"PARQUET": edit_parquet, "ORC": edit_orc, "HFILE": edit_hfile}


def write_rows(engine: Client, uri: str, type: Type, format: Format) -> None:
    """Write two rows into each of two partitions, then change one of the first."""
    schema = {"type": "record", "name": "row", "fields": FIELDS}
    engine.create(
        uri,
        TableSpec("files", type, schema, ("id",), ("p",), ("ts",), properties={"hoodie.table.base.file.format": format}),
    )
    steps: tuple[tuple[Literal["insert", "upsert"], str], ...] = (("insert", "abcd"), ("upsert", "a"))
    for operation, keys in steps:
        ts = 1 if operation == "insert" else 2
        given = [{"id": key, "ts": ts, "p": "x" if key in "ab" else "y", "name": f"{key}{ts}"} for key in keys]
        table = pa.Table.from_pylist(given, schema=ARROW)
        engine.write(uri, operation, table, options={"hoodie.metadata.enable": "false"})


def base_files(folder: Path, format: Format) -> list[Path]:
    """The base files of a partition, the oldest first."""
    return sorted(folder.glob(f"*.{format.lower()}"), key=lambda path: path.stem.rpartition("_")[2])


def changed_metadata(file: Path, edit: EditMetadata) -> Changes:
    """The completed file of the action that stored this base file, with changed metadata."""
    instant = file.stem.rpartition("_")[2]
    (path,) = (file.parents[1] / ".hoodie" / "timeline").glob(f"{instant}_*")
    record = read_record(path.read_bytes(), path.name)
    stats = record["partitionToWriteStats"][file.parent.name]
    (stat,) = (stat for stat in stats if stat["path"].endswith(file.name))
    edit(stat, record["extraMetadata"])
    return {path: write_record(record.schema, record, bytes(16))}


def stored_instead(file: Path, data: bytes, *, describe: bool) -> Changes:
    """The base file has this content; with `describe` the metadata of its action has its length."""
    assert data != file.read_bytes()
    assert describe or len(data) != file.stat().st_size
    return {file: data, **(changed_metadata(file, lambda stat, _: stat.update(fileSizeInBytes=len(data))) if describe else {})}


def misspell_name(_: Row, extra: Row) -> None:
    """The schema of the action has another name for the last column."""
    schema = json.loads(extra["schema"])
    schema["fields"][-1]["name"] = "nane"
    extra["schema"] = json.dumps(schema)


def damages_of(file: Path, earlier: list[Path], other: Path, format: Format) -> Mapping[str, Changes]:
    """Damages to the base file of a slice, with the base files of earlier slices of the group and of another group."""
    data, edit = file.read_bytes(), EDITS[format]

    def renamed(rows: list[Row]) -> list[Row]:
        return [{**row, "name": "another and longer text" * 9} for row in rows]

    damages = {
        "another length": stored_instead(file, edit(data, renamed), describe=False),
        "fewer rows": stored_instead(file, edit(data, lambda rows: rows[:1]), describe=True),
        "rows of another partition": stored_instead(file, other.read_bytes(), describe=True),
        "column of another name": changed_metadata(file, misspell_name),
    }
    return damages | {path.name: stored_instead(file, path.read_bytes(), describe=True) for path in earlier}


@FORMATS
@BOTH_TYPES
@pytest.mark.needs("read.snapshot", "read.compares-files", "merge.event-time", "partition.plain")
@pytest.mark.requirements("TL-007", "TL-036", "META-009", "META-011", "BF-002")
def test_a_base_file_of_a_format_is_the_one_that_its_action_wrote(
    engine: Client, new_uri: Callable[[], str], type: Type, format: Format
) -> None:
    """TL-007: a base file of any format whose length, number of rows or columns differ from the metadata of its action, or
    whose rows have the name of another file, is an error, or the rows stay.
    """
    uri = new_uri()
    with connect("reference") as writer:
        write_rows(writer, uri, type, format)
    every = engine.read(uri, Query())
    assert sorted(every.column("name").to_pylist()) == ["a2", "b1", "c1", "d1"]
    *earlier, file = base_files(table_folder(uri) / "x", format)
    (other,) = base_files(table_folder(uri) / "y", format)
    assert len(earlier) == (type == "COPY_ON_WRITE")
    for name, changes in damages_of(file, earlier, other, format).items():
        check_damages_of_table(engine, name, uri, every, lambda _, changes=changes: [changes])  # type: ignore[misc]
