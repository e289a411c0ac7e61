"""Log files: the content of each block against its headers, its file and the timeline.

Whether the envelopes of the blocks are intact is a matter of the cheap tier; damaged blocks are left out here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.validator.checks.deep.files.base_files import (
    COMMIT_TIME,
    NOT_UNIQUE,
    PATH,
    SEQUENCE,
    BaseFile,
    described,
    differing_times,
    keys_of_rows,
    malformed_numbers,
    severity_of_strays,
    where,
    with_unfilled_nulls,
)
from hudi_conformance.validator.checks.deep.files.counts import Counted, counts_of_a_log_file
from hudi_conformance.validator.checks.deep.files.key_generation import are_of_the_fields, computed_keys, strays
from hudi_conformance.validator.checks.finding import STRAYS, Finding, Severity, Tally, finding_of
from hudi_conformance.validator.stored.opened import Opened
from hudi_reference.errors import HudiError
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock, HeaderKey
from hudi_reference.files.log.content import Delete, decode_deletes, decode_rows, rollback_target
from hudi_reference.files.log.positions import names_base_file, positions_of
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import LogFileName, parse_data_file_name, split_path
from hudi_reference.records.changes import KEY

DATA_BLOCKS = (BlockType.AVRO_DATA, BlockType.HFILE_DATA, BlockType.PARQUET_DATA)
_DAMAGE = "Queries of the file group fail, or return its rows without these changes."
_REMEDY = "restore the file from another copy of the table, or restore the table to a savepoint before the file was written"


@dataclass(frozen=True)
class LogBlock:
    """A block with its decoded content: rows, or deletes. `base` is the base file of its slice, if there is one."""

    block: Block
    rows: pa.Table | None
    deletes: list[Delete]
    keys: pa.Array
    base: BaseFile | None

    @property
    def partition(self) -> str:
        """The partition path of its folder."""
        return split_path(self.block.path)[0]

    def finding(
        self, rule: str, severity: Severity, meaning: str, expected: str, found: str, key: str | None = None
    ) -> Finding:
        """A finding in this block."""
        return Finding(rule, severity, self.block.path, meaning, expected, found, _REMEDY, key, self.block.offset)


def log_file_findings(
    opened: Opened, path: str, base: BaseFile | None, tally: Tally, instants: set[str], counted: Counted,
    seen: Callable[[pa.Table], None] = lambda rows: None,
) -> Iterator[Finding]:  # fmt: skip
    """The findings in a log file; its records are counted, and `seen` is called with the rows of each data block.

    `instants` are those of the blocks in the log files of the slice before it; those of its own blocks are added.
    """
    for block in read_log_file(opened.storage, path, for_inspection=True):
        if isinstance(block, CorruptBlock):
            counted.is_certain = False
            continue
        try:
            decoded = _decode(opened, block, base)
            tally.looked("BLK-022")
            if decoded is not None:
                counted.add(decoded.rows, decoded.deletes, decoded.keys)
                if decoded.rows is not None:
                    seen(decoded.rows)
                for check in BLOCK_CHECKS:
                    yield from check(opened, decoded, tally)
            elif block.kind is BlockType.COMMAND:
                yield from _rollback_has_a_failed_target(opened, block, tally)
                yield from _rollback_has_blocks(opened, block, instants)
            else:
                counted.is_certain = False
        except HudiError as error:
            counted.is_certain = False
            yield finding_of(error, "wrong-answers", _DAMAGE, rule="BLK-022", path=path)
        instants.add(block.header.get(HeaderKey.INSTANT_TIME, ""))
    yield from counts_of_a_log_file(opened, path, counted, tally)


def _decode(opened: Opened, block: Block, base: BaseFile | None) -> LogBlock | None:
    """The block with its content; None for a command, and for changes that were captured."""
    if block.kind is BlockType.DELETE:
        deletes = decode_deletes(block)
        return LogBlock(block, None, deletes, pa.array([one.key for one in deletes], pa.string()), base)
    if block.kind is BlockType.CDC_DATA:
        decode_rows(block)
    if block.kind not in DATA_BLOCKS:
        return None
    rows = decode_rows(block)
    if opened.has_completed(block.instant):  # a failed write may have other columns, which no query reads
        opened.reader.conformed(lambda names: rows, opened.reader.schema, block.instant, block.path)
    filled = with_unfilled_nulls(opened, rows)
    return LogBlock(block, filled, [], keys_of_rows(opened, filled), base)


def writer_is_that_of_the_metadata(opened: Opened, log: LogBlock, tally: Tally) -> Iterator[Finding]:
    """LF-035: the block names the action whose metadata has its bytes, or else the one in the name of the file.

    Writers of version 6 appended to files of others, and what failed writes had appended is still there.
    """
    block = log.block
    tally.looked("LF-035")
    writers = [requested for requested, stat in opened.spans.get(block.path, ()) if stat.log_offset <= block.offset < stat.size]
    if writers:
        is_right = block.instant in writers
    else:
        parsed = parse_data_file_name(split_path(block.path)[1])
        is_creator = isinstance(parsed, LogFileName) and parsed.instant == block.instant
        is_right = is_creator or opened.had_version_6
    if not is_right:
        yield log.finding(
            "LF-035", "wrong-answers", "Queries leave the changes of the block out, or count them for another action.",
            f"instant {' or '.join(writers) or 'in the name of the file'}", repr(block.instant),
        )  # fmt: skip


def positions_are_those_of_the_rows(opened: Opened, log: LogBlock, tally: Tally) -> Iterator[Finding]:
    """LF-042: as many positions as records, and each is that of the row in the base file with the same key."""
    if HeaderKey.RECORD_POSITIONS not in log.block.header or log.base is None:
        return
    is_used = names_base_file(log.block, log.base.instant)
    meaning = "A reader that merges by positions changes other rows, or fails."
    tally.looked("LF-042")
    try:
        positions = positions_of(log.block)
    except HudiError as error:
        yield log.finding("LF-042", "wrong-answers" if is_used else "cosmetic", meaning, error.expected or "positions",
                          f"{error.message}: {error.found}"[:300])  # fmt: skip
        return
    if not is_used:
        yield from _positions_of_no_file(opened, log)
    elif len(positions) != len(log.keys):
        yield log.finding("LF-042", "wrong-answers", meaning, f"{len(log.keys)} positions", str(len(positions)))
    elif len(positions) and positions.max() >= len(log.base.keys):
        found = f"position {positions.max()}"
        yield log.finding("LF-042", "wrong-answers", meaning, f"rows of a base file with {len(log.base.keys)}", found)
    else:
        keys = log.base.keys.take(pa.array(positions.to_array(), pa.int64()))
        if rows := where(pc.not_equal(keys, log.keys)):
            expected = f"the row of the key {log.keys[rows[0]].as_py()!r}"
            found = f"the row of {described(keys, rows)}"
            yield log.finding("LF-042", "wrong-answers", meaning, expected, found, log.keys[rows[0]].as_py())


def _positions_of_no_file(opened: Opened, log: LogBlock) -> Iterator[Finding]:
    """LF-043: positions that are not of the base file are of an earlier one, which a completed write stored in the group."""
    named = log.block.header.get(HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS)
    file = parse_data_file_name(split_path(log.block.path)[1])
    group = (log.partition, "" if file is None else file.file_id)
    is_known = named is not None and (
        (*group, named) in opened.stored_base_files if named in opened.operations else opened.has_completed(named)
    )
    if not is_known:
        yield log.finding(
            "LF-043", "cosmetic", "Readers merge the block by its keys, which takes longer.",
            "the instant of a base file in BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS", repr(named or "no header"),
        )  # fmt: skip


def rows_have_keys(opened: Opened, log: LogBlock, tally: Tally) -> Iterator[Finding]:
    """META-007 and BLK-009: each record has a key."""
    tally.looked("META-007", "BLK-009", at=len(log.keys))
    stores = opened.properties.populates_meta_fields or bool(opened.reader.key_fields)
    stores = log.rows is None or (stores and KEY in log.rows.column_names)
    if stores and (rows := where(pc.equal(log.keys, ""), absent=True)):
        rule = "BLK-009" if log.rows is None else "META-007"
        yield log.finding(
            rule, "wrong-answers", "The changes cannot be matched with rows.", "a record key in each record",
            described(log.keys, rows),
        )  # fmt: skip


def keys_are_those_of_the_fields(opened: Opened, log: LogBlock, tally: Tally) -> Iterator[Finding]:
    """META-007: the stored key is that of the key fields, where the block has them and the key generator can be followed."""
    stores = log.rows is not None and opened.properties.populates_meta_fields
    forms = computed_keys(opened, log.rows, log.keys) if stores else ()
    if not forms or log.keys.null_count:
        return
    tally.looked("META-007", at=len(log.keys))
    if rows := where(pc.invert(are_of_the_fields(log.keys, forms))):
        yield log.finding(
            "META-007", "wrong-answers", "The change is merged with another row than that of its key fields.",
            f"the key of the fields, {forms[0][rows[0]].as_py()!r}", described(log.keys, rows), log.keys[rows[0]].as_py(),
        )  # fmt: skip


def sequence_numbers_are_well_formed(opened: Opened, log: LogBlock, tally: Tally) -> Iterator[Finding]:
    """META-005: the sequence number is made of a time, a task and a number in it; the time is the commit time of the row.

    ER-198: log compactions of Apache Hudi 1.2.0 give their rows another commit time than that of the number.
    """
    if log.rows is not None and SEQUENCE in log.rows.column_names:
        numbers = log.rows.column(SEQUENCE).cast(pa.string())
        tally.looked("META-005", at=len(numbers))
        if rows := malformed_numbers(numbers, absent=opened.properties.populates_meta_fields):
            yield log.finding("META-005", "wrong-answers", NOT_UNIQUE, "time_task_number", described(numbers, rows))
        if COMMIT_TIME in log.rows.column_names and HeaderKey.COMPACTED_BLOCK_TIMES not in log.block.header:
            for rule, meaning, expected, found, rows in differing_times(opened, log.rows):
                yield log.finding(rule, "wrong-answers", meaning, expected, found, log.keys[rows[0]].as_py())


def records_are_in_their_partition(opened: Opened, log: LogBlock, tally: Tally) -> Iterator[Finding]:
    """META-009 and BLK-013: the partition path of rows and deletes is that of the folder."""
    tally.looked("META-009" if log.rows is not None else "BLK-013", at=len(log.keys))
    if log.rows is None:
        paths = pa.array([one.partition for one in log.deletes], pa.string())
        rule, meaning = "BLK-013", "A reader that matches deletes by partition, too, does not delete the rows."
    elif PATH in log.rows.column_names:
        paths = log.rows.column(PATH).cast(pa.string())
        rule, meaning = "META-009", "A query of that partition does not return the rows, a query of this one does."
    else:
        return
    if rows := where(pc.not_equal(paths, log.partition)):
        yield log.finding(
            rule, "wrong-answers", meaning, repr(log.partition), described(paths, rows), log.keys[rows[0]].as_py()
        )


def paths_are_those_of_the_fields(opened: Opened, log: LogBlock, tally: Tally) -> Iterator[Finding]:
    """LAY-018: the folder is the partition of the rows' fields, as in base files."""
    found = None if log.rows is None else strays(opened, log.rows, log.partition)
    if found is None:
        return
    paths, rows = found
    tally.looked("LAY-018", at=len(paths))
    if rows:
        yield log.finding(
            "LAY-018", severity_of_strays(opened, (log.block.instant,)), STRAYS, repr(log.partition), described(paths, rows),
            log.keys[rows[0]].as_py(),
        )  # fmt: skip


