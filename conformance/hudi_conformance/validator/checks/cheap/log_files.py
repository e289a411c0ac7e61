"""The blocks of log files, by their envelopes and headers; contents are not read."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise

import pyarrow as pa

from hudi_conformance.validator.checks.cheap.owners import may_be_at_work, why_pending
from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally, finding_of
from hudi_conformance.validator.checks.written_schemas import disagreements, schema_of_write
from hudi_conformance.validator.stored.file_views import DataFile
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.files.log.block import ROLLBACK_COMMAND, Block, BlockType, CorruptBlock, HeaderKey
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name, split_path
from hudi_reference.query.file_groups import CommittedFiles, GroupId
from hudi_reference.query.log_scanner import attempt_of
from hudi_reference.schema.avro import arrow_schema, parse_schema
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS

RESTORE = "restore the file from another copy of the table"
_DATA = (BlockType.AVRO_DATA, BlockType.HFILE_DATA, BlockType.PARQUET_DATA, BlockType.CDC_DATA)
_RENAMED = "compact the table; use the bucket engine SIMPLE"
_OVERWRITES = "Readers take a block of some columns for whole rows, and return nulls in the others."
_REFUSED = "Readers refuse the file group, because they must not skip the block."


def _log_files(table: StoredTable) -> Sequence[str]:
    """The log files of file slices, CDC files of completed writes included."""
    names = {one.path(name) for group in table.groups for one in group.slices for name in one.log_files}
    changes = {path for commit in table.groups.commits.values() for path in commit.paths}
    wanted = (path for path, file in table.data_files.items() if path in names or (file.is_change_log and path in changes))
    return table.scope.chosen(tuple(wanted))


def _blocks(table: StoredTable, path: str, tally: Tally) -> Iterator[Finding]:
    """Each block has its magic, equal lengths, parts that add up, and the headers of its type."""
    for block in read_log_file(table.storage, path, for_inspection=True):
        tally.looked("LF-012", "LF-024", "LF-010")
        if isinstance(block, CorruptBlock):
            yield _corrupt(table, block)
        else:
            yield from _headers(block, tally)
            yield from _pending(table, block, tally)
            yield from _named(table, block, tally)
            yield from _uncounted(table, block, tally)
            yield from _columns(table, block, tally)


def _committed(table: StoredTable) -> CommittedFiles:
    found: CommittedFiles = table.once("committed files", table.groups.committed_files)
    return found


def _corrupt(table: StoredTable, block: CorruptBlock) -> Finding:
    if block.error is not None:
        severity: Severity = "data-lost" if block.error.rule == "LF-012" else "wrong-answers"
        return finding_of(block.error, severity, _REFUSED, rule="LF-010", path=block.path, remedy=RESTORE)
    spans = _committed(table).spans.get(block.path, ())
    is_committed = not spans or any(block.offset < end and start < block.end for start, end in spans)
    if not is_committed:
        return Finding(
            "LF-025", "cosmetic", block.path, "Readers skip the bytes, which a crashed append left.", "a block", block.reason,
            "none is needed; the next compaction removes them", offset=block.offset,
        )  # fmt: skip
    return Finding(
        "BLK-015", "data-lost", block.path, "Committed changes in these bytes cannot be read; queries fail or lack them.",
        "a whole block", f"{block.reason}; {block.size} bytes", RESTORE, offset=block.offset,
    )  # fmt: skip


def _columns(table: StoredTable, block: Block, tally: Tally) -> Iterator[Finding]:
    """The schema in the metadata of a write has the columns of its blocks. Those of changes have columns of their own."""
    text = block.header.get(HeaderKey.SCHEMA)
    if block.kind is BlockType.CDC_DATA or not text or schema_of_write(table, block.instant) is None:
        return
    tally.looked("LF-038")
    known: set[tuple[str, str]] = table.once("fitting blocks", set)
    if (block.instant, text) in known:
        return
    with suppress(HudiError):  # `_schema` reports it
        findings = list(disagreements(table, block.instant, _arrow_schema(text)))
        known.add((block.instant, text))
        yield from findings


@lru_cache(maxsize=64)
def _arrow_schema(text: str) -> pa.Schema:
    return arrow_schema(parse_schema(text, ""))


def _pending(table: StoredTable, block: Block, tally: Tally) -> Iterator[Finding]:
    """TL-030: no block is of a write that crashed. From version 8 on such a write has files of its own, which have no owner."""
    pending: dict[str, Instant] = table.once(
        "pending writes", lambda: {one.requested: one for one in table.timeline.pending if ACTIONS[one.action].writes}
    )
    instant, file = pending.get(block.instant), table.data_files[block.path]
    tally.looked("TL-030", at=instant is not None)
    if instant is not None and not may_be_at_work(table, instant, file):
        yield Finding(
            "TL-030", "lost-space", block.path, "No query reads the block.", "blocks of completed writes",
            f"{block.size} bytes of {why_pending(table, instant)}",
            f"hudi-conformance service TABLE rollback --instant {block.instant}", offset=block.offset,
        )  # fmt: skip


def _uncounted(table: StoredTable, block: Block, tally: Tally) -> Iterator[Finding]:
    """TL-005: a completed write counted the bytes of all its blocks. Before version 8 a failed attempt could append more."""
    committed = _committed(table)
    end = max((end for _, end in committed.spans.get(block.path, ())), default=0)
    if not end or not table.properties.was_created_at_version_8 or block.path not in committed.by_write.get(block.instant, ()):
        return
    tally.looked("TL-005")
    if block.offset >= end:
        yield Finding(
            "TL-005", "wrong-answers", block.path, "Readers apply changes that the write did not count, perhaps a second time.",
            f"{end} bytes in the blocks of {block.instant}", f"another block of {block.size} bytes", RESTORE,
            offset=block.offset,
        )  # fmt: skip


def _unreadable(table: StoredTable) -> frozenset[str]:
    """The requested times of the completed writes whose metadata cannot be read, which others report."""
    return frozenset(one.requested for one in table.timeline.commits if one not in table.commits)


def _named(table: StoredTable, block: Block, tally: Tally) -> Iterator[Finding]:
    """A completed write names each file into which it wrote blocks, also where it appended to the file of another write.

    It does not name the files of its failed attempts; an attempt that succeeded is in the same file group. New file groups of
    the metadata table begin with an empty block, which no metadata names.
    """
    if table.is_metadata_table:
        return
    written = _committed(table).by_write
    is_unknown = block.instant in table.once("unreadable writes", lambda: _unreadable(table))
    if is_unknown or block.kind is BlockType.COMMAND or block.path in written.get(block.instant, (block.path,)):
        return
    tally.looked("TL-007", "LF-035")
    file = table.data_files[block.path]
    if file.group not in table.once("written groups", lambda: _written_groups(table))[block.instant]:
        yield Finding(
            "TL-007", "data-lost", block.path, "Queries lack the changes of the block, or refuse the file group.",
            f"file group {file.name.file_id} in the metadata of the write {block.instant}", "no file of the group",
            "restore the completed file of the write from another copy of the table", key=file.name.file_id,
            offset=block.offset,
        )  # fmt: skip
    elif file.name.instant != block.instant and block.path in written.get(file.name.instant, ()):
        yield _header(block, "LF-035", f"blocks of {file.name.instant}", f"a block of {block.instant}, which names other files",
                      _REFUSED)  # fmt: skip
    elif file.name.instant != block.instant and _is_of_another_slice(file, written.get(block.instant, ())):
        yield Finding(
            "LF-007", "wrong-answers", block.path, "Queries apply changes to a slice that the write did not change.",
            f"a log file of the slice to which the write {block.instant} wrote", f"the slice of {file.name.instant}",
            "compare the file with the others of its file group and delete it", offset=block.offset,
        )  # fmt: skip
    elif file.name.instant == block.instant and _is_of_the_attempt(file, written.get(block.instant, ())):
        yield Finding(
            "LF-007", "wrong-answers", block.path, "Queries apply changes that no completed write names.",
            f"a file that the metadata of the write {block.instant} names", "a file that it does not name",
            "compare the file with the others of its file group and delete it", offset=block.offset,
        )  # fmt: skip


def _is_of_another_slice(file: DataFile, named: Iterable[str]) -> bool:
    """Whether the write named log files of other slices only; in version 6 these have the instants of their slices."""
    slices = {one.instant for one in _of_its_group(file, named) if isinstance(one, LogFileName)}
    return bool(slices) and file.name.instant not in slices


def _is_of_the_attempt(file: DataFile, named: Iterable[str]) -> bool:
    """Whether the attempt that the metadata names wrote the file, so that readers take it for one of the write."""
    return any(one.write_token == file.name.write_token for one in _of_its_group(file, named))


def _of_its_group(file: DataFile, named: Iterable[str]) -> Iterator[BaseFileName | LogFileName]:
    """The names of the file's group among those paths."""
    others = (parse_data_file_name(split_path(path)[1]) for path in named)
    return (one for one in others if one is not None and one.file_id == file.name.file_id)


