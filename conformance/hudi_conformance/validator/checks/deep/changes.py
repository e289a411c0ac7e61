"""Captured changes of writes and compactions against the rows that the same action stored."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.validator.checks.deep.files.base_files import COMMIT_TIME, REWRITE, keys_of_rows
from hudi_conformance.validator.checks.deep.groups import has_all_rows
from hudi_conformance.validator.checks.finding import Check, Finding, Tally, finding_of
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.log.block import BlockType
from hudi_reference.files.log.cdc import Change, Mode, Operation, decode_changes
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import join_path, split_path
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.timeline.contents.metadata import WriteStat

COMPACT = "COMPACT"
MODE = "hoodie.table.cdc.supplemental.logging.mode"
_MEANING = "Change queries return other changes than the write made."


@dataclass(frozen=True)
class Captured:
    """A base file and the files with the changes that its write captured."""

    base: str
    requested: str
    files: tuple[str, ...]
    #: The path of the base file before it; None for the first one of a file group.
    before: str | None = None
    #: Whether a compaction wrote them: its rows have the times of the writes that it merged.
    is_compaction: bool = False

    def __str__(self) -> str:
        return self.files[0]


def captured_of(table: StoredTable) -> Sequence[Captured]:
    """The base files of writes of the active timeline with captured changes, of which all files are on storage."""
    if not has_all_rows(table):
        return ()
    found = (
        Captured(stat.path, instant.requested, tuple(sorted(stat.changes)), _path_before(stat), commit.operation == COMPACT)
        for instant, commit in table.commits.items()
        for stat in commit.stats
        if stat.changes and (not commit.is_service or commit.operation == COMPACT) and stat.path.endswith(".parquet")
    )
    return [one for one in found if all(path in table.data_files for path in (one.base, *one.files))]


def _path_before(stat: WriteStat) -> str | None:
    return join_path(stat.partition, stat.previous_base_file) if stat.previous_base_file else None


def examine_captured(table: StoredTable, part: Captured, tally: Tally) -> Iterator[Finding]:
    """BLK-033, TYP-013 and TYP-012: each change is one, with its images, and the changes are those of the rows."""
    changes: list[Change] = []
    for path in part.files:
        try:
            for block in read_log_file(table.storage, path):
                if block.kind is BlockType.CDC_DATA:
                    changes += decode_changes(block)
        except HudiError as error:
            yield finding_of(error, "wrong-answers", _MEANING, rule="BLK-032", path=path, remedy=REWRITE)
            return
    tally.looked("TYP-013", "TYP-012", at=len(changes))
    mode = Mode((table.properties.get(MODE) or Mode.DATA_BEFORE_AFTER).upper())
    for number, change in enumerate(changes):
        if lacking := _lacking_image(change, mode):
            yield _finding("TYP-013", part, f"an image {lacking} of each {change.operation.name.lower()}",
                           f"none in change {number}", change.key)  # fmt: skip
            return
    if other := next((one.instant for one in changes if one.instant not in (None, part.requested)), None):
        yield replace(_finding("TYP-012", part, f"ts_ms={part.requested}, the write", other, None),
                      severity="cosmetic", meaning="Change queries take the time of a change from the timeline.")  # fmt: skip
    rows = read_base_file(table.storage, part.base)
    yield from _false_images(table, part, mode, changes, rows.schema)
    if not table.properties.populates_meta_fields:
        yield from _differences(table, part, mode, changes, rows, are_certain=False)
    elif COMMIT_TIME in rows.column_names:
        is_known = part.before is None or part.before in table.data_files
        written = rows
        if not part.is_compaction:
            written = rows.filter(pc.equal(rows.column(COMMIT_TIME).cast(pa.string()), part.requested))
        yield from _differences(table, part, mode, changes, written, are_certain=is_known)


def _lacking_image(change: Change, mode: Mode) -> str | None:
    """The image that the mode requires and the change lacks."""
    needs_before = mode is not Mode.OP_KEY_ONLY and change.operation is not Operation.INSERT
    if needs_before and change.before is None:
        return "before"
    needs_after = mode is Mode.DATA_BEFORE_AFTER and change.operation is not Operation.DELETE
    return "after" if needs_after and change.after is None else None


def _differences(
    table: StoredTable, part: Captured, mode: Mode, changes: Sequence[Change], written: pa.Table, *, are_certain: bool = True
) -> Iterator[Finding]:
    """The first row of the write without a change, or change without a row.

    Without meta columns it is not certain which rows of the file the write changed: then each change has a row. A row that has
    the values from before need not have a change.
    """
    stored = [one for one in changes if one.operation is not Operation.DELETE]
    names = [name for name in written.column_names if name not in META_COLUMNS]
    rows = _texts(written, names)
    before = set(_texts(read_base_file(table.storage, part.before), names)) if part.before and are_certain else set()
    if mode is not Mode.DATA_BEFORE_AFTER:
        keys, logged = keys_of_rows(table.opened, written).to_pylist(), {one.key for one in stored}
        changed = {key for key, row in zip(keys, rows, strict=True) if row not in before}
        lost, more = sorted(map(str, changed - logged)), sorted(map(str, logged - set(keys)))
    else:
        images = {_text(one.after or {}, names) for one in stored}
        lost, more = sorted(set(rows) - before - images), sorted(images - set(rows))
    if lost and are_certain:
        yield _finding("TYP-012", part, f"a change to the row {lost[0]}"[:300], "no such change", None)
    if more:
        yield _finding("TYP-012", part, "changes to rows that the write stored", f"a change to {more[0]}"[:300], None)


def _false_images(
    table: StoredTable, part: Captured, mode: Mode, changes: Sequence[Change], schema: pa.Schema
) -> Iterator[Finding]:
    """TYP-012: an image before a change is a row of the file before, as far as its columns have the same types."""
    if part.before is None or part.before not in table.data_files or mode is Mode.OP_KEY_ONLY:
        return
    before = read_base_file(table.storage, part.before)
    fields = [field for field in schema if field.name not in META_COLUMNS]
    if any(field.name not in before.column_names or before.schema.field(field.name).type != field.type for field in fields):
        return
    names = [field.name for field in fields]
    images = {_text(one.before, names) for one in changes if one.before is not None}
    if wrong := sorted(images.difference(_texts(before, names))):
        yield _finding("TYP-012", part, "images of the rows before the write", f"an image {wrong[0]}"[:300], None)


def _texts(rows: pa.Table, names: Sequence[str]) -> list[str]:
    return [_text(row, names) for row in rows.select([name for name in names if name in rows.column_names]).to_pylist()]


def _text(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """The values of a row in these columns, to be compared."""
    return repr(sorted((name, row.get(name)) for name in names))


def _finding(rule: str, part: Captured, expected: str, found: str, key: str | None) -> Finding:
    return Finding(rule, "wrong-answers", part.files[0], _MEANING, f"{expected}, in {split_path(part.base)[1]}", found,
                   "restore the file from another copy of the table; change queries are wrong without it", key)  # fmt: skip


CHANGES = Check("rows.captured-changes", ("BLK-032", "BLK-033", "TYP-012", "TYP-013"), "deep", examine_captured, captured_of,
                tables="data")  # fmt: skip
