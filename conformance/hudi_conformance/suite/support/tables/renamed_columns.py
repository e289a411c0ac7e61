"""Schemas of a table whose columns were renamed and dropped, with the ids of its schema history."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.tables.written_tables import Type, table_folder
from hudi_reference import create_table
from hudi_reference.schema.avro import META_COLUMNS

#: Ids of the columns before and after: `old` was renamed to `new`, another `old` was added, `gone` was dropped.
BEFORE, AFTER = {"id": 5, "old": 6, "gone": 7}, {"id": 5, "new": 6, "old": 8}
GROWING = {"hoodie.datasource.write.reconcile.schema": "true", "hoodie.write.set.null.for.missing.columns": "true"}

Row = dict[str, str | None]
FIRST: list[Row] = [{"id": "1", "old": "a", "gone": "x"}, {"id": "2", "old": None, "gone": "y"}]
SECOND: list[Row] = [{"id": "3", "new": "b", "old": "c"}]
#: The rows that are written under each version, one commit each.
CHANGES = ((BEFORE, FIRST), (AFTER, SECOND))


def nullable_text_schema(names: Sequence[str]) -> dict[str, Any]:
    """Return the schema of nullable texts with these names."""
    fields = [{"name": name, "type": ["null", "string"], "default": None} for name in names]
    return {"type": "record", "name": "row", "namespace": "hoodie.renamed", "fields": fields}


def schema_version(instant: str, ids: dict[str, int]) -> dict[str, Any]:
    """Return a version of the history: every column with its id, meta columns first."""
    known = {**{name: number for number, name in enumerate(META_COLUMNS)}, **ids}
    fields = [{"id": number, "name": name, "optional": True, "type": "string"} for name, number in known.items()]
    return {"max_column_id": 8, "version_id": int(instant), "type": "record", "fields": fields}


def add_extra_metadata(commit: Path, extra: dict[str, str]) -> None:
    """Add these entries to the metadata of a commit."""
    reader = fastavro.reader(io.BytesIO(commit.read_bytes()))
    (done,) = reader
    done["extraMetadata"] |= extra
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(reader.writer_schema), [done])
    commit.write_bytes(out.getvalue())


def create_altered_table(
    uri: str,
    changes: Sequence[tuple[dict[str, int], list[Row]]] = CHANGES,
    properties: Mapping[str, str] | None = None,
    options: Mapping[str, str] = GROWING,
    partition: Sequence[str] = (),
    table_type: Type = "COPY_ON_WRITE",
    before_last: Callable[[], object] = lambda: None,
) -> list[str]:
    """Create a table whose columns were renamed, dropped and added between its commits; return the instants.

    `before_last` is called before the last commit.
    """
    table = create_table(
        uri,
        name="renamed",
        schema=nullable_text_schema((*BEFORE, *partition)),
        partition=partition,
        record_key=("id",),
        table_type=table_type,
        options=options,
        properties=properties,
    )
    instants = [table.upsert(pa.Table.from_pylist(rows)) for _, rows in changes[:-1]]
    before_last()
    instants.append(table.upsert(pa.Table.from_pylist(changes[-1][1])))
    versions = [schema_version(instant, ids) for instant, (ids, _) in zip(instants, changes, strict=True)]
    meta = table_folder(uri) / ".hoodie"
    for instant, (ids, _), known in list(zip(instants, changes, versions, strict=True))[1:]:
        (file,) = (meta / "timeline").glob(f"{instant}_*commit")
        add_extra_metadata(
            file, {"schema": json.dumps(nullable_text_schema((*META_COLUMNS, *ids))), "latest_schema": json.dumps(known)}
        )
    (meta / ".schema").mkdir()
    (meta / ".schema" / f"{file.stem}.schemacommit").write_text(json.dumps({"schemas": versions[::-1]}, separators=(",", ":")))
    return instants


def read_rows(engine: Client, uri: str, **query: Any) -> list[dict[str, Any]]:
    """Return the rows of a query, by key."""
    found = engine.read(uri, Query(**{"columns": tuple(AFTER), **query})).to_pylist()
    return sorted(found, key=lambda row: str(row["id"]))
