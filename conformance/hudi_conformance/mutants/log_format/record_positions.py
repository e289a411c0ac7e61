"""Mutants of record positions."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import positions


@mutant(breaks="LF-041")
def positions_written_with_32_bits(patch: Patch) -> None:
    """Stores the lower 32 bits of record positions."""
    patch.edit(positions.encode_positions, "BitMap64(positions)", "BitMap64(p & 0xFFFFFFFF for p in positions)")


@mutant(breaks="LF-041")
def positions_read_with_32_bits(patch: Patch) -> None:
    """Reads the lower 32 bits of record positions."""
    patch.edit(positions.decode_positions, "    return bitmap\n", "    return BitMap64(p & 0xFFFFFFFF for p in bitmap)\n")


@mutant(breaks="LF-041")
def positions_as_text(patch: Patch) -> None:
    """Writes positions as a text of numbers with commas."""
    patch.edit(positions.position_headers, "encode_positions(positions)", '",".join(map(str, positions))')


@mutant(breaks="LF-042")
def positions_counted_from_one(patch: Patch) -> None:
    """Writes row positions that start at 1, and not at 0."""
    patch.edit(positions.position_headers, "encode_positions(positions)", "encode_positions(place + 1 for place in positions)")


@mutant(breaks="LF-043")
def positions_of_other_base_file_used(patch: Patch) -> None:
    """Uses positions without checking the base file that they refer to."""
    patch.edit(positions.usable_positions, "!= base_instant:", "is None:")


@mutant(breaks="LF-043")
def positions_without_base_file_used(patch: Patch) -> None:
    """Uses positions that do not state their base file."""
    patch.edit(positions.usable_positions, "!= base_instant:", "not in (None, base_instant):")


@mutant(breaks="LF-043")
def position_count_not_checked(patch: Patch) -> None:
    """Uses positions although their number differs from that of the records; each record gets the next position, as long as
    there is one.
    """
    patch.edit(
        positions.usable_positions,
        "    if len(positions) != records or (records and positions.max() >= base_rows):\n        return None\n",
        "    return ([place for place in positions if place < base_rows] + [0] * records)[:records]\n",
    )
