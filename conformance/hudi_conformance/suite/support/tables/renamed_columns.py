"""Schemas of a table whose columns were renamed and dropped, with the ids of its schema history."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastavro

from hudi_reference.schema.avro import META_COLUMNS

#: Ids of the columns before and after: `old` was renamed to `new`, another `old` was added, `gone` was dropped.
BEFORE, AFTER = {"id": 5, "old": 6, "gone": 7}, {"id": 5, "new": 6, "old": 8}
GROWING = {"hoodie.datasource.write.reconcile.schema": "true", "hoodie.write.set.null.for.missing.columns": "true"}


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
