"""Tables whose data files lack the partition columns: values come from the names of folders, also those of logged images.

The reference writes a table with the columns; then the test removes them from base files and change-capture files.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import SCHEMA, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import (
    CAPTURED,
    completion_time,
    replace_in_metadata,
    replace_size,
    table_folder,
)
from hudi_reference import create_table
from hudi_reference.files.log.cdc import Mode, decode_changes
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.files.log.writer import BlockWriter
from hudi_reference.storage import LocalStorage

SHORTER: dict[str, Any] = {**SCHEMA, "fields": [field for field in SCHEMA["fields"] if field["name"] != "city"]}
FOOTER = b"parquet.avro.schema"
PARTITION = "_hoodie_partition_path"


def _without_city_in_base_file(path: Path, folder: str | None = None) -> None:
    """Remove the column from a base file and from the schema in its footer; rows name the other `folder` if one is given."""
    rows = pq.read_table(path)
    if folder is not None:
        place = rows.column_names.index(PARTITION)
        rows = rows.set_column(place, rows.schema.field(PARTITION), pa.array([folder] * rows.num_rows))
    footer = dict(pq.read_metadata(path).metadata)
    footer.pop(b"ARROW:schema", None)
    known = json.loads(footer[FOOTER])
    fields = [field for field in known["fields"] if field["name"] != "city"]
    footer[FOOTER] = json.dumps({**known, "fields": fields}).encode()
    pq.write_table(rows.drop_columns(["city"]).replace_schema_metadata(footer), path, store_schema=False)


def _without_city_in_images(path: Path, instant: str, mode: Mode) -> None:
    """Remove the column from the images of a change-capture file."""
    blocks = list(read_log_file(LocalStorage(path.parent), path.name))
    path.write_bytes(b"".join(BlockWriter(instant, SHORTER).cdc(decode_changes(block), mode) for block in blocks))


def captured_without_cities(uri: str, mode: Mode) -> list[str]:
    """Make a table with change capture, partitioned by a column that its data files lack; return the instants."""
    table = create_table(
        uri, name="t", schema=dict(SCHEMA), record_key=("id",), partition=("city",), ordering=("ts",),
        properties={**CAPTURED, "hoodie.table.cdc.supplemental.logging.mode": mode.value},
        options={"hoodie.metadata.enable": "false"},
    )  # fmt: skip
    steps = ([row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x", "rio")], [row("a", 2, "y"), row("c", 2, "y", "rio")])
    instants = [table.upsert(as_arrow(rows)) for rows in steps]
    instants.append(table.delete(as_arrow([row("b", 3, "")]).select(["id", "city"])))
    for instant in instants:
        for path in sorted(table_folder(uri).glob(f"*/*{instant}*")):
            before, is_log = path.stat().st_size, path.suffix == ".cdc"
            if is_log:
                _without_city_in_images(path, instant, mode)
                replace_in_metadata(uri, instant, f'{path.name}": {before}', f'{path.name}": {path.stat().st_size}')
            else:
                _without_city_in_base_file(path)
                replace_size(uri, path, before)
    _say_that_columns_are_dropped(uri)
    return instants


def _say_that_columns_are_dropped(uri: str) -> None:
    properties = table_folder(uri) / ".hoodie" / "hoodie.properties"
    key = "hoodie.datasource.write.drop.partition.columns"
    properties.write_text(properties.read_text("utf-8").replace(f"{key}=false", f"{key}=true"), "utf-8")


def without_cities(uri: str, kind: pa.DataType, avro: Any, values: Sequence[Any], renamed: Mapping[str, str]) -> None:
    """Make a table partitioned by a column of this type that its data files lack, one row for each value, with other names for
    some of its folders.
    """
    fields = [{**field, "type": ["null", avro]} if field["name"] == "city" else field for field in SCHEMA["fields"]]
    table = create_table(
        uri, name="t", schema={**SCHEMA, "fields": fields}, record_key=("id",), partition=("city",), ordering=("ts",),
        options={"hoodie.metadata.enable": "false"},
    )  # fmt: skip
    rows = as_arrow([row(str(number), 1, "x") for number in range(len(values))])
    instant = table.insert(rows.set_column(rows.column_names.index("city"), "city", pa.array(values, kind)))
    for path in sorted(table_folder(uri).glob("*/*.parquet")):
        before = path.stat().st_size
        _without_city_in_base_file(path, renamed.get(path.parent.name))
        replace_size(uri, path, before)
    for old, new in renamed.items():
        (table_folder(uri) / old).rename(table_folder(uri) / new)
        for end in ('"', "/"):
            replace_in_metadata(uri, instant, f'"{old}{end}', f'"{new}{end}')
    _say_that_columns_are_dropped(uri)


@pytest.mark.needs("read.cdc", "copy-on-write", "partition.plain", "partition.dropped-columns", "merge.event-time")
@pytest.mark.requirements("LAY-008", "TYP-012")
@pytest.mark.parametrize("mode", Mode)
def test_images_have_the_values_of_the_folders(engine: Client, new_uri: Callable[[], str], mode: Mode) -> None:
    """LAY-008: the images of changes have the values of partition columns that the folders determine, whether images are logged
    without them or read from data files without them.
    """
    uri = new_uri()
    instants = captured_without_cities(uri, mode)
    begin, end = completion_time(uri, instants[0]), completion_time(uri, instants[-1])
    found = engine.read(uri, Query("cdc", begin=begin, end=end)).to_pylist()
    changes = {
        (one["op"], *(None if one[side] is None else (one[side]["id"], one[side]["city"], one[side]["value"])
                      for side in ("before", "after")))
        for one in found
    }  # fmt: skip
    assert len(found) == 3
    assert changes == {
        ("u", ("a", "oslo", "x"), ("a", "oslo", "y")),
        ("u", ("c", "rio", "x"), ("c", "rio", "y")),
        ("d", ("b", "oslo", "x"), None),
    }


READS = ("read.snapshot", "read.projection", "copy-on-write", "partition.plain", "partition.dropped-columns")


@pytest.mark.needs(*READS)
@pytest.mark.requirements("LAY-008")
def test_folders_are_decoded_only_if_the_table_says_so(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-008: a percent sign in the name of a folder belongs to the value if paths are not URL-encoded."""
    uri, values = new_uri(), ("50%25", "a%20b", "oslo")
    without_cities(uri, pa.string(), "string", values, {})
    found = engine.read(uri, Query(columns=("id", "city"))).to_pylist()
    assert sorted((one["id"], one["city"]) for one in found) == [(str(n), value) for n, value in enumerate(values)]


