"""Planted bugs in which log blocks count, and where: damage, versions, joined blocks, slices of overlapping actions."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.files.log import reader
from hudi_reference.layout.names import LogFileName
from hudi_reference.query import file_groups, slice_reader
from hudi_reference.query.slice_reader import SliceReader


@planted(breaks="LF-036")
def blocks_count_by_their_file(bug: Bug) -> None:
    """Counts every block of a file whose own instant completed, whatever instant the block names."""
    bug.edit(SliceReader._counts, "return self.timeline.completion_of(block.instant) is not None", "return True")


@planted(breaks="LF-022")
def footers_are_taken_for_empty(bug: Bug) -> None:
    """Reads four bytes where the footer is and expects the trailer behind them."""
    bug.edit(reader._Body.block, "self._map() if parts.has_footer else {}", "self._int() and {} or {}")


@planted(breaks=("LF-017", "LF-018"))
def header_lengths_count_characters(bug: Bug) -> None:
    """Takes the length of a header text for a number of characters."""
    bug.edit(
        reader._Body._map,
        'text = self._take(self._int(), f"the value of header {key}")',
        "size = self._int(); "
        "text = str(self.file.read(self.position, self.end - self.position), errors='replace')[:size].encode(); "
        "self.position += len(text)",
    )


@planted(breaks="BLK-017")
def reading_stops_at_damage(bug: Bug) -> None:
    """Gives up a log file at its first corrupt block."""
    bug.edit(
        SliceReader._file_blocks,
        "        end = block.end\n",
        "        end = block.end\n        if isinstance(block, CorruptBlock):\n            return\n",
    )


@planted(breaks="BLK-017")
def damage_reaches_to_the_end(bug: Bug) -> None:
    """Takes all of a file behind damage for damaged."""
    bug.edit(reader._corrupt, "_next_magic(file, offset + 1) - offset", "file.size - offset")


@planted(breaks="LF-005")
def versions_compared_as_text(bug: Bug) -> None:
    """Applies version 10 of a log file before version 9."""
    bug.edit(LogFileName.merge_order, "self.version, ", "str(self.version), ")


@planted(breaks="RDR-014")
def deletes_before_rows(bug: Bug) -> None:
    """Applies the delete blocks of a slice before its data blocks."""
    bug.edit(
        SliceReader.blocks,
        "return _with_compacted_in_place(of_one_attempt(queue))",
        "return sorted(_with_compacted_in_place(of_one_attempt(queue)), key=lambda b: b.kind != BlockType.DELETE)",
    )


@planted(breaks="LCP-003")
def joined_blocks_and_their_inputs(bug: Bug) -> None:
    """Applies the blocks that a log compaction joined before the joined one."""
    bug.edit(
        slice_reader._with_compacted_in_place,
        "b.instant not in inputs | {instant}",
        "b.instant != instant",
    )


@planted(breaks="LCP-005")
def joined_blocks_at_their_own_instant(bug: Bug) -> None:
    """Leaves a joined block where its own instant stands, behind deltas that completed later."""
    bug.edit(
        slice_reader._with_compacted_in_place,
        "[*before, *(joined if places else ()), *after]",
        "[*before, *after, *(joined if places else ())]",
    )


@planted(breaks="LF-040")
def only_the_ends_of_what_was_joined(bug: Bug) -> None:
    """Takes only the first and the last of the instants that a joined block lists."""
    bug.edit(
        slice_reader._inputs_of_joined, 'update(times.split(","))', 'update(times.split(",")[:: max(1, times.count(","))])'
    )


@planted(breaks="LF-040")
def a_range_of_what_was_joined(bug: Bug) -> None:
    """Takes the instants that a joined block lists for a range."""
    bug.edit(
        slice_reader._inputs_of_joined,
        'update(times.split(","))',
        "update(b.instant for b in queue if min(times.split(',')) <= b.instant <= max(times.split(',')))",
    )


@planted(breaks=("NBC-002", "NBC-007", "RDR-015"))
def logs_sliced_by_their_begin(bug: Bug) -> None:
    """Puts a log into the slice that was the newest when its action began."""
    bug.edit(file_groups._slices, "if start <= joins)", "if start <= parsed.instant)")


@planted(breaks="RDR-015")
def logs_belong_to_the_newest_slice(bug: Bug) -> None:
    """Puts every log of a group into its newest slice."""
    bug.edit(file_groups._slices, "(start for start in slices if start <= joins)", "slices")


@planted(breaks="LAY-012")
def the_metadata_folder_is_a_partition(bug: Bug) -> None:
    """Takes data files below .hoodie for rows of the table."""
    bug.edit(file_groups.load_file_groups, "storage.list(skip=META_FOLDER)", "storage.list()")
