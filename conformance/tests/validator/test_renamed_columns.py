"""The deep checks on tables whose columns were renamed: values are compared by the field ids of the schema history."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hudi_conformance.suite.support.tables.renamed_columns import (
    AFTER,
    BEFORE,
    GROWING,
    add_extra_metadata,
    nullable_text_schema,
    schema_version,
)
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference import compact, create_table, open_table
from hudi_reference.schema.avro import META_COLUMNS

TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")


def rewritten_after_a_rename(folder: Path, type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"]) -> str:
    """Make a table with a file of former names and one with a copy of its rows under the present names; return its instant."""
    table = create_table(
        str(folder), name="renamed", schema=nullable_text_schema(tuple(BEFORE)), record_key=("id",), table_type=type,
        options=GROWING,
    )  # fmt: skip
    first = table.upsert(pa.Table.from_pylist([{"id": key, "old": f"old {key}", "gone": "x"} for key in "12"]))
    second = table.upsert(pa.Table.from_pylist([{"id": "3", "new": "c", "old": "d"}]))
    versions = [schema_version(first, BEFORE), schema_version(second, AFTER)]
    meta = folder / ".hoodie"
    (done,) = (path for path in (meta / "timeline").glob(f"{second}_*"))
    schema = json.dumps(nullable_text_schema((*META_COLUMNS, *AFTER)))
    add_extra_metadata(done, {"schema": schema, "latest_schema": json.dumps(versions[1])})
    (meta / ".schema").mkdir()
    (meta / ".schema" / f"{done.stem}.schemacommit").write_text(json.dumps({"schemas": versions[::-1]}))
    by_id = replace(open_table(str(folder)), schema_on_read=True, options=GROWING)
    last = by_id.upsert(pa.Table.from_pylist([{"id": "1", "new": "changed", "old": None}]))
    if type == "MERGE_ON_READ":
        last = compact(by_id, {"hoodie.compact.inline.max.delta.commits": "1"}) or ""
    return last


def found_in(folder: Path) -> set[str]:
    """Return the rules that the table breaks."""
    return {found.rule for found in validate(load_table(str(folder)), ALL).findings}


@pytest.mark.parametrize("type", TYPES)
def test_a_renamed_column_has_its_values_in_rewritten_files(
    tmp_path: Path, type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
) -> None:
    """A file that a write or compaction made after the rename has the values of the older one under another name."""
    rewritten_after_a_rename(tmp_path, type)
    assert found_in(tmp_path) == set()


@pytest.mark.parametrize("type", TYPES)
def test_a_lost_value_of_a_renamed_column_is_found(tmp_path: Path, type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"]) -> None:
    """A copied row without the value that an older file has under the former name of the column has lost it."""
    last = rewritten_after_a_rename(tmp_path, type)
    path = max(tmp_path.glob(f"*_{last}.parquet"), key=lambda found: pq.read_metadata(found).num_rows)
    rows = pq.read_table(path)
    is_copied = pc.equal(rows.column("id"), "2")
    lost = pc.if_else(is_copied, pa.scalar(None, pa.string()), rows.column("new"))
    pq.write_table(rows.set_column(rows.column_names.index("new"), rows.schema.field("new"), lost), path)
    assert "META-004" in found_in(tmp_path)
