"""Changes of a table whose data files lack the partition columns: the logged images lack them, too.

The reference writes a table with the columns; then the test removes them from base files and change-capture files.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import SCHEMA, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import (
    CAPTURED,
    completion_time,
    replace_in_metadata,
    table_folder,
)
from hudi_reference import create_table
from hudi_reference.files.log.cdc import Mode, decode_changes
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.files.log.writer import BlockWriter
from hudi_reference.storage import LocalStorage

SHORTER: dict[str, Any] = {**SCHEMA, "fields": [field for field in SCHEMA["fields"] if field["name"] != "city"]}
FOOTER = b"parquet.avro.schema"


def _without_city_in_base_file(path: Path) -> None:
    """Remove the column from a base file and from the schema in its footer."""
    rows = pq.read_table(path)
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
            else:
                _without_city_in_base_file(path)
            start = f'{path.name}": ' if is_log else '"fileSizeInBytes": '
            replace_in_metadata(uri, instant, f"{start}{before}", f"{start}{path.stat().st_size}")
    properties = table_folder(uri) / ".hoodie" / "hoodie.properties"
    key = "hoodie.datasource.write.drop.partition.columns"
    properties.write_text(properties.read_text("utf-8").replace(f"{key}=false", f"{key}=true"), "utf-8")
    return instants


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
