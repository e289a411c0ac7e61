"""Writing the index of data blocks, in as many levels as its size needs, like HBase.

Leaf indexes are stored between the data blocks, each after the blocks that it indexes. If there are several leaves, the root
indexes them, or intermediate indexes over them if the root would become too large. Readers load the root when they open the
file.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from hudi_reference.files.hfile.block import BlockType
from hudi_reference.files.hfile.index import IndexEntry, encode_index, encode_inner_index

#: Writes a block with this payload; its offset and size.
Add = Callable[[BlockType, bytes], tuple[int, int]]
_MIDDLE = struct.Struct(">qii")
_MOST_LEVELS = 16
#: Bytes of a leaf index without entries.
_EMPTY = 8


@dataclass
class IndexWriter:
    """The index written so far. Its entries have full keys, not rows.

    A block of the index is closed at `block_size` bytes of payload; a root with `least_entries` entries is never too large.
    """

    add: Add
    block_size: int
    least_entries: int
    levels: int = 1
    #: Of all blocks of the index, uncompressed.
    size: int = 0
    _leaf: list[IndexEntry] = field(default_factory=list)
    _leaf_size: int = 0
    _root: list[IndexEntry] = field(default_factory=list)
    #: The number of data blocks that each leaf indexes.
    _counts: list[int] = field(default_factory=list)

    def data_block(self, entry: IndexEntry) -> None:
        """Add a data block that was written."""
        self._leaf.append(entry)
        self._leaf_size += len(encode_inner_index([entry])) - _EMPTY
        if _EMPTY + self._leaf_size >= self.block_size:
            self._write_leaf()

    def finish_leaves(self) -> None:
        """Write the last leaf, after the last data block."""
        if not self._counts:
            self._root = self._leaf
        elif self._leaf:
            self._write_leaf()

    def root(self) -> tuple[bytes, int]:
        """The payload of the root index and the number of its entries, after intermediate indexes have been written."""
        middle = self._middle() if self._counts else b""
        root = self._root
        while self._counts and self._too_large(root):
            root = self._level_above(root)
        payload = encode_index(root, rows=False) + middle
        self.size += len(payload)
        return payload, len(root)

    def _too_large(self, root: Sequence[IndexEntry]) -> bool:
        fits = len(encode_index(root, rows=False)) <= self.block_size or len(root) <= self.least_entries
        return not fits and self.levels < _MOST_LEVELS

    def _write_leaf(self) -> None:
        self.levels = 2
        self._root.append(self._inner(BlockType.LEAF_INDEX, self._leaf))
        self._counts.append(len(self._leaf))
        self._leaf, self._leaf_size = [], 0

    def _level_above(self, below: Sequence[IndexEntry]) -> list[IndexEntry]:
        """Intermediate indexes over these entries, as entries."""
        self.levels += 1
        above, part, size = [], list[IndexEntry](), 0
        for number, entry in enumerate(below):
            part.append(entry)
            size += len(encode_index([entry], rows=False))
            if number >= self.least_entries and size >= self.block_size:
                above.append(self._inner(BlockType.INTERMEDIATE_INDEX, part))
                part, size = [], 0
        return [*above, self._inner(BlockType.INTERMEDIATE_INDEX, part)] if part else above

    def _inner(self, kind: BlockType, entries: Sequence[IndexEntry]) -> IndexEntry:
        payload = encode_inner_index(entries)
        self.size += len(payload)
        return IndexEntry(entries[0].row, *self.add(kind, payload))

    def _middle(self) -> bytes:
        """The leaf that indexes the data block in the middle, and the number of the entry there."""
        middle = (sum(self._counts) - 1) // 2
        ends = list(accumulate(self._counts))
        number = next(i for i, end in enumerate(ends) if middle < end)
        leaf = self._root[number]
        return _MIDDLE.pack(leaf.offset, leaf.size, middle - (ends[number] - self._counts[number]))
