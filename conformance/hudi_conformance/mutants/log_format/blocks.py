"""Mutants in which log blocks count, and where: damage, versions, joined blocks, slices of overlapping actions."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import reader
from hudi_reference.layout.names import LogFileName
from hudi_reference.query import file_groups, log_scanner
from hudi_reference.query.log_scanner import LogScanner


@mutant(breaks="LF-036")
def blocks_count_by_their_file(patch: Patch) -> None:
    """Counts every block of a file whose own instant completed, whatever instant the block names."""
    patch.edit(LogScanner._is_applied, "return self.timeline.completion_of(block.instant) is not None", "return True")


@mutant(breaks="LF-022")
def footers_are_taken_for_empty(patch: Patch) -> None:
    """Reads four bytes where the footer is and expects the trailer behind them."""
    patch.edit(reader._Body.block, "self._map() if parts.has_footer else {}", "self._int() and {} or {}")


@mutant(breaks=("LF-017", "LF-018"))
def header_lengths_count_characters(patch: Patch) -> None:
    """Takes the length of a header text for a number of characters."""
    patch.edit(
        reader._Body._map,
        'text = self._take(self._int(), f"the value of header {key}")',
        "size = self._int(); "
        "text = str(self.file.read(self.position, self.end - self.position), errors='replace')[:size].encode(); "
        "self.position += len(text)",
    )


@mutant(breaks="BLK-017")
def reading_stops_at_damage(patch: Patch) -> None:
    """Gives up a log file at its first corrupt block."""
    patch.edit(
        LogScanner._file_blocks,
        "        end = block.end\n",
        "        end = block.end\n        if isinstance(block, CorruptBlock):\n            return\n",
    )


@mutant(breaks="BLK-017")
def damage_reaches_to_the_end(patch: Patch) -> None:
    """Takes all of a file behind damage for damaged."""
    patch.edit(reader._corrupt, "_next_magic(file, offset + 1) - offset", "file.size - offset")


@mutant(breaks="LF-005")
def versions_compared_as_text(patch: Patch) -> None:
    """Applies version 10 of a log file before version 9."""
    patch.edit(LogFileName.merge_order, "self.version, ", "str(self.version), ")


@mutant(breaks="RDR-014")
def deletes_before_rows(patch: Patch) -> None:
    """Applies the delete blocks of a slice before its data blocks."""
    patch.edit(
        LogScanner.blocks,
        "return apply_log_compactions(of_one_attempt(queue))",
        "return sorted(apply_log_compactions(of_one_attempt(queue)), key=lambda b: b.kind != BlockType.DELETE)",
    )


@mutant(breaks="LCP-003")
def joined_blocks_and_their_inputs(patch: Patch) -> None:
    """Applies the blocks that a log compaction joined before the joined one."""
    patch.edit(
        log_scanner._with_inputs_replaced,
        "block.instant not in inputs | {instant}",
        "block.instant != instant",
    )


@mutant(breaks="LCP-005")
def joined_blocks_at_their_own_instant(patch: Patch) -> None:
    """Leaves a joined block where its own instant stands, behind deltas that completed later."""
    patch.edit(
        log_scanner._with_inputs_replaced,
        "        if number == newest:\n            yield from",
        "    if newest is not None:\n        yield from",
    )


@mutant(breaks="LF-040")
def only_the_ends_of_what_was_joined(patch: Patch) -> None:
    """Takes only the first and the last of the instants that a joined block lists."""
    patch.edit(
        log_scanner._inputs_of_log_compactions,
        'update(times.split(","))',
        'update(times.split(",")[:: max(1, times.count(","))])',
    )


@mutant(breaks="LF-040")
def a_range_of_what_was_joined(patch: Patch) -> None:
    """Takes the instants that a joined block lists for a range."""
    patch.edit(
        log_scanner._inputs_of_log_compactions,
        'update(times.split(","))',
        "update(b.instant for b in queue if min(times.split(',')) <= b.instant <= max(times.split(',')))",
    )


@mutant(breaks=("NBC-002", "NBC-007", "RDR-015"))
def logs_sliced_by_their_begin(patch: Patch) -> None:
    """Puts a log into the slice that was the newest when its action began."""
    patch.edit(file_groups._slices, "if start <= joins)", "if start <= parsed.instant)")


@mutant(breaks="RDR-015")
def logs_belong_to_the_newest_slice(patch: Patch) -> None:
    """Puts every log of a group into its newest slice."""
    patch.edit(file_groups._slices, "(start for start in slices if start <= joins)", "slices")


@mutant(breaks="LAY-012")
def the_metadata_folder_is_a_partition(patch: Patch) -> None:
    """Takes data files below .hoodie for rows of the table."""
    patch.edit(file_groups.load_file_groups, "storage.list(skip=META_FOLDER)", "storage.list()")
