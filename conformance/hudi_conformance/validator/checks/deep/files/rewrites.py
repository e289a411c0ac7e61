"""Base files against the previous ones of their file groups: rows that a write copied without changing them.

Such a row has the commit time and the sequence number that it had before (META-004, META-006), so its values must be the same.
A deployed release turned arrays into nulls when it rewrote files after a change of the schema (ER-145).
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.validator.checks.deep.files.base_files import COMMIT_TIME, BaseFile
from hudi_conformance.validator.checks.finding import Finding, Tally
from hudi_conformance.validator.stored.opened import Opened
from hudi_reference.records.changes import KEY
from hudi_reference.schema.avro import META_COLUMNS, field_names, parse_schema

_SEQUENCE = "_hoodie_commit_seqno"
_IDENTITY = (KEY, COMMIT_TIME, _SEQUENCE)


def copied_rows_are_unchanged(opened: Opened, older: BaseFile, newer: BaseFile, tally: Tally) -> Iterator[Finding]:
    """META-004: no value of a copied row is lost, and none of the same type is changed."""
    stored, written = (
        one.rows if opened.by_id is None else opened.by_id.renamed(one.rows, one.instant) for one in (older, newer)
    )
    pairs = _pairs(stored, written)
    if pairs is None:
        return
    before, after = pairs
    tally.looked("META-004", at=len(before))
    for name in _common_columns(stored, written):
        old, new = stored.column(name).take(before), written.column(name).take(after)
        lost = pc.and_(old.is_valid(), new.is_null())
        changed = differ(old, new)
        wrong = pc.indices_nonzero(lost if changed is None else pc.or_(lost, changed))
        if len(wrong):
            first = wrong[0].as_py()
            row = after[first].as_py()
            is_lost = lost[first].as_py()
            yield newer.finding(
                "META-004", "data-lost" if is_lost else "wrong-answers",
                f"Queries return {'a null' if is_lost else 'another value'}, although no write changed the value.",
                f"the value in {older.name}, column {name}: {old[first].as_py()!r}"[:300],
                f"{new[first].as_py()!r}"[:200] + (f", and {len(wrong) - 1} more rows" if len(wrong) > 1 else ""),
                newer.keys[row].as_py(),
            )  # fmt: skip

    yield from _lost_columns(opened, older, newer, before)


def _lost_columns(opened: Opened, older: BaseFile, newer: BaseFile, copied: pa.Array) -> Iterator[Finding]:
    """META-004: columns of the schema of the write with values of copied rows, which the newer file does not have."""
    write = opened.writers.get(newer.path)
    text = write[1].schema if write is not None and opened.by_id is None else None
    kept = field_names(parse_schema(text, newer.path)) if text else ()
    for name in kept:
        if name in older.rows.column_names and name not in newer.rows.column_names and name not in META_COLUMNS:
            values = older.rows.column(name).take(copied)
            if values.null_count < len(values):
                yield newer.finding(
                    "META-004", "data-lost", "Queries return nulls, although no write removed the column.",
                    f"the column {name}, which {older.name} and the schema of the write have", "no such column",
                )  # fmt: skip


def _pairs(older: pa.Table, newer: pa.Table) -> tuple[pa.Array, pa.Array] | None:
    """The numbers of the same rows in both files; None if rows cannot be identified."""
    if any(set(_IDENTITY) - set(table.column_names) for table in (older, newer)):
        return None
    sides = [_numbered(table, f"__{number}") for number, table in enumerate((older, newer))]
    found = sides[0].join(sides[1], list(_IDENTITY), join_type="inner", use_threads=False)
    unique = found.group_by(list(_IDENTITY), use_threads=False).aggregate([("__0", "count"), ("__0", "max"), ("__1", "max")])
    chosen = unique.filter(pc.equal(unique.column("__0_count"), 1))
    return chosen.column("__0_max").combine_chunks(), chosen.column("__1_max").combine_chunks()


def _numbered(table: pa.Table, name: str) -> pa.Table:
    chosen = table.select(list(_IDENTITY)).cast(pa.schema([(column, pa.string()) for column in _IDENTITY]))
    return chosen.append_column(name, pa.array(range(table.num_rows), pa.int64()))


def _common_columns(older: pa.Table, newer: pa.Table) -> Sequence[str]:
    return [name for name in older.column_names if name in newer.column_names and name not in META_COLUMNS]


def differ(old: pa.ChunkedArray, new: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Where the values differ; None if they cannot be compared, as values of different or nested types."""
    if old.type != new.type or pa.types.is_nested(old.type):
        return None
    different = pc.not_equal(old, new)
    if pa.types.is_floating(old.type):
        different = pc.and_(different, pc.invert(pc.and_(pc.is_nan(old), pc.is_nan(new))))
    return pc.fill_null(different, False)
