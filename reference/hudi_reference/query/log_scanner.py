"""The log blocks of a file slice that a query applies, spec "Reader Expectations" and "Log Format > Block types".

The blocks of all log files of the slice are put into one queue, in merge order. Blocks are left out that are not committed at
the read time, that belong to failed attempts, or that a rollback command removes. Then the compacted blocks of each log
compaction replace its inputs.

A failed attempt of a task is known by the header BLOCK_IDENTIFIER, `<attempt>,<sequence>`: the number of the attempt, and the
number of the block within it. Writers of version 8 omit it and give each attempt its own file. Earlier writers write it,
because their attempts append to one file (ER-071).
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from hudi_reference.errors import MalformedLogBlock, MalformedLogFile, damaged_committed_block
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock, HeaderKey
from hudi_reference.files.log.content import rollback_target
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.query.damage_checks import DAMAGE_CHECKS, ReadChecks
from hudi_reference.query.file_groups import CommittedFiles, FileSlice
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline

_IDENTIFIER = re.compile(r"(\d+),(\d+)", re.ASCII)
_REMEDY = "restore the file from another copy of the table"


@dataclass(frozen=True)
class LogScanner:
    """Finds the log blocks of a slice that count at the read time of `timeline`.

    Attributes:
        storage: where the log files are.
        timeline: the completed writes; its last instant is the read time.
        committed: the files of the completed writes.
        checks: whether files that do not fit together are refused.
        is_legacy: whether the table is older than version 8.
    """

    storage: Storage
    timeline: Timeline
    committed: CommittedFiles
    checks: ReadChecks = DAMAGE_CHECKS
    is_legacy: bool = False

    @implements("LF-036", "BLK-004", "BLK-005", "LF-037", "RDR-013", "RDR-014", "LCP-003")
    def blocks(self, file_slice: FileSlice) -> list[Block]:
        """The blocks to be applied, in merge order.

        A rollback command removes the blocks of its target that come before it, in all log files of the slice.

        Raises:
            CorruptCommittedBlock: committed bytes are damaged.
            MalformedLogFile: a file is shorter than its writes left it, or has no block of the write that created it.
            MalformedLogBlock: a block names no instant.
        """
        queue: list[Block] = []
        places: dict[str, list[int]] = {}
        removed: set[int] = set()
        for name in file_slice.log_files:
            for block in self._file_blocks(file_slice.path(name)):
                if block.kind is BlockType.COMMAND:
                    # ER-044: writers of version 8 write no command blocks; those of version 6 are followed.
                    removed.update(places.pop(rollback_target(block), ()))
                elif self._is_applied(block):
                    places.setdefault(block.instant, []).append(len(queue))
                    queue.append(block)
        kept = [block for place, block in enumerate(queue) if place not in removed]
        headers = {key for block in kept for key in block.header}
        if HeaderKey.BLOCK_IDENTIFIER in headers:  # of writers before version 8
            kept = drop_failed_attempts(kept)
        return apply_log_compactions(kept) if HeaderKey.COMPACTED_BLOCK_TIMES in headers else kept

    @implements("LF-036", "LCP-004", "TYP-008")
    def _is_applied(self, block: Block) -> bool:
        """Whether the block is of a completed write, not later than the read time. Change-capture blocks never are."""
        if block.kind is BlockType.CDC_DATA:
            return False
        if not block.instant:
            raise MalformedLogBlock(
                "a block without the instant that wrote it", rule="LF-035", path=block.path, offset=block.offset,
                expected="the header INSTANT_TIME",
            )  # fmt: skip
        if block.instant > self.timeline.read_time or self._is_of_failed_attempt(block):
            return False
        return self.timeline.completion_of(block.instant) is not None

    @implements("LF-006", "TL-005")
    def _is_of_failed_attempt(self, block: Block) -> bool:
        """Whether the file was created by the write of the block, and the metadata of that write does not name the file.

        Raises MalformedLogBlock if another completed write created the file, so that its content is that of another file: the
        write of the block does not name the file, or it is archived and older than the file.
        """
        written = self.committed.by_write.get(block.instant)
        if block.path in (written or ()):
            return False
        parsed = parse_data_file_name(split_path(block.path)[1])
        creator = "" if parsed is None else parsed.instant
        is_later = written is None and block.instant > creator
        if creator != block.instant and not is_later and block.path in self.committed.by_write.get(creator, ()):
            raise MalformedLogBlock(
                "the block was written by an action that did not write to this file", rule="LF-035", path=block.path,
                offset=block.offset, expected=f"blocks of {creator}", found=f"a block of {block.instant}",
                remedy=_REMEDY,
            )  # fmt: skip
        return written is not None and creator == block.instant

    @implements("BLK-016", "BLK-017", "LF-024")
    def _file_blocks(self, path: str) -> Iterator[Block]:
        """The valid blocks of a file.

        A crashed append leaves damaged bytes outside of the spans of completed writes; these are skipped. Damage inside a
        span has destroyed committed changes and is an error. So is damage in a file whose spans are not known.
        """
        spans, end = self.committed.spans.get(path, ()), 0
        is_unknown: bool | None = None  # found out at the first damage, once for each file
        size = max((after for _, after in spans), default=0)
        writers: set[str] = set()
        for block in read_log_file(self.storage, path):
            end = block.end
            if not isinstance(block, CorruptBlock):
                writers.add(block.instant)
                yield block
            # ER-048: all bytes outside of completed writes are skipped; deployed readers reject the block before them.
            else:
                is_unknown = self._has_unknown_span(path) if is_unknown is None else is_unknown
                if is_unknown or any(block.offset < after and first < block.end for first, after in spans):
                    raise damaged_committed_block(path, block.offset, block.reason)
        if end < size:
            raise MalformedLogFile(
                "the file is shorter than when its action wrote it", rule="BLK-016", path=path, offset=end,
                expected=f"{size} bytes", found=f"{end} bytes", remedy=_REMEDY,
            )  # fmt: skip
        self.checks.refuse(self._faults_of_writers(path, writers))

    @implements("BLK-016", "COMPAT-003")
    def _has_unknown_span(self, path: str) -> bool:
        """Whether a file has no known span, and a completed write or rollback may have made its bytes.

        The metadata of such a write names the file without its size, or is archived. A rollback appends a command, and does not
        always name the file. Before version 8 a crashed write may have created the file, and writes after the read time may
        have appended to it; since then a file is of the write in its name alone.
        """
        if self.committed.spans.get(path):
            return False
        if not self.is_legacy:
            return True
        parsed, start = parse_data_file_name(split_path(path)[1]), self.timeline.start
        is_older = parsed is None or start is None or parsed.instant < start
        has_rollback = any(one.action == "rollback" for one in self.timeline.instants)
        return is_older or has_rollback or any(path in written for written in self.committed.by_write.values())

    @implements("LF-035", "TL-005")
    def _faults_of_writers(self, path: str, writers: Collection[str]) -> Iterator[MalformedLogFile]:
        """A file that has no block of a completed write that names the file, and that created it or wrote bytes into it.

        The file is empty, or has the blocks of another file, such as that of a pending write.

        Args:
            path: the log file. Its name has the instant of its creator; before version 8 that of its slice.
            writers: the instants of its blocks.
        """
        parsed = parse_data_file_name(split_path(path)[1])
        known = ("" if parsed is None else parsed.instant, *self.committed.appended.get(path, ()))
        missing = next((one for one in known if one not in writers and path in self.committed.by_write.get(one, ())), None)
        if missing is not None:
            yield MalformedLogFile(
                "the file has no block of an action that wrote it", rule="LF-035", path=path,
                expected=f"a block of {missing}", found=f"blocks of {', '.join(sorted(writers))}" if writers else "no block",
                remedy=_REMEDY,
            )  # fmt: skip


@implements("LF-044")
def drop_failed_attempts(queue: Sequence[Block]) -> list[Block]:
    """The blocks without those of failed attempts. Raises MalformedLogBlock.

    Of the attempts of one instant the one with the most blocks counts; of several with equally many blocks, the last one.
    Blocks without an identifier always count.
    """
    attempts = [attempt_of(block) for block in queue]
    sizes: dict[str, dict[int, int]] = {}
    for block, attempt in zip(queue, attempts, strict=True):
        if attempt is not None:
            found = sizes.setdefault(block.instant, {})
            found[attempt] = found.get(attempt, 0) + 1
    kept = {instant: max(found, key=lambda attempt: (found[attempt], attempt)) for instant, found in sizes.items()}
    return [block for block, attempt in zip(queue, attempts, strict=True) if attempt is None or attempt == kept[block.instant]]


def attempt_of(block: Block) -> int | None:
    """The number of the attempt that wrote a block; None for a block without identifier."""
    text = block.header.get(HeaderKey.BLOCK_IDENTIFIER)
    if text is None:
        return None
    parts = _IDENTIFIER.fullmatch(text)
    if parts is None:
        raise MalformedLogBlock(
            "not an identifier of a block", rule="LF-044", path=block.path, offset=block.offset,
            expected="<attempt>,<sequence>", found=repr(text),
        )  # fmt: skip
    return int(parts[1])


@implements("LF-040", "LCP-003", "LCP-005")
def apply_log_compactions(queue: Sequence[Block]) -> list[Block]:
    """The queue with the compacted blocks of each log compaction in place of its newest input.

    If the slice has no input any more, a compaction has merged all inputs into the base file: the compacted blocks are dropped
    (ER-257).
    """
    inputs_of: dict[str, set[str]] = {}
    blocks_of: dict[str, list[Block]] = {}
    places_of: dict[str, list[int]] = {}
    for place, block in enumerate(queue):
        blocks_of.setdefault(block.instant, []).append(block)
        places_of.setdefault(block.instant, []).append(place)
        if (times := block.header.get(HeaderKey.COMPACTED_BLOCK_TIMES)) is not None:
            inputs_of.setdefault(block.instant, set()).update(times.split(","))
    merged = [[block] for block in queue]  # the blocks that are at each place now
    for instant, inputs in inputs_of.items():
        found = [place for time in inputs for place in places_of.pop(time, ())]
        for place in (*found, *places_of.pop(instant, ())):
            merged[place] = []
        if found:
            merged[max(found)] = blocks_of[instant]
            places_of[instant] = [max(found)]
    return [block for blocks in merged for block in blocks]