def rows_are_of_their_write(opened: Opened, log: LogBlock, tally: Tally) -> Iterator[Finding]:
    """META-003: the rows are of the write of the block; those of a log compaction are of the writes that it merged."""
    if log.rows is None or COMMIT_TIME not in log.rows.column_names:
        return
    times = log.rows.column(COMMIT_TIME).cast(pa.string())
    tally.looked("META-003", at=len(times))
    is_compacted = HeaderKey.COMPACTED_BLOCK_TIMES in log.block.header
    differs = (pc.greater if is_compacted else pc.not_equal)(times, log.block.instant)
    if rows := where(differs, absent=opened.properties.populates_meta_fields):
        yield log.finding(
            "META-003", "wrong-answers", "Incremental queries miss these rows, or return them at a wrong time.",
            f"{'at most ' if is_compacted else ''}{log.block.instant}", described(times, rows), log.keys[rows[0]].as_py(),
        )  # fmt: skip


def compacted_blocks_are_known(opened: Opened, log: LogBlock, tally: Tally) -> Iterator[Finding]:
    """LF-040: a log compaction merged blocks of completed writes before it."""
    times = log.block.header.get(HeaderKey.COMPACTED_BLOCK_TIMES)
    if times is None:
        return
    tally.looked("LF-040")
    operation = opened.operations.get(log.block.instant)
    if operation not in (None, "LOG_COMPACT", "UNKNOWN"):
        yield log.finding(
            "LF-040", "wrong-answers", "Readers leave out the changes of the blocks that it names.",
            "the header in blocks of log compactions alone", f"a block of {operation} with it",
        )  # fmt: skip
    wrong = [time for time in times.split(",") if time > log.block.instant or not opened.has_completed(time)]
    if wrong:
        yield log.finding(
            "LF-040", "wrong-answers", "Readers replace the blocks of other writes, or apply changes twice.",
            f"completed writes before {log.block.instant}", ", ".join(wrong),
        )  # fmt: skip