def _written_groups(table: StoredTable) -> dict[str, set[GroupId]]:
    """The file groups that each completed write names, by requested time."""
    commits = table.groups.commits
    return {instant.requested: {(stat.partition, stat.file_id) for stat in commits[instant].stats} for instant in commits}


def _headers(block: Block, tally: Tally) -> Iterator[Finding]:
    """The headers that readers need, by the type of the block. Blocks of version 0 have none, so that readers refuse them."""
    tally.looked("LF-035")
    if not block.instant:
        yield _header(block, "LF-035", "the header INSTANT_TIME", "no instant", _REFUSED)
    if block.kind is BlockType.COMMAND:
        tally.looked("LF-037", "LF-039")
        if block.header.get(HeaderKey.COMMAND_BLOCK_TYPE) != ROLLBACK_COMMAND:
            found = repr(block.header.get(HeaderKey.COMMAND_BLOCK_TYPE))
            yield _header(block, "LF-039", f"the command {ROLLBACK_COMMAND}", found, _REFUSED)
        elif not block.header.get(HeaderKey.TARGET_INSTANT_TIME):
            yield _header(block, "LF-037", "the header TARGET_INSTANT_TIME", "no target", _REFUSED)
    elif block.kind in _DATA:
        tally.looked("LF-038", "LF-045")
        yield from _schema(block)
        marked = block.header.get(HeaderKey.IS_PARTIAL, "false")
        if marked.lower() not in ("true", "false"):
            yield _header(block, "LF-045", "true or false in the header IS_PARTIAL", repr(marked), _OVERWRITES)
    yield from _identifier(block, tally)