#: Names of folders that are not the text of a value of the type, although a lenient parser finds a value in them.
NO_VALUES: tuple[tuple[pa.DataType, Any, Any, str, str], ...] = (
    (pa.int64(), "long", 1000, "1000", "1_000"),
    (pa.int32(), "int", 7, "7", " 7"),
    (pa.int64(), "long", 7, "7", "7.0"),
    (pa.float64(), "double", 10.5, "10.5", "1_0.5"),
    (pa.float64(), "double", 0.5, "0.5", "nan"),
    (pa.float64(), "double", 0.5, "0.5", "inf"),
    (pa.decimal128(9, 2), {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, Decimal("1000.00"),
     "1000.00", "1_000.00"),
    (pa.bool_(), "boolean", True, "true", "1"),
    (pa.date32(), {"type": "int", "logicalType": "date"}, date(2026, 1, 2), "2026-01-02", "20260102"),
    (pa.date32(), {"type": "int", "logicalType": "date"}, date(2026, 1, 2), "2026-01-02", "2026-W01-5"),
)  # fmt: skip


@pytest.mark.needs(*READS)
@pytest.mark.requirements("LAY-008")
@pytest.mark.parametrize(
    ("kind", "avro", "value", "folder", "other"), NO_VALUES, ids=[f"{one[0]} {one[4]}" for one in NO_VALUES]
)
def test_a_folder_that_is_no_value_of_the_type_is_an_error(
    engine: Client, new_uri: Callable[[], str], kind: pa.DataType, avro: Any, value: Any, folder: str, other: str
) -> None:
    """LAY-008: the values of a column that no data file has are read from the names of folders. A name that no writer makes of
    a value of the column's type is an error, not a guess.
    """
    only_engines_of_this_project(engine, "what a reader does about a folder whose name is no value of the column")
    uri = new_uri()
    without_cities(uri, kind, avro, [value], {})
    assert engine.read(uri, Query(columns=("city",))).to_pylist() == [{"city": value}]
    uri = new_uri()
    without_cities(uri, kind, avro, [value], {folder: other})
    with pytest.raises(ContractError):
        engine.read(uri, Query(columns=("city",)))