def _rollback_has_a_failed_target(opened: Opened, block: Block, tally: Tally) -> Iterator[Finding]:
    """BLK-004: a rollback command names a write that did not complete. The cheap tier reports malformed commands."""
    try:
        target = rollback_target(block)
    except HudiError:
        return
    tally.looked("BLK-004")
    if any(instant.requested == target for instant in opened.groups.commits) or target in (opened.archived or ()):
        yield Finding(
            "BLK-004", "wrong-answers", block.path, "Queries leave the changes of a completed write out.",
            "the instant of a write that failed", f"{target}, which completed", _REMEDY, offset=block.offset,
        )  # fmt: skip


def _rollback_has_blocks(opened: Opened, block: Block, before: set[str]) -> Iterator[Finding]:
    """BLK-004: a rollback command follows the blocks that it rolls back, in its file or in an earlier one of the slice."""
    target = block.header.get(HeaderKey.TARGET_INSTANT_TIME)
    if target and target not in before and not opened.had_version_6:
        yield Finding(
            "BLK-004", "cosmetic", block.path, "The command rolls nothing back.",
            "the instant of blocks before the command", f"{target}, which has none", _REMEDY, offset=block.offset,
        )  # fmt: skip


#: What is checked in each block with rows or deletes.
BLOCK_CHECKS: tuple[Callable[[Opened, LogBlock, Tally], Iterator[Finding]], ...] = (
    writer_is_that_of_the_metadata, positions_are_those_of_the_rows, rows_have_keys, keys_are_those_of_the_fields,
    records_are_in_their_partition, paths_are_those_of_the_fields, rows_are_of_their_write,
    sequence_numbers_are_well_formed, compacted_blocks_are_known,
)  # fmt: skip
RULES = (
    "TL-007", "BLK-022", "LF-035", "LF-042", "LF-043", "META-007", "BLK-009", "META-009", "BLK-013", "META-003", "META-005",
    "LF-040", "BLK-004", "LAY-018",
)  # fmt: skip