def _schema(block: Block) -> Iterator[Finding]:
    try:
        parse_schema(block.header.get(HeaderKey.SCHEMA, ""), block.path)
    except HudiError as error:
        yield _header(block, "LF-038", "an Avro record schema in the header SCHEMA", str(error.found or error.message),
                      "Readers cannot decode the rows of the block.")  # fmt: skip


def _identifier(block: Block, tally: Tally) -> Iterator[Finding]:
    tally.looked("LF-044", at=HeaderKey.BLOCK_IDENTIFIER in block.header)
    try:
        attempt_of(block)
    except HudiError as error:
        yield finding_of(error, "wrong-answers", _REFUSED, rule="LF-044", path=block.path, remedy=RESTORE)


def _header(block: Block, rule: str, expected: str, found: str, meaning: str) -> Finding:
    return Finding(rule, "wrong-answers", block.path, meaning, expected, found, RESTORE, offset=block.offset)


def _names(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """A log file has the instant of its write in its name.

    With consistent hashing, deployed writers take the instant of the slice instead (ER-163), as all writers of version 6 do.
    The write token then decides the order of two files of one slice, and readers may merge the later write first.
    """
    writers: dict[tuple[str, str, str, int], list[tuple[str, LogFileName, str]]] = {}
    for instant, commit in table.commits.items() if table.has_consistent_hashing else ():
        for stat in commit.stats:
            name = table.name_of(stat.path)
            if isinstance(name, LogFileName) and not name.cdc:
                tally.looked("LF-004")
                slot = (stat.partition, name.file_id, name.instant, name.version)
                writers.setdefault(slot, []).append((instant.completion or "", name, stat.path))
                if name.instant != instant.requested and not table.opened.had_version_6:
                    yield Finding(
                        "LF-004", "cosmetic", stat.path, "Readers order the log files of a slice by these names.",
                        f"the instant {instant.requested} of the write", name.instant, _RENAMED,
                    )  # fmt: skip
    if table.opened.merge_mode == "COMMIT_TIME_ORDERING":
        yield from _merged_in_another_order(writers.values())


def _merged_in_another_order(slots: Iterable[list[tuple[str, LogFileName, str]]]) -> Iterator[Finding]:
    """Log files of one instant and version that readers merge in another order than that of their writes."""
    for files in slots:
        written = sorted(files, key=lambda one: one[0])
        for (_, name, path), (_, later, later_path) in pairwise(written):
            if later.merge_order < name.merge_order:
                yield Finding(
                    "LF-004", "wrong-answers", later_path, "Readers merge the later write first: its changes are lost.",
                    f"a name after {path}", later_path, _RENAMED,
                )  # fmt: skip


CHECKS = (
    Check("log-files.names", ("LF-004",), "cheap", _names),
    Check(
        "log-files.blocks",
        ("LF-010", "LF-012", "LF-015", "LF-017", "LF-018", "LF-024", "LF-025", "LF-027", "LF-035", "LF-037", "LF-038", "LF-039",
         "LF-007", "LF-044", "LF-045", "BLK-015", "TL-005", "TL-007", "TL-030"),
        "cheap", _blocks, _log_files,
    ),
)  # fmt: skip
