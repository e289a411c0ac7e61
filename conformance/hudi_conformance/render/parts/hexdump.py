"""A hex dump with wrong bytes marked in red and by a line of ^ below."""

from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from hudi_conformance.render.parts.layout import DIM, WRONG

ROW = 16
#: Number of rows of a wrong range that are shown.
_MOST_ROWS = 4

Stretch = tuple[int, int]


def dump_bytes(
    data: memoryview | bytes, start: int, end: int, wrong: Sequence[Stretch] = (), *, first: int = 0
) -> Iterator[Text]:
    """The bytes from `start` to `end`, exclusive, in rows of 16; `wrong` are ranges of offsets.

    `first` is the offset in the file of the first byte of `data`, all other offsets are relative to it.
    """
    end = min(end, len(data))
    for row in range(start - (start + first) % ROW, end, ROW):
        offsets = range(max(row, start), min(row + ROW, end))
        yield _row(data, row, offsets, wrong, first)
        if any(_is_in(offset, wrong) for offset in offsets):
            yield _marks(row, offsets, wrong)


def ranges_to_show(wrong: Iterable[Stretch], size: int, around: int = ROW) -> list[Stretch]:
    """The ranges to show of a file of `size` bytes: the first rows of each wrong range, with `around` bytes before and
    after.
    """
    found: list[Stretch] = []
    for start, end in sorted(wrong):
        first = max(0, start - start % ROW - around)
        last = min(size, (min(end, start + _MOST_ROWS * ROW) + ROW - 1) // ROW * ROW + around)
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def _row(data: memoryview | bytes, row: int, offsets: range, wrong: Sequence[Stretch], first: int) -> Text:
    line = Text.assemble((f"  {row + first:08x}", DIM), "  ")
    for offset in range(row, row + ROW):
        line.append(f"{data[offset]:02x}" if offset in offsets else "  ", style=WRONG if _is_in(offset, wrong) else "")
        line.append("  " if offset - row == ROW // 2 - 1 else " ")
    line.append(" ")
    for offset in range(row, row + ROW):
        character = chr(data[offset]) if offset in offsets and 32 <= data[offset] < 127 else "." if offset in offsets else " "
        line.append(character, style=WRONG if _is_in(offset, wrong) else DIM)
    line.rstrip()
    return line


def _marks(row: int, offsets: range, wrong: Sequence[Stretch]) -> Text:
    line = " " * 12
    for offset in range(row, row + ROW):
        line += "^^" if offset in offsets and _is_in(offset, wrong) else "  "
        line += "  " if offset - row == ROW // 2 - 1 else " "
    return Text(line.rstrip(), style=WRONG)


def _is_in(offset: int, stretches: Sequence[Stretch]) -> bool:
    return any(start <= offset < end for start, end in stretches)
