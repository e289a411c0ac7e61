"""Blocks of log compactions against the blocks that they merged, as long as these are on storage."""

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.validator.checks.deep.files.base_files import REWRITE
from hudi_conformance.validator.checks.deep.files.compared_rows import first_difference, rows_by_key
from hudi_conformance.validator.checks.finding import Finding, Tally
from hudi_conformance.validator.stored.opened import Opened
from hudi_reference.files.log.block import BlockType, HeaderKey
from hudi_reference.files.log.content import decode_deletes
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.records.changes import KEY


def compacted_as_read(opened: Opened, one: FileSlice, tally: Tally) -> Iterator[Finding]:
    """LCP-005: a slice has the same rows with the compacted blocks as with the blocks that they replace.

    Blocks of later writes are left out, because they may have other types than the compacted ones.
    """
    compacted = [name for name in one.log_files if _operation(opened, one.path(name)) == "LOG_COMPACT"]
    if not compacted or one.missing or opened.had_version_6 or not opened.can_merge or opened.archived is None:
        return
    path = one.path(compacted[-1])
    listed = {time for name in compacted for time in _times(opened, one.path(name))}
    service = opened.writers[path][0]
    instants = {name: found.instant for name in one.log_files if (found := parse_data_file_name(name)) is not None}
    one = replace(one, log_files=tuple(name for name, instant in instants.items() if instant <= service.requested))
    names = [name for name in one.log_files if name not in compacted]
    present = {instants[name] for name in names}
    if not listed or not listed <= present:
        return  # another check reports blocks that list nothing; a later compaction or clean removed some of the merged ones
    tally.looked("LCP-005")
    reader = opened.reader_of(service)
    expected, found = (rows_by_key(reader, [each]) for each in (replace(one, log_files=tuple(names)), one))
    deleted = pa.array(sorted(_deleted_keys(opened, one)), pa.string())
    kept = (rows.filter(pc.invert(pc.is_in(rows.column(KEY), deleted))) for rows in (expected, found))
    fault = first_difference(*kept)
    if fault is not None:
        key, wanted, stored = fault
        meaning = "Queries return other rows since the log compaction."
        yield Finding("LCP-005", "wrong-answers", path, meaning, wanted, stored, REWRITE, key)


def _deleted_keys(opened: Opened, one: FileSlice) -> set[str]:
    """The keys of which a block has a delete: in some modes it is open which version of such a record remains (ER-106)."""
    blocks = (block for name in one.log_files for block in read_log_file(opened.storage, one.path(name)))
    return {delete.key for block in blocks if block.kind is BlockType.DELETE for delete in decode_deletes(block)}


def _operation(opened: Opened, path: str) -> str:
    written = opened.writers.get(path)
    return "" if written is None else written[1].operation


def _times(opened: Opened, path: str) -> Iterator[str]:
    """The instants of the blocks that the blocks of a file replace."""
    for block in read_log_file(opened.storage, path):
        yield from filter(None, block.header.get(HeaderKey.COMPACTED_BLOCK_TIMES, "").split(","))


RULES = ("LCP-005",)
