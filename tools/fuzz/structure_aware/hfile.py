"""Parts of HFiles: the payload of each block. Offsets and sizes in indexes and trailer are computed again."""

import struct
from collections.abc import Sequence
from dataclasses import fields, replace

from tools.fuzz.structure_aware.parts import Parts

from hudi_reference.errors import HudiError
from hudi_reference.files.hfile.block import NO_BLOCK, Block, BlockType, Compression, encode_block
from hudi_reference.files.hfile.reader import hfile_of
from hudi_reference.files.hfile.trailer import SIZE, Trailer, encode_trailer

#: Offset and size.
Place = tuple[int, int]

_PLACE = struct.Struct(">qi")


def split_hfile(data: bytes) -> Parts | None:
    """The payloads of an HFile's blocks and the numbers of its trailer; None for a file that is not an HFile.

    When the file is built from the parts, sizes, checksums, offsets and the trailer are computed again.
    """
    try:
        return _explode(data)
    except (HudiError, struct.error, ValueError, KeyError):
        return None


def _explode(data: bytes) -> Parts:
    found = hfile_of(data, "seed")
    blocks = list(found.blocks())
    numbers = [found.trailer.entry_count, found.trailer.data_index_count, found.trailer.meta_index_count]
    leaves = (*(bytes(block.payload) for block in blocks), struct.pack(">QQQ", *numbers))
    return Parts(leaves, lambda leaves: _build(blocks, leaves, found.trailer))


def _build(blocks: Sequence[Block], leaves: Sequence[bytes], trailer: Trailer) -> bytes:
    out, places = b"", dict[Place, Place]()
    compression = Compression(trailer.compression)
    for block, leaf in zip(blocks, leaves, strict=False):
        payload = _moved(block, leaf, places)
        made = encode_block(block.kind, payload, NO_BLOCK, compression, block.checksum)
        places[block.offset, block.size] = (len(out), len(made))
        out += made
    counts = struct.unpack(">QQQ", leaves[-1][:24].rjust(24, b"\0"))
    moved = {old[0]: new[0] for old, new in places.items()}
    offsets = {f.name: moved[old] for f in fields(trailer) if _is_place(f.name) and (old := getattr(trailer, f.name)) in moved}
    changed = replace(
        trailer, entry_count=counts[0], data_index_count=counts[1], meta_index_count=counts[2], encryption_key=b"", **offsets
    )
    return out + encode_trailer(changed)[:SIZE]


def _is_place(name: str) -> bool:
    return name.endswith("_offset") or name in ("first_data_block", "last_data_block")


def _moved(block: Block, leaf: bytes, places: dict[Place, Place]) -> bytes:
    """An index payload with the new offsets of the blocks before it."""
    if block.kind in (BlockType.ROOT_INDEX, BlockType.LEAF_INDEX, BlockType.INTERMEDIATE_INDEX):
        for old, new in places.items():
            leaf = leaf.replace(_PLACE.pack(*old), _PLACE.pack(*new))
    return leaf
